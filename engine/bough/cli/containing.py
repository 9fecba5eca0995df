"""Options of commands that run FMUs: in which process, and how long a call may take."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from typing import Annotated

import typer

from bough.cli.console import complain

InProcess = Annotated[
    bool, typer.Option("--in-process", help="FMUs of other tools: faster, but a crash ends bough too.")
]
CallTimeout = Annotated[
    float | None,
    typer.Option(
        "--call-timeout",
        metavar="S",
        help="FMUs of other tools: longest time of a call, s; 0 for none.",
        show_default="60",
    ),
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Refuse FMUs whose description breaks the standard; by default they get a warning."),
]


@dataclass(frozen=True)
class Contained:
    """Where FMUs run, and which.

    Attributes:
        isolate: Whether each has a process of its own; None: unless its code is bough's.
        call_timeout: Longest time of a call there, s; 0: none.
        strict: Whether those that a validator dislikes are refused.
    """

    isolate: bool | None
    call_timeout: float
    strict: bool = False

    @classmethod
    def of(cls, in_process: bool, call_timeout: float | None, strict: bool = False) -> Contained:
        """What the options say; from now on, lines that FMUs print go to stderr.

        Raises:
            typer.BadParameter: They make no sense.
        """
        from bough.coupling.slave import CALL_TIMEOUT

        seconds = CALL_TIMEOUT if call_timeout is None else call_timeout
        if not 0.0 <= seconds < math.inf:
            found = f"expected seconds, or 0 for no limit, found {seconds}"
            raise typer.BadParameter(found, param_hint="--call-timeout")
        if in_process and call_timeout:
            found = "a call in this process cannot be ended: leave out one of --in-process and --call-timeout"
            raise typer.BadParameter(found, param_hint="--call-timeout")
        _follow()
        return cls(False if in_process else None, seconds, strict)


class _Stderr(logging.Handler):
    """Shows what FMUs print."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write the line."""
        complain(record.getMessage())


def _follow() -> None:
    printed = logging.getLogger("bough.fmu")
    if not any(isinstance(handler, _Stderr) for handler in printed.handlers):
        printed.addHandler(_Stderr())
        printed.setLevel(logging.INFO)
        printed.propagate = False
