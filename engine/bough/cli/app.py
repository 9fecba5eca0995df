"""Commands of `bough` and their options."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

import bough
from bough.cli.building import build
from bough.cli.campbell_diagram import diagram, spins
from bough.cli.console import (
    FAILED,
    Commands,
    answer,
    answer_signals,
    complain,
    console,
    guarded,
    problems,
    progress_bar,
    say,
    silence_stdout,
    told_warnings,
)
from bough.cli.containing import CallTimeout, Contained, InProcess, Strict
from bough.cli.doctoring import doctor
from bough.cli.flex_body import check_picture, flex
from bough.cli.inputs import Series, gather
from bough.cli.linear import bode, linearize
from bough.cli.options import At, Json, ModelFile, Settle
from bough.cli.partner import partners
from bough.cli.planning import plan
from bough.cli.references import record, verify
from bough.cli.reporting import report
from bough.cli.running import METHOD_HELP, RESULT_HELP, Atol, MaxStep, Run, execute, known_method
from bough.cli.summary import print_summary, warn_of_oddities
from bough.cli.sweep import sweep
from bough.cli.system_couple import couple
from bough.cli.system_run import Extrapolation, Order, SystemRun, is_system
from bough.cli.vibration_table import as_json, imbalance_note, position, print_vibrations
from bough.errors import ArgumentError, BoughError
from bough.files import check_output, write_text
from bough.flex import load
from bough.mechanism.equilibrium import equilibrium, spinning
from bough.mechanism.mechanism import Mechanism
from bough.mechanism.model_summary import check as checked
from bough.mechanism.steady_limits import SteadyLimits
from bough.mechanism.vibration import vibrations
from bough.model import schema as model_schema
from bough.run.pace import Pacer
from bough.run.settling import settled

app = typer.Typer(
    name="bough",
    cls=Commands,
    help="Dynamics of mechanisms whose parts bend, from a model file.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

MODELS, FMUS, SYSTEMS, HELP = "Models", "FMUs and results", "Systems of FMUs", "Help"
"""Panels of `bough --help`: what a command is for."""


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


@app.command(rich_help_panel=MODELS)
@guarded
def check(model: ModelFile, as_json: Json = False) -> None:
    """Check a model file and summarize it."""
    try:
        data = checked(model)
    except BoughError as error:
        if as_json:
            answer(problems(error))
        raise
    if as_json:
        answer(data)
    else:
        print_summary(data, console())


@app.command(rich_help_panel=MODELS)
@guarded
def run(
    model: Annotated[Path, typer.Argument(help="Model file, system file, FMU, or SSP package.", show_default=False)],
    stop: Annotated[
        float | None,
        typer.Option("--stop", metavar="T", help="End of the run, s.", show_default="10, or as the package says"),
    ] = None,
    step: Annotated[
        float | None,
        typer.Option(
            "--step",
            metavar="H",
            help="Time between rows, s; of a package the communication step.",
            show_default="a thousandth of the run, or as the package says",
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option("--method", metavar="M", help=METHOD_HELP, show_default="dopri5", callback=known_method),
    ] = None,
    rtol: Annotated[
        float | None,
        typer.Option("--rtol", metavar="R", help="Relative tolerance of adaptive methods.", show_default="1e-06"),
    ] = None,
    atol: Atol = None,
    max_step: MaxStep = None,
    order: Annotated[
        Order | None, typer.Option("--order", help="Package: who steps first.", show_default="as the package says")
    ] = None,
    extrapolation: Annotated[
        Extrapolation | None,
        typer.Option("--extrapolation", help="Package: inputs between exchanges.", show_default="as the package says"),
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option("--tolerance", metavar="E", help="Package: relative error of a step, which chooses the step."),
    ] = None,
    every: Annotated[
        int | None, typer.Option("--every", metavar="N", help="Package: a row every N communication steps.")
    ] = None,
    input_: Annotated[
        Path | None,
        typer.Option("--input", metavar="CSV", help="Inputs over time: columns `time`, `shoulder.tau`, ..."),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="Constant input, tunable parameter or start value; may be repeated."
        ),
    ] = None,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help=RESULT_HELP)] = Path("run.csv"),
    settle: Annotated[bool, typer.Option("--settle", help="Start bent by weight and loads, hinges held.")] = False,
    real_time: Annotated[
        bool,
        typer.Option("--real-time", help="Keep pace with the clock; report computing times and overruns of steps."),
    ] = False,
    in_process: InProcess = False,
    call_timeout: CallTimeout = None,
    strict: Strict = False,
    as_json: Json = False,
) -> None:
    """Simulate a model and write every variable over time.

    --input is linear between its times and constant outside. A run that fails leaves what it has computed.
    """
    if settle and model.suffix.lower() in (".fmu", ".ssp"):
        cure = "`bough couple SYSTEM --settle` packs start values at rest" if model.suffix.lower() == ".ssp" else ""
        told = "it is for model files and system files only" + (f"; {cure}" if cure else "")
        raise typer.BadParameter(told, param_hint="--settle")
    contained = Contained.of(in_process, call_timeout, strict)
    pace = Pacer() if real_time else None
    package = SystemRun(stop, step, order, extrapolation, tolerance, every, output, as_json, contained, settle, pace)
    if is_system(model):
        given = {"--method": method, "--rtol": rtol, "--atol": atol, "--max-step": max_step}
        for name, value in given.items():
            if value is not None:
                raise typer.BadParameter(
                    "FMUs bring their own solver; try --set arm.solver.tolerance=... or --set arm.solver.max_step=...",
                    param_hint=name,
                )
        package.execute(model, input_, set_ or [])
        return
    if package.special():
        raise typer.BadParameter("it is for SSP packages and system files only", param_hint=package.special()[0])
    chosen = method or ("rk4" if real_time and model.suffix.lower() != ".fmu" else "dopri5")
    if real_time and step is None:
        step = 1e-3
    if real_time and atol is not None:
        raise typer.BadParameter("a run in real time takes a relative tolerance only: --rtol", param_hint="--atol")
    tolerance_ = 1e-6 if rtol is None else rtol
    options = Run(10.0 if stop is None else stop, step, chosen, tolerance_, output, as_json, atol, max_step, pace)
    options.check(model, input_)
    if model.suffix.lower() == ".fmu":
        from bough.cli.fmu_run import run_fmu

        run_fmu(model, input_, set_ or [], options, contained)
        return
    if in_process or strict or call_timeout is not None:
        hint = "--in-process" if in_process else "--strict" if strict else "--call-timeout"
        raise typer.BadParameter("it is for FMUs, SSP packages and system files only", param_hint=hint)
    try:
        system = Mechanism(load(model))
        warn_of_oddities(system.model, model)
        series, settings = gather(system, input_, set_ or [])
        if settle:
            settings = _at_rest(system, series, settings)
    except BoughError as error:
        if as_json:
            answer(problems(error))
        raise
    execute(system, series, settings, options)


def _at_rest(system: Mechanism, series: Mapping[str, Series], settings: Mapping[str, float]) -> dict[str, float]:
    try:
        return settled(system, series, settings)
    except ArgumentError as error:
        raise typer.BadParameter(f"--{error}", param_hint="--set") from None


@app.command(rich_help_panel=MODELS)
@guarded
def modes(
    model: ModelFile,
    at: At = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="PNG", help="A picture of the motions.")
    ] = None,
    settle: Settle = False,
    spin: Annotated[
        list[str] | None,
        typer.Option(
            "--spin",
            metavar="HINGE=SPEED",
            help="A hinge that turns steadily, rad/s, such as hub=52.4: about the steady motion.",
            show_default="at rest",
        ),
    ] = None,
    as_json_: Json = False,
) -> None:
    """Natural frequencies of the whole mechanism about a position at rest, or while hinges spin.

    Springs, elasticity, gravity, dampers and wheels count; driven and locked hinges are held. `bough flex` shows the
    modes of each body on its own.
    """
    if output is not None:
        check_picture(output, model)
    system = Mechanism(load(model))
    turning = spins(spin or [])
    q = position(system, at or [], settle and not turning)
    if turning:
        q, _ = equilibrium(system, q=q, spin=turning)
    about = f"the position {', '.join(at)}" if at else "the start position"
    about += ", settled" if settle or turning else ""
    about += f", while {', '.join(f'{name} spins at {w:g} rad/s' for name, w in turning.items())}" if turning else ""
    with told_warnings():
        SteadyLimits(system).warn(q, spinning(system, turning))
    found = vibrations(system, q, spinning(system, turning))
    if as_json_:
        answer(as_json(found))
    else:
        print_vibrations(system.model.name, found, console(), about)
        note = imbalance_note(system, found, about, settle or bool(turning))
        if note is not None:
            complain(note)
    if output is not None and found.modes:
        from bough.report import draw_modes
        from bough.report.sketches import vibration_sketch

        draw_modes([vibration_sketch(system, q, found)], output)
        say(f"{output}: the motions")


@guarded
def schema(
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Instead of stdout.")] = None,
    system: Annotated[bool, typer.Option("--system", help="Of the system file.")] = False,
) -> None:
    """Write the JSON schema of the model file or the system file, for editors."""
    if system:
        from bough.coupling import system_schema
    text = json.dumps(system_schema() if system else model_schema(), indent=2)
    if output is None:
        typer.echo(text)
    else:
        check_output(output, stream=True)
        write_text(output, text + "\n", stream=True)
        say(f"{output}: JSON schema of the {'system' if system else 'model'} file")


@guarded
def demo(
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Folder for everything.")] = Path(
        "bough-demo"
    ),
) -> None:
    """Drive a flexible two-link arm: arm, motors and controller as three FMUs, run, and shown in a moving report."""
    from bough.demo import run_demo

    with progress_bar("arm_drive") as progress:
        done, calm, written = run_demo(output, progress, lambda text: complain(f"warning: {text}"))
    typer.echo("A two-link arm with flexible links, its motors and their controller: three FMUs, coupled and run.")
    for link, series in done.deflection.items():
        typer.echo(f"  The tip of the {link} link deflects by up to {1e3 * abs(series).max():.0f} mm.")
    typer.echo(f"  After the move the payload still swings by {1e3 * done.vibration:.0f} mm from side to side;")
    typer.echo(f"  by {1e3 * calm.vibration:.1f} mm if the controller has a model of the arm inside.")
    typer.echo(f"  Energy and work balance to {done.balance_error:.1e} J of {done.work.max():.2f} J.")
    typer.echo(f"In {output}:")
    for path, meaning in written.items():
        typer.echo(f"  {path.name:27} {meaning}")
    typer.echo(f"Open {output / 'run.html'} in a browser, look at {output / 'overview.png'}, or go on by hand:")
    # In a virtual environment that is not activated the command is not on the path.
    own = "python -m bough" if sys.argv[0].endswith(".py") else sys.argv[0]
    command = "bough" if shutil.which("bough") else own
    typer.echo(f"  {command} check {output / 'model.yaml'}")
    typer.echo(f"  {command} couple {output / 'system.yaml'} -o again.ssp")
    typer.echo(f"  {command} run again.ssp -o again.csv")


app.command(rich_help_panel=MODELS)(flex)
app.command(rich_help_panel=MODELS)(sweep)
app.command(rich_help_panel=MODELS)(linearize)
app.command(rich_help_panel=MODELS)(bode)
app.command("campbell", rich_help_panel=MODELS)(diagram)
app.command(rich_help_panel=FMUS)(build)
app.command(rich_help_panel=FMUS)(report)
app.command(rich_help_panel=FMUS)(record)
app.command(rich_help_panel=FMUS)(verify)
app.add_typer(partners, rich_help_panel=SYSTEMS)
app.command(rich_help_panel=SYSTEMS)(couple)
app.command(rich_help_panel=SYSTEMS)(plan)
app.command(rich_help_panel=HELP)(demo)
app.command(rich_help_panel=HELP)(doctor)
app.command(rich_help_panel=HELP)(schema)


def main() -> None:
    """Entry point of the command: ends with 0, 1 (the model or the run failed) or 2 (wrong use)."""
    answer_signals()
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
