"""What `bough check` tells of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bough.cli.console import complain
from bough.model import Model, plausibility_notes
from bough.text.source import ModelSource

SHOWN_FREQUENCIES = 4
"""Frequencies of a body that the table shows; the JSON has all."""
WRAPPED = "modes, Hz"
NUMBERS = ("DOF", "mass, kg")
FRAME = 3
"""Columns that a line and a blank on either side of it take."""
FIXED_NAMES = "names of fixed hinges"
LEFT_OUT = ("DOF", "kind", FIXED_NAMES, "mass, kg", "type", "on")
"""What a narrow terminal does without, the first of them first."""


def warn_of_oddities(model: Model, source: ModelSource) -> None:
    """A line on stderr for everything in a model that looks like a slip, such as millimetres for metres."""
    for note in plausibility_notes(model, source):
        complain(f"warning: {note}")


def print_summary(data: dict[str, Any], out: Console) -> None:
    """The summary as a table with a line of totals, and what looks odd below it."""
    counts = [
        _count(len(data["bodies"]), "body", "bodies"),
        _count(data["speeds"], "degree of freedom", "degrees of freedom"),
        _count(data["modes"], "mode", "modes"),
    ]
    counts.append(f"{data['mass']:.6g} kg")
    gravity = f"[{', '.join(f'{g:g}' for g in data['gravity'])}] m/s2"
    if "field" in data:
        center = ", ".join(f"{x:g}" for x in data["field"]["center"])
        gravity = f"of a point mass at [{center}] m, mu {data['field']['mu']:.10g} m3/s2"
    fidelity = _fidelity(data)
    out.print(f"{data['name']}: {', '.join(counts)}; fidelity {fidelity}, gravity {gravity}", markup=False)
    _print_bodies([_cells(body) for body in data["bodies"]], out)
    if data["loops"]["names"]:
        _print_loops(data["loops"], out)
    if data["forces"]:
        told = ", ".join(f"{force['name']} ({force['type']})" for force in data["forces"])
        out.print(f"forces: {told}; stiff ones bind the solver's step", markup=False, soft_wrap=True)
    for note in data["notes"]:
        out.print(f"note: {note['text']}", markup=False, soft_wrap=True)


def _fidelity(data: dict[str, Any]) -> str:
    """The model's fidelity, and the bodies that choose another."""
    of = data["fidelity"]
    others = [body["name"] for body in data["bodies"] if body.get("fidelity", of) != of]
    if not others:
        return str(of)
    names = ", ".join(others[:5]) + (f" and {len(others) - 5} more" if len(others) > 5 else "")
    return f"{of}, but {'full' if of == 'ruthless' else 'ruthless'} of {names}"


def _print_loops(loops: dict[str, Any], out: Console) -> None:
    freedoms = _count(loops["freedoms"], "freedom", "freedoms")
    text = f"loops and couplings: {', '.join(loops['names'])}; {loops['equations']} equations leave {freedoms}"
    if loops["redundant"]:
        shares = ", ".join(f"{count} of {name}" for name, count in loops["redundant"].items())
        text += f"; redundant, their reactions shared: {shares}"
    out.print(text, markup=False, soft_wrap=True)
    for m in loops["moved"]:
        out.print(f"assembly moved {m['name']} {_move(m['drawn'], m['closed'])}", markup=False, soft_wrap=True)


def _move(drawn: float, closed: float) -> str:
    """From where to where, with as many digits as show the way between to a tenth, and the way."""
    way = closed - drawn
    digits = 6
    while digits < 17 and abs(float(f"{closed:.{digits}g}") - float(f"{drawn:.{digits}g}") - way) > 0.1 * abs(way):
        digits += 1
    return f"from {drawn:.{digits}g} to {closed:.{digits}g}, by {way:.3g}"


def _cells(body: dict[str, Any]) -> dict[str, str]:
    hinge = body["hinge"]
    return {
        "body": body["name"],
        "on": body["parent"] if body["at"] == "origin" else f"{body['parent']}.{body['at']}",
        "hinge": hinge["name"],
        "type": hinge["type"] + ("" if hinge["drive"] == "torque" else f" ({hinge['drive']})"),
        "DOF": str(hinge["dofs"]),
        "kind": f"{body['kind']} in {body['bodies']}" if "bodies" in body else body["kind"],
        "mass, kg": f"{body['mass']:.6g}",
        WRAPPED: _frequencies(body["frequencies"]),
    }


def _print_bodies(rows: list[dict[str, str]], out: Console) -> None:
    """As many columns as there is room for: a name that is broken in two cannot be copied or searched for."""
    for count in range(len(LEFT_OUT) + 1):
        left_out = LEFT_OUT[:count]
        kept = [_without(row, left_out) for row in rows]
        widths = {title: _narrowest(title, kept) for title in kept[0]}
        if sum(width + FRAME for width in widths.values()) + 1 <= out.width:
            out.print(_table(kept, widths))
            if count:
                out.print(f"no room here for {', '.join(left_out)}: --json has everything", markup=False)
            return
    for row in rows:
        out.print("\n  ".join(f"{key} {cell}" for key, cell in row.items() if cell), markup=False, soft_wrap=True)


def _without(row: dict[str, str], left_out: Sequence[str]) -> dict[str, str]:
    kept = {key: cell for key, cell in row.items() if key not in left_out}
    if FIXED_NAMES in left_out and row["type"] == "fixed":
        kept["hinge"] = ""
    return kept


def _narrowest(title: str, rows: list[dict[str, str]]) -> int:
    """Columns that a title and the cells below it take; the frequencies may be wrapped between two of them."""
    cells = [row[title] for row in rows]
    words = [word for cell in cells for word in cell.split()] if title == WRAPPED else cells
    return max(cell_len(text) for text in (title, *words))


def _table(rows: list[dict[str, str]], widths: dict[str, int]) -> Table:
    table = Table(header_style="bold")
    for title, width in widths.items():
        justify: Literal["left", "right"] = "right" if title in NUMBERS else "left"
        table.add_column(title, justify=justify, no_wrap=title != WRAPPED, min_width=width)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row.values()))
    return table


def _frequencies(hertz: list[float | None]) -> str:
    shown = ", ".join("-" if f is None else f"{f:.4g}" for f in hertz[:SHOWN_FREQUENCIES])
    more = len(hertz) - SHOWN_FREQUENCIES
    return f"{shown}, ... ({len(hertz)})" if more > 0 else shown


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
