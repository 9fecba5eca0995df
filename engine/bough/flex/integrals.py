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
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bough.flex.body import ROTATION, TRANSLATION, Array, FlexBody

_EPS = np.zeros((3, 3, 3))
"""x~[i, j] = EPS[i, a, j] x[a]"""
for _i, _a, _j in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    _EPS[_i, _a, _j] = 1.0
    _EPS[_j, _a, _i] = -1.0


@dataclass(frozen=True, eq=False)
class Shapes:
    """Inertia points of a body, about its attach node, in any axes: what the integrals sum over.

    Attributes:
        l0: Positions, m, (np, 3).
        m: Masses, kg, (np,).
        J: Rotary inertias, kg.m^2, (np, 3, 3).
        lam: Modal rotations, (np, 3, nm).
        gam: Modal translations, (np, 3, nm).
    """

    l0: Array
    m: Array
    J: Array
    lam: Array
    gam: Array

    def modal_mass(self) -> Array:
        """M_ff at zero deflection, (nm, nm)."""
        mass: Array = np.einsum("p,pir,pis->rs", self.m, self.gam, self.gam, optimize=True)
        mass += np.einsum("pir,pij,pjs->rs", self.lam, self.J, self.lam, optimize=True)
        symmetric: Array = 0.5 * (mass + mass.T)
        return symmetric

    def transformed(self, axes: Array, basis: Array) -> Shapes:
        """The same points in axes with `x_old = axes @ x_new`, and modes `eta = basis @ xi`."""
        return Shapes(
            self.l0 @ axes,
            self.m,
            np.einsum("ia,pij,jb->pab", axes, self.J, axes),
            np.einsum("ia,pir,rs->pas", axes, self.lam, basis),
            np.einsum("ia,pir,rs->pas", axes, self.gam, basis),
        )


@dataclass(frozen=True, eq=False)
class ModalIntegrals:
    """The tables of one body; see the head of this file.

    Attributes:
        inertia: Mass, first moment, Jxx Jyy Jzz Jxy Jxz Jyz about the attach node, (10,).
        F0: M^rf at zero deflection, rows angular then linear, (6, nm).
        N0: Centrifugal coefficients at zero deflection, (6, nm).
        N1: Their derivatives, (nm, 6, nm): N = N0 + sum_s xi_s N1[s].
        F1: Derivatives of the angular rows of M^rf, (nm, 3, nm).
        Z: Derivatives of M^ff, (nm, nm, nm).
        rotary: Whether the symmetric part of F1, or Z, is there at all.
    """

    inertia: Array
    F0: Array
    N0: Array
    N1: Array
    F1: Array
    Z: Array
    rotary: bool

    @property
    def G1(self) -> Array:
        """Coriolis: b_eta(r) += omega . sum_s G1[s][:, r] xidot_s, (nm, 3, nm)."""
        coriolis: Array = self.F1 - self.F1.transpose(2, 1, 0)
        return coriolis

    def mass_rr(self) -> Array:
        """M^rr at zero deflection, (6, 6)."""
        return spatial_inertia(self.inertia)


def skew(x: Array) -> Array:
    """Matrix of `x cross`, (3, 3)."""
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def spatial_inertia(inertia: Array) -> Array:
    """(6, 6) spatial inertia from mass, first moment and inertia, (10,)."""
    m, mp, (xx, yy, zz, xy, xz, yz) = inertia[0], inertia[1:4], inertia[4:]
    out = np.zeros((6, 6))
    out[:3, :3] = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
    out[:3, 3:] = skew(mp)
    out[3:, :3] = -skew(mp)
    out[3:, 3:] = m * np.eye(3)
    return out


def shapes_at_attach(flex: FlexBody) -> Shapes:
    """Inertia points of a body, positions from its attach node."""
    origin = flex.node_positions[flex.attach]
    return Shapes(
        flex.positions - origin,
        flex.masses,
        flex.inertias,
        flex.shapes[:, ROTATION],
        flex.shapes[:, TRANSLATION],
    )


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


def modal_integrals(s: Shapes) -> ModalIntegrals:
    """Sum the integrals over the inertia points."""
    m, l0, J, lam, gam = s.m, s.l0, s.J, s.lam, s.gam
    nm = lam.shape[2]
    total = np.einsum("p,pi,pj->ij", m, l0, l0)
    J0 = np.trace(total) * np.eye(3) - total + J.sum(axis=0)
    inertia = np.array(
        [m.sum(), *(m @ l0), J0[0, 0], J0[1, 1], J0[2, 2], J0[0, 1], J0[0, 2], J0[1, 2]], dtype=np.float64
    )
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
    return ModalIntegrals(inertia, F0, N0.T.copy(), N1.transpose(0, 2, 1).copy(), F1, Z, rotary)


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
