"""FE models made here, so that what is imported is known: frames of beam elements, and solids by scikit-fem."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from bough.flex import FlexBody, flex_body
from bough.flex.fe import FeModel
from bough.flex.fe.npz import write_npz
from bough.model import load

E, G, NU, RHO = 70e9, 26.3e9, 0.33, 2700.0


def beam_element(length: float, A: float, Iy: float, Iz: float, J: float) -> tuple[np.ndarray, np.ndarray]:
    """Stiffness and consistent mass of an Euler-Bernoulli element along x.

    Degrees of freedom: x y z, rotations x y z of each end (Przemieniecki, Theory of Matrix Structural Analysis, 1968,
    eqs (5.116) and (11.32), without shear).
    """
    K, M = np.zeros((12, 12)), np.zeros((12, 12))
    two = np.array([[1.0, -1.0], [-1.0, 1.0]])
    ends = np.array([[2.0, 1.0], [1.0, 2.0]])
    for dofs, stiff, heavy in (([0, 6], E * A, RHO * A), ([3, 9], G * J, RHO * (Iy + Iz))):
        K[np.ix_(dofs, dofs)] = stiff / length * two
        M[np.ix_(dofs, dofs)] = heavy * length / 6.0 * ends
    L = length
    k = np.array([[12, 6 * L, -12, 6 * L], [0, 4 * L**2, -6 * L, 2 * L**2], [0, 0, 12, -6 * L], [0, 0, 0, 4 * L**2]])
    m = np.array(
        [[156, 22 * L, 54, -13 * L], [0, 4 * L**2, 13 * L, -3 * L**2], [0, 0, 156, -22 * L], [0, 0, 0, 4 * L**2]]
    )
    r = np.array([[36, 3 * L, -36, 3 * L], [0, 4 * L**2, -3 * L, -(L**2)], [0, 0, 36, -3 * L], [0, 0, 0, 4 * L**2]])
    k, m, r = (a + np.triu(a, 1).T for a in (k, m, r))
    for dofs, inertia, sign in (([1, 5, 7, 11], Iz, 1.0), ([2, 4, 8, 10], Iy, -1.0)):
        turn = np.diag([1.0, sign, 1.0, sign])
        K[np.ix_(dofs, dofs)] = E * inertia / L**3 * turn @ k @ turn
        M[np.ix_(dofs, dofs)] = turn @ (RHO * A * L / 420.0 * m + RHO * inertia / (30.0 * L) * r) @ turn
    return K, M


def torsion_constant(Iy: float, Iz: float) -> float:
    """Of the frames below, m^4: nearly that of a rectangle."""
    return 3.2 * min(Iy, Iz)


def frame(points: np.ndarray, width: float, height: float, lumped: bool = False, first: int = 1) -> FeModel:
    """A polyline of beam elements through the points, (n, 3), rectangular section, six DOFs per node.

    Lumped: half an element's mass and a small rotary inertia at each of its nodes.
    """
    n = len(points)
    A, Iy, Iz = width * height, width * height**3 / 12.0, height * width**3 / 12.0
    J = torsion_constant(Iy, Iz)
    K, M = np.zeros((6 * n, 6 * n)), np.zeros((6 * n, 6 * n))
    for e in range(n - 1):
        axis = points[e + 1] - points[e]
        length = float(np.linalg.norm(axis))
        x = axis / length
        up = np.array([0.0, 0.0, 1.0]) if abs(x[2]) < 0.9 else np.array([0.0, 1.0, 0.0])
        y = np.cross(up, x) / np.linalg.norm(np.cross(up, x))
        turn = np.kron(np.eye(4), np.array([x, y, np.cross(x, y)]))
        k, m = beam_element(length, A, Iy, Iz, J)
        if lumped:
            half = 0.5 * RHO * A * length
            m = np.diag(([half] * 3 + [1e-2 * half * length**2] * 3) * 2)
        at = slice(6 * e, 6 * e + 12)
        K[at, at] += turn.T @ k @ turn
        M[at, at] += turn.T @ m @ turn
    ids = first + np.arange(n)
    return FeModel(
        ids,
        points,
        np.repeat(np.arange(n), 6),
        np.tile(np.arange(6), n),
        sparse.csc_array(K),
        sparse.csc_array(M),
        sets={"ROOT": (int(ids[0]),), "TIP": (int(ids[-1]),)},
    )


def straight(length: float, elements: int, width: float = 0.02, height: float = 0.03, **options: Any) -> FeModel:
    """A straight beam along x from the origin."""
    points = np.zeros((elements + 1, 3))
    points[:, 0] = np.linspace(0.0, length, elements + 1)
    return frame(points, width, height, **options)


def solid(cells: tuple[int, int, int], size: tuple[float, float, float], start: float = 0.0) -> FeModel:
    """A block of quadratic bricks, its axis along x, by scikit-fem; sets ROOT and TIP are its end faces."""
    from skfem import Basis, BilinearForm, ElementHex2, ElementVector, MeshHex
    from skfem.helpers import dot
    from skfem.models.elasticity import lame_parameters, linear_elasticity

    ticks = [
        np.linspace(0.0, s, c + 1) - (0.5 * s if k else -start)
        for k, (c, s) in enumerate(zip(cells, size, strict=True))
    ]
    basis = Basis(MeshHex.init_tensor(*ticks), ElementVector(ElementHex2()), intorder=4)
    mass = BilinearForm(lambda u, v, w: RHO * dot(u, v))
    K, M = linear_elasticity(*lame_parameters(E, NU)).assemble(basis), mass.assemble(basis)
    dofs = np.hstack([basis.nodal_dofs, basis.edge_dofs, basis.facet_dofs, basis.interior_dofs])
    positions = basis.doflocs[:, dofs[0]].T
    order = dofs.T.ravel()
    n = len(positions)
    ends = {
        "ROOT": np.flatnonzero(np.abs(positions[:, 0] - start) < 1e-9),
        "TIP": np.flatnonzero(np.abs(positions[:, 0] - start - size[0]) < 1e-9),
    }
    return FeModel(
        np.arange(1, n + 1),
        positions,
        np.repeat(np.arange(n), 3),
        np.tile(np.arange(3), n),
        sparse.csr_array(K)[order][:, order],
        sparse.csr_array(M)[order][:, order],
        sets={name: tuple((nodes + 1).tolist()) for name, nodes in ends.items()},
    )


def entry(path: Path, model: FeModel | None = None, **keys: Any) -> dict[str, Any]:
    """An `fe:` entry with the model written to the path; interfaces root and tip."""
    if model is not None:
        write_npz(path, model)
    standard = {
        "file": str(path),
        "interfaces": {"root": {"set": "ROOT"}, "tip": {"set": "TIP"}},
        "modes": {"boundary": "craig-bampton", "count": 6},
    }
    return {**standard, **keys}


def document(fe: dict[str, Any], **hinge: Any) -> dict[str, Any]:
    """A model of one FE body on the ground."""
    return {
        "bough": 1,
        "name": "model",
        "bodies": [{"name": "arm", "parent": "ground", "hinge": hinge or {"type": "fixed"}, "fe": fe}],
    }


def imported(fe: dict[str, Any]) -> FlexBody:
    """The flexible body of an entry."""
    return flex_body(load(document(fe)).bodies[0])
