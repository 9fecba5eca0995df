"""`bough build-partner`: motors and controllers as FMUs."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from bough.cli.building import asked_platforms, packed
from bough.cli.console import answer, console, guarded, say
from bough.cli.options import Fmi, FmiVersion, Json, Platform
from bough.errors import BoughError
from bough.partners import KINDS, build_partner
from bough.partners.model_controller import OPTIONS
from bough.partners.partner_fmu import FAMILIES, RUNTIMES
from bough.partners.quantity import Quantity, Value

partners = typer.Typer(
    name="build-partner",
    help="Write a motor or a controller as an FMU, to be coupled with a mechanism.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Output = Annotated[
    Path | None, typer.Option("-o", "--output", metavar="X.fmu", help="The FMU.", show_default="its name, here")
]
Axes = Annotated[
    int, typer.Option("--axes", metavar="N", min=1, help="How many hinges; with several, tau[1], tau[2]...")
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Value of a parameter: R=0.5 for all axes, R=0.5,0.7 for each, R[2]=0.7 for one; may be repeated.",
    ),
]
Runtime = Annotated[
    str, typer.Option("--runtime", metavar="R", help="native: compiled code; python: a pythonfmu slave.")
]


def _epilog(kind: str) -> str:
    """What the help says at its end: every parameter on a line of its own."""
    lines = [f"{_call(q)}: {q.text}" for q in FAMILIES[kind].quantities if q.role in ("tunable", "fixed")]
    if kind == "controller":
        lines.append("output = voltage: what u is: voltage, into an amplifier, or torque, into a hinge")
    if kind == "model-controller":
        lines += [f"{o.name} = {o.start:g} {o.unit}: {o.text}" for o in OPTIONS if o.start >= 0.0]
        lines += [f"{o.name} (model's, {o.unit}): {o.text}" for o in OPTIONS if o.start < 0.0]
        lines.append("law = state: what finds the torques: state feedback, or acceleration, as the patent claims it")
    return "Parameters, with their values unless set:\n\n" + "\n\n".join(lines)


def _call(q: Quantity) -> str:
    value = ("false", "true")[int(q.start)] if q.type == "Boolean" else f"{q.start:g}"
    return f"{q.name} = {value}{f' {q.unit}' if q.unit not in ('', '1') else ''}"


def _list(wanted: bool) -> None:
    """Every variable of every partner."""
    if not wanted:
        return
    for kind in KINDS:
        table = Table(title=f"{kind}: {FAMILIES[kind].text}", title_justify="left", title_style="bold")
        for head in ("name", "unit", "what", "start", "range", "meaning"):
            table.add_column(head, no_wrap=head in ("name", "unit"))
        for q in FAMILIES[kind].quantities:
            what = {"tunable": "parameter", "fixed": "parameter, fixed"}.get(q.role, q.role)
            start = "" if q.role == "output" else _call(q).split(" = ")[1].split(" ")[0]
            unit = q.unit if q.unit != "1" else ""
            table.add_row(q.name, unit or q.type.lower().replace("real", ""), what, start, _range(q), q.text)
        console().print(table)
    raise typer.Exit


def _range(q: Quantity) -> str:
    if q.type == "Boolean" or (q.minimum is None and q.maximum is None):
        return ""
    if q.maximum is None:
        return f"{q.minimum:g} or more"
    return f"{q.minimum:g} to {q.maximum:g}"


@partners.callback()
def _options(
    list_: Annotated[
        bool,
        typer.Option("--list", callback=_list, is_eager=True, help="Show every variable of every partner, and end."),
    ] = False,
) -> None:
    """Write a motor or a controller as an FMU, to be coupled with a mechanism."""


@partners.command(epilog=_epilog("motor"))
@guarded
def motor(
    output: Output = None,
    axes: Axes = 1,
    set_: Set = None,
    fmi: FmiVersion = Fmi.two,
    platform: Platform = None,
    runtime: Runtime = "native",
    as_json: Json = False,
) -> None:
    """DC motor with amplifier and gear: command u and hinge speed w in, torque tau out."""
    _build("motor", output, None, axes, set_, fmi, platform, runtime, as_json)


@partners.command(epilog=_epilog("controller"))
@guarded
def controller(
    output: Output = None,
    axes: Axes = 1,
    set_: Set = None,
    fmi: FmiVersion = Fmi.two,
    platform: Platform = None,
    runtime: Runtime = "native",
    as_json: Json = False,
) -> None:
    """Sampled PID with feed-forward and a built-in move: hinge angle phi and speed w in, command u out."""
    _build("controller", output, None, axes, set_, fmi, platform, runtime, as_json)


@partners.command("model-controller", epilog=_epilog("model-controller"))
@guarded
def model_controller(
    model: Annotated[Path, typer.Argument(help="Model file of the mechanism, YAML or JSON.", show_default=False)],
    output: Output = None,
    set_: Set = None,
    fmi: FmiVersion = Fmi.two,
    platform: Platform = None,
    runtime: Runtime = "native",
    as_json: Json = False,
) -> None:
    """Controller with a flexible model inside: angles and speeds of all its hinges in, torques tau out."""
    _build("model-controller", output, model, 1, set_, fmi, platform, runtime, as_json)


def _build(
    kind: str,
    output: Path | None,
    model: Path | None,
    axes: int,
    set_: list[str] | None,
    fmi: Fmi,
    platform: list[str] | None,
    runtime: str,
    as_json: bool,
) -> None:
    began = time.perf_counter()
    if runtime not in RUNTIMES:
        raise typer.BadParameter(f"{runtime!r} is not one of {', '.join(RUNTIMES)}", param_hint="--runtime")
    if runtime == "python" and fmi is Fmi.three:
        raise typer.BadParameter("the Python runtime is for FMI 2.0 only", param_hint="--runtime")
    platforms, values = asked_platforms(platform), _values(set_ or [])
    target = Path(f"{kind.replace('-', '_')}.fmu") if output is None else output
    try:
        build_partner(kind, target, axes=axes, values=values, model=model, fmi=fmi.value, platforms=platforms,
                      runtime=runtime)  # fmt: skip
    except BoughError as error:
        if as_json:
            answer({"ok": False, "error": str(error)})
        raise
    seconds = time.perf_counter() - began
    folders, size = packed(target)
    if as_json:
        about = {"ok": True, "output": str(target), "partner": kind, "fmi": fmi.value, "runtime": runtime}
        answer({**about, "platforms": folders, "bytes": size, "seconds": seconds})
    else:
        say(f"{target}: {kind}, FMI {fmi.value}, {', '.join(folders)}; {size / 1000:.0f} kB in {seconds:.2f} s")


def _values(given: list[str]) -> dict[str, Value | str]:
    """`--set` as `build_partner` takes it."""
    out: dict[str, Value | str] = {}
    for text in given:
        name, sign, value = (part.strip() for part in text.partition("="))
        if not sign or not name or not value:
            raise typer.BadParameter(f"{text!r}: expected NAME=VALUE", param_hint="--set")
        words = [word.strip() for word in value.strip("[]").split(",")]
        numbers = [_number(word) for word in words]
        if any(x is None for x in numbers):
            out[name] = value
        else:
            several = [x for x in numbers if x is not None]
            out[name] = several if len(several) > 1 else several[0]
    return out


def _number(word: str) -> float | None:
    if word.lower() in ("true", "false"):
        return float(word.lower() == "true")
    try:
        return float(word)
    except ValueError:
        return None
