"""Held DOFs: acceleration given, force found, in the same sweep as the free ones.

Tolerance 1e-10 of the largest number compared: a held DOF takes no other arithmetic than a free one, so that the
round-off of forward dynamics (1e-12 at the condition numbers drawn) is all there is, twice.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from kernel.cases import Array, Case, Dict, case, error, force_scale, mode_slices, random_trees, ruthless
from kernel.test_modal_bases import as_rigid
from oracle.frames import mode_array
from random_models import HINGE_TYPES, random_loads, random_model, random_state
from scipy.spatial.transform import Rotation

from bough import Mechanism

TOLERANCE = 1e-10
MOVING = [kind for kind in HINGE_TYPES if kind != "fixed"]


def with_hinge(kind: str, seed: int, **options: Any) -> Dict:
    """A random tree whose second body hangs on a hinge of the kind asked for."""
    for trial in range(1000):
        model = random_model(1000 * seed + trial, 3, **options)
        if model["bodies"][1]["hinge"]["type"] == kind:
            return model
    raise AssertionError(kind)


def hinge_name(body: Dict) -> str:
    return str(body["hinge"].get("name", body["name"] + "_hinge"))


def check_hybrid(system: Mechanism, c: tuple[Array, Array, Array, Any], held: list[str], motion: Array | None) -> None:
    """The motion is as told, forces of free DOFs are as given, and the found forces applied give the same motion."""
    q, u, tau, loads = c
    out = system.hybrid_dynamics(q, u, tau, motion=motion, held=held, loads=loads)
    mask = system._held_mask(held)
    given = np.zeros(system.nu) if motion is None else motion
    assert np.array_equal(out.tau[~mask], tau[~mask])
    assert error(out.udot[mask], given[mask]) < 1e-13  # modes go through the kernel's basis and back
    applied = system.forward_dynamics(q, u, out.tau, loads=loads)
    # udot is found from forces of size |M||udot|, so that an error of theirs comes back by 1/|M|: judged as forces
    scale = force_scale(system, q, out.udot, out.tau)
    assert error(system.mass_matrix(q) @ (applied - out.udot), np.zeros(system.nu), scale) < TOLERANCE
    assert error(applied, out.udot) < TOLERANCE


@pytest.mark.parametrize("fidelity", ["full", "ruthless"])
@pytest.mark.parametrize("kind", MOVING)
def test_held_hinge_equals_forward_dynamics_with_the_found_forces(kind: str, fidelity: str) -> None:
    for seed in range(3):
        model = with_hinge(kind, seed) | {"fidelity": fidelity}
        system = Mechanism(model)
        q, u, tau = random_state(system, seed)
        c = (q, u, tau, random_loads(model, seed))
        name = hinge_name(model["bodies"][1])
        check_hybrid(system, c, [name], np.random.default_rng(seed).normal(size=system.nu))
        check_hybrid(system, c, [name], None)


@random_trees(4)
def test_any_mix_of_held_dofs_equals_forward_dynamics_with_the_found_forces(seed: int) -> None:
    """Single DOFs of hinges, whole hinges and modes of bodies, driven, at either fidelity; and the oracle's own way."""
    c = case(seed, n_bodies=4)
    rng = np.random.default_rng(seed)
    for system in (c.system, Mechanism(ruthless(c.model))):
        flexible = mode_slices(system)
        single = [name for name in system.u_names if "eta" not in name and rng.random() < 0.5]
        held = single + [name for name in flexible if rng.random() < 0.5]
        motion = rng.normal(size=system.nu)
        check_hybrid(system, (c.q, c.u, c.tau, c.loads), held, motion)
        if system is c.system:
            out = system.hybrid_dynamics(c.q, c.u, c.tau, motion=motion, held=held, loads=c.loads)
            given = {name: a for name, a, on in zip(system.u_names, motion, system._held_mask(held), strict=True) if on}
            expected = c.oracle.forward_dynamics(c.q, c.u, c.tau, c.loads, prescribed=given)
            assert error(out.udot, expected) < 1e-9  # the oracle's tolerance
            everything = system.hybrid_dynamics(
                c.q, c.u, c.tau, motion=motion, held=list(system.u_names), loads=c.loads
            )
            found = system.inverse_dynamics(c.q, c.u, motion, loads=c.loads)
            assert error(everything.tau, found, force_scale(system, c.q, motion, found)) < TOLERANCE


def fixed_at(body: Dict, q: Array) -> Dict:
    """The hinge of a body fixed at the position q: its pose goes into the frame."""
    hinge = body["hinge"]
    place = hinge.get("frame", {})
    turn = Rotation.from_quat(place.get("quaternion", [0, 0, 0, 1]))
    position = np.array(place.get("position", [0.0, 0.0, 0.0]))
    kind = hinge["type"]
    axes = np.array(hinge.get("axes", [hinge["axis"]] if "axis" in hinge else np.eye(3)), dtype=float)
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    n_lin = {"prismatic": 1, "cylindrical": 1, "planar": 2, "free": 3}.get(kind, 0)
    position = position + turn.apply(q[:n_lin] @ axes[:n_lin]) if n_lin else position
    if kind in ("spherical", "free"):
        turn = turn * Rotation.from_quat(q[n_lin:])
    elif kind != "prismatic":
        turns = [np.cross(*axes)] if kind == "planar" else axes
        for axis, angle in zip(turns, q[n_lin:], strict=True):
            turn = turn * Rotation.from_rotvec(angle * axis)
    frame = {"position": position.tolist(), "quaternion": turn.as_quat().tolist()}
    return body | {"hinge": {"type": "fixed", "name": hinge_name(body), "frame": frame}}


@pytest.mark.parametrize("fidelity", ["full", "ruthless"])
@pytest.mark.parametrize("kind", MOVING)
def test_locked_hinge_equals_the_model_with_the_hinge_fixed_there(kind: str, fidelity: str) -> None:
    for seed in range(3):
        model = with_hinge(kind, seed) | {"fidelity": fidelity}
        system = Mechanism(model)
        q, u, tau = random_state(system, seed)
        loads = random_loads(model, seed)
        name = hinge_name(model["bodies"][1])
        own_q = np.array([n.startswith(name + ".") for n in system.q_names])
        own_u = np.array([n.startswith(name + ".") for n in system.u_names])
        u[own_u] = 0.0
        bodies = copy.deepcopy(model["bodies"])
        bodies[1] = fixed_at(bodies[1], q[own_q])
        fixed = Mechanism(model | {"bodies": bodies})
        out = system.hybrid_dynamics(q, u, tau, held=[name], loads=loads)
        other = fixed.hybrid_dynamics(q[~own_q], u[~own_u], tau[~own_u], loads=loads)
        assert error(out.udot[~own_u], other.udot) < TOLERANCE
        assert error(out.reactions, other.reactions) < TOLERANCE


def frozen(nodal: Dict, eta: Array) -> Dict:
    """The rigid body that a nodal body of point masses is at deflection eta, in the axes of its attach node."""
    shapes = mode_array(nodal)
    r = np.array([n["position"] for n in nodal["nodes"]]) + shapes[:, 3:] @ eta
    turn = Rotation.from_rotvec(shapes[:, :3] @ eta)
    d = [n["name"] for n in nodal["nodes"]].index(nodal["attach"])
    r = turn[d].inv().apply(r - r[d])
    nodes = [n | {"position": x.tolist()} for n, x in zip(nodal["nodes"], r, strict=True)]
    out = as_rigid(nodal | {"nodes": nodes})
    for j, node in enumerate(nodal["nodes"]):
        out["nodes"][node["name"]]["quaternion"] = (turn[d].inv() * turn[j]).as_quat().tolist()
    return out


@pytest.mark.parametrize("seed", range(8))
def test_body_with_held_modes_equals_the_rigid_body_of_its_deformed_shape(seed: int) -> None:
    model = random_model(seed, 3, kinds=("clamped", "unclamped"))
    system = Mechanism(model)
    q, u, tau = random_state(system, seed)
    loads = random_loads(model, seed)
    held = list(mode_slices(system))
    free = np.array(["eta" not in name for name in system.u_names])
    u[~free] = 0.0
    rigid = copy.deepcopy(model)
    for body in rigid["bodies"]:
        eta = [x for name, x in zip(system.q_names, q, strict=True) if name.startswith(body["name"] + ".eta")]
        body["rigid"] = frozen(body.pop("nodal"), np.array(eta))
    other = Mechanism(rigid)
    q_other = q[["eta" not in name for name in system.q_names]]
    out = system.hybrid_dynamics(q, u, tau, held=held, loads=loads)
    expected = other.hybrid_dynamics(q_other, u[free], tau[free], loads=loads)
    assert error(out.udot[free], expected.udot) < TOLERANCE
    assert error(out.reactions, expected.reactions) < TOLERANCE


def driven_model() -> tuple[Dict, Case]:
    c = case(9, n_bodies=5, hinge_types=("universal", "revolute", "cylindrical", "spherical"))
    model = copy.deepcopy(c.model)
    model["bodies"][1]["hinge"]["drive"] = "motion"
    model["bodies"][3]["hinge"]["drive"] = "locked"
    return model, c


def test_drives_of_the_model_file_are_held_in_every_call() -> None:
    model, c = driven_model()
    system = Mechanism(model)
    motion = np.random.default_rng(3).normal(size=system.nu)
    names = [hinge_name(model["bodies"][k]) for k in (1, 3)]
    locked = np.array([name.startswith(names[1] + ".") for name in system.u_names])
    motion[locked] = 0.0
    expected = c.system.hybrid_dynamics(c.q, c.u, c.tau, motion=motion, held=names)
    assert error(system.forward_dynamics(c.q, c.u, c.tau, motion=motion), expected.udot) < TOLERANCE
    composite = system.forward_dynamics(c.q, c.u, c.tau, method="composite", motion=motion)
    assert error(composite, expected.udot) < TOLERANCE
    out = system.hybrid_dynamics(c.q, c.u, c.tau, motion=motion)
    assert error(out.tau, expected.tau) < TOLERANCE and error(out.reactions, expected.reactions) < TOLERANCE
    none = system.hybrid_dynamics(c.q, c.u, c.tau, held=[])
    assert error(none.udot, c.system.forward_dynamics(c.q, c.u, c.tau)) < TOLERANCE
    again = system.hybrid_dynamics(c.q, c.u, c.tau, motion=motion)  # a call with other DOFs held leaves nothing behind
    assert np.array_equal(again.udot, out.udot)


def test_batch_holds_driven_hinges() -> None:
    """Without a motion, driven and locked hinges do not accelerate, in one state as in many."""
    model, c = driven_model()
    system = Mechanism(model)
    rows = system.forward_dynamics(np.stack([c.q] * 5), c.u, c.tau)
    assert error(rows[4], system.forward_dynamics(c.q, c.u, c.tau)) < TOLERANCE
    held = [i for i, name in enumerate(system.u_names) if system._held[i]]
    assert held and not rows[:, held].any()


def test_modes_are_held_together_or_not_at_all() -> None:
    c = case(0, kinds=("clamped",), n_bodies=4)
    body = next(name for name, at in mode_slices(c.system).items() if at.stop - at.start > 1)
    with pytest.raises(ValueError, match=f"modes of '{body}' are held together"):
        c.system.hybrid_dynamics(c.q, c.u, c.tau, held=[f"{body}.eta_dot[1]"])
    with pytest.raises(ValueError, match="names no speed"):
        c.system.hybrid_dynamics(c.q, c.u, c.tau, held=["nothing"])
