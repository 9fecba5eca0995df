"""Steady rotation: equilibrium at speed, rotating beams, whirl, Campbell diagrams."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.linalg import eigh
from typer.testing import CliRunner

import bough
from bough.cli.app import app

E, RHO, WIDTH, HEIGHT = 70e9, 2700.0, 0.02, 0.002
UNIT = np.sqrt(E * WIDTH * HEIGHT**3 / 12.0 / (RHO * WIDTH * HEIGHT))
"""sqrt(EI / rho A) of flapping, for a beam of 1 m: rad/s per unit of Wright's mu and eta."""


def blade(hub: float, modes: dict[str, Any], *, stiffening: bool = True, tilt: float = 0.0, **more: Any) -> Any:
    """A thin blade of 1 m along x on a hub that spins about z; it flaps along z."""
    beam = {"length": 1.0, "elements": 20, "section": {"shape": "rectangle", "width": WIDTH, "height": HEIGHT}}
    beam |= {"material": {"E": E, "nu": 0.3, "rho": RHO}, "modes": modes} | more
    turn = [0.0, -np.sin(tilt / 2), 0.0, np.cos(tilt / 2)]
    return {
        "bough": 1,
        "name": "rotor",
        "geometric_stiffening": stiffening,
        "bodies": [
            {
                "name": "disc",
                "parent": "ground",
                "hinge": {"name": "hub", "type": "revolute", "axis": [0, 0, 1]},
                "rigid": {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]},
            },
            {
                "name": "blade",
                "parent": "disc",
                "hinge": {"type": "fixed", "frame": {"position": [hub, 0, 0], "quaternion": turn}},
                "beam": beam,
            },
        ],
        "outputs": ["blade.tip"],
    }


def flapping(eta: float, hub: float, n: int = 14) -> Any:
    """mu of the first flapping modes: Ritz's method with polynomials on the equation of a string that bends.

    (w'')'' - (N w')' = mu^2 w on [0, 1], N = eta^2 ((1 - x^2) / 2 + hub (1 - x)), clamped at 0 and free at 1.
    """
    x, weight = np.polynomial.legendre.leggauss(40)
    x, weight = 0.5 * (x + 1.0), 0.5 * weight
    square = np.polynomial.Polynomial([0.0, 0.0, 1.0])
    basis = (np.polynomial.Legendre.basis(k, domain=[0, 1]) for k in range(n))
    shapes = [square * f.convert(kind=np.polynomial.Polynomial, domain=[-1, 1]) for f in basis]
    w, s, c = (np.array([f.deriv(d)(x) if d else f(x) for f in shapes]) for d in (0, 1, 2))
    tension = eta**2 * (0.5 * (1.0 - x**2) + hub * (1.0 - x))
    K = (c * weight) @ c.T + (s * weight * tension) @ s.T
    return np.sqrt(eigh(K, (w * weight) @ w.T, eigvals_only=True))


@pytest.mark.parametrize(
    ("eta", "hub", "printed"),
    [
        (0.0, 0.0, (3.5160, 22.0345)),
        (2.0, 0.0, (4.1373, 22.6149)),
        (6.0, 0.0, (7.3604, 26.8091)),
        (12.0, 0.0, (13.1702, 37.6031)),
        (4.0, 1.0, None),
        (12.0, 1.0, None),
        (4.0, 3.0, None),
        (12.0, 3.0, None),
    ],
)
def test_rotating_beam_flaps_as_wrights_tables_say(eta: float, hub: float, printed: Any) -> None:
    """Wright, Smith, Thresher and Wang, J. Applied Mechanics 49, 1982, 197-202: to 0.1 %.

    The printed numbers of hub radius 0 check the polynomials, which then tell those of hub radius 1 and 3.
    """
    exact = flapping(eta, hub)[:2]
    if printed is not None:
        np.testing.assert_allclose(exact, printed, atol=6e-5)
    model = blade(hub, {"boundary": "cantilever", "bending_y": 8})
    found = bough.modes(model, spin={"hub": eta * UNIT}).frequencies[:2] if eta else None
    if found is None:
        found = bough.modes(model).frequencies[:2]
    np.testing.assert_allclose(2 * np.pi * found / UNIT, exact, rtol=1e-3)


def overhung(speed: float, m: float, Ip: float, Id: float, k: Any) -> Any:
    """Frequencies seen from the ground, rad/s, signed, of a disc on a massless shaft: z = y + i z, complex slopes.

    m z'' + k11 z - k12 s = 0 and Id s'' - i Ip speed s' - k12 z + k22 s = 0.
    """
    M = np.diag([m, Id]).astype(complex)
    G = np.diag([0.0, -1j * Ip * speed])
    K = np.array([[k[0], -k[1]], [-k[1], k[2]]], dtype=complex)
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(M, K), -np.linalg.solve(M, G)]])
    return np.linalg.eigvals(A).imag


@pytest.mark.parametrize("speed", [100.0, 1500.0])
def test_whirl_of_a_disc_that_is_the_inertia_of_a_node_splits(speed: float) -> None:
    """The same rotor in one `nodal` body, in rotating axes: to 1e-8, by the state space about the spinning start."""
    m, Ip, Id, length, EI = 2.0, 0.02, 0.011, 0.5, 100.0
    k = 12 * EI / length**3, 6 * EI / length**2, 4 * EI / length
    none = [0.0] * 6
    shapes = [[none, [0, 0, 0, 0, 1, 0]], [none, [0, 0, 1, 0, 0, 0]], [none, [0, 0, 0, 0, 0, 1]]]
    shapes.append([none, [0, -1, 0, 0, 0, 0]])
    stiffness = np.kron(np.eye(2), np.array([[k[0], -k[1]], [-k[1], k[2]]])).tolist()
    nodes = [{"name": "a", "position": [0, 0, 0], "mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]}]
    nodes.append({"name": "tip", "position": [length, 0, 0], "mass": m, "inertia": [Ip, Id, Id, 0, 0, 0]})
    hinge = {"name": "bearing", "type": "revolute", "axis": [1, 0, 0], "drive": "motion", "initial": {"w": speed}}
    nodal = {"attach": "a", "nodes": nodes, "modes": shapes, "stiffness": stiffness}
    bodies = [{"name": "rotor", "parent": "ground", "hinge": hinge, "nodal": nodal}]
    system = bough.Mechanism({"bough": 1, "name": "rotor", "bodies": bodies})
    poles = np.linalg.eigvals(system.linearize(*system.initial_state(), np.zeros(system.nu)).A)
    exact = np.sort(abs(overhung(speed, m, Ip, Id, k) - speed))
    found = np.sort(poles.imag[poles.imag > 1e-6])
    np.testing.assert_allclose(found, exact, rtol=1e-8)


@pytest.mark.parametrize("axial", [True, False])
def test_whirl_of_the_overhung_disc_splits(axial: bool) -> None:
    """Forward and backward whirl to 1e-8, with stretch and torsion of the shaft in the model or not."""
    m, Ip, Id, length, radius, speed = 10.0, 0.12, 0.07, 0.5, 0.01, 1500.0
    EI = 210e9 * np.pi * radius**4 / 4
    k = 12 * EI / length**3, 6 * EI / length**2, 4 * EI / length
    hinge = {"name": "bearing", "type": "revolute", "axis": [1, 0, 0]}
    shaft: dict[str, Any] = {"name": "shaft", "parent": "ground", "hinge": hinge}
    if axial:
        shaft["beam"] = {
            "length": length,
            "elements": 4,
            "section": {"shape": "circle", "radius": radius},
            "material": {"E": 210e9, "nu": 0.3, "rho": 1e-7},  # hardly any mass: the exact answer has none
            "modes": {"boundary": "craig-bampton", "count": 0},
        }
    else:
        none = [0.0] * 6
        shapes = [[none, [0, 0, 0, 0, 1, 0]], [none, [0, 0, 1, 0, 0, 0]], [none, [0, 0, 0, 0, 0, 1]]]
        shapes.append([none, [0, -1, 0, 0, 0, 0]])
        block = np.array([[k[0], -k[1]], [-k[1], k[2]]])
        nodes = [{"name": "a", "position": [0, 0, 0]}]
        nodes.append(
            {"name": "tip", "position": [length, 0, 0], "mass": 1e-9, "inertia": [2e-11, 1e-11, 1e-11, 0, 0, 0]}
        )
        stiffness = np.kron(np.eye(2), block).tolist()
        shaft["nodal"] = {"attach": "a", "nodes": nodes, "modes": shapes, "stiffness": stiffness}
    disc = {"name": "disc", "parent": "shaft", "at": "tip", "hinge": {"type": "fixed"}}
    bodies = [shaft, disc | {"rigid": {"mass": m, "inertia": [Ip, Id, Id, 0, 0, 0]}}]
    found = bough.modes({"bough": 1, "name": "rotor", "bodies": bodies}, spin={"bearing": speed}).frequencies
    exact = np.sort(abs(overhung(speed, m, Ip, Id, k) - speed)) / (2 * np.pi)
    assert [np.min(abs(found / f - 1.0)) for f in exact] == pytest.approx([0.0] * 4, abs=1e-8)


def test_a_blade_with_coning_lifts_under_no_load_and_is_pulled_straight_by_spin() -> None:
    """The steady state is one: a run that starts there stays there."""
    model = blade(0.1, {"boundary": "cantilever", "bending_y": 3}, tilt=0.1)
    model["bodies"][0]["hinge"]["initial"] = {"w": 30.0}
    q, u = bough.equilibrium(model, spin={"hub": 30.0})
    system = bough.Mechanism(model)
    assert u[0] == 30.0
    # Centrifugal force bends the coned blade down, to the plane of rotation.
    assert system.pose(q, "blade.tip")[0][2] < 0.9 * system.pose(np.zeros(system.nq), "blade.tip")[0][2]
    model["bodies"][0]["hinge"]["drive"] = "motion"
    result = bough.simulate(model, stop=0.5, step=0.05, initial=(q, u))
    for i in range(3):
        np.testing.assert_allclose(result[f"blade.eta[{i + 1}]"], q[1 + i], atol=1e-7 * abs(q[1:]).max())


def test_loads_take_part_in_the_steady_motion() -> None:
    model = blade(0.0, {"boundary": "cantilever", "bending_y": 3}) | {"inputs": ["blade.tip.force"]}
    lift = {"blade.tip.force": [0.0, 0.0, 0.05]}
    slow, fast = (bough.equilibrium(model, spin={"hub": w}, loads=lift)[0] for w in (1.0, 40.0))
    assert abs(fast[1]) < 0.6 * abs(slow[1])


def test_no_steady_motion_under_gravity_across_the_axis_is_said() -> None:
    model = blade(0.0, {"boundary": "cantilever", "bending_y": 2, "bending_z": 2}) | {"gravity": [0.0, -9.81, 0.0]}
    with pytest.raises(bough.SimulationError, match="no steady motion: as hinge 'hub' turns"):
        bough.equilibrium(model, spin={"hub": 30.0})
    bough.equilibrium(model | {"gravity": [0.0, 0.0, -9.81]}, spin={"hub": 30.0})


@pytest.mark.parametrize(
    ("spin", "told"),
    [({"hob": 1.0}, "hub"), ({"blade_hinge": 1.0}, "not a hinge that turns"), ({"hub": "x"}, "a number")],
)
def test_a_spin_that_cannot_be_is_refused(spin: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        bough.equilibrium(blade(0.0, {"count": 1}), spin=spin)


def test_campbell_diagram_in_every_form(tmp_path: Path) -> None:
    model = tmp_path / "rotor.json"
    model.write_text(json.dumps(blade(0.0, {"boundary": "cantilever", "bending_y": 4})))
    found = bough.campbell(model, {"hub": (0.0, 12 * UNIT)})
    np.testing.assert_allclose(2 * np.pi * found.frequencies[[0, -1], 0] / UNIT, [3.5160, 13.1702], rtol=1e-3)
    for name in ("c.png", "c.svg", "c.csv"):
        told = CliRunner().invoke(app, ["campbell", str(model), "--spin", "hub=0:60:5", "-o", str(tmp_path / name)])
        assert told.exit_code == 0, told.output
        assert (tmp_path / name).stat().st_size > 300
    wrong = CliRunner().invoke(app, ["campbell", str(model), "--spin", "hub=60"])
    assert wrong.exit_code == 2
    at = CliRunner().invoke(app, ["modes", str(model), "--spin", "hub=30", "--json"])
    hertz = json.loads(at.stdout)["modes"][0]["frequency"]
    assert hertz == pytest.approx(bough.modes(model, spin={"hub": 30.0}).frequencies[0], rel=1e-12)
