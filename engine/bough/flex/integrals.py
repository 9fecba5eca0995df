"""Modal integrals: everything the kernel needs of a flexible body, so that no run-time sum goes over its nodes.

The kinetic energy of a body is `T = 1/2 V' M(xi) V` with `V = (xidot, omega, v)`. Its inertia points move by
`l = l0 + gam xi` (exact) and turn by `exp([lam xi])`, whose inertia is kept to first order in xi:

    M_ff = 1 + sum_q xi_q Z_q                        Z_q[r, s] = 1/2 sum (lam_r x lam_q).J lam_s + (r <-> s)
    M_wf = F_w0 + sum_s xi_s F1[s]                   F1[s][:, r] = sum m gam_s x gam_r
                                                                 + lam_s x J lam_r - J (lam_s x lam_r)/2
    M_vf = E = sum m gam
    M_ww = J0 - sum_r xi_r (N0_r + N_r(xi))          with -1/2 d(omega' M_ww omega)/dxi_r = N_r . w2,
                                                     w2 = (xx, yy, zz, xy, xz, yz) of omega

(Appendix C of US patent 5,546,508, whose integrals these are in another arrangement; the first-order rotation of the
nodal inertias, which it leaves out of M, is kept here, so that the equations of motion follow from T.)

Geometric stiffening is the second-order motion that linear modes lack, `l = l0 + gam xi + 1/2 xi' H xi` with a vector
H_rs for every pair of modes: what a beam loses in length when it bends. It adds

    E   += sum_s xi_s E1[s]        E1[s][:, r] = sum m H_rs
    F1[s][:, r] += sum m l0 x H_rs                N_r += sum_s xi_s sum m H_rs.(omega x (omega x l0))

A load p on a point then does the modal work p.H_rs xi_s: minus the geometric stiffness of that load. So these tables
are the motion-induced stiffness of translational and angular acceleration and of centrifugal loads, and H of a node
that of a force there; as a change of T they keep the energy. Where H of the points is known, its share in M_ff,
`Z_q[r, s] += sum m (gam_r.H_sq + gam_s.H_rq)`, is in the tables too: M is right to first order, and positive while
deflections are small. At full fidelity the kernel then sums over points instead, which keeps M positive at any
deflection: `rows`, `turning`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bough.errors import ModelError, Problem
from bough.flex.points import ROTATION, TRANSLATION, Array, Points, freeze, require_shapes
from bough.flex.rows import Rows, point_rows
from bough.text.kinds import MAX_MODES

_EPS = np.zeros((3, 3, 3))
"""x~[i, j] = EPS[i, a, j] x[a]"""
for _i, _a, _j in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    _EPS[_i, _a, _j] = 1.0
    _EPS[_j, _a, _i] = -1.0


@dataclass(frozen=True, eq=False)
class ModalIntegrals:
    """The tables of one body about its attach node, in any axes and any modes; see the head of this file.

    Attributes:
        inertia: Mass, first moment, Jxx Jyy Jzz Jxy Jxz Jyz, (10,).
        F0: M^rf at zero deflection, rows angular then linear, (6, nm).
        Mff: M^ff at zero deflection, (nm, nm).
        N0: Centrifugal coefficients at zero deflection, (6, nm).
        N1: Their derivatives, (nm, 6, nm): N = N0 + sum_s xi_s N1[s].
        F1: Derivatives of the angular rows of M^rf, (nm, 3, nm).
        Z: Derivatives of M^ff, (nm, nm, nm).
        rotary: Whether the symmetric part of F1, or Z, is there at all.
    """

    inertia: Array
    F0: Array
    Mff: Array
    N0: Array
    N1: Array
    F1: Array
    Z: Array
    rotary: bool

    def __post_init__(self) -> None:
        """Freeze private copies of the arrays, and check that their sizes belong together."""
        freeze(self)
        n = self.nm
        sizes = {"inertia": (10,), "F0": (6, n), "Mff": (n, n), "N0": (6, n), "N1": (n, 6, n)}
        require_shapes(self, {**sizes, "F1": (n, 3, n), "Z": (n, n, n)})

    @property
    def nm(self) -> int:
        """Number of modes."""
        return int(self.F0.shape[1])

    def mass_rr(self) -> Array:
        """M^rr at zero deflection, (6, 6)."""
        return spatial_inertia(self.inertia)

    def transformed(self, axes: Array, basis: Array) -> ModalIntegrals:
        """The same body in axes with `x_old = axes @ x_new`, and modes `eta = basis @ xi`."""
        J = axes.T @ inertia_tensor(self.inertia) @ axes
        both = np.kron(np.eye(2), axes)
        mass = basis.T @ self.Mff @ basis
        return ModalIntegrals(
            packed_inertia(self.inertia[0], axes.T @ self.inertia[1:4], J),
            both.T @ self.F0 @ basis,
            0.5 * (mass + mass.T),
            _turned_quadratic(self.N0.T, axes).T @ basis,
            np.einsum("qir,qs,rt->sit", _turned_rows(self.N1, axes), basis, basis, optimize=True),
            _turned_vectors(self.F1, axes, basis),
            _in_basis(self.Z, basis),
            self.rotary,
        )

    def clamped(self, lam_d: Array, gam_d: Array) -> ModalIntegrals:
        """Modes less the attach node's rigid motion, eqs (6)-(8) of the JSC paper, at zero deflection.

        The tables of first order, which a body at zero deflection does not use, are zero.

        Args:
            lam_d: Modal rotation of the attach node, (3, nm).
            gam_d: Modal translation of the attach node, (3, nm).
        """
        S, M = np.vstack([lam_d, gam_d]), self.mass_rr()
        J, mp = inertia_tensor(self.inertia), self.inertia[1:4]
        turned = np.array([skew(t) @ J - J @ skew(t) for t in lam_d.T]).reshape(-1, 3, 3)
        shifted = np.array([2 * (mp @ t) * np.eye(3) - np.outer(mp, t) - np.outer(t, mp) for t in gam_d.T])
        mass = self.Mff - self.F0.T @ S - S.T @ self.F0 + S.T @ M @ S
        return replace(
            self,
            F0=self.F0 - M @ S,
            Mff=0.5 * (mass + mass.T),
            N0=self.N0 + 0.5 * quadratic(turned + shifted.reshape(-1, 3, 3)).T,
            N1=np.zeros_like(self.N1),
            F1=np.zeros_like(self.F1),
            Z=np.zeros_like(self.Z),
        )


@dataclass(frozen=True, eq=False)
class Stiffening:
    """What geometric stiffening adds to the tables; see the head of this file.

    Attributes:
        E1: Derivatives of the linear rows of M^rf, (nm, 3, nm).
        F1: Added to those of the angular rows, (nm, 3, nm).
        N1: Added to those of the centrifugal coefficients, (nm, 6, nm).
        node_bends: H of every named node, m, (nn, 3, nm, nm).
        Z: Added to the derivatives of M^ff, (nm, nm, nm); None where it is not known.
        rows: All translational inertia with the second-order motion of its points; None where that is not known.
    """

    E1: Array
    F1: Array
    N1: Array
    node_bends: Array
    Z: Array | None = None
    rows: Rows | None = None

    def __post_init__(self) -> None:
        """Freeze private copies of the arrays, and check that their sizes belong together."""
        freeze(self)
        n = self.E1.shape[0]
        sizes: dict[str, tuple[int, ...]] = {"E1": (n, 3, n), "F1": (n, 3, n), "N1": (n, 6, n)}
        require_shapes(self, sizes if self.Z is None else {**sizes, "Z": (n, n, n)})

    def transformed(self, axes: Array, basis: Array) -> Stiffening:
        """The same in axes with `x_old = axes @ x_new`, and modes `eta = basis @ xi`."""
        return Stiffening(
            _turned_vectors(self.E1, axes, basis),
            _turned_vectors(self.F1, axes, basis),
            np.einsum("qir,qs,rt->sit", _turned_rows(self.N1, axes), basis, basis, optimize=True),
            np.einsum("ia,nirs,rt,su->natu", axes, self.node_bends, basis, basis, optimize=True),
            None if self.Z is None else _in_basis(self.Z, basis),
            None if self.rows is None else self.rows.transformed(axes, basis),
        )


def skew(x: Array) -> Array:
    """Matrix of `x cross`, (3, 3)."""
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def inertia_tensor(inertia: Array) -> Array:
    """(3, 3) inertia from mass, first moment and inertia, (10,)."""
    xx, yy, zz, xy, xz, yz = inertia[4:]
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def packed_inertia(mass: float, first_moment: Array, J: Array) -> Array:
    """Mass, first moment, Jxx Jyy Jzz Jxy Jxz Jyz, (10,)."""
    return np.array([mass, *first_moment, J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]], dtype=np.float64)


def spatial_inertia(inertia: Array) -> Array:
    """(6, 6) spatial inertia from mass, first moment and inertia, (10,)."""
    m, mp = inertia[0], inertia[1:4]
    out = np.zeros((6, 6))
    out[:3, :3] = inertia_tensor(inertia)
    out[:3, 3:] = skew(mp)
    out[3:, :3] = -skew(mp)
    out[3:, 3:] = m * np.eye(3)
    return out


def clamp(positions: Array, lam: Array, gam: Array, lam_d: Array, gam_d: Array) -> tuple[Array, Array]:
    """Take the attach node's rigid motion off the shapes: eqs (6)-(8) of the JSC paper, to first order.

    Args:
        positions: From the attach node, m, (n, 3).
        lam: Modal rotations, (n, 3, nm).
        gam: Modal translations, (n, 3, nm).
        lam_d: Modal rotation of the attach node, (3, nm).
        gam_d: Modal translation of the attach node, (3, nm).
    """
    swept = np.cross(lam_d.T[None, :, :], positions[:, None, :]).transpose(0, 2, 1)
    return lam - lam_d, gam - gam_d - swept


def quadratic(S: Array) -> Array:
    """Coefficients of omega' S omega on w2 for symmetric matrices (..., 3, 3): (..., 6)."""
    d = [S[..., i, i] for i in range(3)]
    return np.stack([*d, 2 * S[..., 0, 1], 2 * S[..., 0, 2], 2 * S[..., 1, 2]], axis=-1)


def centrifugal(W: Array) -> Array:
    """Coefficients on w2 of gam.(omega x (omega x l)) from W = sum m gam l', (..., 3, 3): (..., 6)."""
    S = 0.5 * (W + np.swapaxes(W, -1, -2))
    trace = np.trace(S, axis1=-2, axis2=-1)[..., None, None]
    return quadratic(S - trace * np.eye(3))


def _turned_quadratic(rows: Array, axes: Array) -> Array:
    """Coefficients on w2, (..., 6), in axes with `x_old = axes @ x_new`."""
    c = np.asarray(rows)
    half = 0.5 * c
    S = np.stack(
        [
            np.stack([c[..., 0], half[..., 3], half[..., 4]], axis=-1),
            np.stack([half[..., 3], c[..., 1], half[..., 5]], axis=-1),
            np.stack([half[..., 4], half[..., 5], c[..., 2]], axis=-1),
        ],
        axis=-2,
    )
    return quadratic(axes.T @ S @ axes)


def _turned_rows(table: Array, axes: Array) -> Array:
    """N1, (nm, 6, nm), in other axes."""
    turned: Array = _turned_quadratic(table.transpose(0, 2, 1), axes).transpose(0, 2, 1)
    return turned


def _turned_vectors(table: Array, axes: Array, basis: Array) -> Array:
    """F1 or E1, (nm, 3, nm), in other axes and modes."""
    turned: Array = np.einsum("ia,qir,qs,rt->sat", axes, table, basis, basis, optimize=True)
    return turned


def _in_basis(Z: Array, basis: Array) -> Array:
    """Z, (nm, nm, nm), in other modes."""
    turned: Array = np.einsum("qrs,qa,rb,sc->abc", Z, basis, basis, basis, optimize=True)
    return turned


def modal_integrals(points: Points, origin: Array) -> ModalIntegrals:
    """Sum the integrals over the inertia points, about the attach node at `origin`, m, (3,)."""
    m, l0, J = points.masses, points.positions - origin, points.inertias
    lam, gam = points.shapes[:, ROTATION], points.shapes[:, TRANSLATION]
    nm = lam.shape[2]
    if nm > MAX_MODES:
        cure = "lower modes.count or modes.max_frequency: tables hold the cube of the number of modes"
        raise ModelError(Problem("", None, "modes", f"at most {MAX_MODES} modes", f"{nm} modes", cure))
    total = np.einsum("p,pi,pj->ij", m, l0, l0)
    J0 = np.trace(total) * np.eye(3) - total + J.sum(axis=0)
    Jlam = np.einsum("pij,pjr->pir", J, lam)
    F0 = np.zeros((6, nm))
    F0[:3] = np.einsum("p,pir->ir", m, np.cross(l0[:, :, None], gam, axis=1)) + Jlam.sum(axis=0)
    F0[3:] = np.einsum("p,pir->ir", m, gam)

    lam_cross = np.einsum("iaj,par->prij", _EPS, lam)
    first = np.einsum("prij,pjk->rik", lam_cross, J) - np.einsum("pij,prjk->rik", J, lam_cross)  # J turned by a mode
    N0 = centrifugal(np.einsum("p,pir,pj->rij", m, gam, l0)) - 0.5 * quadratic(first)
    N1 = centrifugal(np.einsum("p,pir,pjs->srij", m, gam, gam, optimize=True))

    both = np.cross(lam[:, :, :, None], lam[:, :, None, :], axis=1)  # lam_s x lam_r, (p, 3, s, r)
    F1 = np.einsum("p,pisr->sir", m, np.cross(gam[:, :, :, None], gam[:, :, None, :], axis=1))
    rotary_F1 = np.cross(lam[:, :, :, None], Jlam[:, :, None, :], axis=1).sum(axis=0)
    rotary_F1 -= 0.5 * np.einsum("pij,pjsr->isr", J, both)
    F1 = F1 + rotary_F1.transpose(1, 0, 2)
    half = 0.5 * np.einsum("pirq,pis->qrs", both, Jlam, optimize=True)  # (lam_r x lam_q).J lam_s
    Z = half + half.transpose(0, 2, 1)

    scale = np.einsum("pir,pij,pjr->r", abs(lam), abs(J), abs(lam)).max(initial=0.0) * abs(lam).max(initial=0.0)
    symmetric = abs(F1 + F1.transpose(2, 1, 0)).max(initial=0.0)
    rotary = bool(max(symmetric * abs(lam).max(initial=0.0), abs(Z).max(initial=0.0)) > 1e-13 * scale > 0.0)
    inertia = packed_inertia(float(m.sum()), m @ l0, J0)
    return ModalIntegrals(inertia, F0, points.modal_mass, N0.T, N1.transpose(0, 2, 1), F1, Z, rotary)


def stiffening(points: Points, origin: Array, bends: Array, node_bends: Array) -> Stiffening:
    """Sum the tables of geometric stiffening over the inertia points.

    Args:
        points: Inertia points.
        origin: Position of the attach node, m, (3,).
        bends: H of the points, (np, 3, nm, nm), symmetric in the modes.
        node_bends: H of the named nodes, (nn, 3, nm, nm).
    """
    m, l0 = points.masses, points.positions - origin
    E1 = np.einsum("p,pirs->sir", m, bends)
    F1 = np.einsum("p,iaj,pa,pjrs->sir", m, _EPS, l0, bends, optimize=True)
    N1 = centrifugal(np.einsum("p,pirs,pj->srij", m, bends, l0, optimize=True))
    half = np.einsum("p,pir,pisq->qrs", m, points.shapes[:, TRANSLATION], bends, optimize=True)
    rows = point_rows(m, l0, points.shapes[:, TRANSLATION], bends)
    return Stiffening(E1, F1, N1.transpose(0, 2, 1), node_bends, half + half.transpose(0, 2, 1), rows)


def with_offsets(integrals: ModalIntegrals, points: Points, offsets: Rows) -> ModalIntegrals:
    """The tables with rotary inertias as points beside the points, `offset_rows`: positive at any deflection."""
    gam, G, m = points.shapes[:, TRANSLATION], offsets.G, points.masses
    N1 = centrifugal(np.einsum("p,pir,pjs->srij", m, gam, gam, optimize=True) + np.einsum("pir,pjs->srij", G, G))
    F1 = np.einsum("p,pisr->sir", m, np.cross(gam[:, :, :, None], gam[:, :, None, :], axis=1))
    F1 = F1 + np.cross(G[:, :, :, None], G[:, :, None, :], axis=1).sum(axis=0).transpose(1, 0, 2)
    return replace(integrals, N1=N1.transpose(0, 2, 1), F1=F1, Z=np.zeros_like(integrals.Z), rotary=False)


def kernel_basis(mass: Array, stiffness: Array) -> tuple[Array, Array] | None:
    """Modes that are mass-orthonormal and do not couple by stiffness: `eta = T xi`.

    Returns:
        T and the modal stiffnesses in xi; T is the identity to the last bit where the modes are so already.
        None if the modal mass is singular: the modes depend on each other, or one moves nothing.
    """
    nm = mass.shape[0]
    diagonal = np.diag(stiffness)
    off = abs(stiffness - np.diag(diagonal)).max(initial=0.0)
    if abs(mass - np.eye(nm)).max(initial=0.0) < 1e-12 and off <= 1e-13 * abs(diagonal).max(initial=0.0):
        return np.eye(nm), diagonal.copy()
    size = np.sqrt(np.diag(mass))
    if np.any(size == 0.0) or np.linalg.eigvalsh(mass / np.outer(size, size)).min() < 1e-12:
        return None
    lower = np.linalg.cholesky(mass / np.outer(size, size))
    inner = np.linalg.solve(lower, np.linalg.solve(lower, stiffness / np.outer(size, size)).T)
    values, vectors = np.linalg.eigh(0.5 * (inner + inner.T))
    T = np.linalg.solve(lower.T, vectors) / size[:, None]
    return T, np.maximum(values, 0.0)
