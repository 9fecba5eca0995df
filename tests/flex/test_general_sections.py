"""Sections by rigidities, centres and full matrices: statics in closed form, inertia by integrals, a real blade."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_models import Dict, body, hinge, model

import bough
from bough.flex.body import FlexBody

LENGTH = 2.0
PLAIN = {"EA": 3e6, "EIy": 4e3, "EIz": 9e3, "GJ": 2.5e3, "mass": 1.5, "Jy": 2e-3, "Jz": 3e-3}
SHEAR = {"GAy": 8e5, "GAz": 6e5}
STATIC = {"boundary": "craig-bampton", "count": 0}
"""Exact statics for loads at the tip: six static modes."""


def boom(section: Dict, modes: Dict = STATIC, elements: int = 6, **more: Any) -> Dict:
    beam = {"length": LENGTH, "elements": elements, "section": section, "modes": modes, **more}
    ports = {"inputs": ["boom.tip.force", "boom.tip.torque"]}
    return model("boom", body("boom", "ground", hinge("fixed", "root"), beam=beam), **ports)


def tip(made: Dict, force: list[float], torque: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """Displacement and rotation of the tip by linear statics."""
    flex = bough.Mechanism(made).block.bodies[0].flex
    assert isinstance(flex, FlexBody)
    shape = flex.node_shapes[flex.node("tip")]
    moved = shape @ np.linalg.solve(flex.stiffness, shape.T @ np.array([*torque, *force]))
    return moved[3:], moved[:3]


def closed_form(K: np.ndarray, force: np.ndarray, torque: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Tip of a uniform cantilever by unit loads: strains K^-1 f(s), with f(s) from statics, integrated by Gauss."""
    x, w = np.polynomial.legendre.leggauss(4)
    s, w = LENGTH * (x + 1) / 2, LENGTH * w / 2
    u, r = np.zeros(3), np.zeros(3)
    for place, weight in zip(s, w, strict=True):
        arm = np.array([LENGTH - place, 0.0, 0.0])
        strain = np.linalg.solve(K, np.concatenate([force, torque + np.cross(arm, force)]))
        u += weight * (strain[:3] + np.cross(strain[3:], arm))
        r += weight * strain[3:]
    return u, r


def random_stiffness(seed: int) -> np.ndarray:
    """Any positive definite matrix, the sizes of whose entries are those of a beam."""
    rng = np.random.default_rng(seed)
    size = np.sqrt([3e6, 8e5, 6e5, 2.5e3, 4e3, 9e3])
    B = rng.normal(size=(6, 6))
    return (np.eye(6) + 0.1 * B @ B.T) * np.outer(size, size)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("twist", [0.0, 0.7])
def test_a_full_matrix_gives_the_statics_of_its_strains(seed: int, twist: float) -> None:
    K = random_stiffness(seed)
    rng = np.random.default_rng(100 + seed)
    force, torque = rng.normal(size=3), rng.normal(size=3)
    made = boom({"stiffness": K.tolist(), "mass": np.diag([1.5, 1.5, 1.5, 5e-3, 2e-3, 3e-3]).tolist(), "twist": twist})
    c, s = math.cos(twist), math.sin(twist)
    R = np.kron(np.eye(2), np.array([[1, 0, 0], [0, c, -s], [0, s, c]]))
    u, r = closed_form(R @ K @ R.T, force, torque)
    found_u, found_r = tip(made, list(force), list(torque))
    assert found_u == pytest.approx(u, rel=1e-6, abs=1e-7 * abs(u).max())
    assert found_r == pytest.approx(r, rel=1e-6, abs=1e-7 * abs(r).max())


def test_a_pull_on_the_axis_bends_about_the_tension_centre() -> None:
    y, z = 0.03, -0.02
    u, _ = tip(boom({**PLAIN, "tension_center": [y, z]}), [1.0, 0, 0], [0, 0, 0])
    # The pull acts at -(y, z) from the tension centre: moments -F z about y and F y about z.
    assert u[2] == pytest.approx(z * LENGTH**2 / (2 * PLAIN["EIy"]), rel=1e-7)
    assert u[1] == pytest.approx(y * LENGTH**2 / (2 * PLAIN["EIz"]), rel=1e-7)
    assert u[0] == pytest.approx(LENGTH * (1 / PLAIN["EA"] + y**2 / PLAIN["EIz"] + z**2 / PLAIN["EIy"]), rel=1e-7)


def test_a_force_on_the_axis_twists_about_the_shear_centre() -> None:
    y, z = 0.05, 0.02
    made = boom({**PLAIN, **SHEAR, "shear_center": [y, z]})
    _, r = tip(made, [0, 0, 1.0], [0, 0, 0])
    assert r[0] == pytest.approx(-y * LENGTH / PLAIN["GJ"], rel=1e-7)
    _, r = tip(made, [0, 1.0, 0], [0, 0, 0])
    assert r[0] == pytest.approx(z * LENGTH / PLAIN["GJ"], rel=1e-7)
    u, _ = tip(made, [0, 1.0, 0], [0, 0, 0])
    expected = LENGTH**3 / (3 * PLAIN["EIz"]) + LENGTH / SHEAR["GAy"] + z**2 * LENGTH / PLAIN["GJ"]
    assert u[1] == pytest.approx(expected, rel=1e-7)


def test_a_quarter_turn_exchanges_the_axes() -> None:
    count = {"boundary": "cantilever", "count": 6}
    swapped = {**PLAIN, "EIy": PLAIN["EIz"], "EIz": PLAIN["EIy"], "Jy": PLAIN["Jz"], "Jz": PLAIN["Jy"]}
    turned = bough.check(boom({**PLAIN, "twist": math.pi / 2}, count))["bodies"][0]["frequencies"]
    assert turned == pytest.approx(bough.check(boom(swapped, count))["bodies"][0]["frequencies"], rel=1e-9)


def test_plain_rigidities_are_the_beam_of_dimensions() -> None:
    """No twist, no offsets: families are there, and all numbers are those of the same beam by area and material."""
    E, nu, rho, a, b = 70e9, 0.33, 2700.0, 0.02, 0.03
    area, Iy, Iz, J = a * b, a * b**3 / 12, b * a**3 / 12, 3e-8
    modes = {"boundary": "cantilever", "bending_y": 2, "bending_z": 2, "torsion": 1, "axial": 1}
    G = E / (2 * (1 + nu))
    numbers = {"EA": E * area, "EIy": E * Iy, "EIz": E * Iz, "GJ": G * J, "mass": rho * area}
    own = boom({**numbers, "Jy": rho * Iy, "Jz": rho * Iz}, modes)
    dimensions = boom({"area": area, "Iy": Iy, "Iz": Iz, "J": J}, modes, material={"E": E, "nu": nu, "rho": rho})
    one, other = (bough.check(m)["bodies"][0] for m in (own, dimensions))
    assert one["mode_names"] == other["mode_names"]
    assert one["frequencies"] == pytest.approx(other["frequencies"], rel=1e-12)


def test_a_mass_centre_beside_the_axis_is_in_the_inertia_and_in_the_modes() -> None:
    y, z, twist = 0.04, 0.01, 0.4
    made = boom({**PLAIN, "mass_center": [y, z], "twist": twist}, {"boundary": "cantilever", "count": 4})
    flex = bough.Mechanism(made).block.bodies[0].flex
    assert isinstance(flex, FlexBody)
    mass, mx, my, mz, jxx = flex.integrals.inertia[:5]
    c, s = math.cos(twist), math.sin(twist)
    m = PLAIN["mass"] * LENGTH
    assert (mass, mx) == pytest.approx((m, m * LENGTH / 2))
    assert (my, mz) == pytest.approx((m * (c * y - s * z), m * (s * y + c * z)))
    assert jxx == pytest.approx(LENGTH * (PLAIN["Jy"] + PLAIN["Jz"]) + m * (y**2 + z**2))


def test_a_beam_described_from_beside_it_is_the_same_beam() -> None:
    """All three centres at one place: only the axis of reference has moved."""
    place = [0.04, -0.03]
    beside = {"mass_center": place, "tension_center": place, "shear_center": place}
    count = {"boundary": "cantilever", "count": 8}
    plain = {**PLAIN, **SHEAR, "twist": 1e-9}  # by the same path
    f, g = (bough.check(boom(x, count))["bodies"][0]["frequencies"] for x in ({**plain, **beside}, plain))
    assert f == pytest.approx(g, rel=1e-9)
    families = bough.check(boom({**PLAIN, **SHEAR}, count))["bodies"][0]["frequencies"]
    assert g == pytest.approx(families, rel=1e-8)


def test_stiffening_of_offset_masses_keeps_its_energy() -> None:
    """A spinning blade whose mass centre is beside its axis: the second-order motion includes its arm."""
    section = {**PLAIN, "EIy": 40.0, "EIz": 90.0, "GJ": 25.0, "mass_center": [0.03, 0.01], "twist": 0.3}
    made = boom(section, {"boundary": "cantilever", "count": 4}, damping=0.0)
    made["bodies"][0]["hinge"] = hinge("revolute", "hub", [0, 0, 1], initial={"w": 3.0})
    made["bodies"][0]["beam"]["initial"] = {"eta": [0.02, 0.02, 0.0, 0.0]}
    made["geometric_stiffening"] = True
    system = bough.Mechanism(made)
    run = bough.simulate(system, stop=2.0, rtol=1e-10, step=0.5)
    energy = [sum(system.energy(*state)) for state in _states(system, run)]
    assert np.ptp(energy) < 1e-7 * abs(energy[0])


def _states(system: bough.Mechanism, run: bough.Result) -> list[tuple[np.ndarray, np.ndarray]]:
    q = np.array([run[name] for name in system.q_names]).T
    u = np.array([run[name] for name in system.u_names]).T
    return list(zip(q, u, strict=True))


# ---- NREL 5 MW blade

TABLE = Path(__file__).parent / "data" / "nrel_5mw_blade.csv"
SPAN = 61.5


def blade(matrices: bool, gravity: float = 0.0, count: int = 8) -> Dict:
    rows = np.loadtxt(TABLE, delimiter=",", skiprows=5)
    stations = []
    for fraction, EA, EI_edge, EI_flap, GJ, mass, J_edge, J_flap, twist in rows.tolist():
        section: Dict = {"twist": -math.radians(twist)}
        if matrices:  # as the BeamDyn file has them
            section["stiffness"] = np.diag([EA / 10, EA / 10, EA, EI_edge, EI_flap, GJ]).tolist()
            section["mass"] = np.diag([mass, mass, mass, J_edge, J_flap, J_edge + J_flap]).tolist()
            section["order"] = "beamdyn"
        else:
            section |= {"EA": EA, "EIy": EI_edge, "EIz": EI_flap, "GJ": GJ, "GAy": EA / 10, "GAz": EA / 10}
            section |= {"mass": mass, "Jy": J_edge, "Jz": J_flap}
        stations.append({"at": fraction * SPAN, "section": section})
    beam = {"length": SPAN, "elements": 48, "stations": stations, "modes": {"boundary": "cantilever", "count": count}}
    return model("nrel", body("blade", "ground", hinge("fixed", "root"), beam=beam), gravity=[0, 0, -gravity])


@pytest.mark.parametrize("matrices", [False, True])
def test_the_nrel_blade_has_its_published_frequencies(matrices: bool) -> None:
    """BeamDyn's with one element of order five: 0.6918 and 1.0839 Hz."""
    data = bough.check(blade(matrices))["bodies"][0]
    assert data["frequencies"][:2] == pytest.approx([0.6918, 1.0839], rel=0.01)
    assert data["mass"] == pytest.approx(16844.7, abs=0.1)


def test_the_nrel_blade_bends_edgewise_under_its_weight_as_published() -> None:
    """BeamDyn: -0.4323 m at the tip."""
    system = bough.Mechanism(blade(False, gravity=9.81, count=20))
    q, _ = bough.equilibrium(system)
    assert system.pose(q, "blade.tip")[0][2] == pytest.approx(-0.4323, rel=0.01)


# ---- what is refused

WRONG: list[tuple[Dict, str]] = [
    ({**PLAIN, "GAy": 1e5}, "GAy and GAz, or neither"),
    ({**PLAIN, "shear_center": [0.1, 0]}, "shear rigidities"),
    ({**PLAIN, "Jx": 1.0}, "no moment above the sum"),
    ({**PLAIN, "mass": 0.0}, "mass per length"),
    ({"stiffness": np.eye(6).tolist(), "mass": (-np.eye(6)).tolist()}, "mass per length above 0"),
    ({"stiffness": (np.eye(6) + np.eye(6, k=1)).tolist(), "mass": np.eye(6).tolist()}, "symmetric"),
    ({"stiffness": np.diag([1, 1, 1, 1, 1, -1.0]).tolist(), "mass": np.eye(6).tolist()}, "positive definite"),
    ({"stiffness": np.eye(6).tolist(), "mass": np.diag([1.0, 1, 2, 1, 1, 1]).tolist()}, "the mass of a section"),
    ({"stiffness": np.eye(5).tolist(), "mass": np.eye(6).tolist()}, "6 rows"),
]


@pytest.mark.parametrize(("section", "said"), WRONG)
def test_a_section_that_cannot_be_is_refused(section: Dict, said: str) -> None:
    with pytest.raises(bough.ModelError, match=said):
        bough.load(boom(section))


def test_material_belongs_to_dimensions_alone() -> None:
    material = {"E": 70e9, "nu": 0.3, "rho": 2700}
    with pytest.raises(bough.ModelError, match="no material"):
        bough.load(boom(PLAIN, material=material))
    with pytest.raises(bough.ModelError, match="material"):
        bough.load(boom({"shape": "circle", "radius": 0.01}))
    both = boom(PLAIN, material=material)
    stations = [{"at": 0, "section": PLAIN}, {"at": LENGTH, "section": {"shape": "circle", "radius": 0.01}}]
    del both["bodies"][0]["beam"]["section"]
    both["bodies"][0]["beam"]["stations"] = stations
    with pytest.raises(bough.ModelError, match="all stations by dimensions"):
        bough.load(both)
