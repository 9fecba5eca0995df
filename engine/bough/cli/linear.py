"""`bough linearize` and `bough bode`: linear models of a mechanism at rest, in files, pictures and tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.table import Table

from bough.cli.console import answer, complain, console, guarded, say
from bough.cli.options import At, Json, ModelFile, Settle
from bough.cli.vibration_table import position
from bough.errors import ArgumentError
from bough.flex import load
from bough.mechanism.linear_files import check_ending, save_family
from bough.mechanism.linearize import StateSpace
from bough.mechanism.mechanism import Mechanism
from bough.mechanism.modal_form import frequencies, pole_facts
from bough.mechanism.operating_point import grid_rows, linear_model
from bough.mechanism.reduction import Reduced, reduce
from bough.model.named_files import check_target
from bough.text.ranges import grid_values

From = Annotated[
    list[str] | None,
    typer.Option(
        "--from", metavar="INPUT", help="Input, such as shoulder.tau; may be repeated.", show_default="all inputs"
    ),
]
To = Annotated[
    list[str] | None,
    typer.Option(
        "--to", metavar="OUTPUT", help="Output, such as upper.tip.r[2]; may be repeated.", show_default="all outputs"
    ),
]
SHOWN = 40
"""Poles and zeros that a table shows."""


@guarded
def linearize(
    model: ModelFile,
    output: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="FILE", help="The file: .mat, .npz, .json or .m.", show_default=False),
    ],
    at: At = None,
    settle: Settle = False,
    from_: From = None,
    to: To = None,
    grid: Annotated[
        list[str] | None,
        typer.Option(
            "--grid",
            metavar="NAME=VALUES",
            help="Coordinate of a family of positions: `a,b,c` or `low:high:count`; may be repeated.",
            show_default="one position",
        ),
    ] = None,
    states: Annotated[
        int | None,
        typer.Option("--reduce", metavar="N", help="Keep N states beside the rigid-body modes.", show_default="all"),
    ] = None,
    method: Annotated[
        str, typer.Option("--method", metavar="M", help="How to reduce: balanced, or modal with static correction.")
    ] = "balanced",
    up_to: Annotated[
        float, typer.Option("--up-to", metavar="W", help="Highest frequency of the bound of modal, rad/s.")
    ] = float("inf"),
    as_json: Json = False,
) -> None:
    """The linear model A, B, C, D about a position at rest, named and minimal, for control design.

    Constant forces at the hinges hold the position. Quaternions become three small angles, locked hinges are left out.
    """
    _check_file(output, model)
    system = Mechanism(load(model))
    try:
        rows = grid_rows(grid_values(grid)) if grid else None
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--grid") from None
    settings = [[*(at or []), *(f"{name}={value!r}" for name, value in row.items())] for row in rows or [{}]]
    held = [linear_model(system, position(system, each, settle), inputs=from_, outputs=to) for each in settings]
    found = [each.model for each in held]
    facts: dict[str, float] = {}
    small: Reduced | None = None
    if states is not None:
        if rows is not None:
            raise typer.BadParameter("a family is written whole: leave out --grid or --reduce", param_hint="--reduce")
        if method not in ("balanced", "modal"):
            raise typer.BadParameter(f"expected balanced or modal, found {method!r}", param_hint="--method")
        small = reduce(found[0], states, "balanced" if method == "balanced" else "modal", up_to=up_to)
        found, facts = [small.model], {"error_bound": small.bound}
    save_family(found, output, rows, facts)
    _tell(output, found, small, as_json)
    note = next((each.note for each in held if each.note), "")
    if note:
        complain(f"note: {note}")


def _check_file(output: Path, model: Path) -> None:
    try:
        check_ending(output)
    except ArgumentError as error:
        raise typer.BadParameter(str(error), param_hint="-o") from None
    check_target(output, model)


def _tell(output: Path, found: list[StateSpace], small: Reduced | None, as_json: bool) -> None:
    first = found[0]
    sizes = {"states": len(first.states), "inputs": len(first.inputs), "outputs": len(first.outputs)}
    if as_json:
        more = {} if small is None else {"rigid": small.rigid, "error_bound": small.bound}
        answer({"file": str(output), "models": len(found), **sizes, **more})
        return
    what = ", ".join(f"{count} {name}" for name, count in sizes.items())
    say(f"{output}: {what}" + (f", {len(found)} positions" if len(found) > 1 else ""))
    if small is not None:
        where = "at every frequency" if np.isinf(small.up_to) else f"up to {small.up_to:g} rad/s"
        say(f"{small.rigid} states of rigid-body modes are exact; the rest errs by at most {small.bound:.4g} {where}")


@guarded
def bode(
    model: ModelFile,
    from_: Annotated[
        list[str],
        typer.Option(
            "--from", metavar="INPUT", help="Input, such as shoulder.tau; may be repeated.", show_default=False
        ),
    ],
    to: Annotated[
        list[str],
        typer.Option(
            "--to", metavar="OUTPUT", help="Output, such as upper.tip.r[2]; may be repeated.", show_default=False
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Picture (.png, .svg, .pdf) or numbers (.csv).", show_default=False
        ),
    ] = None,
    at: At = None,
    settle: Settle = False,
    low: Annotated[
        float | None,
        typer.Option("--low", metavar="W", help="First frequency, rad/s.", show_default="below the first pole"),
    ] = None,
    high: Annotated[
        float | None,
        typer.Option("--high", metavar="W", help="Last frequency, rad/s.", show_default="above the last pole"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Frequency response of a mechanism at rest: magnitude and phase, poles, zeros and damping ratios."""
    from bough.report.bode import PICTURES, save_bode

    if output is not None:
        if output.suffix.lower() not in (*PICTURES, ".csv"):
            expected = f"expected a name that ends in {', '.join(PICTURES)} or .csv, found {output}"
            raise typer.BadParameter(expected, param_hint="-o")
        check_target(output, model)
    for name, value in (("--low", low), ("--high", high)):
        if value is not None and not 0.0 < value < np.inf:
            raise typer.BadParameter(f"expected a frequency above 0 rad/s, found {value:g}", param_hint=name)
    if low is not None and high is not None and low >= high:
        raise typer.BadParameter(f"expected more than --low, {low:g} rad/s, found {high:g}", param_hint="--high")
    system = Mechanism(load(model))
    held = linear_model(system, position(system, at or [], settle), inputs=from_, outputs=to)
    linear = held.model
    poles = linear.poles()
    pairs = [(i, j) for j in range(len(linear.inputs)) for i in range(len(linear.outputs))]
    labels = [f"{linear.outputs[i]} / {linear.inputs[j]}" for i, j in pairs]
    zeros = {
        label: linear.zeros(linear.outputs[i], linear.inputs[j]) for label, (i, j) in zip(labels, pairs, strict=True)
    }
    if as_json:
        told = {label: pole_facts(each) for label, each in zeros.items()}
        answer({"poles": pole_facts(poles), "zeros": told})
    else:
        _print_roots("poles", pole_facts(poles))
        for label, each in zeros.items():
            _print_roots(f"zeros of {label}", pole_facts(each))
    if output is not None:
        omega = frequencies(poles, low, high)
        response = linear.response(omega)
        curves = np.stack([response[:, i, j] for i, j in pairs], axis=1)
        save_bode(omega, curves, labels, system.model.name, output)
        say(
            f"{output}: {len(labels)} response{'s' if len(labels) > 1 else ''}, {omega[0]:.4g} to {omega[-1]:.4g} rad/s"
        )
    if held.note:
        complain(f"note: {held.note}")


def _print_roots(title: str, rows: list[dict[str, float]]) -> None:
    out = console()
    if not rows:
        out.print(f"{title}: none", markup=False)
        return
    table = Table(title=title, title_justify="left", header_style="bold")
    for head in ("real, rad/s", "imag, rad/s", "frequency, Hz", "damping, %"):
        table.add_column(head, justify="right", no_wrap=True)
    for row in rows[:SHOWN]:
        damping = "" if not row["omega"] else f"{100 * row['damping']:.4g}"
        table.add_row(f"{row['real']:.6g}", f"{row['imag']:.6g}", f"{row['hertz']:.6g}", damping)
    out.print(table)
    if len(rows) > SHOWN:
        out.print(f"and {len(rows) - SHOWN} more: --json has all", markup=False)
