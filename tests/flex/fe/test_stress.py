"""Stress stiffness of bricks, wedges, shells and beams from their files: against CalculiX and closed forms."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flex.fe.fem import NU, RHO, E, G, document, straight, torsion_constant
from flex.fe.nastran_files import dmig, grids, number, written
from house.tools import require_tool

import bough
from bough.flex import FlexBody, flex_body
from bough.flex.fe.shapes import reference

LENGTH, WIDTH, HEIGHT = 0.2, 0.006, 0.01
EULER, PRANDTL = np.pi**2 / 4.0, 4.0126
"""P L^2 / EI of a cantilever; F L^2 / sqrt(EI GJ) of one with a load at its end across (Timoshenko and Gere, Theory of
Elastic Stability, 1961, sections 2.1 and 6.3)."""


def stiffened(fe: dict[str, Any]) -> FlexBody:
    return flex_body(bough.load({**document(fe), "geometric_stiffening": True}).bodies[0], True)


def entry(file: Path | str, length: float, count: int = 30, boundary: str = "craig-bampton") -> dict[str, Any]:
    ends = {name: {"set": name.upper(), "position": [x, 0, 0]} for name, x in (("root", 0.0), ("tip", length))}
    return {"file": str(file), "interfaces": ends, "modes": {"boundary": boundary, "count": count}}


def critical(body: FlexBody, axis: int) -> float:
    """The lowest pull on the tip along an axis, to either side, that the body does not stand, N."""
    assert body.stiffening is not None
    values = np.linalg.eigvals(np.linalg.solve(body.stiffness, body.stiffening.node_bends[1, axis])).real
    return float(1.0 / np.abs(values).max())


# --- solids, by CalculiX -------------------------------------------------------------------------------------------


def mesh(kind: str, cells: tuple[int, int, int]) -> str:
    """A cantilever of bricks or wedges as CalculiX and Abaqus read it."""
    nodes: dict[tuple[int, ...], int] = {}
    wedge = kind in ("C3D6", "C3D15")
    places = reference("wedge" if wedge else "brick", int(kind[3:].rstrip("RI"))).places
    lines = []
    for cell in np.ndindex(*cells):
        middle = 2 * np.array(cell) + 1
        for side in (1, -1) if wedge else (1,):
            turned = np.array([[side * (2 * r - 1), side * (2 * s - 1), t] for r, s, t in places]) if wedge else places
            corners = [tuple((middle + x).round().astype(int).tolist()) for x in turned]
            numbers = [nodes.setdefault(c, len(nodes) + 1) for c in corners]
            words = [len(lines) + 1, *numbers]
            lines.append(
                ",".join(map(str, words[:12])) + (",\n" + ",".join(map(str, words[12:])) if words[12:] else "")
            )
    x = np.array(list(nodes)) / (2.0 * np.array(cells)) * [LENGTH, WIDTH, HEIGHT] - [0.0, WIDTH / 2.0, HEIGHT / 2.0]
    text = "*NODE\n" + "".join(f"{k + 1},{a:.14g},{b:.14g},{c:.14g}\n" for k, (a, b, c) in enumerate(x))
    text += f"*ELEMENT,TYPE={kind},ELSET=BAR\n" + "\n".join(lines) + "\n"
    for name, far in (("ROOT", 0.0), ("TIP", LENGTH)):
        text += f"*NSET,NSET={name}\n" + "".join(f"{k + 1}\n" for k in np.flatnonzero(np.abs(x[:, 0] - far) < 1e-9))
    material = f"*MATERIAL,NAME=ALU\n*ELASTIC\n{E},{NU}\n*DENSITY\n{RHO}\n"
    return text + material + "*SOLID SECTION,ELSET=BAR,MATERIAL=ALU\n"


def ccx(folder: Path, job: str, text: str) -> None:
    (folder / f"{job}.inp").write_text(text)
    subprocess.run([require_tool("ccx"), job], cwd=folder, capture_output=True, check=True, timeout=120)


def buckling(folder: Path, text: str, axis: int) -> float:
    """The lowest factor of *BUCKLE for a push of 1 N on the rigid tip."""
    last = 10_000
    extra = f"{last},{LENGTH},0,0\n{last + 1},{LENGTH},0,0\n*ELEMENT"
    step = f"*BOUNDARY\nROOT,1,3\n*STEP\n*BUCKLE\n2\n*CLOAD\n{last},{axis + 1},-1.0\n*END STEP\n"
    rigid = f"*RIGID BODY,NSET=TIP,REF NODE={last},ROT NODE={last + 1}\n"
    ccx(folder, "buckle", text.replace("*ELEMENT", extra, 1) + rigid + step)
    rows = [line.split() for line in (folder / "buckle.dat").read_text().splitlines()]
    return abs(float(next(row[1] for row in rows if len(row) == 2 and row[0] == "1")))


# CalculiX prints seven digits; the reduction to modes leaves the rest. Linear bricks differ in how they spread stress.
@pytest.mark.parametrize(
    ("kind", "cells", "push", "across"),
    [("C3D20R", (10, 1, 2), 2e-5, 1e-3), ("C3D15", (8, 1, 1), 1e-4, 1e-3), ("C3D6", (10, 2, 2), 2e-5, 5e-3)],
)
def test_solids_buckle_as_in_calculix(
    kind: str, cells: tuple[int, int, int], push: float, across: float, tmp_path: Path
) -> None:
    """Pushed along their axis, and bent across until they topple sideways."""
    text = mesh(kind, cells)
    ccx(tmp_path, "bar", text + "*STEP\n*FREQUENCY,SOLVER=MATRIXSTORAGE\n*END STEP\n")
    body = stiffened(entry(tmp_path / "bar.sti", LENGTH))
    assert critical(body, 0) == pytest.approx(buckling(tmp_path, text, 0), rel=push)
    assert critical(body, 2) == pytest.approx(buckling(tmp_path, text, 2), rel=across)


def condensed(folder: Path, text: str) -> Path:
    """Matrices of Abaqus from those of CalculiX, nodes within elements condensed as Abaqus and Nastran do."""
    ccx(folder, "bar", text + "*STEP\n*FREQUENCY,SOLVER=MATRIXSTORAGE\n*END STEP\n")
    dofs = [tuple(map(int, line.split("."))) for line in (folder / "bar.dof").read_text().split()]
    nodes = text[: text.index("*ELEMENT")].count("\n") - 1
    own = np.array([node <= nodes for node, _ in dofs])
    out = {}
    for ending, name in (("sti", "STIF1"), ("mas", "MASS1")):
        rows, columns, values = np.loadtxt(folder / f"bar.{ending}", unpack=True)
        A = np.zeros((len(dofs), len(dofs)))
        A[rows.astype(int) - 1, columns.astype(int) - 1] = values
        out[name] = A + np.triu(A, 1).T + np.tril(A, -1).T
    K = out["STIF1"]
    lift = np.vstack([np.eye(int(own.sum())), -np.linalg.solve(K[np.ix_(~own, ~own)], K[np.ix_(~own, own)])])
    order = np.concatenate([np.flatnonzero(own), np.flatnonzero(~own)])
    labels = [dof for dof, there in zip(dofs, own, strict=True) if there]
    for name, A in out.items():
        mtx(folder / f"job_{name}.mtx", labels, lift.T @ A[np.ix_(order, order)] @ lift)
    (folder / "job.inp").write_text(text)
    return folder / "job_STIF1.mtx"


def mtx(path: Path, labels: list[tuple[int, int]], A: np.ndarray) -> None:
    """A matrix as Abaqus writes it."""
    rows, columns = np.nonzero(np.abs(A) > 1e-13 * np.abs(A).max())
    lines = [
        f"{labels[i][0]},{labels[i][1]},{labels[j][0]},{labels[j][1]},{0.5 * (A[i, j] + A[j, i])!r}"
        for i, j in zip(rows.tolist(), columns.tolist(), strict=True)
        if i >= j
    ]
    path.write_text("\n".join(lines).replace("np.float64(", "").replace(")", "") + "\n")


def test_bricks_with_incompatible_modes_buckle_as_in_calculix(tmp_path: Path) -> None:
    """C3D8I: stress counts the modes within the elements, or bending has a third too much of it.

    In CalculiX the stress works on these modes themselves too, which falls with the square of the element size.
    """
    text = mesh("C3D8I", (12, 1, 1))
    body = stiffened(entry(condensed(tmp_path, text), LENGTH))
    assert critical(body, 0) == pytest.approx(buckling(tmp_path, text, 0), rel=3e-3)
    assert critical(body, 2) == pytest.approx(buckling(tmp_path, text, 2), rel=1e-2)


# --- beams and shells ----------------------------------------------------------------------------------------------


def test_bars_of_nastran_stiffen_as_slender_beams(tmp_path: Path) -> None:
    """CBAR, PBAR, MAT1: sixteen elements buckle, topple and spin as the closed forms say (Southwell: 1.193)."""
    width, height, n = 0.01, 0.03, 16
    model = straight(1.0, n, width, height)
    Iy, Iz = width * height**3 / 12.0, height * width**3 / 12.0
    J = torsion_constant(Iy, Iz)
    deck = "".join(f"CBAR,{k},7,{k},{k + 1},0.,1.,0.\n" for k in range(1, n + 1))
    deck += f"PBAR,7,9,{number(width * height)},{number(Iz)},{number(Iy)},{number(J)}\n"
    deck += f"MAT1,9,{number(E)},{number(G)},,{number(RHO)}\nSET1,1,1\nSET1,2,{n + 1}\n"
    dofs = [(int(model.node_ids[i]), int(c) + 1) for i, c in zip(model.dof_node, model.dof_component, strict=True)]
    cards = grids(model.node_ids.tolist(), model.positions) + deck
    cards += dmig("KAAX", dofs, model.K.toarray()) + dmig("MAAX", dofs, model.M.toarray())
    fe = {**entry(written(tmp_path / "bar.pch", cards), 1.0, 36, "cantilever"), "format": "nastran"}
    fe["interfaces"] = {"root": {"nodes": [1]}, "tip": {"nodes": [n + 1]}}
    body = stiffened(fe)
    assert body.stiffening is not None
    # Sixteen elements, beside the continuum.
    assert critical(body, 0) == pytest.approx(EULER * E * Iz, rel=1e-3)
    assert critical(body, 2) == pytest.approx(PRANDTL * np.sqrt(E * Iz * G * J), rel=1e-2)
    assert body.stiffening.N1[0][1, 0] == pytest.approx(1.193, abs=2e-3)
    offset = cards.replace("CBAR,3,7,3,4,0.,1.,0.", "CBAR,3,7,3,4,0.,1.,0.,GGG\n,,,0.1")
    fe["file"] = written(tmp_path / "offset.pch", offset)
    with pytest.raises(bough.ModelError, match="without pins and offsets"):
        stiffened(fe)


def plate(cells: tuple[int, int], thickness: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A strip in the xy plane of Mindlin plates: positions, elements, stiffness and lumped mass.

    Shear strains at the middle of the element, the others at four points (Hughes, The Finite Element Method, 1987,
    section 5.3); the rotation about the normal on a soft spring to the turn of the plate.
    """
    nx, ny = cells
    x = np.array([[LENGTH * i / nx, HEIGHT * (j / ny - 0.5), 0.0] for i in range(nx + 1) for j in range(ny + 1)])
    at = [(i * (ny + 1) + j, (i + 1) * (ny + 1) + j) for i in range(nx) for j in range(ny)]
    elements = np.array([[a, b, b + 1, a + 1] for a, b in at])
    flat = E / (1 - NU**2) * np.array([[1, NU, 0], [NU, 1, 0], [0, 0, (1 - NU) / 2]])
    K, M = np.zeros((6 * len(x), 6 * len(x))), np.zeros(6 * len(x))
    signs = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    a, b = LENGTH / nx / 2.0, HEIGHT / ny / 2.0
    for corners in elements:
        k = np.zeros((24, 24))
        for xi, eta, w, full in [*((r / 3**0.5, s / 3**0.5, 1.0, True) for r, s in signs), (0.0, 0.0, 4.0, False)]:
            N = (1 + signs[:, 0] * xi) * (1 + signs[:, 1] * eta) / 4.0
            dx, dy = signs[:, 0] * (1 + signs[:, 1] * eta) / (4 * a), signs[:, 1] * (1 + signs[:, 0] * xi) / (4 * b)
            stretch, bend, shear, spin = np.zeros((3, 24)), np.zeros((3, 24)), np.zeros((2, 24)), np.zeros((1, 24))
            stretch[0, 0::6], stretch[1, 1::6], stretch[2, 0::6], stretch[2, 1::6] = dx, dy, dy, dx
            # Fibres move by z th x e3 = z (th_y, -th_x).
            bend[0, 4::6], bend[1, 3::6], bend[2, 4::6], bend[2, 3::6] = dx, -dy, dy, -dx
            shear[0, 2::6], shear[0, 4::6], shear[1, 2::6], shear[1, 3::6] = dx, N, dy, -N
            spin[0, 5::6], spin[0, 0::6], spin[0, 1::6] = N, dy / 2, -dx / 2
            D = np.diag([1.0, 1.0, 0.0]) * flat if full else np.diag(np.diag(flat) * [0, 0, 1])
            D = D + (flat - np.diag(np.diag(flat)) if full else 0.0)
            k += w * a * b * (thickness * stretch.T @ D @ stretch)
            if full:
                k += w * a * b * (thickness**3 / 12 * bend.T @ flat @ bend + 1e-3 * G * thickness * spin.T @ spin)
            else:
                k += w * a * b * thickness * G * 5 / 6 * shear.T @ shear
        dofs = (6 * corners[:, None] + np.arange(6)).ravel()
        K[np.ix_(dofs, dofs)] += k
        mass = RHO * thickness * a * b
        M[dofs] += np.tile([mass] * 3 + [mass * a * b / 10] * 3, 4)
    return x, elements, K, M


@pytest.fixture(scope="module")
def strip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The strip as Abaqus exports it, of S4R."""
    folder = tmp_path_factory.mktemp("strip")
    thickness = 0.001
    x, elements, K, M = plate((40, 2), thickness)
    labels = [(node, c) for node in range(1, len(x) + 1) for c in range(1, 7)]
    mtx(folder / "job_STIF1.mtx", labels, K)
    mtx(folder / "job_MASS1.mtx", labels, np.diag(M))
    text = "*NODE\n" + "".join(f"{k + 1},{p[0]!r},{p[1]!r},0.\n" for k, p in enumerate(x.tolist()))
    text += "*ELEMENT,TYPE=S4R,ELSET=STRIP\n"
    text += "".join(f"{k + 1}," + ",".join(str(n + 1) for n in row) + "\n" for k, row in enumerate(elements))
    for name, far in (("ROOT", 0.0), ("TIP", LENGTH)):
        text += f"*NSET,NSET={name}\n" + "".join(f"{k + 1}\n" for k in np.flatnonzero(np.abs(x[:, 0] - far) < 1e-9))
    text += f"*MATERIAL,NAME=ALU\n*ELASTIC\n{E},{NU}\n*SHELL SECTION,ELSET=STRIP,MATERIAL=ALU\n{thickness}\n"
    (folder / "job.inp").write_text(text)
    return folder


def test_shells_stiffen_as_slender_beams(strip: Path) -> None:
    """A strip 200 long, 10 high, 1 thick: it buckles, topples over its edge and spins as a beam does."""
    body = stiffened(entry(strip / "job_STIF1.mtx", LENGTH, 12))
    weak = E * HEIGHT * 0.001**3 / 12.0
    assert body.stiffening is not None
    # The clamped ends hold the strip's width, which a beam does not know: less than a percent.
    assert critical(body, 0) == pytest.approx(EULER * weak / LENGTH**2, rel=0.01)
    assert body.stiffening.N1[0][2, 0] == pytest.approx(1.193, abs=0.01)
    # And its warping: 24 x 1 x 2 bricks C3D20R of the same strip topple at 7.2506 N (CalculiX 2.20, *BUCKLE).
    assert critical(body, 1) == pytest.approx(7.2506, rel=0.02)


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("TYPE=S4R", "TYPE=SPRINGA", "element 1 of type SPRINGA"),
        ("\n0.001\n", "\n0.002\n", "strain energy"),
        ("*SHELL SECTION,ELSET=STRIP", "*SHELL SECTION,ELSET=OTHER", "a section for every element"),
        ("*SHELL SECTION,", "*SHELL SECTION,OFFSET=0.5,", "one thickness about its nodes"),
        ("*ELASTIC\n", "*ELASTIC,TYPE=LAMINA\n", "an isotropic elastic material"),
        ("1,1,4,5,2\n", "1,1,5,4,2\n", "elements with a volume"),
    ],
)
def test_what_the_files_do_not_tell_is_refused(strip: Path, old: str, new: str, match: str, tmp_path: Path) -> None:
    text = (strip / "job.inp").read_text()
    assert old in text
    (tmp_path / "job.inp").write_text(text.replace(old, new, 1))
    fe = entry(strip / "job_STIF1.mtx", LENGTH, 4)
    with pytest.raises(bough.ModelError, match=match):
        stiffened({**fe, "mesh": str(tmp_path / "job.inp")})


def test_without_stiffening_nobody_asks_for_elements(strip: Path, tmp_path: Path) -> None:
    """The same mesh with springs in it serves a model that does not stiffen."""
    (tmp_path / "job.inp").write_text((strip / "job.inp").read_text().replace("TYPE=S4R", "TYPE=SPRINGA"))
    fe = entry(strip / "job_STIF1.mtx", LENGTH, 4)
    body = flex_body(bough.load(document({**fe, "mesh": str(tmp_path / "job.inp")})).bodies[0])
    assert body.stiffening is None
