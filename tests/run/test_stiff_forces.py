"""Stiff forces between bodies in the linearly implicit methods: springs, bushings, contacts, shafts, stops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from small_models import body, hinge, model, rigid

import bough

Dict = dict[str, Any]
GAMMA = 1.0 - math.sqrt(0.5)


def sliders(**more: Any) -> Dict:
    """Three masses on slides along x, the third on the second, tied by whatever is stiff: a linear system."""
    bodies = [
        body("a", "ground", hinge("prismatic", "ha", [1, 0, 0], initial={"s": 0.0, "v": 0.3}), rigid={"mass": 2.0}),
        body(
            "b",
            "ground",
            hinge("prismatic", "hb", [1, 0, 0], frame={"position": [1, 0, 0]}, initial={"s": 0.01, "v": -0.2}),
            rigid={"mass": 3.0},
        ),
        body("c", "b", hinge("prismatic", "hc", [1, 0, 0], initial={"s": 0.02, "v": 0.1}), rigid={"mass": 0.5}),
    ]
    return model("sliders", *bodies, **more)


SPRING = {"name": "s", "type": "spring", "between": ["a.origin", "b.origin"], "stiffness": 4e6, "damping": 300.0}
SPRING["length"] = 0.9875  # drawn at 1 m: a pull of 50 kN, which two contacts hold
TABLE = {**SPRING, "stiffness": [[-1, -4e6], [0, 0], [1, 4e6]], "damping": [[-10, -3000], [0, 0], [10, 3000]]}
ROPE = {**SPRING, "only": "tension"}
BUSHING = {
    "name": "m",
    "type": "bushing",
    "between": ["a.origin", "c.origin"],
    "stiffness": [0, 0, 0, 2e5, 0, 0],
    "damping": [0, 0, 0, 50.0, 0, 0],
    "frames": [{}, {"position": [-1, 0, 0]}],
}
FOOT = {
    "name": "f",
    "type": "contact",
    "between": ["a.origin", "ground.origin"],
    "normal": [-1, 0, 0],
    "radius": 100.0,
    "stiffness": 1e6,
    "damping": 100.0,
    "frames": [{}, {"position": [99.95, 0, 0]}],  # 5 cm inside
}
OTHER = {**FOOT, "name": "g", "between": ["b.origin", "ground.origin"], "normal": [1, 0, 0]}
OTHER["frames"] = [{}, {"position": [-98.95, 0, 0]}]


def step(M: Any, K: Any, D: Any, f0: Any, y: Any, h: float) -> Any:
    """One step of ROS2 for M u' = f0 - K q - D u by matrices, y = (q, u); Verwer et al. 1999."""
    n = len(M)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
    b = np.concatenate([np.zeros(n), np.linalg.solve(M, f0)])
    left = np.eye(2 * n) - GAMMA * h * A
    k1 = np.linalg.solve(left, A @ y + b)
    k2 = np.linalg.solve(left, A @ (y + h * k1) + b - 2 * GAMMA * h * A @ k1)
    return y + h * (k1 + k2) / 2


@pytest.mark.parametrize("force", [SPRING, TABLE, ROPE], ids=["linear", "tables", "rope"])
@pytest.mark.parametrize("coupled", [False, True], ids=["tree", "coupled"])
def test_a_stage_is_that_of_the_whole_matrix(force: Dict, coupled: bool) -> None:
    """Springs, a bushing and a contact of a linear system: the steps of ROS2 by matrices, h w up to 20.

    They differ by rounding alone, magnified by h^2 k/m = 400. With a coupling c = 2 a the matrices are those of the two
    coordinates that are left.
    """
    more: Dict = {"couplings": [{"name": "tie", "of": {"hc.s": 1, "ha.s": -2}, "offset": 0.0}]} if coupled else {}
    document = sliders(forces=[force, BUSHING, FOOT, OTHER], **more)
    start = (0.0, 0.004, 0.0 if coupled else 0.005, 0.3, -0.2, 0.6 if coupled else 0.1)
    for one, s, v in zip(document["bodies"], start[:3], start[3:], strict=True):
        one["hinge"]["initial"] = {"s": s, "v": v}
    M = np.array([[2.0, 0, 0], [0, 3.5, 0.5], [0, 0.5, 0.5]])
    line, mount, feet = np.array([-1.0, 1, 0]), np.array([-1.0, 1, 1]), np.diag([1.0, 1, 0])
    k, d = 4e6, 300.0
    K = k * np.outer(line, line) + 2e5 * np.outer(mount, mount) + 1e6 * feet
    D = d * np.outer(line, line) + 50.0 * np.outer(mount, mount) + 100.0 * feet
    f0 = -k * (1.0 - force["length"]) * line + 5e4 * np.array([-1.0, 1, 0])
    N = np.array([[1.0, 0], [0, 1], [2, 0]]) if coupled else np.eye(3)
    y = np.array(start)
    free = np.concatenate([y[: N.shape[1]], y[3 : 3 + N.shape[1]]])
    h, n = 1e-2, 5
    run = bough.simulate(document, stop=n * h, step=h, method="rosenbrock2", solver_step=h)
    for i in range(n + 1):
        q = N @ free[: N.shape[1]]
        assert [run[f"h{x}.s"][i] for x in "abc"] == pytest.approx(q, abs=1e-11)
        assert (
            max(run["f.s"][i], run["g.s"][i]) < 0.0 < run["s.s"][i] - force["length"]
        )  # the contacts stay closed and the rope taut: it is linear
        free = step(N.T @ M @ N, N.T @ K @ N, N.T @ D @ N, N.T @ f0, free, h)


def boom(**more: Any) -> Dict:
    """A pendulum with what the caller ties to it."""
    part = rigid(
        20.0, (0.1, 2, 2), (0.5, 0, 0), nodes={"eye": {"position": [0.6, 0, 0.1]}, "tip": {"position": [1, 0, 0]}}
    )
    on = hinge("revolute", "a", [0, 1, 0], initial={"phi": 0.3}, damping=1.0, **more.pop("hinge", {}))
    return model("boom", body("boom", "ground", on, rigid=part), *more.pop("bodies", []), gravity=[0, 0, -9.81], **more)


def strut() -> Dict:
    arm = body(
        "arm",
        "ground",
        hinge("revolute", "b", [0, 1, 0], frame={"position": [0, 0, 1]}, initial={"phi": 0.3}),
        rigid=rigid(10.0, (0.1, 1, 1), (0.5, 0, 0), nodes={"eye": {"position": [0.7, 0, 0]}}),
    )
    force = {"name": "s", "type": "spring", "between": ["boom.eye", "arm.eye"], "stiffness": 1e7, "damping": 1e4}
    return boom(bodies=[arm], forces=[force])


def mount() -> Dict:
    turn = [0, math.sin(0.15), 0, math.cos(0.15)]
    at = {"s": [math.cos(0.3), 0, -math.sin(0.3)], "Q": turn}
    load = body(
        "load", "ground", {"type": "free", "name": "f", "initial": at}, rigid=rigid(5.0, (0.1, 0.2, 0.2), (0.1, 0, 0))
    )
    k, d = [1e6] * 3 + [1e8] * 3, [1e3] * 3 + [1e5] * 3
    force = {"name": "m", "type": "bushing", "between": ["boom.tip", "load.origin"], "stiffness": k, "damping": d}
    return boom(bodies=[load], forces=[force])


def shaft() -> Dict:
    return boom(hinge={"gear": {"ratio": 100, "inertia": 1e-4, "stiffness": 1e6, "damping": 100.0}})


def stop() -> Dict:
    limits = {"lower": -1, "upper": 0.5, "stiffness": 1e7, "damping": 3e4}
    tail = body(
        "tail", "boom.tip", hinge("revolute", "b", [0, 1, 0]), rigid=rigid(1.0, (0.01, 0.02, 0.02), (0.3, 0, 0))
    )
    return boom(hinge={"limits": limits}, bodies=[tail])


@pytest.mark.parametrize(
    ("make", "most"),
    [(strut, 9000), (mount, 9000), (shaft, 9000), (stop, 4000)],
    ids=["strut", "bushing", "shaft", "stop"],
)
def test_stiff_elements_do_not_bind_the_implicit_step(make: Any, most: int) -> None:
    """2 s with radau5: while they acted explicitly, these took 41000, 1060000, 28500 and 97000 evaluations."""
    system = bough.Mechanism(make())
    run = bough.simulate(system, stop=2.0, step=0.02, method="radau5")
    exact = bough.simulate(system, stop=2.0, step=0.02, rtol=1e-9)
    assert run.statistics["evaluations"] < most
    assert run["a.phi"] == pytest.approx(exact["a.phi"], abs=1e-6)  # rtol 1e-6, angles up to 2.8 rad
    assert run["a.w"] == pytest.approx(exact["a.w"], abs=2e-5)  # speeds up to 6 rad/s


def test_rosenbrock2_is_of_order_two_with_stiff_forces_and_stable_far_beyond_the_explicit_step() -> None:
    """h sqrt(k/m) is about 5 to 0.6 with h from 4 ms on; an explicit step of 2 ms or more would blow up."""
    system = bough.Mechanism(strut())
    exact = bough.simulate(system, stop=0.5, step=0.1, rtol=1e-10)
    steps = (4e-3, 2e-3, 1e-3, 5e-4)
    runs = [bough.simulate(system, stop=0.5, step=0.1, method="rosenbrock2", solver_step=h) for h in steps]
    errors = [abs(run["a.phi"] - exact["a.phi"]).max() for run in runs]
    assert np.polyfit(np.log(steps), np.log(errors), 1)[0] == pytest.approx(2.0, abs=0.15)


def test_a_stiff_spring_holds_a_flexible_body() -> None:
    """A beam under gravity whose tip stands on a spring of 1e9 N/m, and whose middle rubs on a plane."""
    beam = {
        "length": 2.0,
        "elements": 8,
        "section": {"shape": "rectangle", "width": 0.02, "height": 0.04},
        "material": {"E": 70e9, "nu": 0.33, "rho": 2700},
        "modes": {"boundary": "cantilever", "count": 4},
        "damping": 0.02,
    }
    on = hinge("revolute", "h", [0, 1, 0], damping=5.0)
    post = {"name": "p", "type": "spring", "between": ["b.tip", "ground.origin"], "stiffness": 1e9, "damping": 2e4}
    post["frames"] = [{}, {"position": [2, 0, -1]}]
    foot = {"name": "f", "type": "contact", "between": ["b.n4", "ground.origin"], "normal": [0, 0, 1], "radius": 0.02}
    foot |= {"stiffness": 1e6, "damping": 500.0, "friction": 0.4, "frames": [{}, {"position": [0, 0, -0.021]}]}
    document = model("held", body("b", "ground", on, beam=beam), forces=[post, foot], gravity=[0, 0, -9.81])
    system = bough.Mechanism(document)
    runs = {m: bough.simulate(system, stop=0.3, step=0.01, method=m) for m in ("radau5", "dopri5")}
    for name in ("h.phi", "b.eta[1]", "p.s"):
        assert runs["radau5"][name] == pytest.approx(runs["dopri5"][name], abs=1e-6)
    assert runs["dopri5"].statistics["evaluations"] > 5 * runs["radau5"].statistics["evaluations"]
