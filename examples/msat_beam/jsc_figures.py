"""Figures 5 to 11 of the JSC paper: its model, a beam with the modes (21) and a separate tip mass on a pin.

`python examples/msat_beam/jsc_figures.py FOLDER` writes `jsc_figures_5_6.png` and `jsc_figures_7_11.png` and prints the
numbers of docs/papers.md. The paper's body data, (31) to (42), are sums over the nodes of a `nodal` body: nodes at the
points of Gauss and Lobatto, masses by their weights, so that the sums are the integrals. The motor is msat_drive's.
"""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np

import bough
from bough.mechanism.operating_point import linear_model
from bough.report import Curve, Panel, new_figure, save_figure
from bough.report.figures import draw_panel

_spec = spec_from_file_location("msat_beam_run", Path(__file__).with_name("run.py"))
assert _spec is not None and _spec.loader is not None
msat: Any = module_from_spec(_spec)  # run.py beside this file: torque, roots, transfer functions
_spec.loader.exec_module(msat)

MODES, NODES = 16, 48
"""Modes of the beam, and its nodes: 48 of them integrate products of two of 16 modes to rounding."""
KA, KT, R, KB = 6.0, 2.7, 5.0, 2.7
"""Amplifier, V/V; torque constant, N.m/A; winding, Ohm; back-EMF, V.s/rad. Ours: the paper prints none."""
HARDWARE = (5.25, 21.3, 48.3, 86.1)
"""Frequencies measured on the emulator, rad/s: table 2."""
BEAM_MASS = msat.RHO * msat.LENGTH
EI = msat.STIFFNESS**2 * msat.RHO


def lobatto(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights on [0, 1], both ends among them: exact for polynomials up to degree 2 count - 3."""
    top = np.polynomial.legendre.Legendre.basis(count - 1)
    x = np.concatenate([[-1.0], top.deriv().roots().real, [1.0]])
    return 0.5 * (x + 1.0), 1.0 / (count * (count - 1) * top(x) ** 2)


def shapes(mu: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Deflections, eq (21), and slopes, eq (41), of the normalised modes at x = 0 ... l, (modes, points) each."""
    A = 1.0 / np.sqrt(msat.LENGTH * (1.0 + msat.XI + 2.0 * msat.XI * mu * (msat.XI * mu + 1.0 / np.tanh(mu))))  # (27)
    m, a = mu[:, np.newaxis], np.outer(mu, x / msat.LENGTH)
    grown = np.exp(a - m) / -np.expm1(-2.0 * m)  # exp(a) / (2 sinh mu) without overflow
    sinh, cosh = grown * -np.expm1(-2.0 * a), grown * (1.0 + np.exp(-2.0 * a))
    A = A[:, np.newaxis]
    return A * (sinh + np.sin(a) / np.sin(m)), A * m / msat.LENGTH * (cosh + np.cos(a) / np.sin(m))


def model(modes: int = MODES, zeta: float = msat.ZETA) -> dict[str, Any]:
    """The beam by (31) to (42), and 49 kg on a frictionless pin at its tip."""
    mu = msat.roots(modes)
    place, weight = lobatto(NODES)
    X, slope = shapes(mu, msat.LENGTH * place)
    X[:, 0] = 0.0  # (13), exactly
    nodes = [
        {"name": f"n{i}", "position": [float(msat.LENGTH * p), 0.0, 0.0], "mass": float(BEAM_MASS * w)}
        for i, (p, w) in enumerate(zip(place, weight, strict=True))
    ]
    rows = [
        [[0.0, 0.0, float(s), 0.0, float(y), 0.0] for s, y in zip(*pair, strict=True)]
        for pair in zip(slope, X, strict=True)
    ]
    stiffness = EI * (mu / msat.LENGTH) ** 4  # (39)
    # The ratio zeta belongs to the modes of beam and tip mass, whose modal mass is rho: 2 zeta omega rho, (28).
    damping = 2.0 * zeta * msat.frequencies(mu) * msat.RHO
    beam = {
        "attach": "n0",
        "nodes": nodes,
        "modes": rows,
        "stiffness": [float(k) for k in stiffness],
        "damping_matrix": [float(d) for d in damping],
    }
    mass = msat.XI * BEAM_MASS
    return {
        "bough": 1,
        "name": "msat_jsc",
        "bodies": [
            {
                "name": "boom",
                "parent": "ground",
                "hinge": {"name": "motor", "type": "revolute", "axis": [0, 0, 1]},
                "nodal": beam,
            },
            {
                "name": "tip",
                "parent": "boom",
                "at": f"n{NODES - 1}",
                "hinge": {"name": "pin", "type": "revolute", "axis": [0, 0, 1]},
                # The pin passes no moment: any inertia about it gives the same motion.
                "rigid": {"mass": mass, "inertia": [0.5, 0.5, 0.5, 0, 0, 0]},
            },
        ],
        "outputs": ["tip.origin"],
    }


def simulate(modes: int = MODES, scale: float = 1.0) -> bough.Result:
    """Nine seconds under the torque of figure 7."""
    torque = {"motor.tau": msat.torque(scale)}
    return bough.simulate(model(modes), msat.STOP, torque, msat.STEP, rtol=1e-10, atol=1e-13 * scale)


def differences(result: bough.Result, terms: int) -> tuple[np.ndarray, np.ndarray]:
    """Hub, rad, and tip, m: bough less the transfer functions (28), (29) with so many terms, over time."""
    hub, tip = msat.transfer_functions(result.t, terms=terms)
    return result["motor.phi"] - hub, result["tip.origin.r[2]"] - tip


def drive(omega: np.ndarray, tip: np.ndarray, hub: np.ndarray) -> np.ndarray:
    """Eq (30) with K_s = 1: tip over voltage, m/V, from the tip and the hub over torque."""
    return KA * KT * tip / (R + KT * KB * 1j * omega * hub)


def frequency_responses(omega: np.ndarray, modes: int = MODES) -> tuple[np.ndarray, np.ndarray]:
    """Tip over voltage, m/V, by (28) to (30) with as many terms as modes, and by bough's linear model."""
    mu = msat.roots(modes)
    natural = np.append(0.0, msat.frequencies(mu))
    slope, end = msat.shape_values(mu)
    s = 1j * omega[:, np.newaxis]
    terms = 1.0 / (msat.RHO * (s**2 + 2.0 * msat.ZETA * natural * s + natural**2))
    printed = drive(omega, terms @ (slope * end), terms @ slope**2)
    mechanism = bough.Mechanism(model(modes))
    linear = linear_model(
        mechanism, mechanism.initial_state()[0], inputs=["motor.tau"], outputs=["tip.origin.r[2]", "motor.phi"]
    ).model
    G = linear.response(omega)
    return printed, drive(omega, G[:, 0, 0], G[:, 1, 0])


# ---- pictures


def draw_5_6(path: Path) -> float:
    """Magnitude and phase over frequency; returns the largest difference over the magnitude, 0.1 Hz to 4 Hz."""
    lines = np.arange(1, 41) / 10.0
    fine = np.geomspace(0.1, 4.0, 1500)
    curve, _ = frequency_responses(2.0 * np.pi * fine)
    printed, found = frequency_responses(2.0 * np.pi * lines)
    figure = new_figure(8.0, 6.0)
    axes = figure.subplots(2, 1, sharex=True)
    axes[0].semilogx(fine, 20.0 * np.log10(abs(curve)), label="eq (30)")
    axes[0].plot(lines, 20.0 * np.log10(abs(found)), "o", ms=3.5, label="bough, separate tip mass")
    axes[0].set_ylabel("magnitude, dB(m/V)")
    axes[0].set_title("Figure 5: voltage to tip position, magnitude", loc="left", fontsize=11)
    phase = np.degrees(np.unwrap(np.angle(curve))) - 360.0  # from -180 deg: the whole turns on the hub
    near = np.interp(lines, fine, phase)
    shown = np.degrees(np.angle(found))
    axes[1].semilogx(fine, phase)
    axes[1].plot(lines, shown + 360.0 * np.round((near - shown) / 360.0), "o", ms=3.5)
    axes[1].set_ylabel("phase, deg")
    axes[1].set_xlabel("frequency, Hz")
    axes[1].set_title("Figure 6: phase", loc="left", fontsize=11)
    for axis in axes:
        axis.grid(alpha=0.3)
        for number, omega in enumerate(HARDWARE[:2]):
            axis.axvline(
                omega / (2.0 * np.pi), color="#777777", lw=0.8, ls=":", label="" if number else "modes of the hardware"
            )
    axes[0].legend(frameon=False)
    save_figure(figure, path, dpi=100)
    return float((abs(found - printed) / abs(printed)).max())


def draw_7_11(result: bough.Result, path: Path) -> None:
    """Torque, hub, tip, and what bough and the transfer functions differ by."""
    t = result.t
    hub, tip = msat.transfer_functions(t, terms=MODES)
    d_hub, d_tip = differences(result, MODES)
    panels = [
        Panel("Figure 7: torque of the motor", "N.m", [Curve("", np.interp(t, *msat.torque()))]),
        Panel(
            "Figure 8: hub",
            "mrad",
            [Curve("bough", 1e3 * result["motor.phi"]), Curve("eq (29)", 1e3 * hub, style="--")],
        ),
        Panel("Figure 9: hub, difference", "nrad", [Curve("", 1e9 * d_hub)]),
        Panel(
            "Figure 10: tip",
            "mm",
            [Curve("bough", 1e3 * result["tip.origin.r[2]"]), Curve("eq (28)", 1e3 * tip, style="--")],
        ),
        Panel("Figure 11: tip, difference", "nm", [Curve("", 1e9 * d_tip)]),
    ]
    figure = new_figure(8.0, 11.0)
    axes = figure.subplots(len(panels), 1, sharex=True)
    for axis, panel in zip(axes, panels, strict=True):
        draw_panel(axis, t, panel, "time, s" if axis is axes[-1] else "")
    figure.align_ylabels(list(axes))
    save_figure(figure, path, dpi=100)


def main(folder: Path) -> None:
    """Numbers and pictures."""
    print(f"figures 5, 6: largest difference {draw_5_6(folder / 'jsc_figures_5_6.png'):.1e} of the magnitude")
    for modes in (2, 4, 8, MODES):
        result = simulate(modes)
        peaks = abs(result["motor.phi"]).max(), abs(result["tip.origin.r[2]"]).max()
        for terms, name in ((modes, "as many terms"), (msat.ALL_TERMS, "all terms")):
            found = [abs(d).max() for d in differences(result, terms)]
            print(
                f"{modes:2d} modes, {name:13s}: hub {1e3 * found[0]:.2e} mrad, {found[0] / peaks[0]:.1e} of the peak; "
                f"tip {1e3 * found[1]:.2e} mm, {found[1] / peaks[1]:.1e}"
            )
    draw_7_11(result, folder / "jsc_figures_7_11.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "docs" / "pictures")
