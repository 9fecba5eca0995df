"""Refuses what could move without moving any mass: its accelerations would have no value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from bough.model.model import Body, Hinge, Inertia, Nodal, Rigid
from bough.text.problems import Report

SINGULAR = 1e-13
"""Smallest over largest eigenvalue below which a mass matrix counts as singular: round-off of its entries."""

Array = NDArray[np.float64]
Points = tuple[Array, Array, Array, Array]
"""Position from the hinge (n, 3), mass (n,), inertia (n, 3, 3), shapes relative to the hinge (n, 6, nm)."""


def check_mobility(bodies: Sequence[Body], report: Report) -> None:
    """Every degree of freedom moves mass or inertia.

    Exact, at the start and undeformed, for the bodies at the ends of the tree. Further in, a hinge is refused
    only if everything that it carries is without mass and inertia.
    """
    parents = {body.parent for body in bodies}
    heavy: set[str] = set()
    for body in reversed(bodies):
        if body.name in heavy or _has_inertia(body):
            heavy.update((body.name, body.parent))
    for i, body in enumerate(bodies):
        # A beam has mass everywhere; an FE model is checked when it is read.
        if body.beam is not None or body.fe is not None:
            continue
        if body.name not in parents:
            _check_end(body, i, report)
        elif body.name not in heavy and body.hinge.drive == "torque" and not all(body.hinge.armature):
            _refuse_hinge(body, i, report)


def _check_end(body: Body, index: int, report: Report) -> None:
    """A body that carries no other: the mass matrix of its hinge and modes has an inverse."""
    points = _rigid_points(body.rigid) if body.rigid is not None else _nodal_points(body.nodal)
    modes = points[3].shape[2]
    if modes and _singular(_mass(points, np.zeros((6, 0)))):
        expected = "independent mode shapes, each of which moves mass against the attach node"
        found = "a mode that moves no mass, or only as a combination of the others does"
        cure = "give mass to the nodes that the mode moves, or remove the mode"
        report.add(("bodies", index, "nodal", "modes"), expected, found, cure)
    elif body.hinge.drive == "torque":
        mass = _mass(points, _hinge_motion(body.hinge))
        if _singular(mass + np.diag([0.0] * modes + list(body.hinge.armature))):
            _refuse_hinge(body, index, report)


def _refuse_hinge(body: Body, index: int, report: Report) -> None:
    hinge, kind = body.hinge, "rigid" if body.rigid is not None else "nodal"
    expected = f"inertia along every degree of freedom of the {hinge.type} hinge {hinge.name!r}"
    found = "a degree of freedom that moves neither mass nor inertia"
    cure = "give the body mass and inertia, give the hinge `armature`, or use a fixed hinge"
    report.add(("bodies", index, kind), expected, found, cure)


def _has_inertia(body: Body) -> bool:
    if body.rigid is not None:
        return body.rigid.mass > 0.0 or any(body.rigid.inertia)
    return body.nodal is None or any(node.mass > 0.0 or any(node.inertia) for node in body.nodal.nodes)


def _matrix(inertia: Inertia) -> list[list[float]]:
    xx, yy, zz, xy, xz, yz = inertia
    return [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]


def _rigid_points(rigid: Rigid) -> Points:
    inertia = np.array([_matrix(rigid.inertia)])
    return np.array([rigid.com]), np.array([rigid.mass]), inertia, np.zeros((1, 6, 0))


def _nodal_points(nodal: Nodal | None) -> Points:
    if nodal is None:
        return np.zeros((0, 3)), np.zeros(0), np.zeros((0, 3, 3)), np.zeros((0, 6, 0))
    names = [node.name for node in nodal.nodes]
    positions = np.array([node.position for node in nodal.nodes])
    shapes = np.array(nodal.modes, dtype=np.float64).reshape(-1, len(names), 6).transpose(1, 2, 0)
    attach = names.index(nodal.attach)
    positions = positions - positions[attach]
    # What the attach node does with a mode, the hinge undoes: Pi_j - phi* Pi_d.
    shapes = shapes - _carry(positions) @ shapes[attach]
    masses = np.array([node.mass for node in nodal.nodes])
    # Mass centres beside their nodes turn with them.
    com = np.array([node.com for node in nodal.nodes])
    shapes[:, 3:] += np.cross(shapes[:, :3], com[:, :, None], axis=1)
    positions = positions + com
    return positions, masses, np.array([_matrix(node.inertia) for node in nodal.nodes]), shapes


def _carry(positions: Array) -> Array:
    """Rigid motion from the hinge to points: [w ; v] -> [w ; v + w x r], (n, 6, 6)."""
    carry = np.tile(np.eye(6), (len(positions), 1, 1))
    x, y, z = positions.T
    carry[:, 3, 1], carry[:, 3, 2] = z, -y
    carry[:, 4, 0], carry[:, 4, 2] = -z, x
    carry[:, 5, 0], carry[:, 5, 1] = y, -x
    return carry


def _hinge_motion(hinge: Hinge) -> Array:
    """Columns: how the hinge moves its body, angular part first, in outboard axes, (6, nu)."""
    # A rotation leaves its own axis alone, and the plane whose normal it is: only a second one turns the first axis.
    kind, lin, rot = hinge.kind, hinge.kind.slides(hinge.axes), hinge.kind.turns(hinge.axes)
    if kind.n_rot == 2:
        rot = np.array([Rotation.from_rotvec(-hinge.initial_q[1] * rot[1]).apply(rot[0]), rot[1]])
    motion = np.zeros((6, kind.nu))
    motion[3:, : kind.n_lin], motion[:3, kind.n_lin :] = lin.T, rot.T
    motion[3:, kind.n_lin :] = kind.lead(hinge.own) * rot.T
    return motion


def _mass(points: Points, motion: Array) -> Array:
    """Mass matrix of modes and hinge motions, undeformed: sum of J' diag(inertia, mass) J over the points."""
    positions, masses, inertias, shapes = points
    jacobian = np.concatenate([shapes, _carry(positions) @ motion], axis=2)
    turn, move = jacobian[:, :3], jacobian[:, 3:]
    momentum = np.concatenate([inertias @ turn, masses[:, None, None] * move], axis=1)
    rows = (6 * len(masses), jacobian.shape[2])
    mass: Array = jacobian.reshape(rows).T @ momentum.reshape(rows)
    return mass


def _singular(mass: Array) -> bool:
    """Whether the matrix has no inverse, rows scaled so that units do not matter."""
    scale = np.sqrt(np.diag(mass).clip(min=0.0))
    if not scale.all():
        return True
    return bool(np.linalg.eigvalsh(mass / np.outer(scale, scale)).min(initial=1.0) < SINGULAR)
