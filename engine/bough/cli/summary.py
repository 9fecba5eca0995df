"""What `bough check` tells of a model."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from bough.flex import flex_body
from bough.model import Body
from bough.system import System

SHOWN_FREQUENCIES = 4
"""Frequencies of a body that the table shows; the JSON has all."""


def summary(system: System) -> dict[str, Any]:
    """A model in numbers, ready for JSON."""
    model = system.model
    bodies = [_body(body) for body in model.bodies]
    return {
        "ok": True,
        "name": model.name,
        "fidelity": model.fidelity,
        "gravity": list(model.gravity),
        "mass": sum(body["mass"] for body in bodies),
        "positions": system.nq,
        "speeds": system.nu,
        "modes": sum(len(body["frequencies"]) for body in bodies),
        "bodies": bodies,
        "inputs": [v.name for v in system.variables if v.causality == "input"],
        "outputs": [v.name for v in system.variables if v.causality != "input"],
    }


def _body(body: Body) -> dict[str, Any]:
    hinge = body.hinge
    row: dict[str, Any] = {
        "name": body.name,
        "kind": body.kind,
        "parent": body.parent,
        "at": body.at,
        "hinge": {"name": hinge.name, "type": hinge.type, "dofs": hinge.kind.nu, "drive": hinge.drive},
        "frequencies": [],
        "mode_names": [],
    }
    if body.rigid is not None:
        return row | {"mass": body.rigid.mass}
    flex = flex_body(body)
    hertz = [float(w) / (2 * np.pi) if np.isfinite(w) else None for w in flex.frequencies]
    return row | {"mass": flex.mass, "frequencies": hertz, "mode_names": list(flex.mode_names)}


def print_summary(data: dict[str, Any], out: Console) -> None:
    """The summary as a table with a line of totals."""
    counts = [
        _count(len(data["bodies"]), "body", "bodies"),
        _count(data["speeds"], "degree of freedom", "degrees of freedom"),
        _count(data["modes"], "mode", "modes"),
    ]
    counts.append(f"{data['mass']:.6g} kg")
    gravity = ", ".join(f"{g:g}" for g in data["gravity"])
    out.print(
        f"{data['name']}: {', '.join(counts)}; fidelity {data['fidelity']}, gravity [{gravity}] m/s2", markup=False
    )
    table = Table(header_style="bold")
    for title in ("body", "on", "hinge", "type"):
        table.add_column(title, overflow="fold")
    table.add_column("DOF", justify="right")
    table.add_column("kind")
    table.add_column("mass, kg", justify="right")
    table.add_column("modes, Hz", overflow="fold")
    for body in data["bodies"]:
        hinge = body["hinge"]
        place = "ground" if body["parent"] == "ground" else f"{body['parent']}.{body['at']}"
        drive = "" if hinge["drive"] == "torque" else f" ({hinge['drive']})"
        cells = [body["name"], place, hinge["name"], hinge["type"] + drive, str(hinge["dofs"]), body["kind"]]
        table.add_row(*cells, f"{body['mass']:.6g}", _frequencies(body["frequencies"]))
    out.print(table)


def _frequencies(hertz: list[float | None]) -> str:
    shown = ", ".join("-" if f is None else f"{f:.4g}" for f in hertz[:SHOWN_FREQUENCIES])
    more = len(hertz) - SHOWN_FREQUENCIES
    return f"{shown}, ... ({len(hertz)})" if more > 0 else shown


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
