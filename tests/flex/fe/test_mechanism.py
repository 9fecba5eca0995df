"""Imported bodies in mechanisms: halves that make a whole, and beams against bough's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flex.fe.fem import RHO, E, G, entry, imported, solid, straight, torsion_constant

import bough


def undamped(model: dict[str, Any], count: int) -> np.ndarray:
    """Lowest frequencies of a model at rest, rad/s, from its state matrix."""
    system = bough.Mechanism(model)
    A = system.linearize(*system.initial_state(), np.zeros(system.nu)).A
    values = np.linalg.eigvals(A)
    return np.sort(values.imag[values.imag > 1.0])[:count]


def chain(first: dict[str, Any], second: dict[str, Any], kind: str) -> dict[str, Any]:
    return {
        "bough": 1,
        "name": "halves",
        "bodies": [
            {"name": "inner", "parent": "ground", "hinge": {"type": "fixed"}, kind: first},
            {"name": "outer", "parent": "inner", "at": "tip", "hinge": {"type": "fixed"}, kind: second},
        ],
    }


def test_two_halves_of_a_solid_make_the_whole(tmp_path: Path) -> None:
    """Joined at a rigid face, as the whole has one there; the whole is not reduced by interfaces in the middle."""
    modes = {"boundary": "craig-bampton", "count": 20}
    inner = entry(tmp_path / "inner.npz", solid((3, 1, 1), (0.2, 0.02, 0.03)), modes=modes)
    outer = entry(tmp_path / "outer.npz", solid((3, 1, 1), (0.2, 0.02, 0.03), start=0.2), modes=modes)
    faces = {"root": {"set": "ROOT"}, "middle": {"box": [[0.19999, -1, -1], [0.20001, 1, 1]]}, "tip": {"set": "TIP"}}
    whole = entry(
        tmp_path / "whole.npz",
        solid((6, 1, 1), (0.4, 0.02, 0.03)),
        interfaces=faces,
        modes={"boundary": "cantilever", "count": 8},
    )
    expected = imported(whole).frequencies
    found = undamped(chain(inner, outer, "fe"), 8)
    # Craig-Bampton is Ritz: never below; with 20 modes each within 1e-4 for the first eight.
    assert np.all(found > expected * (1.0 - 1e-7))
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    coarse = {**modes, "count": 4}
    worse = undamped(chain({**inner, "modes": coarse}, {**outer, "modes": coarse}, "fe"), 8)
    assert np.all(worse >= found * (1.0 - 1e-9))


WIDTH, HEIGHT, LENGTH = 0.02, 0.03, 1.0
IY, IZ = WIDTH * HEIGHT**3 / 12.0, HEIGHT * WIDTH**3 / 12.0
BEAM = {
    "length": LENGTH,
    "elements": 20,
    "section": {"area": WIDTH * HEIGHT, "Iy": IY, "Iz": IZ, "J": torsion_constant(IY, IZ)},
    "material": {"E": E, "G": G, "rho": RHO},
}


def pendulum(kind: str, body: dict[str, Any], **hinge: Any) -> dict[str, Any]:
    return {
        "bough": 1,
        "name": "pendulum",
        "gravity": [0, 0, -9.81],
        "bodies": [
            {"name": "arm", "parent": "ground", "hinge": {"type": "revolute", "axis": [0, 1, 0], **hinge}, kind: body}
        ],
        "inputs": ["arm.tip.force"],
        "outputs": ["arm.tip"],
    }


@pytest.mark.parametrize("boundary", ["cantilever", "free", "craig-bampton"])
def test_beam_as_matrices_is_the_native_beam(boundary: str, tmp_path: Path) -> None:
    modes = {"boundary": boundary, "count": 6}
    fe = entry(tmp_path / "beam.npz", straight(LENGTH, 20), modes=modes)
    native, matrices = pendulum("beam", {**BEAM, "modes": modes}), pendulum("fe", fe)
    systems = [bough.Mechanism(model) for model in (native, matrices)]
    assert systems[0].q_names == systems[1].q_names
    np.testing.assert_allclose(undamped(matrices, 5), undamped(native, 5), rtol=2e-7)

    def accelerations(system: bough.Mechanism, w: float, torque: float) -> np.ndarray:
        """Of the hinge and, in three directions, of the tip."""
        q, u = system.initial_state()
        u[0] = w
        tau = np.zeros(system.nu)
        tau[0] = torque
        udot = system.forward_dynamics(q, u, tau)
        return np.concatenate([udot[:1], system.node_motion(q, u, tau, ["arm.tip"])[2][0, 3:]])

    for w, slack in ((0.0, 1e-8), (5.0, 1e-7)):
        one, other = (accelerations(system, w, 3.0) for system in systems)
        np.testing.assert_allclose(other, one, atol=slack * np.abs(one).max())


def test_falling_beams_move_alike(tmp_path: Path) -> None:
    modes = {"boundary": "cantilever", "count": 4}
    fe = entry(tmp_path / "beam.npz", straight(LENGTH, 20), modes=modes, damping=0.01)
    runs = [
        bough.simulate(model, stop=0.6, step=0.01, inputs={"arm.tip.force[2]": 2.0}, rtol=1e-8)
        for model in (pendulum("beam", {**BEAM, "modes": modes, "damping": 0.01}), pendulum("fe", fe))
    ]
    for column in ("arm_hinge.phi", "arm.tip.r[1]", "arm.tip.r[2]", "arm.tip.r[3]"):
        one, other = runs[0][column], runs[1][column]
        np.testing.assert_allclose(other, one, atol=1e-4 * np.ptp(one), err_msg=column)


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_fmu_of_an_imported_body_runs_as_python_does(fmi: str, tmp_path: Path) -> None:
    fmpy = pytest.importorskip("fmpy")
    fe = entry(tmp_path / "beam.npz", straight(LENGTH, 8), modes={"boundary": "cantilever", "count": 3}, damping=0.01)
    model = bough.load(pendulum("fe", fe))
    path = tmp_path / "beam.fmu"
    bough.build_fmu(model, path, fmi=fmi)
    run = fmpy.simulate_fmu(str(path), stop_time=0.3, output_interval=0.1, output=["arm_hinge.phi", "arm.tip.r[3]"])
    known = bough.simulate(model, stop=0.3, step=0.1, rtol=1e-9)
    np.testing.assert_allclose(run["arm_hinge.phi"], known["arm_hinge.phi"], atol=1e-4)
    np.testing.assert_allclose(run["arm.tip.r[3]"], known["arm.tip.r[3]"], atol=1e-4)
