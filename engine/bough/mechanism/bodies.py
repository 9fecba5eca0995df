"""Bodies as the kernel sees them: in its axes, about their attach node, in its modal basis.

The kernel's axes of a body are the user's turned by the constant `C` (`x_user = C x_kernel`), so that the last
rotation axis of its hinge is z. Its modes xi are mass-orthonormal and not coupled by stiffness, `eta = T xi`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from bough.errors import ModelError, Problem
from bough.flex import FlexBody, flex_body
from bough.flex.body import ROTATION, TRANSLATION
from bough.flex.integrals import ModalIntegrals, Stiffening, clamp, inertia_tensor, kernel_basis, packed_inertia, skew
from bough.flex.rows import Rows
from bough.flex.turning import Turning
from bough.model import Body, Hinge

Array: TypeAlias = NDArray[np.float64]

PORT_ORDER = [0, 1, 3, 4, 5, 2]
"""Order at a port: the hinge axis last, so that a revolute hinge can leave it out."""
PORT_ROTATION = [0, 1, 5]
"""Where x, y and z of the rotation are in that order."""


@dataclass(frozen=True, eq=False)
class NodeData:
    """A named node in the kernel's axes of its body."""

    name: str
    l0: Array
    R0: Array
    lam: Array
    gam: Array
    bends: Array | None = None
    """H, (3, nm, nm), of a stiffened body."""


@dataclass(frozen=True, eq=False)
class BodyData:
    """One body as the kernel sees it.

    Attributes:
        axes: C, kernel's axes to the user's, (3, 3).
        inertia: Mass, first moment, inertia about the attach node, kernel's axes, (10,).
        wheel: Stored angular momentum, N.m.s, (3,).
        nodes: Named nodes.
        integrals: None for a rigid body.
        tables: What of these the kernel reads: at full fidelity without what points carry.
        T: eta = T xi.
        stiffness: In xi, (nm,).
        damping: In xi, (nm, nm).
        Mff0: M^ff in the modes' own frame for unclamped modes at full fidelity, else None.
        flex: The body before the change of axes and basis; None for a rigid body.
        stiffening: Geometric stiffening; None without.
        rows: All translational inertia as weighted points, of a stiffened body at full fidelity; None: tables have it.
        turning: Nodes with rotary inertia at full fidelity; None: tables have it.
        J_rest: Inertia that neither has, kernel's axes, (3, 3).
    """

    axes: Array
    inertia: Array
    wheel: Array
    nodes: tuple[NodeData, ...]
    integrals: ModalIntegrals | None = None
    T: Array = field(default_factory=lambda: np.eye(0))
    stiffness: Array = field(default_factory=lambda: np.zeros(0))
    damping: Array = field(default_factory=lambda: np.zeros((0, 0)))
    Mff0: Array | None = None
    flex: FlexBody | None = None
    stiffening: Stiffening | None = None
    tables: ModalIntegrals | None = None
    rows: Rows | None = None
    turning: Turning | None = None
    J_rest: Array = field(default_factory=lambda: np.zeros((3, 3)))

    @property
    def nm(self) -> int:
        """Number of modes."""
        return self.stiffness.size

    @property
    def user_basis(self) -> bool:
        """Whether T is more than the identity."""
        return not np.array_equal(self.T, np.eye(self.nm))

    @property
    def full_damping(self) -> bool:
        """Whether damping couples modes."""
        off = self.damping - np.diag(np.diag(self.damping))
        return bool(abs(off).max(initial=0.0) > 1e-14 * abs(self.damping).max(initial=0.0))

    @property
    def rotary(self) -> bool:
        """Whether tables have an M^ff that changes with deflection: right to first order, and not positive beyond."""
        if self.rows is not None or self.turning is not None:
            return False
        bends = self.stiffening is not None and self.stiffening.Z is not None
        return bends or (self.tables is not None and self.tables.rotary)

    def node(self, name: str) -> int:
        """Index of a named node."""
        return [n.name for n in self.nodes].index(name)


def kernel_axes(hinge: Hinge) -> Array:
    """C: right-handed, with the last rotation axis of the hinge as its third column."""
    kind, turns = hinge.kind, hinge.kind.turns(hinge.axes)
    if kind.quaternion or not kind.n_rot:
        return np.eye(3)
    z = turns[-1]
    if kind.normal:
        return np.column_stack([*hinge.axes, z])
    if np.array_equal(z, [0.0, 0.0, 1.0]):
        return np.eye(3)
    least = np.eye(3)[np.argmin(abs(z))]
    x = np.cross(least, z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def rigid_inertia(mass: float, com: Array, inertia: tuple[float, ...] | Array) -> Array:
    """Mass, first moment and inertia about the origin from those about the mass centre, (10,)."""
    xx, yy, zz, xy, xz, yz = inertia
    J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    J = J + mass * (com @ com * np.eye(3) - np.outer(com, com))
    return packed_inertia(mass, mass * com, J)


def _rigid_data(body: Body, C: Array) -> BodyData:
    rigid = body.rigid
    if rigid is None:
        raise ValueError(body.name)
    xx, yy, zz, xy, xz, yz = rigid.inertia
    J = C.T @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ C
    packed = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
    wheel = sum((w.momentum * np.array(w.axis) for w in rigid.wheels), np.zeros(3))
    empty = np.zeros((3, 0))
    nodes = tuple(
        NodeData(name, C.T @ np.array(n.position), C.T @ Rotation.from_quat(n.quaternion).as_matrix(), empty, empty)
        for name, n in rigid.nodes.items()
    )
    return BodyData(C, rigid_inertia(rigid.mass, C.T @ np.array(rigid.com), packed), C.T @ wheel, nodes)


def _dependent_modes(body: Body) -> ModelError:
    return ModelError(
        Problem(
            file=f"body {body.label!r}",
            line=None,
            key=f"{body.kind}.modes",
            expected="modes that move mass independently of each other with the attach node held",
            found="a modal mass matrix that is singular",
            cure="drop a mode that repeats others or the body's rigid motion, or give its nodes mass",
        )
    )


def _stiffening(body: Body, flex: FlexBody, unclamped: bool, ruthless: bool) -> Stiffening:
    """Tables of geometric stiffening; ModelError if the body cannot have it."""
    if flex.stiffening is not None and not (unclamped and ruthless):
        return flex.stiffening
    bare = flex.stiffening is None
    expected = "geometric stiffness of its own" if bare else "modes that are clamped at the attach node, for `ruthless`"
    cure = "use a `beam`, or an `fe` body that brings its geometric stiffness" if bare else "use `fidelity: full`"
    raise ModelError(
        Problem(
            file=f"body {body.label!r}",
            line=None,
            key="geometric_stiffening",
            expected=f"a flexible body with {expected}",
            found=f"a `{body.kind}` body without" if bare else "modes that move the attach node",
            cure=f"{cure}, or set `geometric_stiffening: false`",
        )
    )


def _flex_data(body: Body, C: Array, ruthless: bool, stiffened: bool) -> BodyData:
    flex = flex_body(body, stiffened)
    lam_d, gam_d = flex.node_shapes[flex.attach, ROTATION], flex.node_shapes[flex.attach, TRANSLATION]
    clamped = flex.integrals.clamped(lam_d, gam_d)
    basis = kernel_basis(clamped.Mff, flex.stiffness)
    if basis is None:
        raise _dependent_modes(body)
    T, stiffness = basis
    unclamped = bool(np.any(lam_d) or np.any(gam_d))
    l0 = flex.node_positions - flex.node_positions[flex.attach]
    lam, gam = flex.node_shapes[:, ROTATION], flex.node_shapes[:, TRANSLATION]
    if ruthless:
        lam, gam = clamp(l0, lam, gam, lam_d, gam_d)
    extra = None
    if stiffened and flex.nm:
        extra = _stiffening(body, flex, unclamped, ruthless).transformed(C, T)
    nodes = tuple(
        NodeData(
            name,
            C.T @ l0[j],
            C.T.copy(),
            C.T @ lam[j] @ T,
            C.T @ gam[j] @ T,
            None if extra is None else extra.node_bends[j],
        )
        for j, name in enumerate(flex.node_names)
    )
    integrals = (clamped if ruthless else flex.integrals).transformed(C, T)
    share = Inertia(integrals) if ruthless or not flex.nm else _by_points(flex, integrals, stiffened, C, T)
    return BodyData(
        C,
        integrals.inertia,
        np.zeros(3),
        nodes,
        integrals if flex.nm else None,
        T,
        stiffness,
        T.T @ flex.damping @ T,
        integrals.Mff if unclamped and not ruthless and flex.nm > 0 else None,
        flex,
        extra,
        share.tables if flex.nm else None,
        share.rows,
        share.turning,
        share.J_rest,
    )


@dataclass(frozen=True, eq=False)
class Inertia:
    """Who carries the inertia of a flexible body: as in `BodyData`."""

    tables: ModalIntegrals
    rows: Rows | None = None
    turning: Turning | None = None
    J_rest: Array = field(default_factory=lambda: np.zeros((3, 3)))


def _by_points(flex: FlexBody, integrals: ModalIntegrals, stiffened: bool, C: Array, T: Array) -> Inertia:
    """The inertia at full fidelity, positive at any deflection where the body's points are known."""
    if flex.points is None or (stiffened and (flex.stiffening is None or flex.stiffening.rows is None)):
        return Inertia(integrals)
    rotary = flex.stiffened_rotary if stiffened else flex.rotary
    tables = rotary.tables
    turning = None if rotary.turning is None else rotary.turning.transformed(C, T)
    J = inertia_tensor(tables.inertia)
    if not stiffened or flex.stiffening is None or flex.stiffening.rows is None:
        return Inertia(tables.transformed(C, T), None, turning, C.T @ J @ C)
    rows = flex.stiffening.rows
    rows = rows if rotary.rows is None else rows.joined(rotary.rows).reduced()
    moments = rows.L0.T @ rows.L0
    rest = J - (np.trace(moments) * np.eye(3) - moments)
    return Inertia(tables.transformed(C, T), rows.transformed(C, T), turning, C.T @ rest @ C)


def body_data(body: Body, ruthless: bool, stiffened: bool = False) -> BodyData:
    """The body in the kernel's axes and basis; its modes clamped by (6)-(8) if ruthless.

    Raises:
        ModelError: Its modes depend on each other, or geometric stiffening is asked of a body that cannot have it.
    """
    C = kernel_axes(body.hinge)
    return _rigid_data(body, C) if body.rigid is not None else _flex_data(body, C, ruthless, stiffened)


@dataclass(frozen=True, eq=False)
class TwoPort:
    """Constants of a ruthless body with its modes eliminated, (76)-(78), in the port's axes and order."""

    Pi: Array
    Psi: Array
    Theta: Array


def two_port(F0: Array, node: NodeData, Q: Array, r: Array) -> TwoPort:
    """Two-port constants towards the one outboard hinge.

    Args:
        F0: M^rf, mass-orthonormal modes, (6, nm).
        node: The node that carries the hinge.
        Q: Inboard (port) axes to body axes.
        r: Inboard origin from the node, body axes, m.
    """
    W = Q.T
    Pi = np.vstack([W @ node.lam, W @ (node.gam - skew(r) @ node.lam)])[PORT_ORDER]
    B = np.zeros((6, 6))
    B[:3, :3] = B[3:, 3:] = W
    B[3:, :3] = -W @ skew(node.l0 + r)
    R: Array = np.asarray(np.linalg.qr(Pi.T, mode="r"))
    Theta = np.zeros((6, 6))
    Theta[:, : R.shape[0]] = R.T
    return TwoPort(Pi, B[PORT_ORDER].T - F0 @ Pi.T, Theta)
