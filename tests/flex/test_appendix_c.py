"""Modal integrals by the names of the patent, against the kernel: mass matrix (86) and gyroscopic forces."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from small_models import beam, body, hinge, model
from typer.testing import CliRunner

import bough
from bough import Mechanism
from bough.cli import app
from bough.flex.appendix_c import appendix_c

TURN = slice(3, 6)
"""Angular velocity among the speeds of a free hinge; velocity comes first, modes last."""


def nodal(rotary: bool) -> Mechanism:
    """Five nodes off a line, three clamped modes; with and without inertia of the nodes."""
    rng = np.random.default_rng(3)
    shapes = rng.uniform(-0.5, 0.5, (3, 5, 6))
    shapes[:, 0] = 0.0
    nodes = []
    for j, place in enumerate(rng.uniform(-1, 1, (5, 3))):
        inertia = {"inertia": [0.02 + 0.01 * j, 0.03, 0.04, 0.001, 0.002 * j, 0.003]} if rotary else {}
        nodes.append({"name": f"n{j}", "position": place.tolist(), "mass": 0.3 + 0.1 * j, **inertia})
    flexible = {"attach": "n0", "nodes": nodes, "modes": shapes.tolist(), "stiffness": [1.0, 1.0, 1.0]}
    return Mechanism(model("one", body("b", "ground", hinge("free", "h"), nodal=flexible)))


def integrals(system: Mechanism) -> dict[str, np.ndarray]:
    flex = system.block.bodies[0].flex
    assert flex is not None
    return appendix_c(flex)


def cross(v: np.ndarray) -> np.ndarray:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def state(system: Mechanism, eta: np.ndarray) -> np.ndarray:
    return np.concatenate([np.zeros(6), [1.0], eta])


def test_mass_matrix_86_follows_from_the_integrals_at_any_deflection() -> None:
    """Point masses, for which both are exact."""
    system = nodal(rotary=False)
    eta = np.array([0.2, -0.1, 0.3])
    c = integrals(system)
    F = c["F0"] + np.einsum("sri,s->ri", c["F1"], eta)
    J = c["J0"] + np.einsum("rij,r->ij", c["J1"] + c["J1"].transpose(0, 2, 1), eta)
    J = J + np.einsum("rsij,r,s->ij", c["J2"], eta, eta)
    moment = cross(c["m"] * (c["p0"] + eta @ c["p1"]))
    expected = np.block([[c["m"] * np.eye(3), -moment, c["E"].T], [moment, J, F.T], [c["E"], F, c["G"]]])
    found = system.mass_matrix(state(system, eta))
    assert abs(found - expected).max() < 1e-12 * abs(expected).max()


def test_mass_matrix_with_rotary_inertia_is_that_of_the_integrals_at_zero_deflection() -> None:
    system = nodal(rotary=True)
    c = integrals(system)
    moment = cross(c["m"] * c["p0"])
    expected = np.block(
        [[c["m"] * np.eye(3), -moment, c["E"].T], [moment, c["J0"], c["F0"].T], [c["E"], c["F0"], c["G"]]]
    )
    assert abs(system.mass_matrix(state(system, np.zeros(3))) - expected).max() < 1e-12 * abs(expected).max()


def test_gyroscopic_forces_follow_from_k_r_w_and_s() -> None:
    """Bias forces at zero deflection, rotary inertia included: they fix the signs and orders of S1, K1, R1, W2, J1."""
    system = nodal(rotary=True)
    c = integrals(system)
    q = state(system, np.zeros(3))
    rng = np.random.default_rng(5)
    w, rates = rng.normal(size=3), rng.normal(size=3)

    def bias(w: np.ndarray, rates: np.ndarray) -> np.ndarray:
        return system.inverse_dynamics(q, np.concatenate([np.zeros(3), w, rates]), np.zeros(system.nu))

    zero = np.zeros(3)
    scale = abs(bias(w, rates)).max()
    assert np.allclose(bias(w, zero)[TURN], np.cross(w, c["J0"] @ w), rtol=0, atol=1e-12 * scale)
    modal = -np.einsum("i,rij,j->r", w, c["S1"] + c["J1"], w)
    assert np.allclose(bias(w, zero)[6:], modal, rtol=0, atol=1e-12 * scale)
    # Springs and dampers are linear in the rates: what is even in them is gyroscopic.
    even = 0.5 * (bias(zero, rates) + bias(zero, -rates))[TURN]
    assert np.allclose(even, np.einsum("rsi,r,s->i", c["W2"], rates, rates), rtol=0, atol=1e-12 * scale)
    both = (bias(w, rates) - bias(w, zero) - bias(zero, rates))[TURN]
    matrix = c["K1"] + 2 * c["J1"].transpose(0, 2, 1) - np.array([cross(r) for r in c["R1"]])
    assert np.allclose(both, np.einsum("rij,r,j->i", matrix, rates, w), rtol=0, atol=1e-12 * scale)


@pytest.mark.parametrize("ending", ["json", "npz"])
def test_flex_writes_the_integrals_of_a_body(ending: str, tmp_path: Path) -> None:
    strip = {"area": 1e-4, "Iy": 2e-9, "Iz": 1e-9, "J": 2e-9}
    one = model("one", body("b", "ground", hinge("free", "h"), beam=beam(1.0, {"bending_y": 2}, strip)))
    path, out = tmp_path / "one.yaml", tmp_path / f"integrals.{ending}"
    path.write_text(json.dumps(one))
    done = CliRunner().invoke(app, ["flex", str(path), "b", "--integrals", str(out), "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(out.read_text()) if ending == "json" else np.load(out)
    assert np.asarray(found["m"]) == pytest.approx(0.27) and np.asarray(found["J1"]).shape == (2, 3, 3)
    expected = appendix_c(Mechanism(bough.load(one)).block.bodies[0].flex)  # type: ignore[arg-type]
    assert np.array_equal(np.asarray(found["F0"]), expected["F0"])
    refused = CliRunner().invoke(app, ["flex", str(path), "--integrals", str(tmp_path / "x.txt"), "--json"])
    assert refused.exit_code == 2
