"""A spacecraft turns itself with a wheel: its panels ring, its momentum stays."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import bough
from bough.report import Curve, Panel, draw_panels
from bough.report.scenes import animate

HERE = Path(__file__).resolve().parent
TORQUE, SLEW, STOP = 2.5, 20.0, 40.0  # N.m, s, s


def wheel_torque(t: float) -> float:
    """Torque on the wheel, N.m: full ahead for half of the slew, full astern for the other half, then nothing."""
    return 0.0 if t >= SLEW else -TORQUE if t < SLEW / 2 else TORQUE


def simulate(step: float = 0.02, rtol: float = 1e-10) -> bough.Result:
    """The slew, and twenty seconds of ringing."""
    return bough.simulate(HERE / "model.yaml", stop=STOP, step=step, rtol=rtol, inputs={"rotor.tau": wheel_torque})


def momenta(result: bough.Result) -> tuple[np.ndarray, np.ndarray]:
    """Linear (N.s) and angular (N.m.s) momentum about the inertial origin, each (n, 3)."""
    system = bough.Mechanism(HERE / "model.yaml")
    q = np.column_stack([result[name] for name in system.q_names])
    u = np.column_stack([result[name] for name in system.u_names])
    pairs = [system.momentum(a, b) for a, b in zip(q, u, strict=True)]
    return np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])


def tip_deflection(result: bough.Result, side: str) -> np.ndarray:
    """In-plane motion of a panel's tip against the hub, m: where it is in the hub's axes, minus where it began."""
    x, y, z, w = (result[f"hub.origin.Q[{i}]"] for i in range(1, 5))
    r = np.array([result[f"{side}_panel.tip.r[{i}]"] - result[f"hub.origin.r[{i}]"] for i in range(1, 4)])
    # First row of the hub's rotation matrix, transposed: the component along the hub's x axis.
    along_x = (1 - 2 * (y * y + z * z)) * r[0] + 2 * (x * y + z * w) * r[1] + 2 * (x * z - y * w) * r[2]
    return along_x - along_x[0]


def yaw(result: bough.Result) -> np.ndarray:
    """Angle of the hub's x axis about z, rad."""
    x, y, z, w = (result[f"hub.origin.Q[{i}]"] for i in range(1, 5))
    return np.arctan2(2 * (x * y + z * w), 1 - 2 * (y * y + z * z))


def main(folder: Path = HERE) -> None:
    """Run, check the momentum, draw."""
    result = simulate()
    linear, angular = momenta(result)
    wheel = 0.04 * abs(result["rotor.w"]).max()  # kg.m^2 rad/s
    print(f"yaw at the end of the slew: {np.degrees(yaw(result)[round(SLEW / 0.02)]):.2f} deg")
    print(f"angular momentum: {angular[0]} N.m.s at the start, drift {abs(angular - angular[0]).max():.1e} N.m.s")
    print(f"  while the wheel stored up to {wheel:.1f} N.m.s; linear momentum stays below {abs(linear).max():.1e} N.s")
    motion = [Curve("", np.degrees(yaw(result)))]
    tips = [Curve(f"{side} panel", 1e3 * tip_deflection(result, side)) for side in ("left", "right")]
    drift = [Curve(axis, 1e12 * (angular - angular[0])[:, i]) for i, axis in enumerate("xyz")]
    panels = [
        Panel("Attitude of the hub", "yaw, deg", motion),
        Panel("In-plane deflection of the panel tips", "mm", tips),
        Panel("Drift of the angular momentum", "10$^{-12}$ N.m.s", drift),
    ]
    motion = animate(bough.Mechanism(HERE / "model.yaml"), result)
    draw_panels(result.t, panels, folder / "free_flyer.png", motion)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
