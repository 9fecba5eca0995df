"""An excavator digs: three cylinders in loops move boom, stick and bucket."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

import bough
from bough.report import Curve, Panel, new_figure, save_figure
from bough.report.figures import draw_panel, style_axes

HERE = Path(__file__).resolve().parent
STOP, STEP = 6.0, 0.01
# strokes of the cylinders, m: from, to (s), how far
MOVES = {
    "boom": [(0.0, 2.0, -0.26), (4.0, 6.0, 0.38)],
    "stick": [(1.0, 4.0, 0.55), (4.5, 6.0, -0.24)],
    "bucket": [(2.0, 4.0, 0.43)],
}


def stroke(name: str) -> Callable[[float], float]:
    """Acceleration of a cylinder, m/s2: each move is a half-cosine of speeds and rests before and after."""

    def acceleration(t: float) -> float:
        out = 0.0
        for begin, end, far in MOVES[name]:
            if begin <= t < end:
                out += far * 2 * np.pi / (end - begin) ** 2 * np.sin(2 * np.pi * (t - begin) / (end - begin))
        return out

    return acceleration


def simulate() -> bough.Result:
    """Lower, dig, curl, lift; from the place where the boom has bent under the weight."""
    system = bough.Mechanism(HERE / "model.yaml")
    rest = bough.equilibrium(system)
    inputs = {f"{name}_cylinder.a": stroke(name) for name in MOVES}
    return bough.simulate(system, stop=STOP, step=STEP, inputs=inputs, initial=rest, rtol=1e-7)


def place(result: bough.Result, node: str) -> np.ndarray:
    """Path of a node in the plane, (n, 2), m."""
    return np.column_stack([result[f"{node}.r[{k}]"] for k in (1, 2)])


def left_open(result: bough.Result) -> float:
    """The largest residual of any loop in any row, m and m/s."""
    system = bough.Mechanism(HERE / "model.yaml")
    q = np.column_stack([result[n] for n in system.q_names])
    u = np.column_stack([result[n] for n in system.u_names])
    return max(
        max(vars(error).values()) for a, b in zip(q, u, strict=True) for error in system.closure_error(a, b).values()
    )


def main(folder: Path = HERE) -> None:
    """Run, tell, draw."""
    result = simulate()
    forces = {name: 1e-3 * result[f"{name}_cylinder.f"] for name in MOVES}
    for name, force in forces.items():
        print(f"the {name} cylinder pushes with {force.min():.1f} kN to {force.max():.1f} kN")
    print(f"the loops are open by {left_open(result):.0e} m, or m/s, at most")
    figure = new_figure(9.0, 6.5)
    axes = figure.subplot_mosaic([["mechanism", "stroke"], ["mechanism", "force"]], width_ratios=[1.4, 1.0])
    draw_mechanism(axes["mechanism"], result)
    strokes = [Curve(name, result[f"{name}_cylinder.s"]) for name in MOVES]
    draw_panel(axes["stroke"], result.t, Panel("Strokes", "m", strokes))
    draw_panel(axes["force"], result.t, Panel("Forces", "kN", [Curve(n, f) for n, f in forces.items()]))
    save_figure(figure, folder / "excavator.png", dpi=100)


def draw_mechanism(axes, result: bough.Result) -> None:
    """Front of the machine at the start, digging and lifted: cylinders blue, rocker and link of the bucket red."""
    style_axes(axes, "At 0, 3 and 6 s, and the path of the teeth", "x, m", "y, m")
    for shade, i in ((0.3, 0), (0.6, len(result) // 2), (1.0, len(result) - 1)):
        at = {
            name: place(result, name)[i]
            for name in ("boom.n9", "boom.n10", "boom.tip", "stick.back", "stick.top", "stick.lug", "stick.tip")
        }
        at |= {n: place(result, n)[i] for n in ("rocker.knuckle", "bucket.ear", "bucket.teeth", "boom_rod.origin")}
        along = at["boom.tip"] / np.linalg.norm(at["boom.tip"])
        trunnion = at["boom.n10"] + 0.35 * np.array([-along[1], along[0]])
        members = [  # (points, colour, width)
            ([[0, 0], at["boom.n9"], at["boom.n10"], at["boom.tip"]], "tab:orange", 7),
            ([at["stick.back"], at["stick.top"], at["boom.tip"], at["stick.back"]], "tab:olive", 3),
            ([at["stick.top"], at["stick.tip"], at["boom.tip"]], "tab:olive", 4),
            ([at["bucket.ear"], at["stick.tip"], at["bucket.teeth"], at["bucket.ear"]], "0.3", 3),
            ([at["stick.lug"], at["rocker.knuckle"], at["bucket.ear"]], "tab:red", 2.5),
            ([at["boom.n9"], at["boom_rod.origin"]], "tab:orange", 4),
            ([at["boom.n10"], trunnion], "tab:orange", 4),
            ([[0.7, -0.5], at["boom_rod.origin"]], "tab:blue", 2.5),
            ([trunnion, at["stick.back"]], "tab:blue", 2.5),
            ([at["stick.top"], at["rocker.knuckle"]], "tab:blue", 2.5),
        ]
        for points, colour, width in members:
            axes.plot(*np.array(points).T, color=colour, lw=width, alpha=shade, solid_capstyle="round")
        for name in (
            "boom_rod.origin",
            "stick.back",
            "rocker.knuckle",
            "bucket.ear",
            "stick.lug",
            "stick.tip",
            "boom.tip",
        ):
            axes.plot(*at[name], "o", color="black", ms=3, alpha=shade)
    axes.plot(*place(result, "bucket.teeth").T, color="0.6", lw=1, zorder=0)
    axes.plot([0, 0.7], [0, -0.5], "k^", ms=8)
    axes.axhline(-1.2, color="0.8", lw=1, zorder=0)
    axes.set_aspect("equal")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
