"""`bough plan`: torques of a move, off line, for `bough run` to play."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bough.cli.console import answer, complain, guarded, problems, progress_bar, say
from bough.cli.inputs import gather_named
from bough.cli.running import check_result_output, write_result
from bough.errors import BoughError
from bough.model.named_files import check_target
from bough.run.result_files import CSV, check_ending

if TYPE_CHECKING:
    from bough.coupling.planned import Plan


@guarded
def plan(
    system: Annotated[
        Path, typer.Argument(metavar="SYSTEM", help="System file or SSP package with a controller.", show_default=False)
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="CSV", help="Torques over time.")] = Path(
        "torques.csv"
    ),
    stop: Annotated[
        float | None,
        typer.Option("--stop", metavar="T", help="End of the plan, s.", show_default="as the system says"),
    ] = None,
    component: Annotated[
        str | None,
        typer.Option("--component", metavar="NAME", help="The mechanism.", show_default="the only one that is driven"),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Parameter or start value; may be repeated."),
    ] = None,
    motion: Annotated[
        Path | None, typer.Option("--motion", metavar="FILE", help="Also the motion that is planned, as `bough run`.")
    ] = None,
    settle: Annotated[bool, typer.Option("--settle", help="Start bent by weight, controllers holding it.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Answer in JSON, for a program.")] = False,
) -> None:
    """Plan a move off line: the torques that the controller of a system gives its mechanism, as an input file."""
    from bough.coupling import plan as make

    check_target(output, system)
    check_ending(output, (CSV,))
    if motion is not None:
        check_target(motion, system, output)
        check_result_output(motion, system)
    names = [setting.partition("=")[0].strip() for setting in set_ or []]
    try:
        with progress_bar(system.stem) as progress:
            made = make(
                system, stop, component=component, values=dict(gather_named(names, None, set_ or [])),  # type: ignore[arg-type]
                settle=settle, progress=progress, warn=lambda text: complain(f"warning: {text}"),
            )  # fmt: skip
        made.to_csv(output)
        if motion is not None:
            write_result(made.motion, motion)
    except BoughError as error:
        if as_json:
            answer(problems(error))
        raise
    command = _play(made, output)
    if as_json:
        answer({"ok": True, "output": str(output), "inputs": list(made.inputs), "set": dict(made.settings)}
               | {"end": float(made.motion.t[-1]), "command": command})  # fmt: skip
    say(f"{output}: {len(made.inputs)} inputs of {made.component} to t = {made.motion.t[-1]:.6g} s; play it with")
    say(f"  {command}")


def _play(made: Plan, output: Path) -> str:
    """The command that plays a plan."""
    words = ["bough", "run", str(made.model or "MODEL"), "--input", str(output), "--stop", f"{made.motion.t[-1]:g}"]
    for name, value in made.settings.items():
        words += ["--set", f"{name}={value!r}"]
    return shlex.join([*words, "--rtol", "1e-10"])
