"""Commands of `bough` and their options."""

from __future__ import annotations

import json
import os
import shutil
import sys
from enum import Enum
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

import bough
from bough.cli.building import build
from bough.cli.console import (
    FAILED,
    answer,
    check_target,
    complain,
    console,
    guarded,
    progress_bar,
    say,
    silence_stdout,
    write_text,
)
from bough.cli.flex_body import check_picture, flex
from bough.cli.inputs import gather
from bough.cli.running import Run, execute
from bough.cli.summary import print_summary, summary
from bough.cli.vibration import as_json, position, print_vibrations, sketch, vibrations
from bough.errors import BoughError, ModelError
from bough.flex import load
from bough.model import schema as model_schema
from bough.result import Result
from bough.system import System

app = typer.Typer(
    name="bough",
    help="Dynamics of mechanisms whose parts bend, from a model file.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

ModelFile = Annotated[Path, typer.Argument(help="Model file, YAML or JSON.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Answer in JSON, for a program.")]


class Method(str, Enum):
    """Integration methods, as `bough.simulate` names them."""

    dopri5 = "dopri5"
    rk4 = "rk4"
    rosenbrock2 = "rosenbrock2"


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"bough {bough.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and end.")
    ] = False,
) -> None:
    """Dynamics of mechanisms whose parts bend, from a model file."""


@app.command()
@guarded
def check(model: ModelFile, as_json: Json = False) -> None:
    """Check a model file, and sum up what is in it."""
    try:
        system = System(load(model))
        q, u = system.initial_state()
        system.forward_dynamics(q, u, np.zeros(system.nu))
        data = summary(system)
    except BoughError as error:
        if as_json:
            answer(_problems(error))
        raise
    if as_json:
        answer(data)
    else:
        print_summary(data, console())


def _problems(error: BoughError) -> dict[str, object]:
    problems = error.problems if isinstance(error, ModelError) else ()
    fields = ("file", "line", "key", "expected", "found", "cure")
    rows = [{field: getattr(problem, field) for field in fields} for problem in problems]
    return {"ok": False, "error": str(error), "problems": rows}


@app.command()
@guarded
def run(
    model: Annotated[Path, typer.Argument(help="Model file, or an FMU (needs FMPy).", show_default=False)],
    stop: Annotated[float, typer.Option("--stop", metavar="T", help="End of the run, s.")] = 10.0,
    step: Annotated[
        float | None,
        typer.Option("--step", metavar="H", help="Time between rows, s.", show_default="a thousandth of the run"),
    ] = None,
    method: Annotated[Method, typer.Option("--method", help="Integration method.")] = Method.dopri5,
    rtol: Annotated[float, typer.Option("--rtol", metavar="R", help="Relative tolerance of adaptive methods.")] = 1e-6,
    input_: Annotated[
        Path | None,
        typer.Option("--input", metavar="CSV", help="Inputs over time: columns `time`, `shoulder.tau`, ..."),
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Input held constant; may be repeated.")
    ] = None,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="CSV", help="Where the result goes; - for stdout.")
    ] = Path("run.csv"),
    as_json: Json = False,
) -> None:
    """Simulate a model and write every variable over time.

    --input is linear between its times and constant outside. A run that fails leaves what it has computed.
    """
    options = Run(stop, step, method.value, rtol, output, as_json)
    options.check()
    if model.suffix.lower() == ".fmu":
        from bough.cli.fmu_run import run_fmu

        run_fmu(model, input_, set_ or [], options)
        return
    try:
        system = System(load(model))
        inputs = gather(system, input_, set_ or [])
    except BoughError as error:
        if as_json:
            answer(_problems(error))
        raise
    execute(system, inputs, options)


@app.command()
@guarded
def modes(
    model: ModelFile,
    at: Annotated[
        list[str] | None,
        typer.Option(
            "--at",
            metavar="NAME=VALUE",
            help="Coordinate of the position, such as shoulder.phi=0.5; may be repeated, or joined by commas.",
            show_default="the start position",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="PNG", help="A picture of the motions.")
    ] = None,
    as_json_: Json = False,
) -> None:
    """Natural frequencies of the whole mechanism about its start position or another one, at rest.

    Springs, elasticity, gravity, dampers and wheels count; driven and locked hinges are held. `bough flex` shows the
    modes of each body on its own.
    """
    if output is not None:
        check_picture(output)
    system = System(load(model))
    q = position(system, at or [])
    about = f"the position {', '.join(at)}" if at else "the start position"
    found = vibrations(system, q)
    if output is not None and found.modes:
        from bough.report import draw_modes

        draw_modes([sketch(system, q, found)], output)
    if as_json_:
        answer(as_json(found))
        return
    print_vibrations(system.model.name, found, console(), about)
    name, force = found.imbalance
    if abs(force) > 1e-9:
        complain(f"note: {about} is no equilibrium (holding it takes {force:.4g} at {name}); it is frozen here")


@app.command()
@guarded
def report(
    run_csv: Annotated[Path, typer.Argument(help="Result of `bough run`.", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="HTML", help="The report.", show_default="RUN.html beside the result"),
    ] = None,
) -> None:
    """Draw a result as one interactive HTML file, to be opened without a network."""
    target = run_csv.with_suffix(".html") if output is None else output
    check_target(target)
    result = Result.from_csv(run_csv)
    from bough.report import write_page

    write_page(result, target, run_csv.stem)
    say(f"{target}: {len(result)} rows of {len(result.names)} variables")


@app.command()
@guarded
def schema(
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Instead of stdout.")] = None,
) -> None:
    """Write the JSON schema of the model file, for editors."""
    text = json.dumps(model_schema(), indent=2)
    if output is None:
        typer.echo(text)
    else:
        check_target(output)
        write_text(output, text + "\n")


@app.command()
@guarded
def demo(
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Folder for everything.")] = Path(
        "bough-demo"
    ),
) -> None:
    """Simulate a flexible two-link arm; leave model, result, pictures and report."""
    from bough.demo import run_demo

    with progress_bar("two_link_arm") as progress:
        done, written = run_demo(output, progress)
    typer.echo("A two-link arm with flexible links swings from rest to rest in 1.5 s, with the torques of a rigid arm.")
    for link, series in done.deflection.items():
        typer.echo(f"  The tip of the {link} link deflects by up to {1e3 * abs(series).max():.0f} mm.")
    typer.echo(f"  Energy and work balance to {done.balance_error:.1e} J of {done.work.max():.2f} J.")
    typer.echo(f"In {output}:")
    for path, meaning in written.items():
        typer.echo(f"  {path.name:22} {meaning}")
    typer.echo(f"Look at {output / 'overview.png'}, open {output / 'run.html'} in a browser, or go on by hand:")
    # In a virtual environment that is not activated the command is not on the path.
    own = "python -m bough" if sys.argv[0].endswith(".py") else sys.argv[0]
    command = "bough" if shutil.which("bough") else own
    typer.echo(f"  {command} check {output / 'model.yaml'}")
    typer.echo(f"  {command} run {output / 'model.yaml'} --stop 4 --input {output / 'torques.csv'} -o again.csv")


app.command()(build)
app.command()(flex)


def main() -> None:
    """Entry point of the command: ends with 0, 1 (the model or the run failed) or 2 (wrong use)."""
    try:
        app()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else FAILED if end.code else 0
    except KeyboardInterrupt:
        complain("interrupted")
        code = FAILED
    else:
        code = 0
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()
    except OSError as error:
        complain(f"cannot write the answer: {os.strerror(error.errno or 0)}")
        silence_stdout()
        code = FAILED
    sys.exit(code)
