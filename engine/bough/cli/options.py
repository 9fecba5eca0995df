"""Options and arguments that several commands share."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer


class Fmi(str, Enum):
    """Versions of the standard."""

    two = "2.0"
    three = "3.0"


ModelFile: TypeAlias = Annotated[Path, typer.Argument(help="Model file, YAML or JSON.", show_default=False)]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Answer in JSON, for a program.")]
At: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--at",
        metavar="NAME=VALUE",
        help="Coordinate of the position, such as shoulder.phi=0.5; may be repeated, or joined by commas.",
        show_default="the start position",
    ),
]
Settle: TypeAlias = Annotated[bool, typer.Option("--settle", help="Bent by its weight there, hinges held.")]
FmiVersion: TypeAlias = Annotated[Fmi, typer.Option("--fmi", help="Version of the standard.")]
Platform: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--platform",
        metavar="P",
        help="all, native (this machine's), or a tuple such as x86_64-linux; may be repeated.",
        show_default="all",
    ),
]
