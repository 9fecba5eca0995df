"""The documentation inside a partner's FMU: what it computes, and every variable."""

from __future__ import annotations

from html import escape

from bough.fmu.description import Description
from bough.fmu.fmu_page import STYLE, sections
from bough.partners.quantity import Partner

_LAWS = {
    "motor": (
        "<code>v = Ka u</code>, at most <code>u_max</code> either way",
        "<code>v = R i + L di/dt + Kb N w</code>",
        "<code>tau = N eta Kt i</code>",
        "The amplifier keeps <code>|i| &le; i_max</code> as far as its voltage reaches. Add <code>armature</code> to "
        "the hinge that the motor drives: the rotor turns with it.",
    ),
    "controller": (
        "<code>u = kp e + kd (w_ref - w) + I + kv w_ref + ka a_ref + u_ff</code>, at most <code>u_max</code> either "
        "way, every <code>sample</code> seconds, held in between",
        "<code>I</code> grows by <code>ki sample e</code>, except where <code>u</code> is at its limit and it would "
        "push it further",
        "The reference is the built-in move plus <code>phi_cmd</code>, <code>w_cmd</code>, <code>a_cmd</code>.",
    ),
    "model-controller": (
        "Predict: the flexible model, driven by the torques of the last sample, gives angles, speeds and deflections.",
        "Correct: what the measured angles and speeds differ from the predicted ones moves the whole state.",
        "Torque: inverse dynamics of the desired motion, less feedback of the difference between estimated and desired "
        "state, deflections included.",
        "<code>u = ku tau + kw w</code> is for a motor: <code>ku = R/(Ka N eta Kt)</code>, <code>kw = Kb N/Ka</code>.",
    ),
}


def page(partner: Partner, d: Description, fmi: str) -> str:
    """The text of documentation/index.html."""
    laws = "".join(f"<li>{law}</li>" for law in _LAWS[partner.kind])
    return f"""<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>{escape(d.name)}</title><style>{STYLE}</style></head>
<body>
<h1>{escape(d.name)}</h1>
<p class="lead">{escape(d.text)}. FMI {fmi}, Co-Simulation, written by {escape(d.tool)}.</p>
<ul>{laws}</ul>
{sections(d)}
</body>
</html>
"""
