"""The FMU's documentation: one page with a picture, how to connect it, and every variable."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from bough.fmu.common_xml import start_text
from bough.fmu.description import Description
from bough.mechanism.variable_table import FmuVariable
from bough.model import Body, Hinge, Model
from bough.text.units import NONE, display_unit

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #24292f; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { margin-bottom: 0; } .lead { color: #57606a; margin-top: .3rem; }
svg { width: 100%; height: auto; } table { border-collapse: collapse; width: 100%; font-size: 14px; }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid #d8dee4; vertical-align: top; }
td:first-child, code { font-family: ui-monospace, monospace; font-size: 13px; }
summary { cursor: pointer; color: #57606a; margin: .5rem 0; }
"""

_SECTIONS = (
    ("Inputs", "input"),
    ("Outputs", "output"),
    ("Parameters", "parameter"),
)


def documentation(model: Model, d: Description, picture: str, fmi: str) -> str:
    """The text of documentation/index.html."""
    return f"""<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>{escape(d.name)}</title><style>{STYLE}</style></head>
<body>
<h1>{escape(d.name)}</h1>
<p class="lead">{escape(d.text)}. FMI {fmi}, Co-Simulation and Model Exchange, written by {escape(d.tool)}.</p>
{picture}
<p class="lead">Start pose, inertial frame. Circles are hinges, dots are masses.</p>
<h2>The mechanism</h2>
{_tree(model)}
<h2>How to connect it</h2>
{_connections(model, d.variables)}
{sections(d)}
</body>
</html>
"""


def sections(d: Description) -> str:
    """Tables of inputs, outputs and parameters."""
    return "".join(
        f"<h2>{title}</h2>\n{_table(v for v in d.variables if v.causality == causality)}"
        for title, causality in _SECTIONS
        if any(v.causality == causality for v in d.variables)
    )


def _tree(model: Model) -> str:
    rows = "".join(
        f"<tr><td>{escape(b.name)}</td><td>{_kind(model, b)}</td>"
        f"<td>{escape(b.hinge.name)}</td><td>{_drive(b.hinge)}</td>"
        f"<td>{escape(b.parent if b.parent == 'ground' else f'{b.parent}.{b.at}')}</td></tr>\n"
        for b in model.whole_bodies
    )
    head = "<tr><th>Body</th><th>Kind</th><th>Hinge</th><th>Type</th><th>On</th></tr>"
    return f"<table>{head}\n{rows}</table>"


def _drive(hinge: Hinge) -> str:
    """Type of a hinge and what drives it; nothing drives one that does not move."""
    kind = hinge.kind
    if not kind.nu:
        return hinge.type
    if hinge.drive == "locked":
        return f"{hinge.type}, locked at the start"
    what = [] if hinge.drive == "motion" else ["force"] * kind.n_lin + ["torque"] * kind.n_rot
    names = what or ["acceleration"] * kind.nu
    plural = [name if names.count(name) == 1 else f"{name}s" for name in dict.fromkeys(names)]
    return f"{hinge.type}, {' and '.join(plural)} {'is an input' if len(names) == 1 else 'are inputs'}"


def _kind(model: Model, body: Body) -> str:
    if body.rigid is not None:
        return "rigid"
    pieces = model.pieces(body.name)
    modes = sum(piece.mode_count for piece in pieces)
    inside = f" in {len(pieces)} bodies" if len(pieces) > 1 else ""
    return f"flexible, {modes} mode{'' if modes == 1 else 's'}{inside}"


def _connections(model: Model, variables: Sequence[FmuVariable]) -> str:
    """What an engineer does with it, with names of this model."""
    efforts = [v.name for v in variables if v.causality == "input"]
    example = efforts[0] if efforts else None
    lines = [
        "Positions and speeds do not depend on the inputs of the same instant: a motor that takes the hinge's speed "
        "and gives its torque closes no algebraic loop. Accelerations, reactions and forces do depend on them.",
        "Start values of all positions and speeds can be set before initialization. Tunable parameters can be set "
        "between steps. Quaternions are x, y, z, w.",
    ]
    if example is not None:
        lines.insert(0, f"Feed <code>{escape(example)}</code> and the other inputs; inputs left alone are zero.")
    if any(b.hinge.kind.nu and b.hinge.drive != "motion" for b in model.bodies):
        lines.append(
            "A hinge whose <code>locked</code> is true is held where it is; its spring, damper and input do not act."
        )
    lines.append(
        "Stiff modes make adaptive steps short: <code>solver.method</code> = 2 takes them in its stride "
        "(Co-Simulation only, set before initialization)."
    )
    return "<ul>" + "".join(f"<li>{line}</li>" for line in lines) + "</ul>"


def _table(variables: Iterable[FmuVariable]) -> str:
    rows = "".join(
        f"<tr><td>{escape(v.name)}{f'[{v.count}]' if v.array else ''}</td><td>{_unit(v)}</td>"
        f"<td>{_start(v)}</td><td>{escape(v.description)}</td></tr>\n"
        for v in variables
    )
    return f"<table><tr><th>Name</th><th>Unit</th><th>Start</th><th>Meaning</th></tr>\n{rows}</table>\n"


def _unit(v: FmuVariable) -> str:
    if v.unit in ("", NONE):
        return "" if v.type == "Real" else v.type.lower()
    shown = display_unit(v.unit)
    return escape(v.unit) if shown is None else f"{escape(v.unit)} (shown in {escape(shown)})"


def _start(v: FmuVariable) -> str:
    return escape(start_text(v) or "")
