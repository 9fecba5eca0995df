"""Nastran matrices as bodies: OUTPUT4 and DMIG, whole models and Craig-Bampton superelements, against the FE model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flex.fe.fem import document, entry, frame, imported
from flex.fe.nastran_files import block, dmig, frame_deck, grids, op4_bytes, op4_text, written
from scipy import linalg

import bough
from bough import ModelError
from bough.flex import FlexBody
from bough.flex.fe import FeModel
from bough.flex.fe.fitted import fitted_points
from bough.flex.integrals import inertia_tensor, modal_integrals

WIDTH, HEIGHT = 0.02, 0.03
NODES = {"root": {"nodes": [11]}, "tip": {"nodes": [19]}}


def elbow() -> FeModel:
    """Nine nodes, numbers from 11 on, along x and then up and aside."""
    points = np.zeros((9, 3))
    points[:5, 0] = 0.125 * np.arange(5)
    points[5:] = [0.5, 0.0, 0.0] + np.outer(np.arange(1, 5), [0.0, 0.0625, 0.125])
    return frame(points, WIDTH, HEIGHT, first=11)


def dense(model: FeModel) -> dict[str, np.ndarray]:
    return {"KGG": model.K.toarray(), "MGG": model.M.toarray()}


def dofs(model: FeModel) -> list[tuple[int, int]]:
    return [(int(model.node_ids[i]), int(c) + 1) for i, c in zip(model.dof_node, model.dof_component, strict=True)]


def whole(folder: Path, **keys: Any) -> dict[str, Any]:
    """The elbow as KGG and MGG, and its deck."""
    model = elbow()
    file = written(folder / "elbow.op4", op4_text(dense(model)))
    mesh = written(folder / "elbow.bdf", frame_deck(model, WIDTH * HEIGHT))
    return {"file": file, "mesh": mesh, "interfaces": NODES, "modes": {"boundary": "cantilever", "count": 10}, **keys}


def direct(folder: Path, **keys: Any) -> FlexBody:
    """The same FE model by the other way in, `.npz`."""
    return imported(entry(folder / "direct.npz", elbow(), modes={"boundary": "cantilever", "count": 10}, **keys))


def assert_same_body(body: FlexBody, other: FlexBody, rel: float) -> None:
    """Same mass, inertia and frequencies; same motion of the nodes but for signs."""
    assert body.integrals.inertia == pytest.approx(other.integrals.inertia, rel=rel, abs=rel * body.mass)
    assert body.frequencies == pytest.approx(other.frequencies, rel=rel)
    assert body.node_positions == pytest.approx(other.node_positions, rel=rel, abs=1e-12)
    size = np.abs(other.node_shapes).max()
    assert np.abs(body.node_shapes) == pytest.approx(np.abs(other.node_shapes), rel=100 * rel, abs=100 * rel * size)
    assert np.abs(body.integrals.F0) == pytest.approx(np.abs(other.integrals.F0), rel=100 * rel, abs=100 * rel)


# --- whole models -------------------------------------------------------------------------------------------------


def test_matrices_of_all_grids_make_the_body_of_the_fe_model(tmp_path: Path) -> None:
    model = elbow()
    body = imported(whole(tmp_path))
    held = np.flatnonzero(model.dof_node > 0)
    K, M = (A.toarray()[np.ix_(held, held)] for A in (model.K, model.M))
    squares = linalg.eigh(K, M, eigvals_only=True)[:10]
    assert body.frequencies == pytest.approx(np.sqrt(squares), rel=1e-9)
    R = np.zeros((model.ndof, 6))
    for k, x in enumerate(model.positions):
        R[6 * k + 3 : 6 * k + 6, :3] = np.eye(3)
        R[6 * k : 6 * k + 3, 3:] = np.eye(3)
        R[6 * k : 6 * k + 3, :3] = -np.cross(np.eye(3), x)
    total = R.T @ model.M @ R
    assert body.mass == pytest.approx(total[3, 3], rel=1e-12)
    assert inertia_tensor(body.integrals.inertia) == pytest.approx(total[:3, :3], rel=1e-10, abs=1e-14)
    centre = np.array([total[1, 5], total[2, 3], total[0, 4]])
    assert np.abs(body.integrals.inertia[1:4]) == pytest.approx(np.abs(centre), rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("kind", ["dense", "sparse", "bigmat"])
def test_every_form_of_output4_makes_the_same_body(tmp_path: Path, binary: bool, kind: str) -> None:
    fe = whole(tmp_path)
    written(tmp_path / "elbow.op4", (op4_bytes if binary else op4_text)(dense(elbow()), kind))
    assert_same_body(imported(fe), direct(tmp_path), 1e-8)


def test_stiffness_and_mass_may_be_in_two_files_under_any_names(tmp_path: Path) -> None:
    model = elbow()
    fe = whole(tmp_path, matrices={"stiffness": "STIFF", "mass": "heavy"}, mass_file=str(tmp_path / "m.op4"))
    written(tmp_path / "elbow.op4", op4_text({"STIFF": np.tril(model.K.toarray())}))
    written(tmp_path / "m.op4", op4_bytes({"HEAVY": np.triu(model.M.toarray())}, "bigmat"))
    assert_same_body(imported(fe), direct(tmp_path), 1e-8)


@pytest.mark.parametrize("large", [True, False])
@pytest.mark.parametrize("form", [6, 1])
def test_dmig_of_all_grids_makes_the_same_body(tmp_path: Path, large: bool, form: int) -> None:
    """Large fields hold ten digits; the softest mode loses five of them to the stiffest entries."""
    model = elbow()
    cards = dmig("KAAX", dofs(model), model.K.toarray(), large, form) + dmig(
        "MAAX", dofs(model), model.M.toarray(), large
    )
    fe = whole(tmp_path, file=written(tmp_path / "elbow.pch", cards))
    assert_same_body(imported(fe), direct(tmp_path), 1e-5 if large else 1e-8)


def turned(model: FeModel, axes: dict[int, np.ndarray]) -> np.ndarray:
    """T with u = T u_basic for nodes whose displacement axes are the columns given."""
    blocks = [axes.get(int(k), np.eye(3)).T for k in model.node_ids for _ in range(2)]
    return linalg.block_diag(*blocks)


SYSTEM = "CORD2R,5,,0.,0.,0.,1.,2.,2.\n,2.,1.,-2.\n"
"""z along (1, 2, 2)/3, x along (2, 1, -2)/3, which are orthogonal."""
AXES = (
    np.column_stack([np.array([2.0, 1.0, -2.0]), np.cross([1.0, 2.0, 2.0], [2.0, 1.0, -2.0]) / 3.0, [1.0, 2.0, 2.0]])
    / 3.0
)


def test_displacement_axes_of_grids_are_turned_into_basic_ones(tmp_path: Path) -> None:
    model = elbow()
    some = {11: 5, 14: 5, 19: 5}
    T = turned(model, {k: AXES for k in some})
    matrices = {name: T @ A @ T.T for name, A in dense(model).items()}
    deck = frame_deck(model, WIDTH * HEIGHT, some).replace("BEGIN BULK\n", "BEGIN BULK\n" + SYSTEM)
    written(tmp_path / "elbow.op4", op4_text(matrices))
    fe = whole(tmp_path / "") | {"file": str(tmp_path / "turned.op4"), "mesh": str(tmp_path / "turned.bdf")}
    written(tmp_path / "turned.op4", op4_text(matrices))
    written(tmp_path / "turned.bdf", deck)
    assert_same_body(imported(fe), direct(tmp_path), 1e-8)


def test_rotations_of_a_solid_mesh_without_stiffness_are_left_out(tmp_path: Path) -> None:
    """KGG has six rows per grid, those of rotations empty; without them there are three."""
    model, deck = block((4, 1, 1), (0.4, 0.05, 0.04))
    K, M = np.zeros((2, 6 * model.n, 6 * model.n))
    at = 6 * model.dof_node + model.dof_component
    K[np.ix_(at, at)], M[np.ix_(at, at)] = model.K.toarray(), model.M.toarray()
    faces = {"root": {"nodes": list(model.sets["ROOT"])}, "tip": {"nodes": list(model.sets["TIP"])}}
    modes = {"boundary": "craig-bampton", "count": 5}
    expected = imported(entry(tmp_path / "block.npz", model, modes=modes))
    for name, matrices in (("six", {"KGG": K, "MGG": M}), ("three", dense(model))):
        file = written(tmp_path / f"{name}.op4", op4_bytes(matrices, "sparse"))
        mesh = written(tmp_path / f"{name}.nas", deck)
        body = imported({"file": file, "mesh": mesh, "interfaces": faces, "modes": modes})
        assert_same_body(body, expected, 1e-8)


def test_units_of_the_deck_are_converted(tmp_path: Path) -> None:
    """The elbow in millimetres and tonnes."""
    model = elbow()
    scale = np.where(model.dof_component < 3, 1.0, 1e3)
    K, M = model.K.toarray() * np.outer(scale, scale) * 1e-3, model.M.toarray() * np.outer(scale, scale) * 1e-3
    fe = whole(tmp_path, units={"length": 0.001, "mass": 1000.0}, mass=float(model.M.toarray()[::6, ::6].sum()))
    written(tmp_path / "elbow.op4", op4_text({"KGG": K, "MGG": M}))
    written(tmp_path / "elbow.bdf", "BEGIN BULK\n" + grids(model.node_ids.tolist(), 1e3 * model.positions))
    assert_same_body(imported(fe), direct(tmp_path), 1e-8)


def test_sets_of_the_deck_name_interfaces(tmp_path: Path) -> None:
    fe = whole(tmp_path, interfaces={"root": {"set": "set_3"}, "tip": {"set": "SET1_8"}})
    deck = frame_deck(elbow(), WIDTH * HEIGHT, control="SET 3 = 11\n").replace(
        "BEGIN BULK\n", "BEGIN BULK\nSET1,8,19\n"
    )
    written(tmp_path / "elbow.bdf", deck)
    assert_same_body(imported(fe), direct(tmp_path), 1e-8)


# --- superelements ------------------------------------------------------------------------------------------------


def condensed(model: FeModel, count: int) -> tuple[list[tuple[int, int]], np.ndarray, np.ndarray]:
    """Craig-Bampton: all motions of the first and the last node, and modes with both held, as scalar points."""
    K, M = model.K.toarray(), model.M.toarray()
    b = np.flatnonzero(np.isin(model.dof_node, [0, model.n - 1]))
    i = np.setdiff1d(np.arange(model.ndof), b)
    _, modes = linalg.eigh(K[np.ix_(i, i)], M[np.ix_(i, i)], subset_by_index=(0, count - 1))
    T = np.zeros((model.ndof, b.size + count))
    T[b, : b.size] = np.eye(b.size)
    T[i, : b.size] = -np.linalg.solve(K[np.ix_(i, i)], K[np.ix_(i, b)])
    T[i, b.size :] = modes
    every = dofs(model)
    k, m = T.T @ K @ T, T.T @ M @ T
    k[: b.size, b.size :] = k[b.size :, : b.size] = 0.0
    return [every[n] for n in b] + [(9001 + n, 0) for n in range(count)], k, m


def boundary_cards(model: FeModel, count: int) -> str:
    """What EXTSEOUT punches besides matrices: boundary grids, scalar points, EXTRN and ASET."""
    ends = [int(model.node_ids[0]), int(model.node_ids[-1])]
    points = "".join(f"SPOINT  {9001 + k:8d}\n" for k in range(count))
    extrn = f"EXTRN   {ends[0]:8d}  123456{ends[1]:8d}  123456{9001:8d}    THRU{9000 + count:8d}       0\n"
    return "BEGIN SUPER      101\n" + extrn + grids(ends, model.positions[[0, -1]]) + points


def superelement(folder: Path, count: int, form: str, **keys: Any) -> dict[str, Any]:
    model = elbow()
    every, K, M = condensed(model, count)
    fe = {"interfaces": NODES, "modes": {"boundary": "cantilever", "count": 10}, **keys}
    cards = boundary_cards(model, count)
    if form == "dmig":
        punch = cards + dmig("KAAX", every, K) + dmig("MAAX", every, M)
        return {"file": written(folder / "se.pch", punch), **fe}
    stand_ins = {"BXX": np.zeros((1, 1)), "K4XX": np.zeros((1, 1))}
    file = written(folder / "se.op4", op4_bytes({"KXX": K, "MXX": M, **stand_ins}, "bigmat"))
    return {"file": file, "mesh": written(folder / "se.asm", cards), **fe}


@pytest.mark.parametrize(("form", "rel"), [("op4", 1e-8), ("dmig", 1e-5)])
def test_a_superelement_with_all_its_modes_is_the_whole_model(tmp_path: Path, form: str, rel: float) -> None:
    assert_same_body(imported(superelement(tmp_path, 42, form)), direct(tmp_path), rel)


def test_a_superelement_converges_to_the_whole_model_from_above(tmp_path: Path) -> None:
    exact = direct(tmp_path).frequencies[:6]
    errors = []
    for count in (4, 8, 16):
        body = imported(superelement(tmp_path, count, "op4", modes={"boundary": "cantilever", "count": 6}))
        errors.append((body.frequencies - exact) / exact)
        assert body.mass == pytest.approx(direct(tmp_path).mass, rel=1e-10)
    assert all((error > -1e-9).all() for error in errors)
    assert errors[1].max() < 0.3 * errors[0].max()
    assert errors[2].max() < 2e-4


def accelerations(fe: dict[str, Any]) -> np.ndarray:
    """Of a hinge and of the tip, under gravity, a torque and a force on the tip."""
    model = document(fe, type="revolute", axis=[0, 1, 0], name="h")
    model |= {"gravity": [0.3, -0.2, -9.81], "inputs": ["arm.tip.force"], "outputs": ["arm.tip"]}
    inputs = {"h.tau": 3.0, "arm.tip.force[1]": 2.0, "arm.tip.force[2]": -5.0, "arm.tip.force[3]": 4.0}
    run = bough.simulate(model, stop=1e-5, step=1e-5, inputs=inputs)
    return np.array([run["h.a"][0], *(run[f"arm.tip.a[{k}]"][0] for k in (1, 2, 3))])


def test_a_superelement_accelerates_as_the_whole_model(tmp_path: Path) -> None:
    """At rest, where no approximation of first order enters: forces on hinge and tip go the same ways."""
    modes = {"boundary": "craig-bampton", "count": 12}
    parts = superelement(tmp_path, 42, "op4", modes=modes)
    expected = accelerations(entry(tmp_path / "direct.npz", elbow(), modes=modes))
    assert accelerations(parts) == pytest.approx(expected, rel=1e-7)


def test_a_superelement_with_one_boundary_grid_is_a_body(tmp_path: Path) -> None:
    """An appendage on a single grid: its boundary has no extent."""
    model = elbow()
    K, M = model.K.toarray(), model.M.toarray()
    b, i = np.arange(6), np.arange(6, model.ndof)
    squares, modes = linalg.eigh(K[np.ix_(i, i)], M[np.ix_(i, i)], subset_by_index=(0, 4))
    T = np.zeros((model.ndof, 11))
    T[:6, :6] = np.eye(6)
    T[i, :6] = -np.linalg.solve(K[np.ix_(i, i)], K[np.ix_(i, b)])
    T[i, 6:] = modes
    k = linalg.block_diag(np.zeros((6, 6)), np.diag(squares))
    every = [(11, c) for c in range(1, 7)] + [(9001 + n, 0) for n in range(5)]
    punch = grids([11], model.positions[:1]) + dmig("KAAX", every, k) + dmig("MAAX", every, T.T @ M @ T)
    fe = {"file": written(tmp_path / "one.pch", punch), "interfaces": {"root": {"nodes": [11]}}}
    body = imported({**fe, "modes": {"boundary": "cantilever", "count": 5}})
    assert body.frequencies == pytest.approx(np.sqrt(squares), rel=1e-7)
    assert body.integrals.inertia == pytest.approx(direct(tmp_path).integrals.inertia, rel=1e-6, abs=1e-8)


def test_points_fitted_to_a_body_have_its_inertia_and_the_momenta_of_its_modes(tmp_path: Path) -> None:
    body = direct(tmp_path)
    origin = np.array([0.1, -0.2, 0.3])
    tables = modal_integrals(fitted_points(body.integrals.inertia, body.integrals.F0, origin), origin)
    assert tables.inertia == pytest.approx(body.integrals.inertia, rel=1e-10, abs=1e-12)
    assert tables.F0 == pytest.approx(body.integrals.F0, rel=1e-10, abs=1e-12)
    # Rigid motion is the one of least energy with these momenta.
    assert np.all(np.diag(tables.Mff) <= np.diag(body.integrals.Mff))


def test_centrifugal_forces_on_a_superelement_are_near_for_its_lowest_mode(tmp_path: Path) -> None:
    """Its inner masses have no place; the whole model tells how far the estimate is off."""
    exact = direct(tmp_path).integrals.N0[:, 0]
    near = imported(superelement(tmp_path, 42, "op4")).integrals.N0[:, 0]
    near = near * np.sign(near @ exact)
    assert np.linalg.norm(near - exact) < 0.05 * np.linalg.norm(exact)


def test_damping_of_the_file_counts_where_the_model_has_none(tmp_path: Path) -> None:
    model = elbow()
    B = 0.3 * model.M.toarray() + 1e-5 * model.K.toarray()
    fe = whole(tmp_path)
    written(tmp_path / "elbow.op4", op4_text({**dense(model), "BGG": B}))
    body = imported(fe)
    assert body.damping == pytest.approx(np.diag(0.3 + 1e-5 * body.frequencies**2), rel=1e-7, abs=1e-6)


# --- refusals -----------------------------------------------------------------------------------------------------


def refusal(fe: dict[str, Any]) -> Any:
    with pytest.raises(ModelError) as caught:
        imported(fe)
    (problem,) = caught.value.problems
    assert problem.cure
    return problem


def test_a_matrix_that_is_not_there_is_named(tmp_path: Path) -> None:
    problem = refusal(whole(tmp_path, matrices={"stiffness": "KAA"}))
    assert "KAA" in problem.expected
    assert "KGG, MGG" in problem.found
    assert "matrices: {stiffness: NAME}" in problem.cure
    written(tmp_path / "elbow.op4", op4_text({"KGG": elbow().K.toarray()}))
    problem = refusal(whole(tmp_path) | {"file": written(tmp_path / "k.op4", op4_text({"KGG": np.eye(54)}))})
    assert "'MGG'" in problem.expected
    problem = refusal(whole(tmp_path) | {"file": written(tmp_path / "x.op4", op4_text({"X": np.eye(54)}))})
    assert "KAAX, KAA, KXX, KGG" in problem.expected


def test_a_deck_of_another_model_is_refused_by_its_count(tmp_path: Path) -> None:
    fe = whole(tmp_path)
    written(tmp_path / "elbow.bdf", grids([11, 12, 13], elbow().positions[:3]))
    problem = refusal(fe)
    assert "54" in problem.expected
    assert "18 of all grids" in problem.found
    assert "EXTSEOUT" in problem.cure


def test_matrices_of_two_sizes_are_refused(tmp_path: Path) -> None:
    fe = whole(tmp_path)
    written(tmp_path / "elbow.op4", op4_text({"KGG": np.eye(54), "MGG": np.eye(48)}))
    assert "MGG with 48 x 48" in refusal(fe).found


def test_rigid_elements_that_matrices_of_all_grids_lack_are_refused(tmp_path: Path) -> None:
    fe = whole(tmp_path)
    deck = (tmp_path / "elbow.bdf").read_text().replace("BEGIN BULK\n", "BEGIN BULK\nRBE2,99,11,123456,12\n")
    written(tmp_path / "elbow.bdf", deck)
    problem = refusal(fe)
    assert "RBE2" in problem.found
    assert "coupling: rigid" in problem.cure


def test_a_punch_file_cut_anywhere_makes_no_other_body(tmp_path: Path) -> None:
    """Cut within a card it is refused as such; between cards by what is missing then, such as mass in one direction."""
    fe = superelement(tmp_path, 6, "dmig", modes={"boundary": "cantilever", "count": 3})
    text = (tmp_path / "se.pch").read_text()
    for size in np.linspace(100, len(text) - 30, 12).astype(int):
        written(tmp_path / "se.pch", text[:size])
        problem = refusal(fe)
        assert problem.key.startswith(("fe.file", "fe.matrices", "fe.mesh"))
    written(tmp_path / "se.pch", text[: text.rindex("D+") - 5])
    assert "cut short" in refusal(fe).cure


def test_wrong_units_show_by_the_mass(tmp_path: Path) -> None:
    problem = refusal(whole(tmp_path, mass=1600.0))
    assert problem.key == "fe.mass"
    assert "units" in problem.cure
    problem = refusal(whole(tmp_path, units={"length": 0.001, "mass": 1000.0}))
    assert problem.key == "fe.units"


def test_a_grid_that_the_deck_lacks_is_named(tmp_path: Path) -> None:
    fe = superelement(tmp_path, 6, "dmig")
    text = (tmp_path / "se.pch").read_text()
    start = text.index("GRID*   " + f"{19:16d}")
    written(tmp_path / "se.pch", text[:start] + text[text.index("SPOINT") :])
    assert "grid 19" in refusal(fe).found


def test_files_that_hold_no_matrices_are_refused(tmp_path: Path) -> None:
    fe = whole(tmp_path)
    problem = refusal(fe | {"file": fe["mesh"]})
    assert "no DMIG card in 'elbow.bdf'" in problem.found
    written(tmp_path / "elbow.op4", "not a matrix at all\n")
    assert "OUTPUT4" in refusal(fe).expected
    noise = written(tmp_path / "noise.pch", bytes(range(256)) * 8)
    assert "no DMIG card" in refusal(fe | {"file": noise}).found


def test_a_mesh_is_looked_for_beside_the_matrices(tmp_path: Path) -> None:
    fe = whole(tmp_path)
    del fe["mesh"]
    assert imported(fe).nm == 10
    (tmp_path / "elbow.bdf").unlink()
    assert "mesh: FILE.bdf" in refusal(fe).cure


def test_partial_directions_in_turned_axes_are_refused(tmp_path: Path) -> None:
    fe = superelement(tmp_path, 42, "op4")
    text = (tmp_path / "se.asm").read_text()
    card = grids([19], elbow().positions[-1:])
    text = text.replace(card, SYSTEM + grids([19], elbow().positions[-1:], {19: 5})).replace(
        "      19  123456", "      19      12"
    )
    written(tmp_path / "se.asm", text)
    every, K, M = condensed(elbow(), 42)
    kept = [k for k, dof in enumerate(every) if dof[0] != 19 or dof[1] < 3]
    at = np.ix_(kept, kept)
    written(tmp_path / "se.op4", op4_bytes({"KXX": K[at], "MXX": M[at]}))
    problem = refusal(fe)
    assert "grid 19" in problem.found
    assert "CD" in problem.cure


def test_complex_and_rectangular_dmig_are_refused(tmp_path: Path) -> None:
    model = elbow()
    cards = dmig("KAAX", dofs(model), model.K.toarray()) + dmig("MAAX", dofs(model), model.M.toarray())
    for old, new in ((f"{6:8d}{2:8d}", f"{6:8d}{4:8d}"), (f"{6:8d}{2:8d}", f"{9:8d}{2:8d}")):
        fe = whole(tmp_path, file=written(tmp_path / "elbow.pch", cards.replace(old, new, 1)))
        assert "form" in refusal(fe).found
