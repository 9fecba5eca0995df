"""From a shape to an FMU: gmsh meshes an arm, CalculiX or scikit-fem makes its matrices, bough reduces and runs it."""

from __future__ import annotations

import math
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree

import bough
from bough.flex import FlexBody, flex_body
from bough.flex.fe import FeModel
from bough.flex.fe.npz import write_npz
from bough.report import Curve, Panel, draw_panels
from bough.report.scenes import animate

HERE = Path(__file__).resolve().parent
LENGTH, THICKNESS = 300.0, 16.0
"""Between the bores, and of the plate, mm."""
HUB, EYE = 20.0, 10.0
"""Radii of the bores, mm."""
E, NU, RHO = 70e3, 0.33, 2.7e-9
"""Aluminium, in MPa and t/mm^3."""
STOP, STEP = 0.5, 1e-3


# ---- mesh


@dataclass(frozen=True)
class Mesh:
    """Quadratic tetrahedra with straight edges.

    Attributes:
        numbers: Of the nodes, (n,).
        positions: mm, (n, 3).
        elements: Node numbers, corners first, then the middles of edges 12 23 31 14 24 34, (ne, 10).
        sets: Nodes on the wall of each bore.
    """

    numbers: np.ndarray
    positions: np.ndarray
    elements: np.ndarray
    sets: Mapping[str, np.ndarray]


def mesh(size: float = 14.0) -> Mesh:
    """The arm: two round ends joined by a plate with a pocket, elements of about this size, mm."""
    import gmsh

    gmsh.initialize(interruptible=False)
    try:
        gmsh.option.setNumber("General.Terminal", 0)
        occ = gmsh.model.occ
        plate = occ.addBox(0, -18, -THICKNESS / 2, LENGTH, 36, THICKNESS)
        ends = [occ.addCylinder(x, 0, -h / 2, 0, 0, h, r) for x, r, h in ((0, 36, 30), (LENGTH, 22, THICKNESS))]
        body, _ = occ.fuse([(3, plate)], [(3, end) for end in ends])
        pocket = occ.addBox(50, -12, -THICKNESS / 2 + 4, LENGTH - 90, 24, THICKNESS)
        bores = [occ.addCylinder(x, 0, -50, 0, 0, 100, r) for x, r in ((0, HUB), (LENGTH, EYE))]
        occ.cut(body, [(3, pocket), *((3, bore) for bore in bores)])
        occ.synchronize()
        for name, value in (("MeshSizeMax", size), ("MeshSizeFromCurvature", 10), ("SecondOrderLinear", 1)):
            gmsh.option.setNumber(f"Mesh.{name}", value)
        gmsh.model.mesh.generate(3)
        gmsh.model.mesh.setOrder(2)
        numbers, places, _ = gmsh.model.mesh.getNodes()
        positions = places.reshape(-1, 3)
        elements = gmsh.model.mesh.getElementsByType(11)[1].reshape(-1, 10).astype(int)
        sets = {"HUB": _wall(0.0, HUB), "EYE": _wall(LENGTH, EYE)}
    finally:
        gmsh.finalize()
    # gmsh lists the last two edges the other way round.
    return Mesh(numbers.astype(int), positions, elements[:, [0, 1, 2, 3, 4, 5, 6, 7, 9, 8]], sets)


def _wall(x: float, radius: float) -> np.ndarray:
    """Nodes on the wall of a bore: those of the surface whose box is as wide as the bore."""
    import gmsh

    nodes: list[np.ndarray] = []
    for dim, tag in gmsh.model.getEntities(2):
        low_x, low_y, _, high_x, high_y, _ = gmsh.model.getBoundingBox(dim, tag)
        if np.allclose([low_x, high_x, low_y, high_y], [x - radius, x + radius, -radius, radius], atol=0.1):
            nodes.append(gmsh.model.mesh.getNodes(dim, tag, includeBoundary=True)[0])
    return np.unique(np.concatenate(nodes)).astype(int)


# ---- matrices


def write_input(path: Path, part: Mesh, step: str) -> None:
    """A CalculiX input file."""
    rows = zip(part.numbers, part.positions, strict=True)
    lines = ["*NODE, NSET=ALL", *(f"{k}, {x:.12g}, {y:.12g}, {z:.12g}" for k, (x, y, z) in rows)]
    lines.append("*ELEMENT, TYPE=C3D10, ELSET=ARM")
    lines += [f"{k}, {', '.join(map(str, nodes))}" for k, nodes in enumerate(part.elements, 1)]
    for name, nodes in part.sets.items():
        lines += [f"*NSET, NSET={name}", *(f"{node}," for node in nodes)]
    lines += ["*MATERIAL, NAME=ALUMINIUM", "*ELASTIC", f"{E}, {NU}", "*DENSITY", f"{RHO}"]
    lines += ["*SOLID SECTION, ELSET=ARM, MATERIAL=ALUMINIUM", step]
    path.write_text("\n".join(lines) + "\n")


STORE = "*STEP\n*FREQUENCY, SOLVER=MATRIXSTORAGE\n*END STEP"


def calculix(folder: Path, name: str = "arm") -> None:
    """Let CalculiX run the input file of this name."""
    done = subprocess.run(["ccx", name], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"ccx failed:\n{done.stdout[-2000:]}")


def scikit_fem(part: Mesh) -> FeModel:
    """The same matrices by scikit-fem: quadratic shape functions on the same tetrahedra."""
    from skfem import Basis, BilinearForm, ElementTetP2, ElementVector, MeshTet
    from skfem.helpers import dot
    from skfem.models.elasticity import lame_parameters, linear_elasticity

    corners, index = np.unique(part.elements[:, :4], return_inverse=True)
    where = np.searchsorted(part.numbers, corners, sorter=np.argsort(part.numbers))
    points = part.positions[np.argsort(part.numbers)[where]]
    basis = Basis(MeshTet(points.T.copy(), index.reshape(-1, 4).T.copy()), ElementVector(ElementTetP2()), intorder=4)
    K = linear_elasticity(*lame_parameters(E, NU)).assemble(basis)
    M = BilinearForm(lambda u, v, w: RHO * dot(u, v)).assemble(basis)
    dofs = np.hstack([basis.nodal_dofs, basis.edge_dofs])
    order = dofs.T.ravel()
    near, node = cKDTree(part.positions).query(basis.doflocs[:, dofs[0]].T)
    if near.max() > 1e-6:
        raise RuntimeError("the nodes of gmsh and scikit-fem differ")
    return FeModel(
        part.numbers,
        part.positions,
        np.repeat(node, 3),
        np.tile(np.arange(3), len(node)),
        sparse.csr_array(K)[order][:, order],
        sparse.csr_array(M)[order][:, order],
        sets={name: tuple(nodes.tolist()) for name, nodes in part.sets.items()},
    )


def make(folder: Path, size: float = 14.0, with_calculix: bool | None = None) -> Path:
    """Mesh, matrices and model file in a folder; the model file's path.

    CalculiX makes the matrices where it is installed, else scikit-fem does.
    """
    part = mesh(size)
    write_input(folder / "arm.inp", part, STORE)
    text = (HERE / "model.yaml").read_text(encoding="utf-8")
    if shutil.which("ccx") is not None if with_calculix is None else with_calculix:
        calculix(folder)
    else:
        write_npz(folder / "arm.npz", scikit_fem(part))
        text = text.replace("file: arm.sti\n      mesh: arm.inp", "file: arm.npz")
    (folder / "model.yaml").write_text(text, encoding="utf-8")
    return folder / "model.yaml"


# ---- run


def torque(t: float) -> float:
    """Of the motor, N.m: one way for 0.1 s, then the other."""
    return 10.0 * math.sin(2.0 * math.pi * t / 0.2) if t < 0.2 else 0.0


def simulate(folder: Path | None = None) -> bough.Result:
    """Half a second, from the files in a folder or from new ones."""
    if folder is not None:
        return bough.simulate(folder / "model.yaml", stop=STOP, step=STEP, inputs={"motor.tau": torque}, rtol=1e-7)
    with tempfile.TemporaryDirectory() as name:
        return simulate(make(Path(name)).parent)


def sway(result: bough.Result) -> np.ndarray:
    """Motion of the eye across the line that a stiff arm would point along, mm."""
    phi = result["motor.phi"]
    return 1e3 * (result["arm.eye.r[2]"] * np.cos(phi) - result["arm.eye.r[1]"] * np.sin(phi))


def main(folder: Path = HERE, keep: bool = False) -> None:
    """Make, reduce, run, export; the picture goes to the folder, and all the rest if it is to be kept."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        work = folder if keep else Path(name)
        model = bough.load(make(work))
        arm: FlexBody = flex_body(model.bodies[0])
        hertz = arm.frequencies / (2.0 * np.pi)
        print(f"arm: {arm.mass:.4f} kg, {arm.nm} modes from {hertz[0]:.1f} Hz to {hertz[-1] / 1e3:.1f} kHz")
        result = simulate(work)
        deflection = sway(result)
        motion = animate(bough.Mechanism(model), result)
        print(f"the eye sways by up to {abs(deflection).max():.3f} mm")
        bough.build_fmu(model, work / "fe_bracket.fmu")
        print(f"FMU: {(work / 'fe_bracket.fmu').stat().st_size / 1e3:.0f} kB")
    panels = [
        Panel("Torque of the motor", "N.m", [Curve("", np.array([torque(t) for t in result.t]))]),
        Panel("Angle of the motor", "rad", [Curve("", result["motor.phi"])]),
        Panel("Sway of the eye", "mm", [Curve("", deflection)]),
    ]
    draw_panels(result.t, panels, folder / "fe_bracket.png", motion)


if __name__ == "__main__":
    places = [Path(argument) for argument in sys.argv[1:] if argument != "--keep"]
    if "--keep" in sys.argv and not places:
        sys.exit("usage: run.py [FOLDER [--keep]]")
    main(places[0] if places else HERE, keep="--keep" in sys.argv)
