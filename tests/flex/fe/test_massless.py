"""Superelements whose mass matrix is singular are exact, or refused with interface and direction.

The elbow of `test_nastran` with lumped masses and rotations without inertia; references are its full matrices.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flex.fe.fem import document, entry, frame, imported, straight
from flex.fe.nastran_files import dmig, grids, op4_bytes, written
from scipy import linalg

import bough
from bough import ModelError
from bough.flex.fe import FeModel
from bough.model import load

MASS, INERTIA = 2.0, 0.05
"""Of what hangs on the far end, kg and kg.m^2."""
ENDS = {"root": 0, "tip": 8}


def light() -> FeModel:
    """Nine nodes along x and then up and aside: 27 masses, no rotary inertia."""
    points = np.zeros((9, 3))
    points[:5, 0] = 0.125 * np.arange(5)
    points[5:] = [0.5, 0.0, 0.0] + np.outer(np.arange(1, 5), [0.0, 0.0625, 0.125])
    model = frame(points, 0.02, 0.03, lumped=True, first=11)
    turns = model.dof_component > 2
    M = model.M.toarray()
    M[turns] = 0.0
    return replace(model, M=M)


def superelement(folder: Path, form: str, count: int, **keys: Any) -> dict[str, Any]:
    """Craig-Bampton of both ends with so many of the 21 modes that have mass."""
    model = light()
    K, M = model.K.toarray(), model.M.toarray()
    b = np.flatnonzero(np.isin(model.dof_node, list(ENDS.values())))
    i = np.setdiff1d(np.arange(model.ndof), b)
    mu, modes = linalg.eigh(M[np.ix_(i, i)], K[np.ix_(i, i)])
    assert np.count_nonzero(mu > 1e-12 * mu[-1]) == 21
    T = np.zeros((model.ndof, b.size + count))
    T[b, : b.size] = np.eye(b.size)
    T[i, : b.size] = -np.linalg.solve(K[np.ix_(i, i)], K[np.ix_(i, b)])
    T[i, b.size :] = (modes / np.sqrt(np.abs(mu)))[:, ::-1][:, :count]
    k, m = T.T @ K @ T, T.T @ M @ T
    k[: b.size, b.size :] = k[b.size :, : b.size] = 0.0
    dofs = [(int(model.node_ids[model.dof_node[n]]), int(model.dof_component[n]) + 1) for n in b]
    dofs += [(9001 + n, 0) for n in range(count)]
    cards = f"EXTRN   {11:8d}  123456{19:8d}  123456{9001:8d}    THRU{9000 + count:8d}       0\n"
    cards = "BEGIN SUPER      101\n" + cards + grids([11, 19], model.positions[[0, 8]])
    cards += "".join(f"SPOINT  {9001 + n:8d}\n" for n in range(count))
    fe = {"interfaces": {"root": {"nodes": [11]}, "tip": {"nodes": [19]}}, "modes": {"count": count}, **keys}
    if form == "dmig":
        return {"file": written(folder / "se.pch", cards + dmig("KAAX", dofs, k) + dmig("MAAX", dofs, m)), **fe}
    file = written(folder / "se.op4", op4_bytes({"KXX": k, "MXX": m}, "bigmat"))
    return {"file": file, "mesh": written(folder / "se.asm", cards), **fe}


def loaded(fe: dict[str, Any], far: str) -> dict[str, Any]:
    """The body held at its attach interface, with a rigid one welded to the far end."""
    model = document(fe)
    part = {"mass": MASS, "inertia": [INERTIA, INERTIA, INERTIA, 0, 0, 0]}
    model["bodies"].append({"name": "load", "parent": "arm", "at": far, "hinge": {"type": "fixed"}, "rigid": part})
    return model


def whole(held: str, far: str, count: int) -> np.ndarray:
    """Frequencies of the same by the full matrices, Hz."""
    model = light()
    K, M = model.K.toarray(), model.M.toarray()
    M[6 * ENDS[far] + np.arange(6), 6 * ENDS[far] + np.arange(6)] += [MASS] * 3 + [INERTIA] * 3
    free = np.flatnonzero(model.dof_node != ENDS[held])
    mu = linalg.eigh(M[np.ix_(free, free)], K[np.ix_(free, free)], eigvals_only=True)
    found: np.ndarray = 1.0 / np.sqrt(mu[::-1][:count]) / (2.0 * np.pi)
    return found


@pytest.mark.parametrize("form", ["op4", "dmig"])
@pytest.mark.parametrize(("held", "far"), [("root", "tip"), ("tip", "root")])
def test_static_shapes_that_move_other_masses_are_exact_from_either_end(
    form: str, held: str, far: str, tmp_path: Path
) -> None:
    """Eight of 21 modes leave 2e-5 in the first six frequencies; rotations of the ends have no inertia of their own."""
    fe = superelement(tmp_path, form, 8, attach=held)
    found = bough.modes(loaded(fe, far)).frequencies[:6]
    assert found == pytest.approx(whole(held, far, 6), rel=5e-5)


@pytest.mark.parametrize("form", ["op4", "dmig"])
@pytest.mark.parametrize(("held", "far"), [("root", "tip"), ("tip", "root")])
@pytest.mark.parametrize("count", [18, 21])
def test_static_shapes_without_mass_are_refused_from_either_end(
    count: int, form: str, held: str, far: str, tmp_path: Path
) -> None:
    """With all its modes a rotation of the far end is a motion without mass; nearly all leave rounding for mass."""
    with pytest.raises(ModelError, match=f"motions without mass: '{far}' turning about x") as caught:
        imported(superelement(tmp_path, form, count, attach=held))
    assert "CONM2" in str(caught.value)


@pytest.mark.parametrize("form", ["op4", "dmig"])
def test_modes_condense_rotations_without_inertia_exactly(form: str, tmp_path: Path) -> None:
    """All 24 modes with mass of the held body: forces on the tip meet the flexibility of the whole, torques do not."""
    body = imported(superelement(tmp_path, form, 21, modes={"boundary": "cantilever", "count": 24}))
    model = light()
    K, M = model.K.toarray()[6:, 6:], model.M.toarray()[6:, 6:]
    mu = linalg.eigh(M, K, eigvals_only=True)[::-1][:24]
    assert body.frequencies == pytest.approx(1.0 / np.sqrt(mu), rel=1e-6)
    tip = body.node_shapes[1]
    here = np.diag((tip / body.frequencies**2) @ tip.T)
    there = np.diag(np.linalg.inv(K))[-6:]
    assert here[3:] == pytest.approx(there[:3], rel=1e-6)
    assert (here[:3] < 0.999 * there[3:]).all()
    assert set(body.slack) == {("tip", f"turning about {axis}") for axis in "xyz"}
    with pytest.raises(ModelError, match="only 24 motions have mass"):
        imported(superelement(tmp_path, form, 21, modes={"boundary": "cantilever", "count": 25}))


def test_loads_that_no_mode_answers_are_refused(tmp_path: Path) -> None:
    fe = superelement(tmp_path, "op4", 21, modes={"boundary": "cantilever", "count": 12})
    with pytest.raises(ModelError, match="body 'load' on 'tip', which moves no mass in turning about x"):
        bough.Mechanism(load(loaded(fe, "tip")))
    with pytest.raises(ModelError, match="input 'arm.tip.torque' on 'tip'"):
        bough.Mechanism(load(document(fe) | {"inputs": ["arm.tip.torque"]}))
    bough.Mechanism(load(document(fe) | {"inputs": ["arm.tip.force"], "outputs": ["arm.tip"]}))
    ball = loaded(fe, "tip")
    ball["bodies"][1]["hinge"] = {"type": "spherical"}
    bough.Mechanism(load(ball))


def test_a_line_of_bars_without_inertia_about_itself_is_refused(tmp_path: Path) -> None:
    model = straight(1.0, 8)
    M = model.M.toarray()
    turns = model.dof_component == 3
    M[turns], M[:, turns] = 0.0, 0.0
    with pytest.raises(ModelError, match="none in turning about x"):
        imported(entry(tmp_path / "line.npz", replace(model, M=M)))
