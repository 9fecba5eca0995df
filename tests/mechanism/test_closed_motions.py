"""Linear models, vibrations, equilibria and effective masses of mechanisms with loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from run.test_loops import four_bar, link
from small_models import LINKAGE, beam, body, hinge, model

import bough
from bough.errors import SimulationError
from bough.mechanism import kernel_loops

Array = NDArray[np.float64]


def redundant() -> dict[str, Any]:
    """A four-bar whose closure has three equations too many, with springs and a sensor."""
    out = four_bar(outputs=["coupler.tip"])
    out["bodies"][0]["hinge"] |= {"stiffness": 30.0, "damping": 0.7}
    return out


def at(system: bough.Mechanism, names: list[str], y: Array, v: Array) -> tuple[Array, Array]:
    """The closed state with these independent coordinates and speeds, by assembly."""
    q0, u0 = system.initial_state()
    q = q0.copy()
    q[[system.q_names.index(n) for n in names]] = y
    q = system.assemble(q, keep=names).q
    J = kernel_loops.residuals(system._data, q, np.zeros(system.nu)).J
    mine = [system.u_names.index(n.replace("phi", "w").replace("eta", "eta_dot")) for n in names]
    others = np.setdiff1d(np.arange(system.nu), mine)
    u = np.zeros(system.nu)
    u[mine] = v
    u[others] = -np.linalg.lstsq(J[:, others], J[:, mine] @ v, rcond=1e-9)[0]
    return q, u


@pytest.mark.parametrize("case", ["redundant", "linkage"])
@pytest.mark.parametrize("speed", [0.0, 3.0])
def test_linear_model_is_the_derivative_of_the_closed_motion(case: str, speed: float) -> None:
    """Against differences of accelerations and sensors between closed states, in motion too."""
    system = bough.Mechanism(redundant() if case == "redundant" else LINKAGE)
    q, u = system.initial_state()
    names0 = ["crank_h.phi"] if case == "redundant" else None
    tau = 0.3 * np.cos(np.arange(system.nu))
    found = system.linearize(q, 0.0 * u, tau)
    names = list(found.states[: len(found.states) // 2])
    assert names0 is None or names == names0  # what the file writes comes first
    assert case == "redundant" or (len(names) == 4 and "drive.phi" in names)
    n = len(names)
    y0 = q[[system.q_names.index(name) for name in names]]
    v0 = np.array([speed if "phi" in name else 0.05 * speed for name in names])
    q, u = at(system, names, y0, v0)
    found = system.linearize(q, u, tau)
    assert list(found.states[:n]) == names

    def values(x: Array) -> Array:
        a, b = at(system, names, x[:n], x[n:])
        udot = system.forward_dynamics(a, b, tau)
        mine = [system.u_names.index(s) for s in found.states[n:]]
        node = system.model.outputs[0]
        r, _ = system.pose(a, node)
        return np.concatenate([udot[mine], r, system.node_jacobian(a, node)[3:] @ b])

    x, h = np.concatenate([y0, v0]), 1e-5
    slopes = np.column_stack([(values(x + h * e) - values(x - h * e)) / (2 * h) for e in np.eye(2 * n)])
    node = system.model.outputs[0]
    rows = [found.outputs.index(f"{node}.{key}[{i}]") for key in ("r", "v") for i in (1, 2, 3)]
    exact = np.vstack([found.A[n:], found.C[rows]])
    assert np.abs(exact - slopes).max() < 1e-5 * np.abs(slopes).max()
    assert np.array_equal(found.A[:n], np.hstack([np.zeros((n, n)), np.eye(n)]))


def parallelogram() -> dict[str, Any]:
    """Two cranks of 0.8 m and 1 kg hang 1 m apart, a coupler of 3 kg between their ends."""
    coupler = link("coupler", "left", "tip", 1.0, mass=3.0)
    return {
        "bough": 1,
        "name": "swing",
        "gravity": [0, -9.81, 0],
        "bodies": [
            link("left", "ground", "origin", 0.8, initial={"phi": -1.0}),
            link("right", "ground", "origin", 0.8, frame={"position": [1, 0, 0]}, initial={"phi": -1.0}),
            coupler | {"hinge": coupler["hinge"] | {"initial": {"phi": 1.0}}},
        ],
        "loops": [{"name": "pin", "type": "revolute", "axis": [0, 0, 1], "between": ["coupler.tip", "right.tip"]}],
    }


def test_swing_hangs_and_swings_as_derived() -> None:
    """w^2 = g (2 m L/2 + mc L) / (2 m L^2/3 + mc L^2): the coupler does not turn."""
    system = bough.Mechanism(parallelogram())
    q, _ = bough.equilibrium(system, hinges="free")
    assert q[:2] == pytest.approx([-np.pi / 2] * 2, abs=1e-9)
    omega = np.sqrt(9.81 * (0.8 + 3 * 0.8) / (2 * 0.64 / 3 + 3 * 0.64))
    found = bough.modes(system, at={"left_h.phi": float(q[0])})
    assert [m.kind for m in found.modes] == ["vibration"]
    assert 2 * np.pi * found.modes[0].frequency == pytest.approx(omega, rel=1e-9)
    poles = system.linearize(q, np.zeros(3), np.zeros(3)).poles()
    assert np.abs(poles.imag).max() == pytest.approx(omega, rel=1e-9)


def rack() -> dict[str, Any]:
    """Two carts side by side; the second goes half as far."""
    rail = [
        body(name, "ground", hinge("prismatic", f"{name}_rail", [1, 0, 0]), rigid={"mass": mass})
        for name, mass in (("near", 2.0), ("far", 8.0))
    ]
    return model("rack", *rail, couplings=[{"name": "lever", "of": {"near_rail.s": 1, "far_rail.s": -2}}])


def test_effective_mass_sees_through_a_coupling() -> None:
    system = bough.Mechanism(rack())
    along = [[0, 0, 0, 1, 0, 0]]
    for node, mass in (("near.origin", 2 + 8 / 4), ("far.origin", 8 + 4 * 2)):
        assert system.effective_mass(np.zeros(2), node, directions=along)[0, 0] == pytest.approx(mass, rel=1e-12)
    assert system.mobility(np.zeros(2), "near.origin")[3, 3] == pytest.approx(0.25, rel=1e-12)


def propped(modes: int) -> dict[str, Any]:
    """A clamped beam of 2 m, 0.54 kg/m and EI = 70 N.m2 (E 7e9, I 1e-8); its tip rests on a prop."""
    section = {"area": 2e-4, "Iy": 1e-8, "Iz": 1e-8, "J": 2e-8}
    strip = beam(2.0, {"bending_y": modes}, section, elements=40, damping=0.0)
    return model(
        "propped",
        body("strip", "ground", {"type": "fixed"}, beam=strip),
        gravity=[0, 0, -9.81],
        loops=[
            {"name": "prop", "type": "plane", "axes": [[1, 0, 0], [0, 1, 0]], "between": ["ground.origin", "strip.tip"]}
        ],
    )


def test_propped_cantilever_rests_and_vibrates_as_in_the_textbook() -> None:
    """The prop takes 3/8 of the weight; the first frequency is 15.418 sqrt(EI / (rho A L^4)), clamped and pinned
    (Blevins, Formulas for Natural Frequency and Mode Shape, table 8-1)."""
    found = propped(8)
    system = bough.Mechanism(found)
    section = found["bodies"][0]["beam"]["section"]
    line = section["area"] * 2700
    q, u = bough.equilibrium(system)
    force = system.reactions(q, u, np.zeros(system.nu))["prop"][5]
    assert force == pytest.approx(3 / 8 * line * 9.81 * 2.0, rel=2e-3)
    omega = 15.418 * np.sqrt(70.0 / (line * 2.0**4))
    modes = bough.modes(system, settle=True).modes
    assert 2 * np.pi * modes[0].frequency == pytest.approx(omega, rel=2e-3)
    assert len(modes) == 7  # one of eight coordinates depends on the others
    with pytest.raises(SimulationError, match="is open at this state"):
        system.linearize(q + 0.1, u, np.zeros(system.nu))


def test_flexible_linkage_settles_with_its_crank_held() -> None:
    system = bough.Mechanism(LINKAGE)
    q, u = bough.equilibrium(system)
    start = system.initial_state()[0]
    assert q[0] == pytest.approx(start[0], abs=1e-12) and not u.any()
    assert max(max(vars(e).values()) for e in system.closure_error(q, u).values()) < 1e-10
    still = np.zeros(system.nu)
    tau = still.copy()
    held = system.hybrid_dynamics(q, u, still, held=["drive"])
    tau[0] = held.tau[0]
    assert np.abs(system.forward_dynamics(q, u, tau)).max() < 1e-6 and abs(tau[0]) > 1.0


def test_steady_rotation_with_loops_is_refused_by_name() -> None:
    for call in (
        lambda: bough.campbell(four_bar(), {"crank_h": [0.0, 1.0]}),
        lambda: bough.equilibrium(four_bar(), spin={"crank_h": 1.0}),
        lambda: bough.modes(four_bar(), spin={"crank_h": 1.0}),
    ):
        with pytest.raises(SimulationError, match="does not take loops and couplings yet, and the model has pin"):
            call()
