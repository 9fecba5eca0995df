"""Modes of OP2 files as bodies, against the matrices that the modes come from; masses of meshes against pyNastran."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flex.fe.fem import RHO, document, entry, frame, imported
from flex.fe.nastran_files import block, file_modes, frame_deck, grids, need_pynastran, op2_bytes, written
from scipy import linalg, sparse

import bough
from bough import ModelError
from bough.flex.fe import FeModel
from bough.flex.fe.nastran.bulk import read_bulk
from bough.flex.fe.nastran.grids import nastran_mesh
from bough.flex.fe.nastran.mass import element_shares, mesh_mass
from bough.flex.fe.nastran.op2 import read_op2

WIDTH, HEIGHT = 0.02, 0.03
SINGLE = 2e-6
"""An OP2 file holds single precision: seven digits."""
NODES = {"root": {"nodes": [11]}, "tip": {"nodes": [19]}}


@pytest.fixture(autouse=True)
def _pynastran() -> None:
    need_pynastran()


def lumped() -> FeModel:
    """An elbow of bars with half their mass at each end, as Nastran has it without COUPMASS, and a rotor at the tip."""
    points = np.zeros((9, 3))
    points[:5, 0] = 0.125 * np.arange(5)
    points[5:] = [0.5, 0.0, 0.0] + np.outer(np.arange(1, 5), [0.0, 0.0625, 0.125])
    model = frame(points, WIDTH, HEIGHT, first=11)
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    masses = np.zeros(9)
    masses[:-1] += 0.5 * RHO * WIDTH * HEIGHT * lengths
    masses[1:] += 0.5 * RHO * WIDTH * HEIGHT * lengths
    M = np.zeros((54, 54))
    for k, mass in enumerate(masses):
        M[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = mass * np.eye(3)
    M[48:51, 48:51] += 0.2 * np.eye(3)
    M[51:, 51:] = np.diag([1e-4, 2e-4, 3e-4])
    return FeModel(
        model.node_ids, points, model.dof_node, model.dof_component, model.K, sparse.csc_array(M), sets=model.sets
    )


ROTOR = "CONM2,90,19,,0.2\n,1.-4,,2.-4,,,3.-4\n"


def clean(model: FeModel, count: int, held: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Modes although rotations without inertia make the mass singular: they are condensed first."""
    K, M = model.K.toarray(), model.M.toarray()
    free = ~np.isin(model.dof_node, held)
    heavy, light = np.flatnonzero(free & (np.diag(M) > 0)), np.flatnonzero(free & (np.diag(M) == 0))
    T = np.zeros((model.ndof, heavy.size))
    T[heavy] = np.eye(heavy.size)
    T[light] = -np.linalg.solve(K[np.ix_(light, light)], K[np.ix_(light, heavy)])
    squares, vectors = linalg.eigh(T.T @ K @ T, T.T @ M @ T, subset_by_index=(0, count - 1))
    shapes = np.zeros((model.n, 6, count))
    shapes[model.dof_node, model.dof_component] = T @ vectors
    return squares, shapes


def modes_entry(folder: Path, held: tuple[int, ...] = (0,), count: int = 8, **keys: Any) -> dict[str, Any]:
    """The elbow as an OP2 file of its modes with some nodes held, and its deck."""
    model = lumped()
    squares, shapes = clean(model, count + (0 if held else 6), held)
    file = written(folder / "elbow.op2", op2_bytes(model.node_ids.tolist(), shapes, squares, np.ones(squares.size)))
    mesh = written(folder / "elbow.bdf", frame_deck(model, WIDTH * HEIGHT).replace("ENDDATA", ROTOR + "ENDDATA"))
    return {"file": file, "mesh": mesh, "interfaces": NODES, "modes": {"boundary": "file"}, **keys}


def from_matrices(folder: Path, boundary: str, count: int = 8) -> dict[str, Any]:
    return entry(folder / "direct.npz", lumped(), modes={"boundary": boundary, "count": count})


# --- bodies -------------------------------------------------------------------------------------------------------


def test_an_op2_file_reads_back(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    shapes, squares, masses = rng.standard_normal((4, 6, 3)), np.array([-1e-7, 4e4, 9e9]), np.array([1.0, 2.0, 0.5])
    read = read_op2(written(tmp_path / "a.op2", op2_bytes([3, 5, 11, 100000], shapes, squares, masses)))
    assert read.ids.tolist() == [3, 5, 11, 100000]
    assert np.array_equal(read.shapes, shapes.astype(np.float32))
    assert np.array_equal(read.squares, squares.astype(np.float32))
    assert np.array_equal(read.masses, masses)
    without = read_op2(written(tmp_path / "b.op2", op2_bytes([3, 5, 11, 100000], shapes, squares)))
    assert np.isnan(without.masses).all()


@pytest.mark.parametrize(("held", "boundary"), [((0,), "cantilever"), ((), "free")])
def test_modes_of_the_file_make_the_body_of_the_matrices(tmp_path: Path, held: tuple[int, ...], boundary: str) -> None:
    """Rigid modes of the free body are left out."""
    body, other = imported(modes_entry(tmp_path, held)), imported(from_matrices(tmp_path, boundary))
    assert body.nm == 8
    assert body.frequencies == pytest.approx(other.frequencies, rel=SINGLE)
    assert body.stiffness == pytest.approx(np.diag(body.frequencies**2))
    assert body.modal_mass == pytest.approx(np.eye(8), abs=1e-12)
    assert body.integrals.inertia == pytest.approx(other.integrals.inertia, rel=1e-12, abs=1e-12)
    for mine, theirs in ((body.node_shapes, other.node_shapes), (body.integrals.F0, other.integrals.F0)):
        assert np.abs(mine) == pytest.approx(np.abs(theirs), abs=20 * SINGLE * max(np.abs(theirs).max(), 1.0))
    # Free modes move the attach node, clamped ones do not.
    assert np.any(body.node_shapes[0]) == (not held)


def accelerations(fe: dict[str, Any], spin: float) -> np.ndarray:
    """Of a spherical hinge and of the tip, under gravity and a force on the tip, turning, deflected by nothing."""
    hinge = {"type": "spherical", "name": "h", "initial": {"w": [spin, -0.5 * spin, 0.2 * spin]}}
    model = document(fe, **hinge)
    model |= {"gravity": [0.3, -0.2, -9.81], "inputs": ["arm.tip.force"], "outputs": ["arm.tip"]}
    run = bough.simulate(model, stop=1e-6, step=1e-6, inputs={"arm.tip.force[2]": -5.0, "arm.tip.force[3]": 4.0})
    return np.array([run[f"arm.tip.a[{k}]"][0] for k in (1, 2, 3)] + [run[f"h.a_rot[{k}]"][0] for k in (1, 2, 3)])


@pytest.mark.parametrize(("held", "boundary"), [((0,), "cantilever"), ((), "free")])
def test_it_accelerates_as_the_body_of_the_matrices(tmp_path: Path, held: tuple[int, ...], boundary: str) -> None:
    mine = accelerations(modes_entry(tmp_path, held), 3.0)
    theirs = accelerations(from_matrices(tmp_path, boundary), 3.0)
    assert mine == pytest.approx(theirs, rel=50 * SINGLE, abs=50 * SINGLE * np.abs(theirs).max())


def test_interfaces_of_solids_turn_as_their_nodes_do_on_average(tmp_path: Path) -> None:
    """Grids of solids have no rotations; the tip's is the least-squares one of the face, as with matrices (RBE3)."""
    model, deck = block((5, 1, 1), (0.5, 0.05, 0.04))
    root = tuple(k - 1 for k in model.sets["ROOT"])
    squares, shapes = file_modes(model, 5, root)
    file = written(tmp_path / "block.op2", op2_bytes(model.node_ids.tolist(), shapes, squares, np.ones(5)))
    mesh = written(tmp_path / "block.bdf", deck)
    faces = {
        "root": {"nodes": list(model.sets["ROOT"])},
        "tip": {"nodes": list(model.sets["TIP"]), "coupling": "average"},
    }
    body = imported({"file": file, "mesh": mesh, "interfaces": faces, "modes": {"boundary": "file", "count": 4}})
    other = imported(
        entry(tmp_path / "block.npz", model, interfaces=faces, modes={"boundary": "cantilever", "count": 4})
    )
    assert body.frequencies == pytest.approx(other.frequencies, rel=SINGLE)
    assert body.integrals.inertia == pytest.approx(other.integrals.inertia, rel=1e-10, abs=1e-12)
    assert np.abs(body.node_shapes) == pytest.approx(
        np.abs(other.node_shapes), abs=20 * SINGLE * np.abs(other.node_shapes).max()
    )


def test_displacement_axes_units_and_wtmass(tmp_path: Path) -> None:
    """The elbow in millimetres, newtons and weights in newtons: mass is weight times WTMASS, in tonnes."""
    model = lumped()
    squares, shapes = clean(model, 8, (0,))
    axes = (
        np.column_stack(
            [np.array([2.0, 1.0, -2.0]), np.cross([1.0, 2.0, 2.0], [2.0, 1.0, -2.0]) / 3.0, [1.0, 2.0, 2.0]]
        )
        / 3.0
    )
    shapes[8] = np.kron(np.eye(2), axes.T) @ shapes[8]
    # With u in mm and mass in tonnes, phi'M phi = 1 asks for these: 1e3 phi per m, and 1e-3 kg per tonne.
    shapes[:, :3] *= 1e3
    shapes *= np.sqrt(1e3) * 1e-3
    g = 9810.0
    deck = frame_deck(model, WIDTH * HEIGHT, {19: 5})
    deck = deck.replace(
        grids(model.node_ids.tolist(), model.positions, {19: 5}),
        grids(model.node_ids.tolist(), 1e3 * model.positions, {19: 5}),
    )
    deck = deck.replace("PBAR,7,9,.0006", "PBAR,7,9,600.").replace("PBAR,7,9,0.0006", "PBAR,7,9,600.")
    deck = deck.replace("MAT1,9,7.e+10,2.63e+10,,2700.", f"MAT1,9,7.e+4,2.63e+4,,{2.7e-9 * g:.9e}")
    extra = "CORD2R,5,,0.,0.,0.,1.,2.,2.\n,2.,1.,-2.\n" + f"PARAM,WTMASS,{1 / g:.12e}\n"
    extra += f"CONM2*,90,19,,{2e-4 * g!r}\n*,,,,\n*,{100 * 1e-3 * g!r},,{200 * 1e-3 * g!r},\n*,,{300 * 1e-3 * g!r}\n"
    written(tmp_path / "mm.bdf", deck.replace("ENDDATA", extra + "ENDDATA"))
    file = written(tmp_path / "mm.op2", op2_bytes(model.node_ids.tolist(), shapes, squares, np.ones(8)))
    fe = modes_entry(tmp_path) | {
        "file": file,
        "mesh": str(tmp_path / "mm.bdf"),
        "mass": float(model.M[::6, ::6].sum()),
    }
    body = imported(fe | {"units": {"length": 0.001, "mass": 1000.0}})
    other = imported(from_matrices(tmp_path, "cantilever"))
    assert body.frequencies == pytest.approx(other.frequencies, rel=SINGLE)
    assert body.integrals.inertia == pytest.approx(other.integrals.inertia, rel=1e-8, abs=1e-9)
    assert np.abs(body.node_shapes) == pytest.approx(
        np.abs(other.node_shapes), abs=20 * SINGLE * np.abs(other.node_shapes).max()
    )


def test_a_mass_off_its_grid_moves_with_it(tmp_path: Path) -> None:
    """Against the mass matrix of the rigid arm, put together by hand."""
    model = lumped()
    arm, mass, J = np.array([0.1, -0.05, 0.2]), 0.7, np.diag([1e-3, 2e-3, 2.5e-3])
    cross = np.array([[0, -arm[2], arm[1]], [arm[2], 0, -arm[0]], [-arm[1], arm[0], 0]])
    M = model.M.toarray()
    M[48:, 48:] += np.block([[mass * np.eye(3), -mass * cross], [mass * cross, J - mass * cross @ cross]])
    heavy = FeModel(
        model.node_ids,
        model.positions,
        model.dof_node,
        model.dof_component,
        model.K,
        sparse.csc_array(M),
        sets=model.sets,
    )
    squares, shapes = clean(heavy, 6, (0,))
    fe = modes_entry(tmp_path)
    written(tmp_path / "elbow.op2", op2_bytes(model.node_ids.tolist(), shapes, squares, np.ones(6)))
    lump = f"CONM2,91,19,,{mass},{arm[0]},{arm[1]},{arm[2]}\n,1.-3,,2.-3,,,2.5-3\n"
    written(tmp_path / "elbow.bdf", (tmp_path / "elbow.bdf").read_text().replace("ENDDATA", lump + "ENDDATA"))
    body = imported(fe)
    other = imported(entry(tmp_path / "d.npz", heavy, modes={"boundary": "cantilever", "count": 6}))
    assert body.integrals.inertia == pytest.approx(other.integrals.inertia, rel=1e-10, abs=1e-12)
    assert np.abs(body.integrals.F0) == pytest.approx(np.abs(other.integrals.F0), abs=20 * SINGLE)


def test_shapes_are_made_orthonormal_where_the_mesh_has_another_mass_than_the_run(tmp_path: Path) -> None:
    """Modes of the consistent mass on a mesh of lumped mass: frequencies stay, modal mass is one."""
    points = np.zeros((11, 3))
    points[:, 0] = 0.1 * np.arange(11)
    model = frame(points, WIDTH, HEIGHT)
    squares, shapes = file_modes(model, 4, (0,))
    file = written(tmp_path / "a.op2", op2_bytes(model.node_ids.tolist(), shapes, squares, np.ones(4)))
    mesh = written(tmp_path / "a.bdf", frame_deck(model, WIDTH * HEIGHT))
    nodes = {"root": {"nodes": [1]}, "tip": {"nodes": [11]}}
    body = imported({"file": file, "mesh": mesh, "interfaces": nodes, "modes": {"boundary": "file"}})
    assert body.frequencies == pytest.approx(np.sqrt(squares), rel=SINGLE)
    assert body.modal_mass == pytest.approx(np.eye(4), abs=1e-12)
    gained = np.abs(body.node_shapes[1]).max(axis=0) / np.abs(shapes[10]).max(axis=0)
    assert gained == pytest.approx(np.ones(4), abs=0.06)
    assert np.abs(gained - 1).max() > 1e-4


def test_count_and_cut_off_choose_from_the_elastic_modes(tmp_path: Path) -> None:
    every = imported(modes_entry(tmp_path, ())).frequencies
    some = imported(modes_entry(tmp_path, (), modes={"boundary": "file", "count": 3}))
    assert some.frequencies.tolist() == every[:3].tolist()
    cut = float((every[4] + every[5]) / (4 * np.pi))
    assert imported(modes_entry(tmp_path, (), modes={"boundary": "file", "max_frequency": cut})).nm == 5
    assert imported(modes_entry(tmp_path, (), modes={})).nm == 8
    damped = imported(modes_entry(tmp_path, (), damping=0.02))
    assert damped.damping == pytest.approx(np.diag(0.04 * every))


# --- masses of meshes ---------------------------------------------------------------------------------------------

CORNERS = np.array(
    [
        [0, 0, 0],
        [1.2, 0.1, 0],
        [1.4, 1.1, 0.1],
        [-0.1, 0.9, 0],
        [0.1, 0, 1],
        [1, 0.1, 1.2],
        [1.2, 1, 0.9],
        [0, 1.2, 1.1],
    ]
)
KINDS = {
    "CBAR": CORNERS[:2],
    "CTRIA3": CORNERS[:3],
    "CQUAD4": CORNERS[:4],
    "CTETRA": CORNERS[[0, 1, 3, 4]],
    "CPENTA": CORNERS[[0, 1, 3, 4, 5, 7]],
    "CHEXA": CORNERS,
    "CPYRAM": CORNERS[:5],
}


@pytest.mark.parametrize("coupled", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_shares_of_an_element_are_the_moments_of_its_shape_functions(kind: str, coupled: bool) -> None:
    """Sums over many small cells: of mass, of its centre and, coupled, of its second moments."""
    x = KINDS[kind]
    shares = element_shares(kind, x, coupled)
    N, weight = sampled(kind, x)
    expected = np.einsum("p,pi,pj->ij", weight, N, N)
    if not coupled:
        expected = np.diag(expected.sum(axis=1))
    assert shares.sum() == pytest.approx(1.0)
    assert shares == pytest.approx(expected, abs=3e-4)
    assert shares.sum(axis=1) @ x == pytest.approx(weight @ (N @ x), abs=5e-4)


def shape_functions(kind: str, r: np.ndarray, s: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Of an element, at points of the unit cube drawn together to the element's reference shape."""
    low = [(1 - r) * (1 - s), r * (1 - s), r * s, (1 - r) * s]
    tri = [1 - r - s * (1 - r), r, s * (1 - r)]
    far = u * (1 - r) * (1 - s)
    return np.column_stack(
        {
            "CBAR": [1 - r, r],
            "CTRIA3": tri,
            "CQUAD4": low,
            "CTETRA": [1 - r - s * (1 - r) - far, r, s * (1 - r), far],
            "CPENTA": [f * g for g in (1 - u, u) for f in tri],
            "CHEXA": [f * g for g in (1 - u, u) for f in low],
            "CPYRAM": [*(f * (1 - u) for f in low), u],
        }[kind]
    )


def sampled(kind: str, x: np.ndarray, n: int = 30) -> tuple[np.ndarray, np.ndarray]:
    """Shape functions at the middles of n x n x n cells, and the cells' shares of the size, by differences."""
    middles = (np.arange(n) + 0.5) / n
    at = np.stack([a.ravel() for a in np.meshgrid(middles, middles, middles, indexing="ij")])
    step = 1e-6 * np.eye(3)[:, :, None]
    dr, ds, du = ((shape_functions(kind, *(at + d)) - shape_functions(kind, *(at - d))) @ x for d in step)
    size = np.abs(np.einsum("pi,pi->p", np.cross(dr, ds), du))
    if kind in ("CTRIA3", "CQUAD4", "CBAR"):
        size = np.linalg.norm(dr if kind == "CBAR" else np.cross(dr, ds), axis=1)
    return shape_functions(kind, *at), size / size.sum()


@pytest.mark.parametrize(("kind", "n"), [("CTETRA", 10), ("CHEXA", 20), ("CPENTA", 15), ("CTRIA6", 6), ("CQUAD8", 8)])
def test_quadratic_elements_share_their_mass_without_negative_parts(kind: str, n: int) -> None:
    shares = element_shares(kind, np.zeros((n, 3)), False)
    assert np.trace(shares) == pytest.approx(1.0, rel=1e-14)
    assert np.diag(shares).min() > 0.0


DECK = (
    "MAT1,1,7.+10,,0.3,2700.\nMAT8,2,7.+10,7.+10,0.3,3.+9,,,1600.\n"
    "PROD,1,1,2.-4,1.-8,,0.3\nPBAR,2,1,3.-4,1.-8,1.-8,1.-8,0.7\nPBARL,3,1,,BOX\n,.05,.04,.003,.002,0.1\n"
    "PBEAM,4,1,4.-4,1.-8,1.-8,,1.-8\nPSHELL,5,1,0.003,1,,1,,4.5\nPCOMP,6,,1.2\n,2,0.001,0.,,2,0.002,90.\nPSOLID,7,1\n"
    "GRID,1,,0.,0.,0.\nGRID,2,,1.2,0.1,0.\nGRID,3,,1.4,1.1,0.1\nGRID,4,,-.1,.9,0.\n"
    "GRID,5,,.1,0.,1.\nGRID,6,,1.,.1,1.2\nGRID,7,,1.2,1.,.9\nGRID,8,,0.,1.2,1.1\n"
    "CROD,1,1,1,7\nCONROD,2,2,8,1,3.-4,1.-8,,0.2\nCBAR,3,2,1,3,1.,2.,3.\nCBAR,4,3,4,6,1.,2.,3.\nCBEAM,5,4,5,7,1.,2.,3.\n"
    "CTRIA3,6,5,1,2,5\nCQUAD4,7,6,3,4,8,7\nCTETRA,8,7,1,2,4,5\nCPENTA,9,7,1,2,4,5,6,8\nCHEXA,10,7,1,2,3,4,5,6\n,7,8\n"
    "CELAS2,11,1.+3,1,1,2,1\nPLOTEL,12,1,2\nCONM2,20,3,,1.5\n"
)


@pytest.mark.parametrize("coupled", [True, False])
def test_mass_and_centre_of_a_mesh_are_those_of_pynastran(tmp_path: Path, coupled: bool) -> None:
    """PyNastran puts each element's mass at its middle: equal where elements are not tapered, near it else."""
    from pyNastran.bdf.mesh_utils.mass_properties import mass_properties

    from bough.flex.fe.nastran.pyn import load, quiet, silent_log

    path = written(tmp_path / "a.bdf", DECK + ("PARAM,COUPMASS,1\n" if coupled else ""))
    mesh = nastran_mesh(read_bulk(path, "mesh"), path, "mesh")
    scalar, untwisted = mesh_mass(path, mesh, "mesh")
    with quiet():
        deck = load("pyNastran.bdf.bdf", "BDF", "mesh")(log=silent_log())
        deck.read_bdf(path, punch=True)
        mass, centre, _ = mass_properties(deck, element_ids=list(range(1, 11)), mass_ids=[])
    assert scalar.sum() == pytest.approx(mass, rel=1e-12)
    mine = np.asarray(scalar.sum(axis=1)) @ mesh.positions / mass
    assert mine == pytest.approx(centre, abs=0.02)
    assert (abs(scalar - sparse.diags_array(scalar.diagonal())).max() > 0) == coupled
    assert untwisted == set()


# --- refusals -----------------------------------------------------------------------------------------------------


def refusal(fe: dict[str, Any]) -> Any:
    with pytest.raises(ModelError) as caught:
        imported(fe)
    (problem,) = caught.value.problems
    assert problem.cure
    return problem


def test_modes_of_a_grid_that_the_deck_lacks(tmp_path: Path) -> None:
    fe = modes_entry(tmp_path)
    model = lumped()
    squares, shapes = clean(model, 8, (0,))
    written(tmp_path / "elbow.op2", op2_bytes([*model.node_ids.tolist()[:-1], 77], shapes, squares, np.ones(8)))
    assert "grid 77" in refusal(fe).found


def test_modes_that_leave_out_grids_with_mass(tmp_path: Path) -> None:
    fe = modes_entry(tmp_path)
    model = lumped()
    squares, shapes = clean(model, 8, (0,))
    written(tmp_path / "elbow.op2", op2_bytes(model.node_ids.tolist()[:-2], shapes[:-2], squares, np.ones(8)))
    problem = refusal(fe)
    assert "18, 19" in problem.found
    assert "DISPLACEMENT(PLOT) = ALL" in problem.cure


def test_a_deck_with_another_mass_than_the_modes(tmp_path: Path) -> None:
    fe = modes_entry(tmp_path)
    deck = (tmp_path / "elbow.bdf").read_text()
    written(tmp_path / "elbow.bdf", deck.replace(",,2700.", ",,27000."))
    problem = refusal(fe)
    assert problem.key == "fe.mesh"
    assert "times that for mode" in problem.found


def test_masses_that_no_grid_carries_alike_in_all_directions(tmp_path: Path) -> None:
    fe = modes_entry(tmp_path)
    deck = (tmp_path / "elbow.bdf").read_text()
    written(tmp_path / "elbow.bdf", deck.replace("ENDDATA", "CMASS2,99,1.,12,1\nENDDATA"))
    assert "CMASS2" in refusal(fe).found


def test_more_modes_than_the_file_has(tmp_path: Path) -> None:
    problem = refusal(modes_entry(tmp_path, (), modes={"boundary": "file", "count": 9}))
    assert "9, with 8" in problem.found
    problem = refusal(modes_entry(tmp_path, modes={"boundary": "file", "max_frequency": 0.1}))
    assert problem.key == "fe.modes.max_frequency"


def test_wrong_units_show_by_the_mass(tmp_path: Path) -> None:
    assert refusal(modes_entry(tmp_path, mass=1.0)).key == "fe.mass"
    assert refusal(modes_entry(tmp_path, units={"length": 0.001, "mass": 1000.0})).key == "fe.units"


def test_only_rigid_modes_and_unstable_ones(tmp_path: Path) -> None:
    model = lumped()
    squares, shapes = clean(model, 8, ())
    fe = modes_entry(tmp_path)
    written(tmp_path / "elbow.op2", op2_bytes(model.node_ids.tolist(), shapes[:, :, :6], squares[:6], np.ones(6)))
    assert "rigid" in refusal(fe).found
    squares[7] = -1.0
    written(tmp_path / "elbow.op2", op2_bytes(model.node_ids.tolist(), shapes, squares, np.ones(8)))
    assert "mode 8" in refusal(fe).found


def test_an_op2_file_cut_anywhere_or_of_another_kind(tmp_path: Path) -> None:
    fe = modes_entry(tmp_path, count=2)
    whole = (tmp_path / "elbow.op2").read_bytes()
    for size in np.linspace(0, len(whole) - 400, 9).astype(int):
        written(tmp_path / "elbow.op2", whole[:size])
        assert "OP2" in refusal(fe).expected
    for content in (b"\x89PNG" + bytes(200), b"GRID,1,,0.,0.,0.\n" * 20):
        written(tmp_path / "elbow.op2", content)
        assert "OP2" in refusal(fe).expected


def test_boundaries_that_an_op2_file_cannot_have(tmp_path: Path) -> None:
    problem = refusal(modes_entry(tmp_path, modes={"boundary": "free", "count": 3}))
    assert "modes, not matrices" in problem.expected
    problem = refusal(modes_entry(tmp_path) | {"file": str(tmp_path / "elbow.bdf")})
    assert problem.key.endswith("boundary")


def test_without_pynastran_the_message_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fe = modes_entry(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "pyNastran"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyNastran", None)
    problem = refusal(fe)
    assert 'pip install "bough[nastran]"' in problem.cure


def test_reading_changes_nothing_in_numpy(tmp_path: Path) -> None:
    before = set(dir(np))
    imported(modes_entry(tmp_path))
    assert set(dir(np)) == before
