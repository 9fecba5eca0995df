"""`bough couple`: several FMUs as one package."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bough.cli.building import asked_platforms
from bough.cli.console import answer, complain, guarded, problems, say
from bough.cli.options import Fmi, Json
from bough.errors import BoughError

if TYPE_CHECKING:
    from bough.coupling import Assembly, Link


@guarded
def couple(
    system: Annotated[Path, typer.Argument(help="System file, YAML or JSON.", show_default=False)],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="X.ssp", help="The package.", show_default="NAME.ssp here")
    ] = None,
    fmi: Annotated[Fmi, typer.Option("--fmi", help="FMI version of models and partners.")] = Fmi.two,
    platform: Annotated[
        list[str] | None,
        typer.Option(
            "--platform",
            metavar="P",
            help="Of models and partners: all, native, or a tuple such as x86_64-linux; may be repeated.",
            show_default="all",
        ),
    ] = None,
    container: Annotated[
        Path | None,
        typer.Option(
            "--container", metavar="X.fmu", help="Also write one FMU of all (needs fmu-manipulation-toolbox)."
        ),
    ] = None,
    settle: Annotated[
        bool, typer.Option("--settle", help="Start values at rest: bent by weight, controllers holding it.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Connect FMUs, models and partners to a system, check it, and pack it as SSP 1.0."""
    from bough.coupling import couple as write

    platforms = asked_platforms(platform)
    target = Path(f"{system.stem}.ssp") if output is None else output
    try:
        made = write(system, target, fmi.value, platforms, container, settle)
    except BoughError as error:
        if as_json:
            answer(problems(error))
        raise
    for warning in made.warnings:
        complain(f"warning: {warning}")
    if as_json:
        answer(
            {"ok": True, "output": str(target), "container": None if container is None else str(container)}
            | _json(made)
        )
    else:
        say(f"{target}: {_told(made)}; {target.stat().st_size / 1000:.0f} kB")


def _json(made: Assembly) -> dict[str, Any]:
    """The system for a program."""
    components = {
        c.name: {"model": c.interface.model, "fmi": f"{c.interface.fmi}.0", "values": dict(c.values)}
        for c in made.components
    }

    def ends(link: Link) -> dict[str, str]:
        return {"from": ".".join(link.source), "to": ".".join(link.target)}

    return {
        "components": components,
        "connections": [ends(link) for link in made.links],
        "parameters": [ends(x) | {"value": made.component(x.target[0]).values[x.target[1]]} for x in made.carried],
        "open_inputs": [".".join(port) for port in made.open_inputs()],
        "warnings": list(made.warnings),
    }


def _told(made: Assembly) -> str:
    """Components, and connections as the user has written them."""
    names = ", ".join(c.name for c in made.components)
    count, fixed = len(made.links) + len(made.carried), len(made.carried)
    wires = "1 connection" if count == 1 else f"{count} connections"
    return f"{names}; {wires}" + (f" ({fixed} {'sets' if fixed == 1 else 'set'} a parameter)" if fixed else "")
