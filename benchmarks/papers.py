"""Figure 2 of the 1992 paper: cost of composite and articulated bodies, from its polynomials and measured.

`python -m benchmarks.papers PICTURE` measures on this machine, prints the table and draws both ratios in one picture.
The measured chain is that of the figure: ten bodies on one-DOF rotary hinges, free-free modes, ruthless. Times are the
least of several, both algorithms in turn, one state at a time in C.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import bough
from bough.report import new_figure, save_figure

BODIES = 10
MODES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
STATES = 40
ROUNDS = 15


def composite_cost(nm: int, bodies: int = BODIES) -> float:
    """Multiplications and additions of section 8.1 for bodies with nm modes each."""
    n = bodies * (nm + 1)
    total = 0.0
    for k in range(1, bodies + 1):
        total += (48 * nm + 90) + (nm**2 + 97 / 2 * nm + 116)  # R(k)
        total += k * (12 * nm**2 + 34 * nm + 13) + k * (11 * nm**2 + 24 * nm + 13)  # the mass matrix
        total += (2 * nm**2 + 54 * nm + 206) + (2 * nm**2 + 50 * nm + 143)  # C by inverse dynamics
    total += n  # T - C
    return total + (n**3 / 6 + 3 / 2 * n**2 - 2 / 3 * n) + (n**3 / 6 + n**2 - 7 / 6 * n)


def articulated_cost(nm: int, bodies: int = BODIES) -> float:
    """Multiplications and additions of section 8.2; D_f is inverted up to seven modes, by (77) beyond."""
    if nm <= 7:
        each = (5 / 6 * nm**3 + 25 / 2 * nm**2 + 764 / 3 * nm + 180) + (
            5 / 6 * nm**3 + 21 / 2 * nm**2 + 548 / 3 * nm + 164
        )
    else:
        each = (12 * nm**2 + 255 * nm + 572) + (13 * nm**2 + 182 * nm + 445)
    each += (nm**2 + 25 * nm + 49) + (nm**2 + 24 * nm + 50)  # tip to base
    each += (18 * nm + 52) + (19 * nm + 42)  # base to tip
    return bodies * each


def ratio(nm: int) -> float:
    """Composite over articulated by the polynomials."""
    return composite_cost(nm) / articulated_cost(nm)


def chain(nm: int, fidelity: str = "ruthless") -> dict[str, Any]:
    """Ten beams one after the other with nm free-free modes each."""
    beam = {
        "length": 1.0,
        "elements": 20,
        "section": {"area": 1e-4, "Iy": 2e-9, "Iz": 1e-9, "J": 2e-9},
        "material": {"E": 70e9, "nu": 0.33, "rho": 2700},
        "modes": {"boundary": "free", "count": nm},
        "damping": 0.01,
    }
    axes = ([0, 0, 1], [0, 1, 0])
    bodies = [
        {
            "name": f"b{i}",
            "parent": f"b{i - 1}" if i else "ground",
            **({"at": "tip"} if i else {}),
            "hinge": {"type": "revolute", "axis": axes[i % 2]},
            "beam": beam,
        }
        for i in range(BODIES)
    ]
    return {"bough": 1, "name": "chain", "fidelity": fidelity, "bodies": bodies}


def measured(nm: int, fidelity: str = "ruthless") -> tuple[float, float]:
    """Seconds per state of the composite and of the articulated forward dynamics."""
    system = bough.Mechanism(chain(nm, fidelity))
    rng = np.random.default_rng(0)
    q, u = (0.01 * rng.normal(size=(STATES, n)) for n in (system.nq, system.nu))
    still = np.zeros(system.nu)
    calls: list[Callable[[], object]] = [
        lambda: system.forward_dynamics(q, u, still, method="composite", motion=still),
        lambda: system.forward_dynamics(q, u, still, motion=still),  # with `motion` one state at a time
    ]
    best = [np.inf, np.inf]
    for _ in range(ROUNDS):
        for i, call in enumerate(calls):
            begin = time.perf_counter()
            call()
            best[i] = min(best[i], (time.perf_counter() - begin) / STATES)
    return best[0], best[1]


def draw(rows: list[tuple[int, float, float]], path: str) -> None:
    """Both ratios over the number of modes: polynomials and measured."""
    figure = new_figure(7.0, 4.2)
    axes = figure.subplots()
    modes = [row[0] for row in rows]
    axes.plot(modes, [ratio(nm) for nm in modes], marker="o", label="polynomials of section 8")
    axes.plot(modes, [a / b for _, a, b in rows], marker="s", label="measured, ruthless")
    axes.set_xlabel("modes of each body")
    axes.set_ylabel("composite / articulated")
    axes.set_title("Ten flexible bodies: what articulated bodies save", loc="left", fontsize=11)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    save_figure(figure, path, dpi=110)


def main() -> None:
    """Measure, print, draw."""
    rows = [(nm, *measured(nm)) for nm in MODES]
    for nm, composite, articulated in rows:
        print(
            f"| {nm} | {composite_cost(nm):.0f} | {articulated_cost(nm):.0f} | {ratio(nm):.2f} "
            f"| {1e6 * composite:.1f} | {1e6 * articulated:.1f} | {composite / articulated:.1f} |"
        )
    if len(sys.argv) > 1:
        draw(rows, sys.argv[1])


if __name__ == "__main__":
    main()
