"""The MSAT emulator with motor and amplifier: Bode plot of two coupled FMUs against the published transfer function."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import bough
from bough.coupling import run
from bough.report import new_figure, save_figure
from bough.report.figures import SCENE, draw_scene
from bough.report.scenes import animate

HERE = Path(__file__).resolve().parent
LENGTH, RHO, STIFFNESS, XI, ZETA = 3.372, 2.82, 5.974, 5.18, 0.005
"""Length, m; mass per length, kg/m; sqrt(EI/rho), m^2/s; tip mass over beam mass; damping ratio."""
KA, KT, R, KB = 6.0, 2.7, 5.0, 2.7
"""Amplifier, V/V; torque constant, N.m/A; winding, Ohm; back-EMF, V.s/rad."""
PERIOD = 10.0
"""Of the test signal, s."""
LINES = np.arange(1, 41)
"""Multiples of 1 / PERIOD in it: 0.1 Hz to 4 Hz."""
FADE, STOP = 2 * PERIOD, 5 * PERIOD
"""The signal fades in, so that it leaves little drift and vibration behind; the last two periods are used, s."""
TERMS = 400


def voltage(t: float) -> float:
    """Sum of cosines, larger where the tip follows less, phases after Schroeder (IEEE Trans. IT-16, 1970), V."""
    phases = -np.pi * LINES * (LINES - 1) / LINES.size
    x = min(t / FADE, 1.0)
    return float(0.004 * x**3 * (10 - 15 * x + 6 * x * x) * (LINES @ np.cos(2.0 * np.pi * LINES * t / PERIOD + phases)))


def simulate() -> bough.Result:
    """Both FMUs under the test signal; every tenth communication point is kept."""
    return run(HERE / "system.yaml", stop=STOP, inputs={"motor.u": voltage}, every=10)


def response(result: bough.Result) -> tuple[np.ndarray, np.ndarray]:
    """Frequencies, Hz, and tip position over voltage there, m/V.

    The boom as a whole keeps what speed the start gave it for minutes. This drift a + b t + c t^2 is what the last two
    periods differ by, b T + c (2 t T + T^2), and is taken off.
    """
    n = round(PERIOD / (result.t[1] - result.t[0]))
    tip, volts = result["boom.boom.tip.r[2]"], result["motor.u"]
    before, last = tip[-2 * n - 1 : -n - 1], tip[-n - 1 : -1]
    x = np.arange(n) / n - 1.0  # of the period before the last, over T
    slope, level = np.polyfit(x, last - before, 1)
    drift = (level - 0.5 * slope) * (x + 1.0) + 0.5 * slope * (x + 1.0) ** 2
    spectrum = np.fft.rfft(last - drift) / np.fft.rfft(volts[-n - 1 : -1])
    return LINES / PERIOD, spectrum[LINES]


def transfer_function(hertz: np.ndarray) -> np.ndarray:
    """Eq (30) of the paper, tip position over voltage, m/V; (29) with the (X'(0))^2 that it lacks in print."""
    multiples = np.pi * np.arange(1, TERMS + 1)
    mu = multiples
    for _ in range(12):  # (20)
        mu = multiples + np.arctan(1.0 / (1.0 / np.tanh(mu) + 2.0 * XI * mu))
    omega = np.append(0.0, (mu / LENGTH) ** 2 * STIFFNESS)
    coth, cosech = 1.0 / np.tanh(mu), 2.0 * np.exp(-mu) / -np.expm1(-2.0 * mu)
    A = 1.0 / np.sqrt(LENGTH * (1.0 + XI + 2.0 * XI * mu * (XI * mu + coth)))  # (27)
    A0 = np.sqrt(3.0 / (LENGTH**3 * (1.0 + 3.0 * XI)))  # (26)
    slope = np.append(A0, A * mu / LENGTH * (cosech + 1.0 / np.sin(mu)))
    tip = np.append(A0 * LENGTH, 2.0 * A)
    s = 2j * np.pi * hertz[:, np.newaxis]
    modes = 1.0 / (RHO * (s**2 + 2.0 * ZETA * omega * s + omega**2))
    P_tip, P_hub = modes @ (slope * tip), modes @ slope**2  # (28), (29)
    return KA * KT * P_tip / (R + KT * KB * s[:, 0] * P_hub)


def errors(result: bough.Result) -> tuple[float, float]:
    """Largest differences from the transfer function: relative in magnitude, and in phase, deg."""
    hertz, found = response(result)
    ratio = found / transfer_function(hertz)
    return float(abs(abs(ratio) - 1.0).max()), float(np.degrees(abs(np.angle(ratio))).max())


def main(folder: Path = HERE) -> None:
    """Run, compare, draw."""
    result = simulate()
    magnitude, phase = errors(result)
    print(f"largest error from 0.1 Hz to 4 Hz: {100 * magnitude:.2f} % in magnitude, {phase:.2f} deg in phase")
    hertz, found = response(result)
    fine = np.geomspace(0.08, 5.0, 2000)
    figure = new_figure(8.5, 6.5 + SCENE)
    boom, large = bough.Mechanism(HERE / "model.yaml"), "Bending twenty times as large,"
    draw_scene(figure, animate(boom, result, prefix="boom.", exaggeration=[20.0], trails=(), title=large))
    axes = figure.subplots(2, 1, sharex=True)
    for axis, of, label in (
        (axes[0], lambda P: 20.0 * np.log10(abs(P)), "magnitude, dB(m/V)"),
        (axes[1], lambda P: np.degrees(np.unwrap(np.angle(P))), "phase, deg"),
    ):
        axis.semilogx(fine, of(transfer_function(fine)), color="#0b5c8a", label="eq (30)")
        axis.set_ylabel(label)
        axis.grid(color="#e0e4e8")
    axes[0].plot(hertz, 20.0 * np.log10(abs(found)), "o", ms=3.5, color="#d1622b", label="coupled FMUs")
    reference = np.degrees(np.unwrap(np.angle(transfer_function(fine))))
    turns = np.interp(hertz, fine, reference)
    shown = np.degrees(np.angle(found))
    axes[1].plot(hertz, shown + 360.0 * np.round((turns - shown) / 360.0), "o", ms=3.5, color="#d1622b")
    axes[0].set_title("Amplifier voltage to tip position", loc="left", fontweight="bold")
    axes[0].legend(frameon=False)
    axes[1].set_xlabel("frequency, Hz")
    save_figure(figure, folder / "msat_drive.png", dpi=100)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
