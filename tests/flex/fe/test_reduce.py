"""What an imported body is: its inertia, its modes, its interfaces, against the FE model it came from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from flex.fe.fem import RHO, E, document, entry, frame, imported, solid, straight
from scipy.linalg import eigh

import bough
from bough.flex import FlexBody
from bough.flex.body import ROTATION, TRANSLATION
from bough.flex.fe import FeModel

BLOCK = (0.4, 0.03, 0.04)


@pytest.fixture(scope="module")
def block() -> FeModel:
    return solid((6, 1, 1), BLOCK)


@pytest.fixture(scope="module")
def file(block: FeModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fe") / "block.npz"
    entry(path, block)
    return path


def elbow(lumped: bool = False) -> FeModel:
    points = np.array(
        [[0, 0, 0], [0.1, 0, 0], [0.2, 0, 0], [0.3, 0.05, 0], [0.4, 0.1, 0.05], [0.5, 0.1, 0.1]], dtype=float
    )
    return frame(points, 0.02, 0.03, lumped)


def rigid(model: FeModel, origin: np.ndarray) -> np.ndarray:
    """Six rigid motions about a point, written out: rotation x y z, translation x y z."""
    R = np.zeros((model.ndof, 6))
    for k, (node, c) in enumerate(zip(model.dof_node, model.dof_component, strict=True)):
        for axis in range(3):
            if c < 3:
                R[k, axis] = np.cross(np.eye(3)[axis], model.positions[node] - origin)[c]
                R[k, 3 + axis] = float(axis == c)
            else:
                R[k, axis] = float(axis == c - 3)
    return R


@pytest.mark.parametrize("kind", ["solid", "beams", "lumped beams"])
@pytest.mark.parametrize("boundary", ["craig-bampton", "cantilever", "free"])
def test_mass_centre_and_inertia_are_the_fe_models_own(
    kind: str, boundary: str, block: FeModel, tmp_path: Path
) -> None:
    model = block if kind == "solid" else elbow(lumped=kind.startswith("lumped"))
    modes = {"boundary": boundary, "count": 5}
    body = imported(entry(tmp_path / "body.npz", model, modes=modes))
    R = rigid(model, body.node_positions[body.attach])
    M = R.T @ model.M @ R
    np.testing.assert_allclose(body.integrals.mass_rr(), M, atol=1e-12 * np.abs(M).max())
    # The momenta of the modes too: against shapes that the body itself cannot know.
    spatial = body.integrals.F0 if boundary == "free" else None
    if spatial is not None:
        # Free modes have neither momentum nor angular momentum.
        scale = np.sqrt(body.mass) * np.array(
            [[np.sqrt(M[0, 0] + M[1, 1] + M[2, 2]) / np.sqrt(body.mass)]] * 3 + [[1.0]] * 3
        )
        np.testing.assert_allclose(spatial / scale, 0.0, atol=1e-8)


def test_block_weighs_what_a_block_weighs(file: Path) -> None:
    body = imported(entry(file))
    lx, ly, lz = BLOCK
    mass = RHO * lx * ly * lz
    assert body.mass == pytest.approx(mass, rel=1e-12)
    np.testing.assert_allclose(body.integrals.inertia[1:4], [mass * lx / 2, 0, 0], atol=1e-14)
    about_root = [mass * (ly**2 + lz**2) / 12, mass * (lx**2 / 3 + lz**2 / 12), mass * (lx**2 / 3 + ly**2 / 12)]
    np.testing.assert_allclose(body.integrals.inertia[4:7], about_root, rtol=1e-11)


@pytest.mark.parametrize("boundary", ["craig-bampton", "cantilever", "free"])
def test_rigid_motion_creates_no_strain(boundary: str, block: FeModel, tmp_path: Path) -> None:
    """Of the matrices, K R = 0; of the body, turned by any angle and let go without gravity, nothing moves."""
    R = rigid(block, np.zeros(3))
    assert np.abs(block.K @ R / (abs(block.K) @ np.abs(R)).max(axis=0)).max() < 1e-12
    modes = {"boundary": boundary, "count": 5}
    free = {"type": "free", "initial": {"Q": [0.5, -0.5, 0.5, 0.5], "s": [1.0, -2.0, 3.0]}}
    system = bough.Mechanism(document(entry(tmp_path / "block.npz", block, modes=modes), **free))
    q, u = system.initial_state()
    assert system.energy(q, u) == (0.0, 0.0)
    np.testing.assert_allclose(system.forward_dynamics(q, u, np.zeros(system.nu)), 0.0, atol=1e-9)
    # The undeformed shape is carried along: the distance of the interfaces stays.
    (root, _), (tip, _) = (system.pose(q, f"arm.{name}") for name in ("root", "tip"))
    assert np.linalg.norm(tip - root) == pytest.approx(BLOCK[0], rel=1e-12)


def test_cantilever_modes_are_those_of_the_constrained_matrices(block: FeModel, file: Path) -> None:
    """Dense, another way: rows of the root struck out, the tip face tied by the rigid motions written out above."""
    body = imported(entry(file, modes={"boundary": "cantilever", "count": 7}))
    held = np.isin(block.node_ids[block.dof_node], block.sets["ROOT"])
    tip = np.isin(block.node_ids[block.dof_node], block.sets["TIP"])
    T = np.column_stack(
        [np.eye(block.ndof)[:, ~held & ~tip], np.where(tip[:, None], rigid(block, np.array([0.4, 0, 0])), 0.0)]
    )
    squares, shapes = eigh(T.T @ block.K @ T, T.T @ block.M @ T, subset_by_index=(0, 6))
    np.testing.assert_allclose(body.frequencies**2, squares, rtol=1e-9)
    np.testing.assert_allclose(
        np.abs(body.node_shapes[1]), np.abs(shapes[-6:]), rtol=1e-6, atol=1e-6 * np.abs(shapes[-6:]).max()
    )
    np.testing.assert_array_equal(body.node_shapes[body.attach], 0.0)


def test_free_modes_are_those_of_the_free_matrices(block: FeModel, file: Path) -> None:
    """Averaging interfaces stiffen nothing: the eigenvalues of the matrices as they are."""
    free = {name: {"set": name.upper(), "coupling": "average"} for name in ("root", "tip")}
    body = imported(entry(file, interfaces=free, modes={"boundary": "free", "count": 8}))
    squares = eigh(block.K.toarray(), block.M.toarray(), eigvals_only=True, subset_by_index=(0, 13))
    np.testing.assert_allclose(body.frequencies**2, squares[6:], rtol=1e-8)


def test_sparse_and_dense_eigenmodes_agree(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bodies = []
    for limit, name in ((0, "sparse"), (10**6, "dense")):
        monkeypatch.setattr("bough.flex.fe.solve.DENSE", limit)
        # A mass that differs in the last digits, so that the second is not remembered from the first.
        bodies.append(imported(entry(file, mass=1.296 if name == "dense" else 1.2960001, damping=0.01)))
    np.testing.assert_allclose(bodies[0].frequencies, bodies[1].frequencies, rtol=1e-9)
    scale = np.abs(bodies[1].node_shapes).max()
    np.testing.assert_allclose(bodies[0].node_shapes, bodies[1].node_shapes, atol=1e-6 * scale)


def test_modes_are_mass_orthonormal_rising_and_signed(file: Path) -> None:
    body = imported(entry(file))
    np.testing.assert_allclose(body.modal_mass, np.eye(12), atol=1e-9)
    np.testing.assert_allclose(body.stiffness, np.diag(body.frequencies**2))
    assert np.all(np.diff(body.frequencies) > -1e-6)
    assert body.node_names == ("root", "tip") and body.nm == 12


def test_equal_frequencies_come_in_a_reproducible_basis(tmp_path: Path) -> None:
    """A square section bends alike in both planes; renumbering the degrees of freedom must not turn the planes."""
    model = straight(1.0, 6, width=0.02, height=0.02)
    body = imported(entry(tmp_path / "square.npz", model, modes={"boundary": "cantilever", "count": 4}))
    assert body.frequencies[0] == pytest.approx(body.frequencies[1], rel=1e-9)
    planes = np.abs(body.node_shapes[1, TRANSLATION][1:, :2])
    np.testing.assert_allclose(np.sort(planes, axis=1)[:, 0], 0.0, atol=1e-6 * planes.max())


def test_solid_against_beam_theory(tmp_path: Path) -> None:
    """Free-free bars of slenderness 40 to 53, and the same bar clamped."""
    lx, ly, lz = 0.8, 0.015, 0.02
    path = tmp_path / "slender.npz"
    faces = {name: {"set": name.upper(), "coupling": "average"} for name in ("root", "tip")}
    body = imported(
        entry(path, solid((28, 1, 1), (lx, ly, lz)), interfaces=faces, modes={"boundary": "free", "count": 4})
    )
    bend = np.array([np.sqrt(E * h**2 / 12.0 / RHO) / lx**2 for h in (ly, lz)])
    theory = np.concatenate([4.730041**2 * bend, 7.853205**2 * bend])
    # Shear and rotary inertia, which Euler's beam leaves out, lower the frequencies by up to 12 (mode h / l)^2 or so.
    low = body.frequencies / theory
    assert np.all(low < 1.0) and np.all(low > [0.997, 0.995, 0.993, 0.988])
    clamped = imported(entry(path, modes={"boundary": "cantilever", "count": 2}))
    # A clamp that keeps the section from contracting makes the solid stiffer, on a length of the order of its height.
    np.testing.assert_allclose(clamped.frequencies, 1.875104**2 * bend, rtol=5e-3)


def test_craig_bampton_contains_static_deflection_exactly(block: FeModel, file: Path) -> None:
    """Without any normal mode, a force on the tip gives the deflection of the whole matrix."""
    body = imported(entry(file, modes={"boundary": "craig-bampton", "count": 0}))
    assert body.nm == 6
    held = np.isin(block.node_ids[block.dof_node], block.sets["ROOT"])
    tip = np.isin(block.node_ids[block.dof_node], block.sets["TIP"])
    T = np.column_stack(
        [np.eye(block.ndof)[:, ~held & ~tip], np.where(tip[:, None], rigid(block, np.array([0.4, 0, 0])), 0.0)]
    )
    flexibility = np.linalg.inv(T.T @ block.K @ T)[-6:, -6:]
    shapes = body.node_shapes[1]
    np.testing.assert_allclose(
        shapes @ np.diag(body.frequencies**-2) @ shapes.T, flexibility, atol=1e-9 * np.abs(flexibility).max()
    )


def test_averaging_is_softer_than_rigid_and_moves_with_the_face(block: FeModel, file: Path) -> None:
    """RBE3 at the tip leaves the frequencies of the free face; RBE2 raises them. RBE3 follows the face's mean."""
    modes = {"boundary": "cantilever", "count": 6}
    faces = {"root": {"set": "ROOT"}, "tip": {"set": "TIP", "coupling": "average"}}
    soft, stiff = imported(entry(file, interfaces=faces, modes=modes)), imported(entry(file, modes=modes))
    assert np.all(stiff.frequencies > soft.frequencies)
    held = np.isin(block.node_ids[block.dof_node], block.sets["ROOT"])
    K, M = (matrix.toarray()[np.ix_(~held, ~held)] for matrix in (block.K, block.M))
    squares, shapes = eigh(K, M, subset_by_index=(0, 5))
    np.testing.assert_allclose(soft.frequencies**2, squares, rtol=1e-9)
    u = np.zeros((block.ndof, 6))
    u[~held] = shapes
    tip = np.isin(block.node_ids[block.dof_node], block.sets["TIP"])
    fitted = np.linalg.lstsq(rigid(block, np.array([0.4, 0, 0]))[tip], u[tip], rcond=None)[0]
    np.testing.assert_allclose(np.abs(soft.node_shapes[1]), np.abs(fitted), atol=1e-6 * np.abs(fitted).max())


def test_interface_point_off_its_nodes_moves_as_a_rigid_arm(file: Path) -> None:
    near = imported(entry(file))
    far = imported(
        entry(file, interfaces={"root": {"set": "ROOT"}, "tip": {"set": "TIP", "position": [0.5, 0.1, 0.0]}})
    )
    np.testing.assert_allclose(far.frequencies, near.frequencies, rtol=1e-8)
    arm = np.array([0.1, 0.1, 0.0])
    rotation, translation = near.node_shapes[1, ROTATION], near.node_shapes[1, TRANSLATION]
    moved = translation + np.cross(rotation, arm, axisa=0, axisb=0, axisc=0)
    scale = np.abs(moved).max()
    np.testing.assert_allclose(np.abs(far.node_shapes[1, TRANSLATION]), np.abs(moved), atol=1e-5 * scale)


def test_box_and_nodes_and_set_mean_the_same(block: FeModel, file: Path) -> None:
    ways = [
        {"set": "tip"},
        {"nodes": list(block.sets["TIP"])},
        {"box": [[0.41, 0.1, 0.1], [0.39, -0.1, -0.1]]},
    ]
    bodies = [imported(entry(file, interfaces={"root": {"set": "ROOT"}, "tip": way})) for way in ways]
    for other in bodies[1:]:
        np.testing.assert_allclose(other.frequencies, bodies[0].frequencies, rtol=1e-12)
        np.testing.assert_allclose(other.node_positions, [[0, 0, 0], [0.4, 0, 0]], atol=1e-15)


def test_cut_off_keeps_the_modes_below_it(file: Path) -> None:
    all_ = imported(entry(file, modes={"boundary": "cantilever", "count": 10}))
    hertz = all_.frequencies / (2 * np.pi)
    limit = float(0.5 * (hertz[4] + hertz[5]))
    body = imported(entry(file, modes={"boundary": "cantilever", "max_frequency": limit}))
    np.testing.assert_allclose(body.frequencies, all_.frequencies[:5], rtol=1e-9)
    both = imported(entry(file, modes={"boundary": "cantilever", "max_frequency": limit, "count": 3}))
    assert both.nm == 3
    static = imported(entry(file, modes={"boundary": "craig-bampton", "max_frequency": 1.0}))
    assert static.nm == 6


def test_units_of_the_file(block: FeModel, file: Path, tmp_path: Path) -> None:
    """The same block in millimetres, tonnes and seconds, and the same beams, whose rotations scale differently."""
    units = {"length": 1e-3, "mass": 1e3}
    for name, model in (("block", block), ("elbow", elbow())):
        turn = np.where(model.dof_component > 2, 1e3, 1.0)
        scaled = FeModel(
            model.node_ids,
            model.positions * 1e3,
            model.dof_node,
            model.dof_component,
            model.K * 1e-3 * turn[:, None] * turn,
            model.M * 1e-3 * turn[:, None] * turn,
            sets=model.sets,
        )
        one = imported(entry(tmp_path / f"{name}.npz", model))
        other = imported(entry(tmp_path / f"{name}_mm.npz", scaled, units=units))
        np.testing.assert_allclose(other.frequencies, one.frequencies, rtol=1e-8)
        np.testing.assert_allclose(other.integrals.inertia, one.integrals.inertia, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(other.node_positions, one.node_positions, atol=1e-12)


def test_damping_by_ratio_list_rayleigh_and_matrix(block: FeModel, tmp_path: Path) -> None:
    modes = {"boundary": "cantilever", "count": 3}
    path = tmp_path / "damped.npz"
    entry(path, FeModel(**{**vars(block), "D": 2e-5 * block.K + 3.0 * block.M}))
    w = imported(entry(path, modes=modes, damping=0.0)).frequencies

    def damping(**key: object) -> np.ndarray:
        return imported(entry(path, modes=modes, **key)).damping

    np.testing.assert_allclose(damping(damping=0.02), np.diag(0.04 * w))
    np.testing.assert_allclose(damping(damping=[0.01, 0.02, 0.03]), np.diag([0.02, 0.04, 0.06] * w))
    np.testing.assert_allclose(damping(damping={"rayleigh": [3.0, 2e-5]}), np.diag(3.0 + 2e-5 * w**2))
    np.testing.assert_allclose(damping(damping={"matrix": [1.0, 2.0, 3.0]}), np.diag([1.0, 2.0, 3.0]))
    # Without the key, the file's own, which was made proportional.
    np.testing.assert_allclose(damping(), np.diag(3.0 + 2e-5 * w**2), atol=1e-7 * w[-1])


def test_second_call_is_remembered_until_the_file_changes(block: FeModel, tmp_path: Path) -> None:
    path = tmp_path / "block.npz"
    first = imported(entry(path, block))
    assert imported(entry(path)) is first
    assert imported(entry(path, modes={"boundary": "craig-bampton", "count": 5})) is not first
    entry(path, FeModel(**{**vars(block), "M": 2.0 * block.M}))
    assert imported(entry(path)).mass == pytest.approx(2.0 * first.mass)


def test_paths_start_at_the_model_files_folder(block: FeModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import json

    from bough.flex import load

    (tmp_path / "meshes").mkdir()
    fe = entry(tmp_path / "meshes" / "block.npz", block)
    (tmp_path / "model.json").write_text(json.dumps(document({**fe, "file": "meshes/block.npz"})))
    monkeypatch.chdir(tmp_path / "meshes")
    assert load(tmp_path / "model.json").bodies[0].mode_count == 12
    assert load("../model.json").bodies[0].mode_count == 12
    assert load(document({**fe, "file": "block.npz"})).bodies[0].mode_count == 12


def test_virtual_points_give_every_integral_of_the_nodal_sums(block: FeModel, tmp_path: Path) -> None:
    """A lumped solid: the sums over its own nodes are written out by the points of a nodal body."""
    from bough.flex.integrals import modal_integrals
    from bough.flex.points import Points

    masses = np.asarray(block.M.sum(axis=1))[::3] + 1e-3
    lumped = FeModel(**{**vars(block), "M": np.diag(np.repeat(masses, 3))})
    fe = entry(tmp_path / "lumped.npz", lumped, modes={"boundary": "free", "count": 4})
    body = imported(fe)
    assert body.points is not None and body.points.masses.size <= 4 + 3 * 4
    shapes = _nodal_shapes(lumped, body)
    points = Points(block.positions, masses, np.zeros((block.n, 3, 3)), shapes)
    known = modal_integrals(points, body.node_positions[0])
    for name in ("inertia", "F0", "Mff", "N0", "N1", "F1", "Z"):
        expected = getattr(known, name)
        scale = np.abs(known.N1).max() if name in ("F1", "N1") else max(np.abs(expected).max(), 1.0)
        np.testing.assert_allclose(getattr(body.integrals, name), expected, atol=2e-9 * scale, err_msg=name)


def _nodal_shapes(model: FeModel, body: FlexBody) -> np.ndarray:
    """Free modes of the body with both faces rigid, dense, with the signs of the body."""
    kept = ~np.isin(model.node_ids[model.dof_node], model.sets["ROOT"] + model.sets["TIP"])
    columns = [np.eye(model.ndof)[:, kept]]
    for name, x in (("ROOT", 0.0), ("TIP", 0.4)):
        face = np.isin(model.node_ids[model.dof_node], model.sets[name])
        columns.append(np.where(face[:, None], rigid(model, np.array([x, 0, 0])), 0.0))
    T = np.column_stack(columns)
    _, y = eigh(T.T @ model.K @ T, T.T @ model.M @ T, subset_by_index=(6, 5 + body.nm))
    signs = np.sign(np.einsum("ir,ir->r", y[-6:], body.node_shapes[1]))
    out = np.zeros((model.n, 6, body.nm))
    out[:, TRANSLATION] = (T @ (y * signs)).reshape(model.n, 3, body.nm)
    return out
