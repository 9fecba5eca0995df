"""The operators of the paper, body by body, and the mass of the whole.

Numbers in parentheses are equations of Jain and Rodriguez 1992. Six-vectors have the angular part first, in the axes of
the inertial frame. A body k is referred to its frame O(k), the deformed frame of its attach node, so that the modes of
every body are clamped there, whatever boundary condition they were made with (NOTATION.md, "Unclamped modes"). With
`V_m = (etadot, V_O)`:

    V_m(k) = Phi*(k+1,k) V_m(k+1) + H*(k) chi(k)                                  (11)
    Phi*   = [[0, 0], [Pi_t, phi*(l)]]        H* = diag(1, H_F*)                  (12), (13)

Pi_t and H_F* are columns of the Jacobian of O(k): the velocity that a unit of one speed gives it. M_m(k) is the mass
matrix of the body alone on a free hinge. Both come from the kernel and are exact; the recursions (47), (51), (63) run
here in their textbook form, in another basis and other axes than the sweeps', and so check them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from bough.errors import ArgumentError, SimulationError
from bough.mechanism import kernel
from bough.mechanism.block import compile_block
from bough.mechanism.effective import jacobians, t
from bough.model import Body, Model

if TYPE_CHECKING:
    from bough.mechanism.mechanism import Mechanism

Array: TypeAlias = NDArray[np.float64]

DIFFERENT = 1e-8
"""Difference from the kernel's own factors that is no round-off."""


def cross_matrix(v: Array) -> Array:
    """v~ of (..., 3) vectors: `v~ w = v x w`."""
    out = np.zeros((*v.shape[:-1], 3, 3))
    out[..., 2, 1], out[..., 0, 2], out[..., 1, 0] = v[..., 0], v[..., 1], v[..., 2]
    out[..., 1, 2], out[..., 2, 0], out[..., 0, 1] = -v[..., 0], -v[..., 1], -v[..., 2]
    return out


def phi(arm: Array) -> Array:
    """Rigid transformation operator (6), [[1, l~], [0, 1]], of arms l from x to y, (..., 3)."""
    out = np.zeros((*arm.shape[:-1], 6, 6))
    out[..., range(6), range(6)] = 1.0
    out[..., :3, 3:] = cross_matrix(arm)
    return out


@dataclass(frozen=True, eq=False)
class MassProperties:
    """The whole mechanism as one body, frozen as it is, in the inertial frame.

    Attributes:
        mass: kg.
        center: Mass centre, m, (3,) or (B, 3).
        inertia: About the mass centre, kg.m^2, (3, 3) or (B, 3, 3).
    """

    mass: float
    center: Array
    inertia: Array


def mass_properties(system: Mechanism, q: Array, batch: bool) -> MassProperties:
    """Mass, centre and inertia of all bodies together; see `Mechanism.mass_properties`."""
    parts = _Parts(system, q)
    total = np.zeros((q.shape[0], 6, 6))
    for k, M in enumerate(parts.masses):
        nm = M.shape[-1] - 6
        shift = phi(parts.origin[:, k])
        total += shift @ M[:, nm:, nm:] @ t(shift)
    mass = float(total[0, 5, 5])
    if not mass > 0.0:
        raise SimulationError("the mechanism has no mass, so it has no mass centre")
    # M^rr about the origin is [[J, m c~], [-m c~, m]]
    center = np.stack([total[:, 2, 4], total[:, 0, 5], total[:, 1, 3]], axis=-1) / mass
    arm = cross_matrix(center)
    inertia = total[:, :3, :3] + mass * arm @ arm
    return MassProperties(mass, center, inertia) if batch else MassProperties(mass, center[0], inertia[0])


# ---- bodies


class _Parts:
    """What the recursions are made of: frames O, joint maps H_F*, influences Pi_t and mass matrices M_m."""

    def __init__(self, system: Mechanism, q: Array) -> None:
        model = system.model
        bodies = model.bodies
        ruthless = {b.name for b in bodies if model.ruthless(b)}
        if ruthless:  # Appendix B: such a body as if undeformed
            q = q.copy()
            q[:, [c.index for c in system.q_table if c.modal and c.body in ruthless]] = 0.0
        self.batch = q.shape[0]
        names = [b.name for b in bodies]
        self.parent = [names.index(b.parent) if b.parent in names else -1 for b in bodies]
        self.hinge = [[c.index for c in system.u_table if c.body == n and not c.modal] for n in names]
        self.modes = [[c.index for c in system.u_table if c.body == n and c.modal] for n in names]
        if sum(map(len, self.hinge)) + sum(map(len, self.modes)) != system.nu:
            raise SimulationError("the mechanism has speeds that belong to no hinge and no mode of a body")
        attach = [b.address(attach_node(system, k)) for k, b in enumerate(bodies)]
        data, index = system._nodes(attach)
        self.jacobian = jacobians(data, q, index, system.nu)
        pose = np.empty((self.batch, len(bodies), 7))
        data.evaluate({"q": q, "u": np.zeros((self.batch, system.nu))}, {"pose": pose}, index, self.batch)
        self.origin = pose[:, :, :3]
        axes = Rotation.from_quat(pose[:, :, 3:].reshape(-1, 4)).as_matrix().reshape(self.batch, -1, 3, 3)
        eta = [q[:, [c.index for c in system.q_table if c.body == n and c.modal]] for n in names]
        own = [_own_mass(model, b, eta[k]) for k, b in enumerate(bodies)]
        self.masses = [_turned(M, axes[:, k]) for k, M in enumerate(own)]

    def joint(self, k: int) -> Array:
        """H(k), (B, n, N): rows of modes, then of the hinge."""
        nm, nr = len(self.modes[k]), len(self.hinge[k])
        H = np.zeros((self.batch, nm + nr, nm + 6))
        H[:, range(nm), range(nm)] = 1.0
        H[:, nm:, nm:] = t(self.jacobian[:, k][:, :, self.hinge[k]])
        return H

    def transfer(self, k: int) -> Array:
        """Phi(parent, k), (B, N(parent), N(k)), (12)."""
        p = self.parent[k]
        nm_p, nm = len(self.modes[p]), len(self.modes[k])
        Phi = np.zeros((self.batch, nm_p + 6, nm + 6))
        Phi[:, :nm_p, nm:] = t(self.jacobian[:, k][:, :, self.modes[p]])
        Phi[:, nm_p:, nm:] = phi(self.origin[:, k] - self.origin[:, p])
        return Phi


def attach_node(system: Mechanism, k: int) -> str:
    """Node of body k that carries its hinge."""
    flex = system.block.bodies[k].flex
    return "origin" if flex is None else flex.node_names[flex.attach]


def free_alone(model: Model, body: Body) -> Model:
    """The model with one body only, on a free hinge at the origin; gravity is that of the model."""
    zeros = (0.0,) * 6
    hinge = body.hinge.model_copy(
        update={
            "type": "free",
            "axes": (),
            "position": (0.0, 0.0, 0.0),
            "quaternion": (0.0, 0.0, 0.0, 1.0),
            **dict.fromkeys(("damping", "stiffness", "rest", "armature", "initial_u"), zeros),
            "drive": "torque",
            "initial_q": (0.0,) * 6 + (1.0,),
            **dict.fromkeys(("friction", "limits"), ()),
            "gear": None,
            "drives": "",
        }
    )
    alone = body.model_copy(update={"parent": "ground", "at": "origin", "hinge": hinge})
    nothing: dict[str, tuple[()]] = dict.fromkeys(("inputs", "outputs", "loops", "couplings", "forces"), ())
    return model.model_copy(update={"bodies": (alone,), **nothing})


def _own_mass(model: Model, body: Body, eta: Array) -> Array:
    """M_m at deflections eta, (B, nm + 6, nm + 6), about O in its own axes: order modes, angular, linear."""
    data = kernel.KernelData(kernel.KernelModel(compile_block(free_alone(model, body)).data), 0)
    q = np.zeros((eta.shape[0], 7 + eta.shape[1]))
    q[:, 6], q[:, 7:] = 1.0, eta
    order = [*range(6, 6 + eta.shape[1]), 3, 4, 5, 0, 1, 2]
    return np.asarray(data.mass_matrix(q)[:, order][:, :, order])


def _turned(M: Array, axes: Array) -> Array:
    """M_m with its rigid part in inertial axes."""
    nm = M.shape[-1] - 6
    X = np.broadcast_to(np.eye(nm + 6), M.shape).copy()
    X[:, nm : nm + 3, nm : nm + 3] = X[:, nm + 3 :, nm + 3 :] = axes
    return np.asarray(X @ M @ t(X))


@dataclass(frozen=True, eq=False)
class ArticulatedBody:
    """One body of (47), (51) and (63). With a batch of q every array has a leading dimension B.

    N = nm + 6 rows and columns are (modes, angular, linear) at O in inertial axes; n = nm + nr are the body's speeds,
    modes first. `parent` is the body's inboard neighbour, k + 1 in the paper.

    Attributes:
        name: The body.
        parent: Index of the parent among the bodies, -1 for ground.
        speeds: Places of the body's n speeds in u.
        origin: Position of O, m.
        Phi: Phi(k+1, k), (12), (N(parent), N); none for a body on ground: (0, N).
        H: Joint map, (13), (n, N).
        armature: Rotor inertia on the diagonal of D, (n,).
        Mm: Modal mass matrix, (23), (N, N).
        R: Composite body, (47), (N, N).
        P: Articulated body, (51), (N, N).
        D: H P H* and armature, (n, n).
        G: P H* D^-1, the Kalman gain, (N, n).
        K: Phi G, (N(parent), n).
        tau_bar: 1 - G H, (N, N).
        P_plus: tau_bar P, (N, N).
        psi: Phi tau_bar, (N(parent), N).
        Gamma: What the children hand over, at O, (63) summed over the children; (6, 6), rigid part of P - M_m.
        D_f: Block of the modes, (nm, nm).
        mu: (6, nm).
        g: mu D_f^-1, (6, nm).
        P_R: Modes eliminated, (6, 6).
        D_R: Block of the hinge with its armature, (nr, nr).
        G_R: (6, nr).
        tau_R: 1 - G_R H_F, (6, 6).
        P_R_plus: Modes and hinge eliminated: what the parent feels, (6, 6).
    """

    name: str
    parent: int
    speeds: tuple[int, ...]
    origin: Array
    Phi: Array
    H: Array
    armature: Array
    Mm: Array
    R: Array
    P: Array
    D: Array
    G: Array
    K: Array
    tau_bar: Array
    P_plus: Array
    psi: Array
    Gamma: Array
    D_f: Array
    mu: Array
    g: Array
    P_R: Array
    D_R: Array
    G_R: Array
    tau_R: Array
    P_R_plus: Array


@dataclass(frozen=True, eq=False)
class Operators:
    """The stacked operators, one matrix each: rows and columns of bodies base to tip, speeds in the order of u.

    The paper numbers bodies tip to base: what is lower triangular there is upper triangular here.

    Attributes:
        H: (13), (nu, sum N).
        Phi: (19).
        Psi: (53).
        Mm: Block diagonal, (23).
        R: Block diagonal, (47).
        P: Block diagonal, (51).
        D: (nu, nu).
        G: (sum N, nu).
        K: E_Phi G, (sum N, nu).
        armature: Diagonal, (nu, nu): M = H Phi Mm Phi* H* + armature.
    """

    H: Array
    Phi: Array
    Psi: Array
    Mm: Array
    R: Array
    P: Array
    D: Array
    G: Array
    K: Array
    armature: Array


@dataclass(frozen=True, eq=False)
class Articulated:
    """All bodies, base to tip; `articulated["upper"]` or by index."""

    bodies: tuple[ArticulatedBody, ...]

    def __getitem__(self, key: int | str) -> ArticulatedBody:
        """A body by index or name."""
        if isinstance(key, str):
            names = [b.name for b in self.bodies]
            if key not in names:
                raise ArgumentError(f"there is no body {key!r}; bodies: {', '.join(names)}")
            return self.bodies[names.index(key)]
        return self.bodies[key]

    def __len__(self) -> int:
        """Number of bodies."""
        return len(self.bodies)

    def operators(self) -> Operators:
        """The operators as dense matrices, to try the identities of the paper on."""
        first = np.cumsum([0, *(b.H.shape[-1] for b in self.bodies)])
        nu, size = sum(len(b.speeds) for b in self.bodies), int(first[-1])
        lead = self.bodies[0].H.shape[:-2]

        def zeros(*shape: int) -> Array:
            return np.zeros((*lead, *shape))

        H, D, G, K, J = zeros(nu, size), zeros(nu, nu), zeros(size, nu), zeros(size, nu), zeros(nu, nu)
        E_Phi, E_Psi = zeros(size, size), zeros(size, size)
        Mm, R, P = zeros(size, size), zeros(size, size), zeros(size, size)
        for k, b in enumerate(self.bodies):
            own, rows = slice(first[k], first[k + 1]), np.array(b.speeds, dtype=int)
            H[..., rows, own], G[..., own, rows] = b.H, b.G
            D[..., rows[:, None], rows] = b.D
            J[..., rows, rows] = b.armature
            Mm[..., own, own], R[..., own, own], P[..., own, own] = b.Mm, b.R, b.P
            if b.parent >= 0:
                up = slice(first[b.parent], first[b.parent + 1])
                E_Phi[..., up, own], E_Psi[..., up, own], K[..., up, rows] = b.Phi, b.psi, b.K
        Phi, Psi = (np.asarray(np.linalg.inv(np.eye(size) - E), dtype=np.float64) for E in (E_Phi, E_Psi))
        return Operators(H, Phi, Psi, Mm, R, P, D, G, K, J)


def articulated(system: Mechanism, q: Array, batch: bool) -> Articulated:
    """The recursions (47), (51) and (63), tip to base; see `Mechanism.articulated`."""
    parts = _Parts(system, q)
    armature = np.array([a for b in system.model.bodies for a in (*b.hinge.armature, *(0.0,) * b.mode_count)])
    count = len(system.model.bodies)
    R = [M.copy() for M in parts.masses]
    P = [M.copy() for M in parts.masses]
    out: list[ArticulatedBody] = [None] * count  # type: ignore[list-item]
    for k in reversed(range(count)):
        body = _body(system, parts, k, R[k], P[k], armature)
        p = parts.parent[k]
        if p >= 0:
            R[p] += body.Phi @ body.R @ t(body.Phi)
            P[p] += body.Phi @ body.P_plus @ t(body.Phi)
        out[k] = body
    _check(system, q, out)
    if not batch:
        out = [_first(b) for b in out]
    return Articulated(tuple(out))


def _body(system: Mechanism, parts: _Parts, k: int, R: Array, P: Array, armature: Array) -> ArticulatedBody:
    """One step of (51) and (63); R and P hold what the children handed over."""
    body, p = system.model.bodies[k], parts.parent[k]
    nm = len(parts.modes[k])
    speeds = (*parts.modes[k], *parts.hinge[k])
    H, Mm = parts.joint(k), parts.masses[k]
    Phi = parts.transfer(k) if p >= 0 else np.zeros((parts.batch, 0, nm + 6))
    own = armature[list(speeds)]
    D = H @ P @ t(H) + np.diag(own)
    G = t(_solved(D, H @ P, body.name))
    tau_bar = np.eye(nm + 6) - G @ H
    P_plus = tau_bar @ P
    P_plus = 0.5 * (P_plus + t(P_plus))
    H_F = H[:, nm:, nm:]
    D_f, mu = P[:, :nm, :nm], P[:, nm:, :nm]
    g = t(_solved(D_f, t(mu), body.name))
    P_R = P[:, nm:, nm:] - g @ t(mu)
    D_R = H_F @ P_R @ t(H_F) + np.diag(own[nm:])
    G_R = t(_solved(D_R, H_F @ P_R, body.name))
    tau_R = np.eye(6) - G_R @ H_F
    return ArticulatedBody(
        body.name, p, speeds, parts.origin[:, k], Phi, H, np.broadcast_to(own, (parts.batch, own.size)), Mm, R, P, D, G,
        Phi @ G, tau_bar, P_plus, Phi @ tau_bar, P[:, nm:, nm:] - Mm[:, nm:, nm:], D_f, mu, g, P_R, D_R, G_R, tau_R,
        tau_R @ P_R,
    )  # fmt: skip


def _solved(D: Array, right: Array, name: str) -> Array:
    try:
        return np.asarray(np.linalg.solve(D, right))
    except np.linalg.LinAlgError:
        raise SimulationError(f"D of body '{name}' is singular: give it mass, or its hinge an armature") from None


def _check(system: Mechanism, q: Array, bodies: list[ArticulatedBody]) -> None:
    """The kernel's own factors (54) have the same D_f and D_R, or the mechanism has something that is not here."""
    if not system.nu:
        return
    _, D = system._data.mass_factors(q)
    for b in bodies:
        nm = b.D_f.shape[-1]
        for speeds, mine in ((b.speeds[:nm], b.D_f), (b.speeds[nm:], b.D_R)):
            rows = np.array(speeds, dtype=int)
            theirs = D[:, rows[:, None], rows]
            if np.max(abs(theirs - mine), initial=0.0) > DIFFERENT * np.max(abs(theirs), initial=0.0):
                raise SimulationError(
                    f"articulated(q) does not describe body '{b.name}': the dynamics have terms in it that (51) lacks, "
                    "such as geometric stiffening of a deflected ruthless body; take `fidelity: full`"
                )


def _first(b: ArticulatedBody) -> ArticulatedBody:
    values = {name: value[0] if isinstance(value, np.ndarray) else value for name, value in vars(b).items()}
    return ArticulatedBody(**values)
