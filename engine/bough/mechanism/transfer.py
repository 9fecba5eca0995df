"""Chains of two-interface bodies: condensed mass, transfer matrices and the Riccati form that keeps its digits.

A body with two interface nodes a and b and six static modes has as many coordinates as its interfaces have: its
equation of motion can be written in their accelerations, inertial axes, angular part first,

    [M_aa M_ab] [a_a]   [f_a]   [Q_a]
    [M_ba M_bb] [a_b] = [f_b] + [Q_b].                                                          (2)

With J the Jacobian of both nodes for the body alone, `M = J^-T M_m J^-1`, and Q holds the rest: `M Jdot u - J^-T c`.
Bodies are joined rigidly: b of one is a of the next. F is the force that the inboard side exerts: `f_a = F_a`,
`f_b = -F_b`. With Z the condensed mass of what comes next,

    condensed     F_a = (M_aa - M_ab (M_bb + Z)^-1 M_ba) a_a - ...                                  (4)
    transfer      [a_b; F_b] = T [a_a; F_a] + t                                                     (5)
                  T = [[-M_ab^-1 M_aa, M_ab^-1], [M_bb M_ab^-1 M_aa - M_ba, -M_bb M_ab^-1]]

Equation numbers are those of the abstract on recursive procedures for flexible chains. T is symplectic: with every
eigenvalue comes its inverse, and products grow like the largest one to the length of the chain, while what is sought
stays of its size. (4) is the Riccati form of (5): it carries the relation of F to a, which does not grow. `joined` does
the same for two chains at once, so that n equal bodies take log2 n steps: the middle interface of (2) is eliminated.
At a frequency w the same holds with `K + jw C - w^2 M` in place of M and displacements in place of accelerations.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sparse
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import splu
from scipy.spatial.transform import Rotation

from bough.errors import ArgumentError, SimulationError
from bough.mechanism.mechanism import Mechanism
from bough.mechanism.operators import attach_node, free_alone
from bough.model import Model

Array: TypeAlias = NDArray[np.float64]
Complex: TypeAlias = NDArray[np.complex128]
Method: TypeAlias = Literal["condensed", "transfer"]

SINGULAR = 1e-13
"""Reciprocal condition of M_ab below which a body has no transfer matrix."""


@dataclass(frozen=True, eq=False)
class Link:
    """A body, or a chain of them, seen from its two ends: (2).

    Attributes:
        mass: (12, 12) or (n, 12, 12): a then b, angular then linear, inertial axes; or a dynamic stiffness.
        force: Q, (12,) or (n, 12), N.m and N.
    """

    mass: NDArray[Any]
    force: NDArray[Any]

    @property
    def blocks(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
        """M_aa, M_ab, M_ba, M_bb."""
        m = self.mass
        return m[..., :6, :6], m[..., :6, 6:], m[..., 6:, :6], m[..., 6:, 6:]


@dataclass(frozen=True, eq=False)
class End:
    """What is known at an end of a chain: its acceleration, or the wrench that acts on it from outside.

    Attributes:
        acceleration: (6,) rad/s2 and m/s2, inertial axes, of an end that is held or driven; None: it is free.
        wrench: (6,) N.m and N on a free end.
    """

    acceleration: ArrayLike | None = None
    wrench: ArrayLike = field(default_factory=lambda: np.zeros(6))


@dataclass(frozen=True, eq=False)
class ChainMotion:
    """Interfaces of a chain of n bodies: accelerations and transmitted forces, (n + 1, 6) each."""

    accelerations: Array
    forces: Array


# ---- bodies


def chain_links(system: Mechanism, q: ArrayLike, u: ArrayLike, end: str) -> list[Link]:
    """The bodies of a mechanism that is one chain, seen from their interfaces; see the head of this file.

    Args:
        system: Bodies one after the other, joined by fixed hinges without offset; the first hangs by any hinge.
        q: Positions, (nq,).
        u: Speeds, (nu,).
        end: Node of the last body, `body.node`, that is its second interface.

    Raises:
        ArgumentError: The mechanism is no such chain, or a body has not six modes that move its second interface.
    """
    place, speeds = np.asarray(q, dtype=np.float64), np.asarray(u, dtype=np.float64)
    bodies = system.model.bodies
    links = []
    for k, body in enumerate(bodies):
        if k and (body.parent != bodies[k - 1].name or body.hinge.type != "fixed" or any(body.hinge.position)):
            raise ArgumentError(
                f"body {body.name!r}: expected a fixed hinge without offset on {bodies[k - 1].name!r}: chains of "
                "two-interface bodies are joined rigidly, one after the other"
            )
        far = body.address(bodies[k + 1].at) if k + 1 < len(bodies) else end
        links.append(_body_link(system, k, far, place, speeds))
    return links


def _body_link(system: Mechanism, k: int, far: str, q: Array, u: Array) -> Link:
    body = system.model.bodies[k]
    near = body.address(attach_node(system, k))
    poses, velocities, _ = system.node_motion(q, u, None, [near])
    turn = Rotation.from_quat(poses[0, 3:])
    alone = Mechanism(free_alone(system.model, body))
    eta = [c.index for c in system.q_table if c.body == body.name and c.modal]
    rates = [c.index for c in system.u_table if c.body == body.name and c.modal]
    own_q = np.concatenate([poses[0], q[eta]])
    own_u = np.concatenate([velocities[0, 3:], turn.inv().apply(velocities[0, :3]), u[rates]])
    J, rate = _interface_jacobian(alone, own_q, own_u, near, far)
    M, bias = alone.mass_matrix(own_q), alone.inverse_dynamics(own_q, own_u, np.zeros(alone.nu))
    back = np.linalg.inv(J)
    mass = back.T @ M @ back
    return Link(0.5 * (mass + mass.T), mass @ (rate @ own_u) - back.T @ bias)


def _interface_jacobian(alone: Mechanism, q: Array, u: Array, near: str, far: str) -> tuple[Array, Array]:
    J = np.vstack([alone.node_jacobian(q, near), alone.node_jacobian(q, far)])
    if J.shape[1] != 12 or np.linalg.cond(J) > 1e12:
        name = alone.model.bodies[0].name
        raise ArgumentError(
            f"body {name!r} has {J.shape[1] - 6} modes: a two-interface body has six, one for each motion of {far}: "
            "take static Craig-Bampton modes, `modes: {boundary: craig-bampton, count: 0}` or its like"
        )
    return J, np.vstack([alone.node_jacobian_rate(q, u, near), alone.node_jacobian_rate(q, u, far)])


# ---- chains


def chain_motion(links: Sequence[Link], first: End, last: End, method: Method = "condensed") -> ChainMotion:
    """Accelerations and forces of all interfaces of a chain.

    Args:
        links: From first to last; all axes inertial.
        first: What is known at interface a of the first body.
        last: What is known at interface b of the last one.
        method: "condensed", (4), which keeps its digits, or "transfer", (5).
    """
    if method == "condensed":
        return _condensed(links, first, last)
    if method != "transfer":
        raise ArgumentError(f"method: expected 'condensed' or 'transfer', found {method!r}")
    maps = [transfer_matrix(link) for link in links]
    T, t = _product(maps)
    return _unfolded(maps, _start(T, t, first, last))


def ring_motion(links: Sequence[Link], method: Method = "condensed") -> ChainMotion:
    """A ring: b of the last body is a of the first. No closure constraint is needed.

    Args:
        links: From first to last.
        method: "transfer": (5) for all bodies at once, the last interface being the first. No product is formed, so
            nothing grows. "condensed": all bodies joined to one, whose ends then move as one and whose end forces
            balance, `(M_aa + M_ab + M_ba + M_bb) a = Q_a + Q_b`. Both keep their digits at any length.
    """
    if method == "transfer":
        return _cyclic([transfer_matrix(link) for link in links])
    if method != "condensed":
        raise ArgumentError(f"method: expected 'condensed' or 'transfer', found {method!r}")
    whole = functools.reduce(joined, links)
    a = np.linalg.solve(sum(whole.blocks, np.zeros((6, 6))), whole.force[:6] + whole.force[6:])
    return chain_motion(links, End(acceleration=a), End(acceleration=a))


def transfer_matrix(link: Link) -> tuple[Array, Array]:
    """T and t of (5).

    Raises:
        SimulationError: M_ab is singular: one end does not feel the other.
    """
    M_aa, M_ab, M_ba, M_bb = link.blocks
    if not np.linalg.cond(M_ab) < 1.0 / SINGULAR:
        raise SimulationError("a body has no transfer matrix: M_ab is singular; use the condensed form")
    Q_a, Q_b = link.force[:6], link.force[6:]
    solved = np.linalg.solve(M_ab, np.column_stack([-M_aa, np.eye(6), Q_a]))
    lower = -M_bb @ solved
    lower[:, :6] -= M_ba
    lower[:, 12] += Q_b
    both = np.vstack([solved, lower])
    return both[:, :12], both[:, 12]


def transfer_power(link: Link, n: int) -> tuple[Array, Array]:
    """T and t of n equal bodies by repeated squaring; it loses the digits of the plain product."""
    T, t = np.eye(12), np.zeros(12)
    square, shift = transfer_matrix(link)
    while n:
        if n & 1:
            T, t = square @ T, square @ t + shift
        square, shift = square @ square, square @ shift + shift
        n >>= 1
    return T, t


def _product(maps: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    T, t = np.eye(12), np.zeros(12)
    for A, a in maps:
        T, t = A @ T, A @ t + a
    return T, t


def _start(T: Array, t: Array, first: End, last: End) -> Array:
    """State at the first interface from what is known at both ends."""
    known_first = first.wrench if first.acceleration is None else first.acceleration
    known_last = -np.asarray(last.wrench) if last.acceleration is None else np.asarray(last.acceleration)
    unknown = slice(0, 6) if first.acceleration is None else slice(6, 12)
    given = slice(6, 12) if first.acceleration is None else slice(0, 6)
    rows = slice(6, 12) if last.acceleration is None else slice(0, 6)
    state = np.zeros(12)
    state[given] = known_first
    state[unknown] = np.linalg.solve(T[rows, unknown], known_last - t[rows] - T[rows, given] @ state[given])
    return state


def _unfolded(maps: Sequence[tuple[Array, Array]], state: Array) -> ChainMotion:
    states = [state]
    for T, t in maps:
        states.append(T @ states[-1] + t)
    both = np.array(states)
    return ChainMotion(both[:, :6], both[:, 6:])


def _cyclic(maps: Sequence[tuple[Array, Array]]) -> ChainMotion:
    """States `s` of a ring, `s_next - T s = t` at each body, sparse: twelve unknowns for each."""
    n = len(maps)
    shift = sparse.coo_array((np.ones(n), (np.arange(n), (np.arange(n) + 1) % n)), shape=(n, n))
    K = sparse.kron(shift, sparse.identity(12)) - sparse.block_diag([T for T, _ in maps])
    s = splu(K.tocsc()).solve(np.concatenate([t for _, t in maps])).reshape(n, 12)
    around = np.vstack([s, s[:1]])
    return ChainMotion(around[:, :6], around[:, 6:])


def _condensed(links: Sequence[Link], first: End, last: End) -> ChainMotion:
    """(4), last body first; then outward. `F = Z a - z` is what is inboard of an interface must exert."""
    Z, z = np.zeros((6, 6)), np.asarray(last.wrench, dtype=np.float64)
    held = None if last.acceleration is None else np.asarray(last.acceleration, dtype=np.float64)
    steps: list[tuple[Array, Array]] = []
    for link in reversed(links):
        M_aa, M_ab, M_ba, M_bb = link.blocks
        Q_a, Q_b = link.force[:6], link.force[6:]
        if held is None:
            answer = np.linalg.solve(M_bb + Z, np.column_stack([-M_ba, Q_b + z]))
            G, g = answer[:, :6], answer[:, 6]
        else:
            G, g, held = np.zeros((6, 6)), held, None
        steps.append((G, g))
        Z, z = M_aa + M_ab @ G, Q_a - M_ab @ g
        Z = 0.5 * (Z + Z.T)
    if first.acceleration is None:
        a = np.linalg.solve(Z, z + np.asarray(first.wrench))
    else:
        a = np.asarray(first.acceleration, dtype=np.float64)
    accelerations, forces = [a], [Z @ a - z]
    for link, (G, g) in zip(links, reversed(steps), strict=True):
        b = G @ a + g
        forces.append(link.force[6:] - link.mass[6:, :6] @ a - link.mass[6:, 6:] @ b)
        accelerations.append(b)
        a = b
    return ChainMotion(np.array(accelerations), np.array(forces))


# ---- equal bodies


def joined(left: Link, right: Link) -> Link:
    """Two chains as one: the interface between them eliminated. Arrays may have leading dimensions."""
    L_aa, L_ab, L_ba, L_bb = left.blocks
    R_aa, R_ab, R_ba, R_bb = right.blocks
    middle_force = (left.force[..., 6:] + right.force[..., :6])[..., None]
    solved = np.linalg.solve(L_bb + R_aa, np.concatenate([L_ba, R_ab, middle_force], axis=-1))
    mass = np.empty(np.broadcast_shapes(left.mass.shape, right.mass.shape), dtype=solved.dtype)
    mass[..., :6, :6] = L_aa - L_ab @ solved[..., :6]
    mass[..., :6, 6:] = -L_ab @ solved[..., 6:12]
    mass[..., 6:, :6] = -R_ba @ solved[..., :6]
    mass[..., 6:, 6:] = R_bb - R_ba @ solved[..., 6:12]
    force = np.concatenate(
        [
            left.force[..., :6] - (L_ab @ solved[..., 12:])[..., 0],
            right.force[..., 6:] - (R_ba @ solved[..., 12:])[..., 0],
        ],
        axis=-1,
    )
    return Link(mass, force)


def repeated(link: Link, n: int) -> Link:
    """N equal bodies in a row by doubling, log2 n steps, in the Riccati form: no digits are lost with length."""
    if n < 1:
        raise ArgumentError(f"n: expected one body at least, found {n}")
    while not n & 1:
        link, n = joined(link, link), n >> 1
    out = link
    while n > 1:
        link, n = joined(link, link), n >> 1
        if n & 1:
            out = joined(out, link)
    return out


@dataclass(frozen=True, eq=False)
class Bay:
    """One bay of a periodic structure, undeformed: mass, damping and stiffness in its interfaces, (12, 12) each."""

    mass: Array
    damping: Array
    stiffness: Array

    def link(self, omega: ArrayLike, loss: float = 0.0) -> Link:
        """Dynamic stiffness `K (1 + j loss) + jw C - w^2 M` at frequencies in rad/s, (n, 12, 12)."""
        w = np.atleast_1d(np.asarray(omega, dtype=np.float64))[:, None, None]
        stiffness = (1.0 + 1j * loss) * self.stiffness + 1j * w * self.damping - w * w * self.mass
        return Link(stiffness, np.zeros((w.shape[0], 12), dtype=np.complex128))

    def tip_response(self, bays: int, omega: ArrayLike, loss: float = 0.0) -> Complex:
        """Motion of the far end per unit wrench there, near end held, (n, 6, 6), for any number of equal bays."""
        whole = repeated(self.link(omega, loss), bays)
        return np.asarray(np.linalg.inv(whole.mass[:, 6:, 6:]), dtype=np.complex128)


def bay(model: Model | str | dict[str, Any], body: str, far: str) -> Bay:
    """A body of a model as one bay: from the node that carries its hinge to another node.

    Args:
        model: What `bough.load` takes.
        body: Its name.
        far: Name of the node that carries the next bay.
    """
    system = Mechanism(model)
    k = [b.name for b in system.model.bodies].index(body)
    alone = Mechanism(free_alone(system.model.model_copy(update={"gravity": (0.0, 0.0, 0.0)}), system.model.bodies[k]))
    q, u = np.zeros(alone.nq), np.zeros(alone.nu)
    q[6] = 1.0
    near, other = (system.model.bodies[k].address(node) for node in (attach_node(system, k), far))
    J, _ = _interface_jacobian(alone, q, u, near, other)
    back = np.linalg.inv(J)
    flex = system.block.bodies[k].flex
    K, C = np.zeros((12, 12)), np.zeros((12, 12))
    if flex is not None:
        K[6:, 6:], C[6:, 6:] = flex.stiffness, flex.damping
    return Bay(*(back.T @ each @ back for each in (alone.mass_matrix(q), C, K)))
