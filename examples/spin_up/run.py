"""A beam spun up: what geometric stiffening does, against the numbers of Simo and Vu-Quoc."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
from scipy.optimize import root

import bough
from bough.report import Curve, Panel, draw_panels
from bough.report.scenes import animate

HERE = Path(__file__).resolve().parent
LENGTH, SPEED, RISE = 10.0, 6.0, 15.0
"""Length, m; final speed, rad/s; when it is reached, s."""
STOP, STEP = 20.0, 0.02


def acceleration(t: float) -> float:
    """Of the hub, rad/s^2: second derivative of (W/T) (t^2/2 + (T/2 pi)^2 (cos(2 pi t/T) - 1))."""
    return SPEED / RISE * (1.0 - math.cos(2.0 * math.pi * t / RISE)) if t < RISE else 0.0


def model(stiffening: bool = True) -> bough.Model:
    """The beam, with or without the stiffness that the rotation lends it."""
    return bough.load(HERE / "model.yaml").model_copy(update={"geometric_stiffening": stiffening})


def simulate(stiffening: bool = True, stop: float = STOP) -> bough.Result:
    """The spin-up and five seconds of steady rotation. The stretch is stiff: linearly implicit steps."""
    inputs = {"hub.a": acceleration}
    return bough.simulate(model(stiffening), stop, inputs, STEP, method="rosenbrock2", rtol=1e-6)


def tip(result: bough.Result) -> tuple[np.ndarray, np.ndarray]:
    """Extension and deflection of the tip in the rotating frame, m, (n,) each."""
    phi, x, y = (result[name] for name in ("hub.phi", "blade.tip.r[1]", "blade.tip.r[2]"))
    return x * np.cos(phi) + y * np.sin(phi) - LENGTH, y * np.cos(phi) - x * np.sin(phi)


def steady(system: bough.Mechanism, speed: float) -> tuple[np.ndarray, np.ndarray]:
    """Positions and speeds of the beam that rotates without vibrating."""
    u = np.zeros(system.nu)
    u[0] = speed

    def unrest(eta: np.ndarray) -> np.ndarray:
        return system.forward_dynamics(np.append(0.0, eta), u, np.zeros(system.nu))[1:]

    return np.append(0.0, root(unrest, np.zeros(system.nq - 1), tol=1e-12).x), u


def frequencies(system: bough.Mechanism, speed: float) -> np.ndarray:
    """Of small vibrations about the steady rotation, hub driven, rad/s, lowest first; nan if they grow."""
    A = system.linearize(*steady(system, speed), np.zeros(system.nu)).A
    modes = np.delete(np.arange(len(A)), [0, system.nq])
    values = np.linalg.eigvals(A[np.ix_(modes, modes)])
    if values.real.max() > 1e-6:
        return np.full(system.nu - 1, np.nan)
    return np.sort(values.imag)[system.nu - 1 :]


def main(folder: Path = HERE) -> None:
    """Spin up with and without, compare, draw."""
    system = bough.Mechanism(model())
    with_it, without = simulate(), simulate(stiffening=False, stop=9.0)
    extension, deflection = tip(with_it)
    late, lowest = with_it.t >= RISE, int(np.argmin(deflection))
    print(f"largest deflection {deflection[lowest]:.4f} m at {with_it.t[lowest]:.2f} s; published -0.574 m at 6.76 s")
    print(f"steady extension {extension[late].mean():.3e} m; published 5.14e-04 m")
    for speed, published in ((0.0, 3.798), (SPEED, 4.513)):
        found = frequencies(system, speed)[0]
        print(f"first frequency at {speed:.0f} rad/s: {found:.4f} rad/s; published {published} rad/s")
    lost = tip(without)[1]
    print(f"without stiffening: {lost[int(8 / STEP)]:.1f} m at 8 s, {lost[-1]:.1f} m at 9 s")
    shown = np.full(with_it.t.size, np.nan)
    shown[: lost.size] = np.where(lost > -1.2, lost, np.nan)
    panels = [
        Panel("Speed of the hub", "rad/s", [Curve("", with_it["hub.w"])]),
        Panel(
            "Deflection of the tip in the rotating frame",
            "m",
            [Curve("geometric stiffening", deflection), Curve("without", shown, style="--")],
        ),
        Panel("Extension of the tip", "mm", [Curve("", 1e3 * extension)]),
    ]
    motion = animate(system, with_it)
    draw_panels(with_it.t, panels, folder / "spin_up.png", motion)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
