"""Runs of mechanisms with loops: nothing drifts, energy is kept, and published problems come out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bough

Dict = dict[str, Any]


def link(name: str, parent: str, at: str, length: float, mass: float = 1.0, **hinge: Any) -> Dict:
    """A slender rod of this length along x, with the node `tip` at its end, turning about z."""
    inertia = mass * length**2 / 12
    return {
        "name": name,
        "parent": parent,
        "at": at,
        "hinge": {"name": f"{name}_h", "type": "revolute", "axis": [0, 0, 1], **hinge},
        "rigid": {
            "mass": mass,
            "com": [length / 2, 0, 0],
            "inertia": [0, inertia, inertia, 0, 0, 0],
            "nodes": {"tip": {"position": [length, 0, 0]}},
        },
    }


def four_bar(**extra: Any) -> Dict:
    """Crank 1 m, coupler 2 m, rocker 1.5 m, ground 2 m, under gravity."""
    return {
        "bough": 1,
        "name": "four_bar",
        "gravity": [0, -9.81, 0],
        "bodies": [
            link("crank", "ground", "origin", 1.0, initial={"phi": 1.0}),
            link("coupler", "crank", "tip", 2.0),
            link("rocker", "ground", "origin", 1.5, frame={"position": [2, 0, 0]}),
        ],
        "loops": [{"name": "pin", "type": "revolute", "axis": [0, 0, 1], "between": ["coupler.tip", "rocker.tip"]}],
    } | extra


def states(system: bough.Mechanism, result: Any) -> tuple[Any, Any]:
    return tuple(np.column_stack([result[name] for name in names]) for names in (system.q_names, system.u_names))


def drift(system: bough.Mechanism, q: Any, u: Any) -> float:
    """The largest residual of any row: m, rad, m/s, rad/s."""
    left = [system.closure_error(a, b) for a, b in zip(q, u, strict=True)]
    return max(max(vars(e).values()) for row in left for e in row.values())


METHODS = {
    "dopri5": {"rtol": 1e-9},
    "rk4": {"solver_step": 2e-3},
    "rosenbrock2": {"solver_step": 2e-3},
}


@pytest.mark.parametrize("method", METHODS)
def test_loops_never_drift(method: str) -> None:
    system = bough.Mechanism(four_bar())
    result = bough.simulate(system, stop=3.0, step=0.013, method=method, **METHODS[method])  # rows between steps
    q, u = states(system, result)
    assert drift(system, q, u) < 1e-9
    energy = np.array([sum(system.energy(a, b)) for a, b in zip(q, u, strict=True)])
    assert np.ptp(energy) < {"dopri5": 1e-5, "rk4": 1e-5, "rosenbrock2": 1e-2}[method]
    assert np.ptp(u[:, 0]) > 1.0  # it does move


def test_projection_does_not_spoil_the_order_of_a_method() -> None:
    system = bough.Mechanism(four_bar())
    end = [
        bough.simulate(system, stop=1.0, step=0.5, method="rk4", solver_step=h)["crank_h.phi"][-1]
        for h in (0.02, 0.01, 0.005, 0.0003125)
    ]
    errors = np.abs(np.array(end[:3]) - end[3])
    assert np.all(np.log2(errors[:-1] / errors[1:]) > 3.6)


def test_the_same_mechanism_cut_elsewhere_moves_the_same_way() -> None:
    cut = bough.Mechanism(four_bar())
    other = four_bar()
    rocker = link("rocker", "coupler", "tip", 1.5)
    rocker["rigid"]["com"] = [0.75, 0, 0]
    other["bodies"][2] = rocker
    other["loops"] = [
        {
            "name": "foot",
            "type": "revolute",
            "axis": [0, 0, 1],
            "between": ["rocker.tip", "ground.origin"],
            "frames": [{}, {"position": [2, 0, 0]}],
        }
    ]
    q, _ = cut.initial_state()
    other["bodies"][1]["hinge"]["initial"] = {"phi": float(q[1])}
    tip = cut.pose(q, "coupler.tip")[0]
    other["bodies"][2]["hinge"]["initial"] = {"phi": float(np.arctan2(-tip[1], 2 - tip[0]) - q[0] - q[1])}
    runs = [bough.simulate(m, stop=2.0, step=0.1, rtol=1e-11) for m in (cut, other)]
    for name in ("crank_h.phi", "coupler_h.phi", "crank_h.w"):
        assert np.abs(runs[0][name] - runs[1][name]).max() < 1e-8


def n_four_bar(n: int) -> Dict:
    """N square loops in a row of links of 1 m and 1 kg: 2 N + 1 links, one freedom; after M. Gonzalez et al. (2006).

    At phi = 0 and pi of the cranks all links lie on the line: the rank drops there.
    """
    bodies = [link("c0", "ground", "origin", 1.0, initial={"phi": np.pi / 2, "w": -1.0})]
    loops = []
    for i in range(1, n + 1):
        foot = {"position": [float(i), 0, 0]}
        bodies.append(link(f"c{i}", "ground", "origin", 1.0, frame=foot, initial={"phi": np.pi / 2}))
        bodies.append(link(f"r{i}", f"c{i - 1}", "tip", 1.0, initial={"phi": -np.pi / 2}))
        loops.append({"type": "revolute", "axis": [0, 0, 1], "between": [f"r{i}.tip", f"c{i}.tip"]})
    return {"bough": 1, "name": "n_four_bar", "gravity": [0, -9.81, 0], "bodies": bodies, "loops": loops}


@pytest.mark.parametrize("n", [1, 2, 10, 40])
def test_n_four_bar_passes_its_singular_pose_and_keeps_its_energy(n: int) -> None:
    system = bough.Mechanism(n_four_bar(n))
    q0, u0 = system.initial_state()
    assert system.freedom(q0).freedoms == 1
    stop = 10.0 if n < 40 else 2.0  # the whole 10 s of N = 40 leave 8e-9, too
    result = bough.simulate(system, stop=stop, step=0.05, method="rk4", solver_step=1e-3)
    q, u = states(system, result)
    energy = np.array([sum(system.energy(a, b)) for a, b in zip(q, u, strict=True)])
    size = abs(energy[0]) + 9.81 * (2 * n + 1)
    assert np.ptp(energy) / size < 1e-8
    assert drift(system, q, u) < 1e-9
    crank = result["c0_h.phi"]
    assert crank.min() < -0.5  # through phi = 0, where everything is on one line
    assert np.abs(q[:, 1] - crank).max() < 1e-6  # parallel cranks stay parallel: it keeps its branch


def flat_pass(seed: int) -> Dict:
    """A parallelogram that turns through its line: with weight or not, closed by a pin in any axes or by a rod."""
    model = n_four_bar(1)
    phi, w = 1.2 + 0.05 * seed, -1.0 - 0.37 * seed
    for b, sign in zip(model["bodies"], (1, 1, -1), strict=True):
        b["hinge"]["initial"] = {"phi": sign * phi}
    model["bodies"][0]["hinge"]["initial"]["w"] = w
    model["gravity"] = [0, -9.81 * (seed % 2), 0]
    if seed % 3 == 1:  # axes of the closure that no link is along
        turn = [0, 0, float(np.sin(0.35)), float(np.cos(0.35))]
        model["loops"][0]["frames"] = [{"quaternion": turn}, {"quaternion": turn}]
    if seed % 3 == 2:  # no coupler but a rod
        del model["bodies"][2]
        model["loops"] = [{"type": "rod", "between": ["c0.tip", "c1.tip"], "length": 1.0}]
    return model


@pytest.mark.parametrize(
    ("method", "setting"),
    [
        ("dopri5", {"rtol": 1e-4}),
        ("dopri5", {"rtol": 1e-6}),
        ("dopri5", {"rtol": 1e-9}),
        ("dopri5", {"rtol": 1e-10}),
        ("radau5", {"rtol": 1e-6}),
        ("rosenbrock2", {"rtol": 1e-4}),
        ("rk4", {"solver_step": 0.01}),
        ("auto", {}),
    ],
)
def test_a_linkage_leaves_its_line_on_the_branch_that_it_came_on(method: str, setting: Dict) -> None:
    """Where parallelogram and antiparallelogram meet, its speeds say which goes on; in rows on the line, too."""
    for seed in range(6):
        system = bough.Mechanism(flat_pass(seed))
        result = bough.simulate(system, stop=2.5, step=0.05, method=method, **setting)
        q, u = states(system, result)
        assert np.abs(q[:, 0] - q[:, 1]).max() < 1e-6, seed
        assert np.abs(u[:, 0] - u[:, 1]).max() < 1e-4 * np.abs(u).max(), seed
        assert drift(system, q, u) < 1e-9, seed
        assert q[-1, 0] < -0.5 or seed % 2, seed  # beyond it
