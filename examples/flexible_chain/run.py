"""Ten flexible links, by both fidelities."""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter

import numpy as np

import bough
from bough.flex import flex_body
from bough.report import Curve, Panel, draw_panels
from bough.report.scenes import animate

HERE = Path(__file__).resolve().parent
FIDELITIES = ("full", "ruthless")


def system(fidelity: str) -> bough.Mechanism:
    """The chain, with every term or without those that depend on the deflection."""
    return bough.Mechanism(bough.load(HERE / "model.yaml").model_copy(update={"fidelity": fidelity}))


def simulate(fidelity: str = "full", step: float = 0.005, rtol: float = 1e-7) -> bough.Result:
    """Two seconds of swinging."""
    return bough.simulate(system(fidelity), stop=2.0, step=step, rtol=rtol)


def tip(result: bough.Result) -> np.ndarray:
    """Path of the last tip in the vertical plane, m, (n, 2)."""
    return np.column_stack([result["link10.tip.r[1]"], result["link10.tip.r[3]"]])


def deflection(result: bough.Result, link: int) -> np.ndarray:
    """Motion of a link's tip across its root's axis, m, (n,)."""
    body = flex_body(bough.load(HERE / "model.yaml").bodies[link - 1])
    along_z = body.node_shapes[body.node("tip"), 5]
    return sum(shape * result[f"link{link}.eta[{i}]"] for i, shape in enumerate(along_z, 1))


def seconds_per_evaluation(fidelity: str, count: int = 2000) -> float:
    """Time of one forward dynamics in a batch, s, the best of five."""
    chain = system(fidelity)
    q, u = chain.initial_state()
    rows = np.tile(q, (count, 1)), np.tile(u, (count, 1)), np.zeros((count, chain.nu))
    times = []
    for _ in range(5):
        began = perf_counter()
        chain.forward_dynamics(*rows)
        times.append(perf_counter() - began)
    return min(times) / count


def main(folder: Path = HERE) -> None:
    """Run both, compare, draw."""
    runs = {fidelity: simulate(fidelity) for fidelity in FIDELITIES}
    t = runs["full"].t
    apart = np.linalg.norm(tip(runs["full"]) - tip(runs["ruthless"]), axis=1)
    cost = {fidelity: seconds_per_evaluation(fidelity) for fidelity in FIDELITIES}
    print(f"largest distance of the tips: {1e3 * apart.max():.1f} mm, on a chain of 3 m")
    print(f"forward dynamics in a batch: {', '.join(f'{f} {1e6 * s:.2f} us' for f, s in cost.items())}")
    height = [Curve(f, tip(runs[f])[:, 1], style=style) for f, style in zip(FIDELITIES, ("-", "--"), strict=True)]
    panels = [
        Panel("Height of the last tip", "z, m", height),
        Panel("Distance between the two tips", "mm", [Curve("", 1e3 * apart)]),
        Panel(
            "Tip deflection of some links, full",
            "mm",
            [Curve(f"link {i}", 1e3 * deflection(runs["full"], i)) for i in (1, 5, 9)],
        ),
    ]
    draw_panels(t, panels, folder / "flexible_chain.png", animate(system("full"), runs["full"]))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
