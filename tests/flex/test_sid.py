"""SID_FEM files: the numbers written obey Wallrapp's equations, and a body read back moves as the one written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flex.sid_oracle import Array, SidOracle, tilde
from scipy.spatial.transform import Rotation

import bough
import bough.mechanism.bodies
from bough.errors import ModelError
from bough.flex import FlexBody, flex_body
from bough.flex.body import Points
from bough.flex.integrals import ModalIntegrals, modal_integrals
from bough.flex.sid.sid import load_sid, read_sid, write_sid

BAR: dict[str, Any] = {
    "length": 1.2,
    "elements": 6,
    # Stocky, so that rotary inertia counts.
    "section": {"shape": "rectangle", "width": 0.2, "height": 0.12},
    "material": {"E": 2e9, "nu": 0.3, "rho": 1500.0},
    "damping": 0.02,
}
CANTILEVER = {**BAR, "modes": {"boundary": "cantilever", "bending_y": 2, "bending_z": 2, "torsion": 1, "axial": 1}}
FREE = {**BAR, "modes": {"boundary": "free", "bending_y": 2, "bending_z": 1, "torsion": 1, "axial": 0}}
BAMPTON = {**BAR, "modes": {"boundary": "craig-bampton", "count": 3}, "damping": {"rayleigh": [0.2, 1e-4]}}


def by_tables(body: Any, stiffening: bool = True) -> FlexBody:
    """A body whose inertia the kernel has as tables, which is all that a SID file holds, not as points."""
    return replace(flex_body(body, stiffening), points=None)


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every body moves by its tables."""
    monkeypatch.setattr(bough.mechanism.bodies, "flex_body", by_tables)


def panel(clamped: bool, rotary: bool) -> dict[str, Any]:
    """Nodes anywhere with modes that nothing keeps orthogonal, attached away from the origin."""
    rng = np.random.default_rng(7)
    nodes = []
    for name in "abcde":
        node: dict[str, Any] = {"name": name, "position": rng.uniform(-1, 1, 3).round(3).tolist()}
        node["mass"] = round(rng.uniform(0.2, 1.0), 3)
        if rotary:
            node["inertia"] = [0.05, 0.06, 0.04, 0.01, -0.004, 0.008]
        nodes.append(node)
    shapes = rng.uniform(-1, 1, (3, 5, 6))
    if clamped:
        shapes[:, 1] = 0.0
    damping = {"damping_matrix": [[2.0, 0.3, 0.0], [0.3, 1.0, 0.1], [0.0, 0.1, 1.5]]}
    stiffness = [[50.0, 3.0, 1.0], [3.0, 80.0, 2.0], [1.0, 2.0, 90.0]]
    return {"attach": "b", "nodes": nodes, "modes": shapes.tolist(), "stiffness": stiffness, **damping}


BODIES: dict[str, dict[str, Any]] = {
    "cantilever": {"beam": CANTILEVER},
    "free": {"beam": FREE},
    "craig_bampton": {"beam": BAMPTON},
    "masses": {"nodal": panel(clamped=True, rotary=False)},
    "rotors": {"nodal": panel(clamped=True, rotary=True)},
    "loose_rotors": {"nodal": panel(clamped=False, rotary=True)},
}
BEAMS = ("cantilever", "craig_bampton")
CLAMPED = (*BEAMS, "masses", "rotors")


def model_of(kind: dict[str, Any], hinge: dict[str, Any], **more: Any) -> bough.Model:
    body = {"name": "body", "parent": "ground", "hinge": hinge, **kind}
    return bough.load({"bough": 1, "name": "m", **more, "bodies": [body]})


def free_system(kind: dict[str, Any], **more: Any) -> bough.Mechanism:
    return bough.Mechanism(model_of(kind, {"type": "free"}, **more))


def flex_of(kind: dict[str, Any]) -> FlexBody:
    return flex_body(model_of(kind, {"type": "free"}).bodies[0])


def as_fe(body: FlexBody, path: Path, **more: Any) -> dict[str, Any]:
    """The `fe:` entry of a body that this writes."""
    numbers = write_sid(body, path)
    interfaces = {name: {"nodes": [number]} for name, number in numbers.items()}
    return {"fe": {"file": str(path), "interfaces": interfaces, "attach": body.node_names[body.attach], **more}}


def some_motion(n: int, size: float, seed: int) -> tuple[Array, Array, Array]:
    """Position, speed and acceleration of a free body with n modes, coordinates of the modes up to `size`."""
    rng = np.random.default_rng(seed)
    Q = rng.normal(size=4)
    q = np.concatenate([rng.uniform(-1, 1, 3), Q / np.linalg.norm(Q), size * rng.uniform(-1, 1, n)])
    return q, rng.uniform(-2, 2, 6 + n), rng.uniform(-2, 2, 6 + n)


def sid_forces(sid: SidOracle, flex: FlexBody, q: Array, u: Array, udot: Array) -> Array:
    """What the file says that a motion of the free body takes, as `inverse_dynamics` orders it; clamped modes."""
    R, d = Rotation.from_quat(q[3:7]).as_matrix(), flex.node_positions[flex.attach]
    eta, eta_dot, eta_ddot = q[7:], u[6:], udot[6:]
    omega, alpha = u[3:6], udot[3:6]
    a = R.T @ udot[:3] - np.cross(alpha, d) - np.cross(omega, np.cross(omega, d))
    force, torque, modal = sid.forces(eta, eta_dot, eta_ddot, omega, alpha, a)
    modal = modal + sid.tables["Ke"].at(eta) @ eta + sid.tables["De"].at(eta) @ eta_dot
    return np.concatenate([R @ force, torque - np.cross(d, force), modal])


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(("name", "stiffened"), [(name, False) for name in CLAMPED] + [(name, True) for name in BEAMS])
def test_tables_written_obey_the_equations_of_the_standard(name: str, stiffened: bool, tmp_path: Path) -> None:
    flex, system = flex_of(BODIES[name]), free_system(BODIES[name], geometric_stiffening=stiffened)
    write_sid(flex, tmp_path / "body.sid", stiffened)
    sid = SidOracle((tmp_path / "body.sid").read_text())
    for seed in range(5):
        q, u, udot = some_motion(flex.nm, 0.3, seed)
        expected = sid_forces(sid, flex, q, u, udot)
        # Two ways of summing the same products: round-off of the largest force.
        np.testing.assert_allclose(
            system.inverse_dynamics(q, u, udot), expected, rtol=0, atol=1e-11 * abs(expected).max()
        )


def stiffened_body() -> tuple[FlexBody, Array]:
    """Points with second-order motion H, drawn at random; the root is clamped, and not at the origin."""
    rng = np.random.default_rng(11)
    shapes, bends = rng.uniform(-1, 1, (6, 6, 3)), rng.uniform(-1, 1, (6, 3, 3, 3))
    bends = bends + bends.transpose(0, 1, 3, 2)
    shapes[2], bends[2] = 0.0, 0.0
    inertias = np.array([np.diag([0.03, 0.04, 0.05])] * 6)
    points = Points(rng.uniform(-1, 1, (6, 3)), rng.uniform(0.2, 1.0, 6), inertias, shapes)
    names, matrix, omega = ("a", "b", "root", "d"), np.diag([40.0, 70.0, 90.0]), np.sqrt([40.0, 70.0, 90.0])
    at = points.positions[:4]
    body = FlexBody.from_points(
        points, names, at, shapes[:4], 2, matrix, 0.01 * matrix, omega, bends=bends, node_bends=bends[:4]
    )
    return body, bends


def test_stiffening_read_obeys_the_equations_of_the_standard(tmp_path: Path) -> None:
    body, _ = stiffened_body()
    system = free_system(as_fe(body, tmp_path / "body.sid"), geometric_stiffening=True)
    sid = SidOracle((tmp_path / "body.sid").read_text())
    assert abs(sid.tables["Ct"].M1).max() > 0.1
    for seed in range(5):
        q, u, udot = some_motion(body.nm, 0.1, seed)
        expected = sid_forces(sid, body, q, u, udot)
        np.testing.assert_allclose(
            system.inverse_dynamics(q, u, udot), expected, rtol=0, atol=1e-11 * abs(expected).max()
        )


def test_stiffening_written_is_the_sum_over_the_points(tmp_path: Path) -> None:
    """Ct, Cr, Oe and phi of first order from the points, in the body frame."""
    body, bends = stiffened_body()
    points = body.points
    assert points is not None
    write_sid(body, tmp_path / "body.sid")
    text = (tmp_path / "body.sid").read_text()
    sid = SidOracle(text)
    q, omega = np.array([0.3, -0.2, 0.5]), np.array([0.7, -1.1, 0.4])
    x, y, z = omega
    Ct, Oe = np.zeros((3, 3)), np.zeros(3)
    for m, l0, shape, H in zip(points.masses, points.positions, points.shapes, bends, strict=True):
        grown = np.einsum("ikl,l->ik", H, q)
        Ct += m * grown.T
        # First order in q of the work of the centrifugal force on d(l)/dq_k = gam_k + H_kl q_l.
        Oe += m * grown.T @ np.cross(omega, np.cross(omega, l0))
        Oe += m * shape[3:].T @ np.cross(omega, np.cross(omega, shape[3:] @ q))
    np.testing.assert_allclose(sid.tables["Ct"].rate(q), Ct, atol=1e-13)
    w2 = np.array([x * x, y * y, z * z, x * y, y * z, x * z])
    np.testing.assert_allclose(sid.tables["Oe"].rate(q) @ w2, Oe, atol=1e-13)
    assert "Geo_Stiff= yes" in text.splitlines()[0]
    back = read_sid(tmp_path / "body.sid")
    assert back.stiffening is not None
    np.testing.assert_array_equal(back.stiffening.node_bends, bends[:4])


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize("name", ["free", "loose_rotors"])
def test_energy_of_modes_that_move_the_attach_node_is_that_of_the_tables(name: str, tmp_path: Path) -> None:
    """The hinge carries the attach node; the tables are in the frame that the modes are given in."""
    flex, system = flex_of(BODIES[name]), free_system(BODIES[name])
    write_sid(flex, tmp_path / "body.sid", stiffening=False)
    sid = SidOracle((tmp_path / "body.sid").read_text())
    lam, gam = flex.node_shapes[flex.attach, :3], flex.node_shapes[flex.attach, 3:]
    for seed in range(5):
        q, u, _ = some_motion(flex.nm, 0.3, seed)
        eta, eta_dot = q[7:], u[6:]
        turn = Rotation.from_rotvec(lam @ eta).as_matrix()
        R = Rotation.from_quat(q[3:7]).as_matrix() @ turn.T
        angle = np.linalg.norm(lam @ eta)
        spin = tilde(lam @ eta)
        left = np.eye(3) + (1 - np.cos(angle)) / angle**2 * spin + (angle - np.sin(angle)) / angle**3 * spin @ spin
        omega = turn @ u[3:6] - left @ lam @ eta_dot
        v = R.T @ u[:3] - np.cross(omega, flex.node_positions[flex.attach] + gam @ eta) - gam @ eta_dot
        kinetic = system.energy(q, u)[0]
        assert kinetic == pytest.approx(sid.energy(eta, eta_dot, omega, v), rel=1e-12)


SETTINGS = [(name, fidelity, False) for name in BODIES for fidelity in ("full", "ruthless")]
SETTINGS += [("cantilever", "full", True), ("cantilever", "ruthless", True), ("free", "full", True)]


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(("name", "fidelity", "stiffened"), SETTINGS)
def test_body_read_back_accelerates_as_the_one_written(
    name: str, fidelity: str, stiffened: bool, tmp_path: Path
) -> None:
    kind = BODIES[name]
    last = flex_of(kind).node_names[-1]
    hinge = {"name": "h", "type": "universal", "axes": [[0, 0, 1], [0, 1, 0]]}
    payload = {"mass": 3.0, "com": [0.1, 0.02, 0], "inertia": [0.02, 0.03, 0.03, 0, 0, 0]}

    def system(kind: dict[str, Any]) -> bough.Mechanism:
        carried = {"name": "load", "parent": "body", "at": last, "hinge": {"type": "spherical"}, "rigid": payload}
        body = {"name": "body", "parent": "ground", "hinge": hinge, **kind}
        top: dict[str, Any] = {"bough": 1, "name": "m", "gravity": [0, 1, -9.81], "fidelity": fidelity}
        top["geometric_stiffening"] = stiffened
        return bough.Mechanism({**top, "bodies": [body, carried], "outputs": [f"body.{last}"]})

    one, other = system(kind), system(as_fe(flex_of(kind), tmp_path / "body.SID_FEM"))
    assert one.q_names == other.q_names
    rng = np.random.default_rng(3)
    for _ in range(4):
        q, _ = one.initial_state()
        size = [0.0 if ".Q[" in label else 3e-3 if ".eta" in label else 0.5 for label in one.q_names]
        q = q + size * rng.uniform(-1, 1, one.nq)
        u, tau = rng.uniform(-1, 1, one.nu), rng.uniform(-5, 5, one.nu)
        expected = one.forward_dynamics(q, u, tau)
        found = other.forward_dynamics(q, u, tau)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * abs(expected).max())
        np.testing.assert_allclose(other.pose(q, f"body.{last}")[0], one.pose(q, f"body.{last}")[0], atol=1e-14)


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize("stiffened", [False, True])
def test_stiffened_body_read_back_keeps_both_of_its_ways(stiffened: bool, tmp_path: Path) -> None:
    """CrGeo and OeGeo tell apart what SID adds up."""
    body, _ = stiffened_body()
    system = free_system(as_fe(body, tmp_path / "one.sid"), geometric_stiffening=stiffened)
    again = read_sid(tmp_path / "one.sid", {"root": 3, "a": 1, "b": 2, "d": 4}, "root")
    for name in ("inertia", "F0", "Mff", "N0", "N1", "F1", "Z"):
        np.testing.assert_allclose(getattr(again.integrals, name), getattr(body.integrals, name), atol=1e-14)
    bare = replace(body, stiffening=None)
    plain = free_system(as_fe(bare, tmp_path / "bare.sid"))
    q, u, tau = some_motion(body.nm, 0.1, 5)
    expected = plain.forward_dynamics(q, u, tau)
    same = np.allclose(system.forward_dynamics(q, u, tau), expected, rtol=0, atol=1e-12 * abs(expected).max())
    assert same is not stiffened


@pytest.mark.usefixtures("tables")
def test_stiffening_of_a_foreign_file_counts_where_the_standard_has_it(tmp_path: Path) -> None:
    """Without CrGeo and OeGeo the sums are the same when the model asks for stiffening."""
    body = replace(stiffened_body()[0], integrals=modal_integrals_of_masses())
    fe = as_fe(body, tmp_path / "body.sid")
    one = free_system(fe, geometric_stiffening=True)
    lines = (tmp_path / "body.sid").read_text().splitlines(keepends=True)
    begin = next(i for i, line in enumerate(lines) if line.strip() == "CrGeo")
    end = next(i for i, line in enumerate(lines) if line.strip() == "end OeGeo")
    (tmp_path / "body.sid").write_text("".join(lines[:begin] + lines[end + 1 :]))
    other = free_system(fe, geometric_stiffening=True)
    for seed in range(3):
        q, u, udot = some_motion(body.nm, 0.1, seed)
        expected = one.inverse_dynamics(q, u, udot)
        found = other.inverse_dynamics(q, u, udot)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * abs(expected).max())


def modal_integrals_of_masses() -> ModalIntegrals:
    """Those of `stiffened_body` without rotary inertia, whose share of Cr a foreign file does not tell apart."""
    points = stiffened_body()[0].points
    assert points is not None
    return modal_integrals(replace(points, inertias=np.zeros((6, 3, 3))), points.positions[2])


def test_mass_centre_and_inertia_are_those_of_the_body_frame(tmp_path: Path) -> None:
    """A uniform bar from its root: m, m L/2 and m L^2/3 + rho I L."""
    write_sid(flex_of(BODIES["cantilever"]), tmp_path / "bar.sid")
    sid = SidOracle((tmp_path / "bar.sid").read_text())
    length, width, height, rho = 1.2, 0.2, 0.12, 1500.0
    m = rho * width * height * length
    assert sid.mass == pytest.approx(m, rel=1e-14)
    np.testing.assert_allclose(sid.tables["mdCM"].M0[:, 0], [m * length / 2, 0, 0], atol=1e-13 * m)
    J = m * np.array([(width**2 + height**2) / 12, length**2 / 3 + height**2 / 12, length**2 / 3 + width**2 / 12])
    np.testing.assert_allclose(np.sort(sid.tables["J"].M0[:3, 0]), np.sort(J), rtol=1e-13)


@pytest.mark.usefixtures("tables")
def test_first_modes_of_a_file_are_those_of_the_body_with_fewer(tmp_path: Path) -> None:
    """Truncation: the first modes by frequency, as the beam itself has them."""
    many = {"beam": {**BAR, "modes": {"boundary": "cantilever", "count": 6}}}
    few = {"beam": {**BAR, "modes": {"boundary": "cantilever", "count": 3}}}
    one = free_system(few)
    fe = as_fe(flex_of(many), tmp_path / "body.sid")
    hertz = flex_of(many).frequencies / (2 * np.pi)
    for modes in ({"count": 3}, {"max_frequency": float(hertz[2:4].mean())}):
        other = free_system({"fe": {**fe["fe"], "modes": modes}})
        q, u, tau = some_motion(3, 0.1, 1)
        expected = one.forward_dynamics(q, u, tau)
        found = other.forward_dynamics(q, u, tau)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * abs(expected).max())


@pytest.mark.parametrize("name", ["cantilever", "rotors", "loose_rotors"])
def test_tables_and_points_part_at_second_order_of_the_deflection(name: str, tmp_path: Path) -> None:
    """A file holds the inertia to first order, the body turns its nodes exactly. 1.9: the third order is there too."""
    one, other = free_system(BODIES[name]), free_system(as_fe(flex_of(BODIES[name]), tmp_path / "body.sid"))
    sizes, errors = np.array([0.02, 0.01, 0.005]), []
    for size in sizes:
        q = some_motion(one.nu - 6, float(size), 3)[0]
        M = one.mass_matrix(q)
        errors.append(float(np.abs(other.mass_matrix(q) - M).max() / np.abs(M).max()))
    assert np.polyfit(np.log(sizes), np.log(errors), 1)[0] > 1.9


@pytest.mark.usefixtures("tables")
def test_units_of_a_file_are_converted(tmp_path: Path) -> None:
    """The same bar in millimetres, tonnes and milliseconds accelerates the same."""
    beam = CANTILEVER
    small = {
        **beam,
        "length": 1200.0,
        "section": {"shape": "rectangle", "width": 200.0, "height": 120.0},
        # N/m^2 = kg/(m s^2) = 1e-3 t/(1e3 mm 1e6 ms^2)
        "material": {"E": 2e9 * 1e-12, "nu": 0.3, "rho": 1500.0 * 1e-12},
        "damping": 0.02,
    }
    units = {"length": 1e-3, "mass": 1e3, "time": 1e-3}
    metric = flex_of({"beam": beam})
    fe = as_fe(flex_of({"beam": small}), tmp_path / "small.sid", units=units, mass=metric.mass)
    one, other = free_system({"beam": beam}), free_system(fe)
    # Mass-orthonormal in t mm^2: coordinates are larger by sqrt(kg m^2 / (t mm^2)).
    scale = np.sqrt(1e3)
    q, u, tau = some_motion(metric.nm, 0.1, 1)
    q2, u2, tau2 = q.copy(), u.copy(), tau.copy()
    q2[7:] *= scale
    u2[6:] *= scale
    tau2[6:] /= scale
    expected = one.forward_dynamics(q, u, tau)
    found = other.forward_dynamics(q2, u2, tau2)
    found[6:] /= scale
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * abs(expected).max())


@pytest.mark.parametrize(
    ("damping", "expected"),
    [
        (None, lambda body: body.damping),
        (0.05, lambda body: np.diag(0.1 * body.frequencies)),
        ({"rayleigh": [0.3, 1e-3]}, lambda body: 0.3 * body.modal_mass + 1e-3 * body.stiffness),
        ({"matrix": [1.0, 2, 3, 4, 5, 6]}, lambda body: np.diag([1.0, 2, 3, 4, 5, 6])),
    ],
)
def test_damping_is_the_files_unless_told(damping: Any, expected: Any, tmp_path: Path) -> None:
    body = flex_of(BODIES["cantilever"])
    more = {} if damping is None else {"damping": damping}
    found = flex_of(as_fe(body, tmp_path / "body.sid", **more))
    np.testing.assert_allclose(found.damping, expected(body), rtol=1e-12, atol=1e-12 * abs(body.damping).max())


def test_names_of_modes_and_numbers_of_nodes_survive(tmp_path: Path) -> None:
    body = flex_of(BODIES["cantilever"])
    numbers = write_sid(body, tmp_path / "body.sid")
    assert numbers == {"root": 1, "n1": 2, "n2": 3, "n3": 4, "n4": 5, "n5": 6, "tip": 7}
    back = read_sid(tmp_path / "body.sid", {"end": 7, "begin": 1}, attach="begin")
    assert back.mode_names == body.mode_names
    assert (back.node_names, back.attach) == (("end", "begin"), 1)
    np.testing.assert_array_equal(back.node_shapes[0], body.node_shapes[-1])
    assert read_sid(tmp_path / "body.sid").node_names[0] == "n1", "numbers become names where none are given"
    assert load_sid(tmp_path / "body.sid").nm == body.nm


@pytest.mark.parametrize(
    ("more", "key", "expected", "found"),
    [
        ({"mass": 100.0}, "fe.mass", "100 kg", "43.2 kg"),
        ({"modes": {"count": 7}}, "fe.modes.count", "at most 6 modes", "7"),
        ({"modes": {"count": 2, "max_frequency": 1.0}}, "fe.modes.count", "at most 0 modes", "2"),
        ({"damping": [0.01, 0.02]}, "fe.damping", "6 ratios", "2 ratios"),
        ({"damping": {"matrix": [1.0, 2.0]}}, "fe.damping.matrix", "6 rows", "2 rows"),
    ],
)
def test_entries_that_do_not_fit_the_file_are_refused(
    more: dict[str, Any], key: str, expected: str, found: str, tmp_path: Path
) -> None:
    fe = as_fe(flex_of(BODIES["cantilever"]), tmp_path / "body.sid", **more)
    with pytest.raises(ModelError) as caught:
        free_system(fe)
    (problem,) = caught.value.problems
    assert problem.key.endswith(key)
    assert expected in problem.expected
    assert found in problem.found


@pytest.mark.parametrize(
    ("interface", "found"),
    [
        ({"nodes": [99]}, "node 99"),
        ({"nodes": [1, 2]}, "2 nodes"),
        ({"set": "ROOT"}, "no nodes by number"),
        ({"nodes": [1], "position": [0, 0, 0]}, "position"),
        ({"nodes": [1], "coupling": "average"}, "average"),
    ],
)
def test_a_node_of_a_file_is_one_number(interface: dict[str, Any], found: str, tmp_path: Path) -> None:
    write_sid(flex_of(BODIES["cantilever"]), tmp_path / "body.sid")
    fe = {"file": str(tmp_path / "body.sid"), "interfaces": {"root": interface}}
    with pytest.raises(ModelError) as caught:
        free_system({"fe": fe})
    (problem,) = caught.value.problems
    assert "node" in problem.expected
    assert found in problem.found


def test_wrong_line_of_a_file_is_told_at_the_body_that_names_it(tmp_path: Path) -> None:
    fe = as_fe(flex_of(BODIES["cantilever"]), tmp_path / "body.sid")
    lines = (tmp_path / "body.sid").read_text().splitlines()
    (tmp_path / "body.sid").write_text("\n".join(lines[:300]))
    with pytest.raises(ModelError, match=r"body 'body'.*body\.sid:300: ") as caught:
        free_system(fe)
    assert "cut off" in caught.value.problems[0].cure
