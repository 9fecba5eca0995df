"""Wrong files and wrong entries: refused with what is wrong, where, and the cure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flex.fe.fem import document, entry, frame, imported, solid, straight
from flex.fe.test_formats import write_calculix
from scipy import sparse

from bough.errors import ModelError, Problem
from bough.flex.fe import FeModel
from bough.flex.fe.npz import write_npz
from bough.model import load


@pytest.fixture(scope="module")
def block() -> FeModel:
    return solid((3, 1, 1), (0.3, 0.03, 0.04))


def refused(fe: dict[str, Any]) -> Problem:
    with pytest.raises(ModelError) as info:
        imported(fe)
    (problem,) = info.value.problems
    assert problem.cure and problem.found and problem.expected
    return problem


def changed(model: FeModel, **parts: Any) -> FeModel:
    return FeModel(**{**vars(model), **parts})


def with_entry(matrix: Any, i: int, j: int, value: float) -> Any:
    out = matrix.tolil(copy=True)
    out[i, j] = value
    return out.tocsc()


# ---- the entry


ENTRIES: list[tuple[dict[str, Any], str, str]] = [
    ({"file": "nowhere.npz"}, "fe.file", "no file"),
    ({"file": "nowhere.xyz"}, "fe.file", "ends in one of"),
    ({"attach": "rot"}, "fe.attach", "did you mean 'root'"),
    ({"interfaces": {"a b": {"set": "ROOT"}}}, "fe.interfaces.'a b'", "letters"),
    ({"interfaces": {"eta": {"set": "ROOT"}}}, "fe.interfaces.eta", "modal coordinates"),
    ({"interfaces": {"root": {"set": "ROOT", "nodes": [1]}}}, "fe.interfaces.root", "exactly one"),
    ({"interfaces": {"root": {}}}, "fe.interfaces.root", "exactly one"),
    ({"interfaces": {"root": {"nodes": [1, 2, 1]}}}, "fe.interfaces.root.nodes", "node 1 again"),
    ({"interfaces": {}}, "fe.interfaces", "mapping"),
    ({"modes": {"boundary": "cantilever"}}, "fe.modes", "count"),
    ({"modes": {"boundary": "file"}}, "fe.modes.boundary", "craig-bampton"),
    ({"modes": {"boundary": "pinned", "count": 3}}, "fe.modes.boundary", "one of craig-bampton"),
    ({"modes": {"count": -1}}, "fe.modes.count", "whole number"),
    ({"damping": {"rayleigh": [1.0, -1.0]}}, "fe.damping.rayleigh", "0 or more"),
    ({"damping": {"matrix": [[1.0, 2.0], [0.0, 1.0]]}}, "fe.damping.matrix", "symmetric"),
    ({"damping": {}}, "fe.damping", "exactly one of rayleigh, matrix"),
    ({"units": {"length": 0.0}}, "fe.units.length", "above 0"),
    ({"colour": "red"}, "fe.colour", "unknown key"),
]


@pytest.mark.parametrize(("keys", "key", "words"), ENTRIES)
def test_entry(keys: dict[str, Any], key: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "some.npz").touch()
    with pytest.raises(ModelError) as info:
        load(document(entry(tmp_path / "some.npz", **keys)))
    problem = info.value.problems[0]
    assert problem.key == f"bodies[0].{key}"
    assert words in str(problem)


def test_line_of_the_missing_file(tmp_path: Path) -> None:
    (tmp_path / "model.yaml").write_text(
        "bough: 1\nname: m\nbodies:\n  - name: arm\n    parent: ground\n    hinge: {type: fixed}\n    fe:\n"
        "      file: nowhere.npz\n      interfaces: {root: {nodes: [1]}}\n      modes: {count: 2}\n"
    )
    with pytest.raises(ModelError) as info:
        load(tmp_path / "model.yaml")
    assert info.value.problems[0].line == 8


# ---- the matrices


def grounded(model: FeModel) -> FeModel:
    return changed(model, K=with_entry(model.K, 3, 3, model.K[3, 3] * 1.5))


def weakly_grounded(model: FeModel) -> FeModel:
    """A spring too weak to see beside the stiffness of an element: 1e6 N/m on a body of a kilogram."""
    return changed(model, K=with_entry(model.K, 3, 3, model.K[3, 3] + 1e6))


def held(model: FeModel) -> FeModel:
    free = np.flatnonzero(~np.isin(model.node_ids[model.dof_node], model.sets["ROOT"][:4]))
    return changed(
        model,
        dof_node=model.dof_node[free],
        dof_component=model.dof_component[free],
        K=model.K[free][:, free],
        M=model.M[free][:, free],
    )


def one_direction_held(model: FeModel) -> FeModel:
    free = np.flatnonzero((model.dof_component != 2) | ~np.isin(model.dof_node, [0, 1]))
    return changed(
        model,
        dof_node=model.dof_node[free],
        dof_component=model.dof_component[free],
        K=model.K[free][:, free],
        M=model.M[free][:, free],
    )


def moved(model: FeModel) -> FeModel:
    positions = model.positions.copy()
    positions[7] += [0.0, 0.01, 0.0]
    return changed(model, positions=positions)


def two_parts(model: FeModel) -> FeModel:
    n, k = model.n, model.ndof
    return changed(
        model,
        node_ids=np.concatenate([model.node_ids, model.node_ids + 1000]),
        positions=np.concatenate([model.positions, model.positions + [0.0, 0.1, 0.0]]),
        dof_node=np.concatenate([model.dof_node, model.dof_node + n]),
        dof_component=np.tile(model.dof_component, 2),
        K=sparse.block_diag([model.K] * 2),
        M=sparse.block_diag([model.M] * 2),
        sets={**model.sets, "K": (k,)},
    )


def loose_node(model: FeModel) -> FeModel:
    """A node with mass that only a spring along x holds."""
    k = model.ndof
    K = sparse.block_diag([model.K, np.zeros((3, 3))]).tolil()
    spring = 1e8
    K[0, 0] += spring
    K[k, k] += spring
    K[0, k] = K[k, 0] = -spring
    return changed(
        model,
        node_ids=np.append(model.node_ids, 999),
        positions=np.vstack([model.positions, model.positions[0] + [0.01, 0.0, 0.0]]),
        dof_node=np.append(model.dof_node, [model.n] * 3),
        dof_component=np.append(model.dof_component, [0, 1, 2]),
        K=K,
        M=sparse.block_diag([model.M, 0.01 * np.eye(3)]),
    )


MODELS: list[tuple[Callable[[FeModel], FeModel], str, str]] = [
    (grounded, "fe.file", "sprung to the ground"),
    (weakly_grounded, "fe.file", "as if sprung to the ground"),
    (held, "fe.file", "boundary conditions"),
    (one_direction_held, "fe.file", "one mass in every direction"),
    (moved, "fe.file", "turns about"),
    (two_parts, "fe.file", "2 parts that nothing connects"),
    (loose_node, "fe.file", "without stiffness"),
    (lambda m: changed(m, K=with_entry(m.K, 0, 4, 2.0 * m.K[0, 4] + 1e9)), "fe.file", "a symmetric stiffness"),
    (lambda m: changed(m, M=with_entry(m.M, 5, 5, np.nan)), "fe.file", "a finite mass"),
    (lambda m: changed(m, K=with_entry(m.K, 5, 5, np.inf)), "fe.file", "a finite stiffness"),
    (lambda m: changed(m, M=-1.0 * m.M), "fe.file", "negative diagonal"),
    (lambda m: changed(m, M=0.0 * m.M), "fe.file", "density"),
    (lambda m: changed(m, K=-1.0 * m.K), "fe.file", "negative diagonal"),
    (lambda m: changed(m, positions=1e3 * m.positions), "fe.units", "mean density"),
    (lambda m: changed(m, M=1e3 * m.M), "fe.units", "mean density"),
    (lambda m: changed(m, positions=np.nan * m.positions), "fe.file", "finite positions"),
    (lambda m: changed(m, dof_component=np.zeros(m.ndof, int)), "fe.file", "one twice"),
    (lambda m: changed(m, sets={"TIP": m.sets["TIP"]}), "fe.interfaces.root.set", "TIP"),
]


@pytest.mark.parametrize(("spoil", "key", "words"), MODELS)
def test_matrices(spoil: Callable[[FeModel], FeModel], key: str, words: str, block: FeModel, tmp_path: Path) -> None:
    problem = refused(entry(tmp_path / "spoilt.npz", spoil(block)))
    assert problem.file == "body 'arm'"
    assert problem.key == key
    assert words in str(problem)


def test_mass_key_overrides_the_guess_and_is_checked(block: FeModel, tmp_path: Path) -> None:
    mass = 2700.0 * 0.3 * 0.03 * 0.04
    path = tmp_path / "block.npz"
    assert imported(entry(path, block, mass=1.005 * mass)).mass == pytest.approx(mass)
    problem = refused(entry(path, mass=1.02 * mass))
    assert problem.key == "fe.mass" and "units" in problem.cure
    # Too heavy to be true, but said to be so.
    heavy = entry(tmp_path / "heavy.npz", changed(block, M=1e3 * block.M), mass=1e3 * mass)
    assert imported(heavy).mass == pytest.approx(1e3 * mass)


def test_thin_and_flat_bodies_pass_the_density_guess(tmp_path: Path) -> None:
    """A wire, and a mast that is all in line."""
    imported(entry(tmp_path / "wire.npz", straight(1.0, 4, width=2e-4, height=3e-4), modes={"count": 1}))
    imported(entry(tmp_path / "mast.npz", straight(100.0, 4, width=0.2, height=0.3), modes={"count": 1}))


SELECTIONS: list[tuple[dict[str, Any], str, str]] = [
    ({"interfaces": {"root": {"nodes": [1, 2, 987654]}}}, "fe.interfaces.root.nodes", "no node 987654"),
    ({"interfaces": {"root": {"set": "ROOF"}}}, "fe.interfaces.root.set", "ROOT, TIP"),
    ({"interfaces": {"root": {"box": [[5, 5, 5], [6, 6, 6]]}}}, "fe.interfaces.root.box", "reach from"),
    ({"interfaces": {"root": {"nodes": [1]}}}, "fe.interfaces.root", "three nodes"),
    ({"interfaces": {"root": {"nodes": [1], "coupling": "average"}}}, "fe.interfaces.root", "three nodes"),
    ({"interfaces": {"root": {"set": "ROOT"}, "too": {"set": "ROOT"}}}, "fe.interfaces.too", "other rigid interface"),
    ({"modes": {"boundary": "cantilever", "count": 500}}, "fe.modes.count", "at most"),
    ({"modes": {"boundary": "free", "max_frequency": 1.0}}, "fe.modes.max_frequency", "the lowest is"),
    ({"damping": [0.1, 0.2]}, "fe.damping", "12, one per mode"),
    ({"damping": {"matrix": [1.0, 2.0]}}, "fe.damping.matrix", "12, one per mode"),
]


@pytest.mark.parametrize(("keys", "key", "words"), SELECTIONS)
def test_what_the_model_does_not_have(
    keys: dict[str, Any], key: str, words: str, block: FeModel, tmp_path: Path
) -> None:
    problem = refused(entry(tmp_path / "block.npz", block, **keys))
    assert problem.key == key
    assert words in str(problem)


def test_more_modes_than_motions_with_mass(tmp_path: Path) -> None:
    """Four nodes whose rotations have no inertia: 3 x 3 modes at most, though 18 degrees of freedom are there."""
    model = frame(np.array([[0, 0, 0], [0.1, 0, 0], [0.2, 0.1, 0], [0.3, 0.1, 0.1]], dtype=float), 0.02, 0.03)
    model = changed(model, M=np.diag(np.where(model.dof_component < 3, 0.05, 0.0)))
    path = tmp_path / "light.npz"
    assert imported(entry(path, model, modes={"boundary": "cantilever", "count": 9})).nm == 9
    problem = refused(entry(path, modes={"boundary": "cantilever", "count": 10}))
    assert problem.key == "fe.modes.count" and "9 motions have mass" in problem.found


# ---- the files


@pytest.mark.parametrize("kept", [0.0, 0.3, 0.9, 0.999])
def test_truncated_archive(kept: float, block: FeModel, tmp_path: Path) -> None:
    path = tmp_path / "block.npz"
    write_npz(path, block)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(kept * len(whole))])
    assert "cut short" in refused(entry(path)).cure


def test_archives_with_missing_or_misshapen_arrays(block: FeModel, tmp_path: Path) -> None:
    path = tmp_path / "block.npz"
    write_npz(path, block)
    with np.load(path) as archive:
        whole = dict(archive)
    for spoil, words in (
        ({"nodes": None}, "`nodes`"),
        ({"K_data": None}, "`K`"),
        ({"K_data": whole["K_data"][:-5]}, "`K`"),
        ({"M_indices": whole["M_indices"] + 10_000}, "`M`"),
        ({"nodes": whole["nodes"][:, :2]}, "(n, 3)"),
        ({"node_ids": whole["node_ids"] // 2}, "each once"),
        ({"dofs": whole["dofs"][:-1]}, "`K`"),
        ({"dofs": whole["dofs"] + [0, 5]}, "1 to 6"),
        ({"dofs": whole["dofs"] + [5000, 0]}, "in `node_ids`"),
        ({"nodes": np.array(["a"])}, "numbers in `nodes`"),
        ({"Kg_spin": np.zeros((2, 2))}, "Kg_spin"),
        ({"Kg_wind": np.zeros((2, 2))}, "Kg_wind"),
        ({"Kg_acceleration": np.zeros((3, block.ndof, block.ndof))}, "Kg_angular"),
    ):
        np.savez(path, **{key: value for key, value in {**whole, **spoil}.items() if value is not None})
        assert words in str(refused(entry(path)))
    np.save(tmp_path / "single.npy", np.zeros(3))
    (tmp_path / "single.npy").rename(path)
    assert "single array" in str(refused(entry(path)))


def test_truncated_and_mixed_calculix_files(block: FeModel, tmp_path: Path) -> None:
    path = write_calculix(tmp_path, block)
    text = {ending: (tmp_path / f"job.{ending}").read_text() for ending in ("sti", "mas", "dof", "inp")}

    def cut(ending: str, content: str | None, words: str) -> None:
        file = tmp_path / f"job.{ending}"
        if content is None:
            file.unlink()
        else:
            file.write_text(content)
        assert words in str(refused(entry(path)))
        file.write_text(text[ending])

    lines = text["sti"].splitlines(keepends=True)
    cut("sti", text["sti"][:-10], "ends within a line")
    cut("sti", "".join(lines[:-1]), "an entry on the diagonal")
    cut("sti", text["sti"][: -len(lines[-1]) + 4] + "\n", f"line {len(lines)} of 'job.sti'")
    cut("sti", "".join(lines[: len(lines) // 2]), "cut short")
    cut("sti", "", "none in 'job.sti'")
    cut("sti", "".join(["1 2\n", *lines]), "line 1 of 'job.sti'")
    cut("sti", "".join([*lines, lines[3]]), "an entry twice")
    cut("sti", "".join([*lines, "2 1 5.0\n"]) if "2 1 " not in text["sti"] else "x", "across the diagonal")
    cut("mas", None, "no file 'job.mas'")
    cut("mas", "\n".join(text["mas"].splitlines()[:-40]) + "\n", "cut short")
    cut("dof", text["dof"][: len(text["dof"]) // 2].rpartition("\n")[0], "rows")
    cut("dof", text["dof"] + "9999.1\n", "9999")
    cut("dof", text["dof"] + "7.0\n", "node.direction")
    cut("inp", text["inp"].replace("*NODE", "*NODES"), "none in 'job.inp'")
    cut("inp", text["inp"] + "*TRANSFORM, NSET=ROOT\n", "*TRANSFORM")
    cut("inp", text["inp"].replace("\n1, ", "\n1, x", 1), "line 3")
    cut("inp", None, "neither 'job.inp' nor 'job.frd'")


def test_abaqus_files_that_hold_no_free_body(block: FeModel, tmp_path: Path) -> None:
    write_calculix(tmp_path, block)
    (tmp_path / "job_MASS1.mtx").write_text("1,1, 1,1, 2.0\n")
    path = tmp_path / "job_STIF1.mtx"
    for content, words in (
        ("1,1, 1,1, 1.0e36\n", "*BOUNDARY"),
        ("-3,1, -3,1, 1.0\n", "internal one of Abaqus"),
        ("1,1, 1,9, 1.0\n", "directions from 1 to 6"),
        ("1,1, 1,1\n", "5 numbers per line"),
        ("1 1 3.0\n", "one format"),
        ("5000,1, 5000,1, 1.0\n", "node 5000"),
    ):
        path.write_text(content)
        assert words in str(refused(entry(path)))
    path.write_text("1 1 3.0\n4 4 1.0\n")
    (tmp_path / "job_MASS1.mtx").write_text("1 1 3.0\n")
    assert "FORMAT=MATRIX INPUT" in refused(entry(path)).cure
    (tmp_path / "job_MASS1.mtx").unlink()
    assert refused(entry(path)).key == "fe.mass_file"


def test_damaged_files_never_end_in_a_traceback(block: FeModel, tmp_path: Path) -> None:
    """Any bytes struck out or changed: a body, or ModelError."""
    rng = np.random.default_rng(4)
    path = write_calculix(tmp_path, solid((1, 1, 1), (0.1, 0.1, 0.1)))
    archive = tmp_path / "block.npz"
    write_npz(archive, block)
    for target in [tmp_path / f"job.{ending}" for ending in ("sti", "mas", "dof", "inp")] + [archive]:
        whole = target.read_bytes()
        for _ in range(12):
            raw = bytearray(whole)
            at = int(rng.integers(len(raw)))
            raw[at : at + int(rng.integers(1, 40))] = (
                rng.integers(32, 127, size=int(rng.integers(0, 5))).astype(np.uint8).tobytes()
            )
            target.write_bytes(bytes(raw))
            try:
                imported(entry(archive if target == archive else path, modes={"boundary": "cantilever", "count": 2}))
            except ModelError:
                pass
        target.write_bytes(whole)


@pytest.mark.parametrize("line", ["².1", "1².1", "12345678901234567890.1", "0.1", "-1.1", "1_0.1", "1.²", "1.4"])
def test_degree_of_freedom_that_no_node_has_is_refused_at_its_line(block: FeModel, tmp_path: Path, line: str) -> None:
    file = write_calculix(tmp_path, block)
    lines = (tmp_path / "job.dof").read_text().splitlines()
    (tmp_path / "job.dof").write_text("\n".join([*lines[:2], line, *lines[3:]]) + "\n", encoding="latin-1")
    problem = refused(entry(file))
    assert "line 3 of 'job.dof'" in problem.found


@pytest.mark.parametrize("row", ["1e300", "9007199254740993", "²"])
def test_row_number_beyond_whole_doubles_is_refused(block: FeModel, tmp_path: Path, row: str) -> None:
    file = write_calculix(tmp_path, block)
    lines = file.read_text().splitlines()
    file.write_text("\n".join([f"{row} 1 1.0", *lines[1:]]) + "\n", encoding="latin-1")
    assert "job.sti" in refused(entry(file)).found
