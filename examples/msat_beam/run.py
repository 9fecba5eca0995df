"""The MSAT emulator: hub and tip of a pinned beam with a tip mass against the published transfer functions."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from ruamel.yaml import YAML

import bough
from bough.report import Curve, Panel, draw_panels
from bough.report.scenes import animate

HERE = Path(__file__).resolve().parent
LENGTH, RHO, STIFFNESS, XI = 3.372, 2.82, 5.974, 5.18
"""Length, m; mass per length, kg/m; sqrt(EI/rho), m^2/s; tip mass over beam mass."""
ZETA = 0.005
"""Damping ratio of every mode."""
STOP, STEP = 9.0, 0.01
KNOT = 0.075
"""Distance of the torque's corners, s: about a quarter of the second period; four of them, of the first."""
TERMS, ALL_TERMS = 60, 20_000
"""Terms of the series solved in time, and all; those between, with periods under 0.4 ms, follow the torque at once."""


def torque(scale: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Corners of the torque, s and N.m: triangular waves of 1.2 s and 0.3 s, 0.2 and 0.1 N.m high, for 7.2 s."""
    k = np.arange(97)
    slow = np.interp(k % 16, [0, 4, 12, 16], [0.0, 0.2, -0.2, 0.0])
    return KNOT * k, scale * (slow + np.array([0.0, 0.1, 0.0, -0.1])[k % 4])


# ---- the transfer functions; numbers are those of the paper's equations


def roots(count: int) -> np.ndarray:
    """The first roots mu of cot mu = coth mu + 2 Xi mu, (20), each a little above a multiple of pi, (count,)."""
    multiples = np.pi * np.arange(1, count + 1)
    mu = multiples
    for _ in range(12):  # each gains two digits and more
        mu = multiples + np.arctan(1.0 / (1.0 / np.tanh(mu) + 2.0 * XI * mu))
    return mu


def frequencies(mu: np.ndarray) -> np.ndarray:
    """rad/s, (n,), eq (23)."""
    return (mu / LENGTH) ** 2 * STIFFNESS


def shape_values(mu: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slope X'(0) and deflection X(l) of the normalised modes (21), (26), (27), rigid mode first, (n + 1,) each."""
    coth, cosech = 1.0 / np.tanh(mu), 2.0 * np.exp(-mu) / -np.expm1(-2.0 * mu)
    A = 1.0 / np.sqrt(LENGTH * (1.0 + XI + 2.0 * XI * mu * (XI * mu + coth)))
    A0 = np.sqrt(3.0 / (LENGTH**3 * (1.0 + 3.0 * XI)))
    slope = A * mu / LENGTH * (cosech + 1.0 / np.sin(mu))
    return np.append(A0, slope), np.append(A0 * LENGTH, 2.0 * A)


def ramp_response(omega: float, zeta: float, t: np.ndarray) -> np.ndarray:
    """x(t) from x'' + 2 zeta omega x' + omega^2 x = t for t > 0, at rest before."""
    t = np.maximum(t, 0.0)
    if omega == 0.0:
        return t**3 / 6.0
    w = omega * np.sqrt(1.0 - zeta**2)
    swing = 2.0 * zeta / omega * np.cos(w * t) + (2.0 * zeta**2 - 1.0) / w * np.sin(w * t)
    return (t - 2.0 * zeta / omega + np.exp(-zeta * omega * t) * swing) / omega**2


def transfer_functions(t: np.ndarray, zeta: float = ZETA, terms: int = ALL_TERMS) -> tuple[np.ndarray, np.ndarray]:
    """Hub angle, rad, and tip deflection, m, that (28) and (29) give for the torque, (n,) each.

    The torque is a sum of ramps that set in at its corners, and so is the response of every mode. Eq (29) is printed
    with X''(0), which is zero; it is X'(0)^2.

    Args:
        t: Times, s.
        zeta: Damping ratio.
        terms: Modes in the sums, besides the rigid one.
    """
    mu = roots(terms)
    omega = np.append(0.0, frequencies(mu))
    slope, tip = shape_values(mu)
    times, values = torque()
    kinks = np.diff(np.concatenate([[0.0], np.diff(values) / np.diff(times), [0.0]]))
    now = np.interp(t, times, values)
    hub, deflection = np.zeros(t.size), np.zeros(t.size)
    for w, a, b in zip(omega[: TERMS + 1], slope, tip, strict=False):
        x = sum(kink * ramp_response(w, zeta, t - at) for kink, at in zip(kinks, times, strict=True))
        hub, deflection = hub + a**2 / RHO * x, deflection + a * b / RHO * x
    fast = slope[TERMS + 1 :] / (RHO * omega[TERMS + 1 :] ** 2)
    return hub + fast @ slope[TERMS + 1 :] * now, deflection + fast @ tip[TERMS + 1 :] * now


# ---- the simulation


def model(boundary: str, count: int, zeta: float = ZETA) -> bough.Model:
    """The model file with other modes and damping."""
    given = YAML(typ="safe").load(HERE / "model.yaml")
    given["bodies"][0]["beam"] |= {"modes": {"boundary": boundary, "bending_z": count}, "damping": zeta}
    return bough.load(given)


def simulate(boundary: str = "pinned", count: int = 16, zeta: float = ZETA, scale: float = 1.0) -> bough.Result:
    """Nine seconds, in the first 7.2 of them the torque or a part of it."""
    boom = model(boundary, count, zeta)
    return bough.simulate(boom, STOP, {"motor.tau": torque(scale)}, STEP, rtol=1e-9, atol=1e-12 * scale)


def errors(result: bough.Result, reference: tuple[np.ndarray, np.ndarray], scale: float = 1.0) -> np.ndarray:
    """Largest differences of hub and tip from a reference, over the peak of each, (2,)."""
    found = result["motor.phi"] / scale, result["boom.tip.r[2]"] / scale
    return np.array([abs(a - b).max() / abs(b).max() for a, b in zip(found, reference, strict=True)])


def main(folder: Path = HERE) -> None:
    """Compare with the closed forms, draw."""
    system = bough.Mechanism(HERE / "model.yaml")
    still = np.zeros(system.nu)
    found = np.sqrt(np.sort(-np.linalg.eigvals(system.linearize(still, still, still).A[system.nq :, : system.nq]).real))
    for ours, theirs in zip(found[1:6], frequencies(roots(5)), strict=True):
        print(f"frequency {ours:9.4f} rad/s, closed form {theirs:9.4f} rad/s")
    result = simulate()
    hub, tip = reference = transfer_functions(result.t)
    print("errors over the peak: hub {:.2e}, tip {:.2e}".format(*errors(result, reference)))
    cut = errors(result, transfer_functions(result.t, terms=16))
    print("with as many terms as modes: hub {:.2e}, tip {:.2e}".format(*cut))
    panels = [
        Panel("Torque of the motor", "N.m", [Curve("", np.interp(result.t, *torque()))]),
        Panel(
            "Angle of the hub",
            "mrad",
            [Curve("bough", 1e3 * result["motor.phi"]), Curve("eq (29)", 1e3 * hub, style="--")],
        ),
        Panel(
            "Deflection of the tip",
            "mm",
            [Curve("bough", 1e3 * result["boom.tip.r[2]"]), Curve("eq (28)", 1e3 * tip, style="--")],
        ),
    ]
    motion = animate(system, result, exaggeration=[20.0], title="Bending twenty times as large,")
    draw_panels(result.t, panels, folder / "msat_beam.png", motion)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
