"""The modal integrals of Appendix C of US patent 5,546,508 under their own names.

The engine keeps the same content in another arrangement (integrals.py); this is for comparing with other programs and
with the text. Points have their mass centre in themselves, p(j) = 0, so `W1`, `L`, `S2`, `K2` and `R3`, which are sums
over p, are zero and left out. With l the position from the frame, J the inertia of a point about itself, x~ the cross
product matrix:

    m, p0 = sum m l / m, p1(r) = sum m gam_r / m, E(r) = sum m gam_r
    F0(r) = sum J lam_r + m l x gam_r        F1(r, s) = sum m gam_r x gam_s
    G(r, s) = sum lam_r.J lam_s + m gam_r.gam_s
    J0 = sum J - m l~ l~        J1(r) = -sum m gam_r~ l~        J2(r, s) = -sum m gam_r~ gam_s~
    S1(r) = -sum J lam_r~       K1(r) = sum lam_r~ J - J lam_r~
    R1(r) = sum J lam_r         R2(r, s) = W2(r, s) = sum lam_r~ J lam_s

M_m of (86) follows with `F(r) = F0(r) + sum_s F1(s, r) eta_s` (the print has F1(r, s), which is its negative) and
`J = J0 + sum_r (J1(r) + J1(r)') eta_r + sum_rs J2(r, s) eta_r eta_s`. At zero deflection the gyroscopic forces are

    torque     omega x J0 omega + sum_r etadot_r (K1(r) - R1(r)~ + 2 J1(r)') omega + sum_rs etadot_r etadot_s W2(r, s)
    mode r     -omega'(S1(r) + J1(r)) omega + ...
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np

from bough.errors import ArgumentError, SimulationError
from bough.files import binary_file, write_text
from bough.flex.body import FlexBody
from bough.flex.points import ROTATION, TRANSLATION, Array

ENDINGS = (".json", ".npz")


def appendix_c(body: FlexBody) -> dict[str, Array]:
    """Modal integrals by their names, about the undeformed attach node, in the user's body axes and modes.

    Indices of modes come first: J1 is (nm, 3, 3), F1 is (nm, nm, 3).

    Raises:
        SimulationError: The body was not given by points: its integrals came in another arrangement.
    """
    points = body.points
    if points is None:
        raise SimulationError(
            "the integrals of Appendix C need masses at points, which this body came without: use --sid"
        )
    m, J = points.masses, points.inertias
    at = points.positions - body.node_positions[body.attach]
    lam, gam = points.shapes[:, ROTATION].transpose(0, 2, 1), points.shapes[:, TRANSLATION].transpose(0, 2, 1)
    cross_l, cross_lam, cross_gam = _cross(at), _cross(lam), _cross(gam)
    total = m.sum()
    E = np.einsum("p,pri->ri", m, gam)
    spin = np.einsum("pij,prj->pri", J, lam)
    W2 = np.einsum("prij,psj->rsi", cross_lam, spin)
    S1 = -np.einsum("pij,prjk->rik", J, cross_lam)
    return {
        "m": np.asarray(total),
        "p0": m @ at / total,
        "p1": E / total,
        "E": E,
        "F0": spin.sum(axis=0) + np.einsum("p,pij,prj->ri", m, cross_l, gam),
        "F1": np.einsum("p,prij,psj->rsi", m, cross_gam, gam),
        "G": np.einsum("pri,psi->rs", lam, spin) + np.einsum("p,pri,psi->rs", m, gam, gam),
        "J0": J.sum(axis=0) - np.einsum("p,pij,pjk->ik", m, cross_l, cross_l),
        "J1": -np.einsum("p,prij,pjk->rik", m, cross_gam, cross_l),
        "J2": -np.einsum("p,prij,psjk->rsik", m, cross_gam, cross_gam),
        "S1": S1,
        "K1": S1 + np.einsum("prij,pjk->rik", cross_lam, J),
        "R1": spin.sum(axis=0),
        "R2": W2,
        "W2": W2,
    }


def _cross(v: Array) -> Array:
    out = np.zeros((*v.shape[:-1], 3, 3))
    out[..., 2, 1], out[..., 0, 2], out[..., 1, 0] = v[..., 0], v[..., 1], v[..., 2]
    return out - np.swapaxes(out, -1, -2)


def check_ending(path: str | os.PathLike[str]) -> None:
    """Refuse a file that integrals cannot be written to.

    Raises:
        ArgumentError: It ends in something else than .json or .npz.
    """
    if Path(path).suffix.lower() not in ENDINGS:
        raise ArgumentError(f"{os.fspath(path)}: expected a name that ends in {' or '.join(ENDINGS)}")


def write_integrals(body: FlexBody, path: str | os.PathLike[str]) -> None:
    """Write the integrals as .json or .npz, by name."""
    check_ending(path)
    found = appendix_c(body)
    if Path(path).suffix.lower() == ".json":
        write_text(path, json.dumps({name: a.tolist() for name, a in found.items()}, indent=1) + "\n")
        return
    with binary_file(path) as file:
        np.savez(file, **found)  # type: ignore[arg-type]
