"""A pendulum at large amplitude against the closed form."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from scipy.special import ellipj, ellipk

import bough
from bough.report import Curve, Panel, draw_panels
from bough.report.scenes import animate

HERE = Path(__file__).resolve().parent
LENGTH, GRAVITY, START = 1.0, 9.81, np.radians(120.0)
OMEGA = np.sqrt(3 * GRAVITY / (2 * LENGTH))  # rad/s, small swings of a rod about its end
K = np.sin(START / 2)  # modulus of the elliptic functions
PERIOD = 4 * ellipk(K**2) / OMEGA  # s


def simulate(step: float = 0.01, rtol: float = 1e-10) -> bough.Result:
    """Three periods and a little more."""
    return bough.simulate(HERE / "model.yaml", stop=7.0, step=step, rtol=rtol)


def closed_form(t: np.ndarray) -> np.ndarray:
    """Angle at time t, rad: phi = 2 asin(k cd(omega t, k))."""
    _, cn, dn, _ = ellipj(OMEGA * t, K**2)
    return 2 * np.arcsin(K * cn / dn)


def period(result: bough.Result) -> float:
    """Time between the first and the third passage through the lowest position, s."""
    phi, t = result["pivot.phi"], result.t
    i = np.flatnonzero(phi[:-1] * phi[1:] < 0)[[0, 2]]
    # Cubic through value and speed at both ends of the interval, solved by Newton's method.
    w, h = result["pivot.w"], t[1] - t[0]
    x = phi[i] / (phi[i] - phi[i + 1])
    for _ in range(5):
        y, slope = _hermite(x, h, phi[i], phi[i + 1], w[i], w[i + 1])
        x = x - y / slope
    first, third = t[i] + h * x
    return float(third - first)


def _hermite(x, h, y0, y1, v0, v1):
    a, b = 2 * (y0 - y1) + h * (v0 + v1), 3 * (y1 - y0) - h * (2 * v0 + v1)
    return ((a * x + b) * x + h * v0) * x + y0, (3 * a * x + 2 * b) * x + h * v0


def main(folder: Path = HERE) -> None:
    """Run, compare, draw."""
    result = simulate()
    exact = closed_form(result.t)
    found = period(result)
    print(f"period: {found:.10f} s, closed form {PERIOD:.10f} s, small swings {2 * np.pi / OMEGA:.4f} s")
    print(f"largest error of the angle: {abs(result['pivot.phi'] - exact).max():.1e} rad")
    small = START * np.cos(OMEGA * result.t)
    angles = [Curve("bough", np.degrees(result["pivot.phi"])), Curve("small swings", np.degrees(small), style=":")]
    error = [Curve("", 1e9 * (result["pivot.phi"] - exact))]
    panels = [Panel("Angle of the rod", "angle, deg", angles), Panel("Difference from the closed form", "nrad", error)]
    motion = animate(bough.Mechanism(HERE / "model.yaml"), result, stop=PERIOD / 2)
    draw_panels(result.t, panels, folder / "pendulum.png", motion)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
