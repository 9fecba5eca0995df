"""Readers: the same model from every kind of file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from flex.fe.fem import document, entry, frame, imported, solid, straight
from scipy import sparse

from bough.flex import FlexBody
from bough.flex.fe import FeModel, Geometric
from bough.flex.fe.mesh import read_mesh
from bough.flex.fe.npz import read_npz, write_npz
from bough.model import load


@pytest.fixture(scope="module")
def block() -> FeModel:
    return solid((3, 1, 1), (0.3, 0.03, 0.04))


def same(one: FlexBody, other: FlexBody) -> None:
    np.testing.assert_allclose(other.frequencies, one.frequencies, rtol=1e-9)
    np.testing.assert_allclose(other.integrals.inertia, one.integrals.inertia, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(other.node_positions, one.node_positions, atol=1e-12)
    scale = np.abs(one.node_shapes).max()
    np.testing.assert_allclose(other.node_shapes, one.node_shapes, atol=1e-5 * scale)


def test_npz_with_dense_rows_and_triplets(block: FeModel, tmp_path: Path) -> None:
    known = imported(entry(tmp_path / "rows.npz", block))
    common = {"nodes": block.positions, "set_ROOT": block.sets["ROOT"], "set_TIP": block.sets["TIP"]}
    np.savez(tmp_path / "dense.npz", K=block.K.toarray(), M=block.M.toarray(), **common)
    K, M = block.K.tocoo(), block.M.tocoo()
    triplets = {"K_row": K.row, "K_col": K.col, "K_data": K.data, "M_row": M.row, "M_col": M.col, "M_data": M.data}
    np.savez(tmp_path / "triplets.npz", **triplets, **common)
    for name in ("dense.npz", "triplets.npz"):
        same(known, imported(entry(tmp_path / name)))


def test_npz_keeps_everything(tmp_path: Path) -> None:
    """Written and read: numbers, directions, sets, damping, geometric stiffness, a generalized coordinate."""
    beam = straight(1.0, 3, first=11)
    n = beam.ndof + 1
    K, M = (sparse.block_diag([matrix, [[value]]]) for matrix, value in ((beam.K, 1e4), (beam.M, 0.1)))
    parts = tuple(sparse.csc_array(np.diag(np.arange(n) + 10.0 * k)) for k in range(6))
    model = FeModel(
        beam.node_ids,
        beam.positions,
        np.append(beam.dof_node, -1),
        np.append(beam.dof_component, -1),
        K,
        M,
        D=0.1 * M,
        sets=beam.sets,
        geometric=Geometric(parts[:3], parts[3:], parts, {"tip": parts[:3]}),
    )
    write_npz(tmp_path / "all.npz", model)
    read = read_npz(load(document(entry(tmp_path / "all.npz"))).bodies[0].fe)
    for name in ("node_ids", "positions", "dof_node", "dof_component"):
        np.testing.assert_array_equal(getattr(read, name), getattr(model, name))
    for name in ("K", "M", "D"):
        assert abs(getattr(read, name) - getattr(model, name)).max() == 0.0
    assert read.sets == model.sets and read.geometric is not None
    for name in ("acceleration", "angular", "spin"):
        for one, other in zip(getattr(read.geometric, name), getattr(model.geometric, name), strict=True):
            assert abs(one - other).max() == 0.0
    assert len(read.geometric.forces["tip"]) == 3


def write_inp(path: Path, model: FeModel) -> None:
    lines = ["** a mesh", "*NODE, NSET=NALL"]
    lines += [
        f"{k}, {x:.17g}, {y:.17g}, {z:.17g}" for k, (x, y, z) in zip(model.node_ids, model.positions, strict=True)
    ]
    for name, members in model.sets.items():
        lines += [
            f"*NSET, NSET={name.lower()}",
            *(", ".join(map(str, members[k : k + 8])) for k in range(0, len(members), 8)),
        ]
    path.write_text("\n".join(lines) + "\n")


def triangle(matrix: sparse.csc_array) -> list[tuple[int, int, float]]:
    """Upper triangle, row, column, value, from 1 on."""
    upper = sparse.triu(matrix).tocoo()
    return [(int(i) + 1, int(j) + 1, float(v)) for i, j, v in zip(upper.row, upper.col, upper.data, strict=True)]


def write_calculix(folder: Path, model: FeModel) -> Path:
    write_inp(folder / "job.inp", model)
    for ending, matrix in (("sti", model.K), ("mas", model.M)):
        (folder / f"job.{ending}").write_text("".join(f"{i} {j} {v:20.13e}\n" for i, j, v in triangle(matrix)))
    rows = zip(model.node_ids[model.dof_node], model.dof_component + 1, strict=True)
    (folder / "job.dof").write_text("".join(f"{node}.{direction}\n" for node, direction in rows))
    return folder / "job.sti"


def test_calculix_matrices(block: FeModel, tmp_path: Path) -> None:
    same(imported(entry(tmp_path / "block.npz", block)), imported(entry(write_calculix(tmp_path, block))))


@pytest.mark.parametrize("form", ["labels", "lower labels", "coordinate"])
def test_abaqus_matrices(form: str, block: FeModel, tmp_path: Path) -> None:
    """Six directions per node, so that rotations are there too; sparse rows in either triangle."""
    points = np.array([[0, 0, 0], [0.1, 0, 0], [0.2, 0.02, 0], [0.3, 0.05, 0.01]], dtype=float)
    for k, model in enumerate((block, frame(points, 0.02, 0.03, first=5))):
        folder = tmp_path / str(k)
        folder.mkdir()
        write_inp(folder / "job.inp", model)
        names = model.node_ids[model.dof_node], model.dof_component + 1
        for kind, matrix in (("STIF", model.K), ("MASS", model.M)):
            lines = ["** matrix output"]
            for i, j, v in triangle(matrix):
                i, j = (j, i) if form.startswith("lower") else (i, j)
                if form == "coordinate":
                    lines.append(f"{i} {j} {v:.15e}")
                else:
                    lines.append(f"{names[0][i - 1]},{names[1][i - 1]}, {names[0][j - 1]},{names[1][j - 1]},  {v:.15e}")
            (folder / f"job_{kind}2.mtx").write_text("\n".join(lines) + "\n")
        same(imported(entry(folder / "model.npz", model)), imported(entry(folder / "job_STIF2.mtx")))


def test_mesh_with_generated_sets_element_sets_and_included_files(tmp_path: Path) -> None:
    (tmp_path / "nodes.inc").write_text(
        "*NODE, NSET=ALL\n1, 0, 0, 0\n2, 1.5e-1, 0\n3, 0, 1, 0\n4, 0, 0, 1,\n5, 1, 1, 1\n"
    )
    (tmp_path / "mesh.inp").write_text(
        "*Heading\n anything, 1, 2\n*INCLUDE, INPUT=nodes.inc\n"
        "*Element, type=C3D4, elset=PART\n7, 1, 2,\n3, 4\n*Nset, nset=Odd, generate\n1, 5, 2\n"
        "*NSET, NSET=BOTH\nodd, 2\n*STEP\n*FREQUENCY\n10,\n*END STEP\n"
    )
    mesh = read_mesh(str(tmp_path / "mesh.inp"))
    assert mesh.nodes[2] == (0.15, 0.0, 0.0) and mesh.nodes[4] == (0.0, 0.0, 1.0)
    assert mesh.node_sets() == {"PART": (1, 2, 3, 4), "ALL": (1, 2, 3, 4, 5), "ODD": (1, 3, 5), "BOTH": (1, 3, 5, 2)}


def test_nodes_of_a_results_file(tmp_path: Path) -> None:
    (tmp_path / "job.frd").write_text(
        "    1C\n    1UUSER\n    2C                             2                                     1\n"
        " -1         1 0.00000E+00-1.25000E-01 3.00000E+00\n -1        12 1.00000E+00 0.00000E+00 0.00000E+00\n -3\n"
        "    3C                             1                                     1\n -1         1    3    0    1\n"
    )
    assert read_mesh(str(tmp_path / "job.frd")).nodes == {1: (0.0, -0.125, 3.0), 12: (1.0, 0.0, 0.0)}
