"""SID_FEM files: Wallrapp's Standard Input Data of a flexible body, from and to a FlexBody.

O. Wallrapp, Standardization of flexible body modeling in multibody system codes, Part I, Mech. Struct. & Mach. 22
(1994) 283-304; R. Schwertassek, O. Wallrapp, Dynamik flexibler Mehrkoerpersysteme, Vieweg 1999, table 6.9. The text
of a file is told in `sid_text`.

A point moves by l = l0 + phi q + 1/2 q' H q in the body reference frame (H: geometric stiffening), a node turns by
psi q. With a, alpha and omega of the frame, in its axes, a SID body obeys

    m a     + mdCM~' alpha + Ct' qdd + 2 omega x Ct' qd + omega x (omega x mdCM) = f
    mdCM~ a + J alpha      + Cr' qdd + Gr(qd) omega     + omega x J omega        = t
    Ct a    + Cr alpha     + Me qdd  + Ge(qd) omega     + Oe w2                  = h - Ke q - De qd
    w2 = (xx, yy, zz, xy, yz, xz) of omega       Gr(qd) = sum of Gr_l qd_l, Ge(qd) likewise

This follows from T = 1/2 (m v^2 + omega' J omega + qd' Me qd) + v.Ct' qd + omega.Cr' qd + v.(omega x mdCM). Our
tables (`integrals`) are coefficients of the same T, so one set gives the other term by term; k is a row, l the mode of
a first-order term, E and F the linear and angular rows of F0:

    mdCM  M0 = sum m l0                    M1[:, l] = E[:, l]
    J     M0 = J0                          M1[:, l]: -1/2 omega' J1_l omega = N0_l.w2, so xx: -2 N0, xy: -N0
    Ct    M0[k] = E[:, k]                  M1[k, l] = E1[l][:, k]      stiffening alone
    Cr    M0[k] = F[:, k]                  M1[k, l] = F1[l][:, k]      + stiffening
    Me    M0 = Mff                         M1[k, l, :] = Z[l][k, :]    rotary inertia of nodes alone
    Oe    M0[k] = N0[:, k]                 M1[k, l] = N1[l][:, k]      + stiffening; xz and yz change places
    Gr_l  = dJ/dq_l - Cr_l~                from d/dt (J omega + Cr' qd) + omega x Cr' qd
    Ge_l  [k] = F1[l][:, k] - F1[k][:, l]  from d/dt (Cr omega) - d/dq (omega.Cr' qd)
    node: origin M0 = l0, M1 = phi M0; phi M1[:, l, k] = H_kl; psi M0; AP M0 = 1, M1[:, l] = psi_l~

Columns of Gr and Ge count modes fastest, component c of mode l in column c nq + l, as files of the DLR FlexibleBodies
library do. They are not read: J and Cr have all that is in them, and programs disagree about their order. Second order
of J, which the standard drops, is taken from M1 of Oe. M1 of Me and the symmetric part of M1 of Cr bring forces
quadratic in qd, for which SID has no table; bough derives them from T.

Frame written: the body's own axes and origin. Frame read: the file's body reference frame becomes the body frame. Ours
are tables about the attach node; `about` shifts them.

Stiffening is in Oe, Cr and Me as a sum. So that it can be taken off again, bough writes its part once more in the
blocks CrGeo, OeGeo and MeGeo, behind De. From other files, told by M1 of Ct or phi, the symmetric part of M1 of Cr is
stiffening, and M1 of Oe is kept whole: its centrifugal stiffening acts whether or not the model asks for it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bough.errors import ModelError, Problem
from bough.files import TEXT_BYTES, open_file, write_text
from bough.flex.body import ROTATION, TRANSLATION, FlexBody
from bough.flex.integrals import ModalIntegrals, Stiffening, centrifugal, packed_inertia, skew
from bough.flex.points import Array
from bough.flex.sid.consistency import check
from bough.flex.sid.layout import sid_text
from bough.flex.sid.sid_text import Reader
from bough.flex.sid.tables import FULL, SYMMETRIC, UNIT, Sid, SidNode, Taylor, tables

W2 = [0, 1, 2, 3, 5, 4]
"""Places of our products of omega, (xx yy zz xy xz yz), in SID's, (xx yy zz xy yz xz), and the other way round."""


def load_sid(path: str | os.PathLike[str]) -> Sid:
    """The tables of a file, checked.

    Raises:
        ModelError: It cannot be read, is cut off, or its tables contradict each other.
    """
    name = os.fspath(path)
    try:
        with open_file(path, most=TEXT_BYTES) as stream:
            text = stream.read().decode("utf-8", "replace")
    except OSError as error:
        cure = "check the name and the permissions"
        raise ModelError(Problem(name, None, "", "a file that can be read", error.strerror or "", cure)) from None
    sid = tables(Reader(text, name).read())
    check(sid)
    return sid


def read_sid(
    path: str | os.PathLike[str],
    nodes: Mapping[str, int] | None = None,
    attach: str | None = None,
    count: int | None = None,
) -> FlexBody:
    """The body of a file.

    Args:
        path: The file.
        nodes: Names of the body's nodes and their numbers in the file; None for all of them, named n<number>.
        attach: The node that carries the body's hinge; None for the one nearest to the origin among those that no mode
            moves, or among all if every one moves.
        count: How many modes to keep, the first ones; None for all.

    Raises:
        ModelError: The file is wrong, or there is no such node or no such number of modes.
    """
    sid = load_sid(path)
    body = sid_body(sid, nodes, attach)
    return body if count is None else truncated(body, np.arange(_count(sid, count), dtype=np.intp))


def write_sid(
    body: FlexBody, path: str | os.PathLike[str], stiffening: bool = True, comment: str = "written by bough"
) -> dict[str, int]:
    """Write a body; the frame is the body's own.

    Args:
        body: The body.
        path: The file.
        stiffening: Whether to include geometric stiffening, if the body has it.
        comment: For the first line.

    Returns:
        The number of each node in the file, by name.

    Raises:
        OutputError: The file cannot be written.
    """
    kept = body if stiffening else replace(body, stiffening=None)
    text = sid_text(body_sid(kept), " ".join(comment.split()))
    write_text(path, text, stream=True)
    return {name: i for i, name in enumerate(body.node_names, 1)}


def about(tables: ModalIntegrals, extra: Stiffening | None, r: Array) -> tuple[ModalIntegrals, Stiffening | None]:
    """The tables about a point at r, m, (3,), from the one they are about."""
    m, mp = tables.inertia[0], tables.inertia[1:4]
    xx, yy, zz, xy, xz, yz = tables.inertia[4:]
    J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    J = J - (2 * (mp @ r) * np.eye(3) - np.outer(mp, r) - np.outer(r, mp)) + m * (r @ r * np.eye(3) - np.outer(r, r))
    F0 = tables.F0.copy()
    F0[:3] -= np.cross(r, F0[3:], axis=0) if tables.nm else 0.0
    N0 = tables.N0 - centrifugal(np.einsum("ir,j->rij", tables.F0[3:], r)).T
    moved = replace(tables, inertia=packed_inertia(m, mp - m * r, J), F0=F0, N0=N0)
    if extra is None:
        return moved, None
    F1 = extra.F1 - np.einsum("ij,sjr->sir", skew(r), extra.E1)
    N1 = extra.N1 - centrifugal(np.einsum("sir,j->srij", extra.E1, r)).transpose(0, 2, 1)
    return moved, replace(extra, F1=F1, N1=N1)


# ---- from the file


def sid_body(sid: Sid, nodes: Mapping[str, int] | None = None, attach: str | None = None) -> FlexBody:
    """The body of the tables; arguments as in `read_sid`."""
    numbers = [node.number for node in sid.nodes]
    chosen = {f"n{i}": i for i in numbers} if nodes is None else dict(nodes)
    for name, i in chosen.items():
        if i not in numbers:
            raise _no_node(sid, name, i, numbers)
    picked = [sid.nodes[numbers.index(i)] for i in chosen.values()]
    names = tuple(chosen)
    positions = np.array([node.origin.M0[:, 0] for node in picked])
    shapes = np.array([np.vstack([node.psi.M0, node.phi.M0]) for node in picked])
    if attach is None:
        moves = abs(shapes).max(axis=(1, 2), initial=0.0)
        still = moves <= 1e-9 * moves.max(initial=0.0)
        attach = names[int(np.argmin(np.where(still | ~still.any(), np.linalg.norm(positions, axis=1), np.inf)))]
    integrals, extra = _integrals(sid, picked)
    seat = names.index(attach)
    integrals, extra = about(integrals, extra, positions[seat])
    stiffness, mass = _symmetric(sid.blocks["ke"].M0), np.diag(integrals.Mff)
    damping = sid.blocks["de"].M0 if "de" in sid.blocks else np.zeros((sid.nm, sid.nm))
    return FlexBody(
        integrals=integrals,
        node_names=names,
        node_positions=positions,
        node_shapes=shapes,
        attach=seat,
        stiffness=stiffness,
        damping=_symmetric(damping),
        frequencies=np.sqrt(np.maximum(np.diag(stiffness), 0.0) / mass),
        mode_names=tuple(_mode_name(label, i) for i, label in enumerate(sid.labels, 1)),
        stiffening=extra,
    )


def _integrals(sid: Sid, nodes: list[SidNode]) -> tuple[ModalIntegrals, Stiffening | None]:
    """Integrals about the origin of the body reference frame, and stiffening if the file has it."""
    blocks, n = sid.blocks, sid.nm
    J, Ct, Cr, Me = (blocks[name] for name in ("j", "ct", "cr", "me"))
    xx, yy, zz, xy, xz, yz = J.M0[:, 0]
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    N0, N1 = np.zeros((6, n)), np.zeros((n, 6, n))
    if "oe" in blocks:
        order = oe_order(sid)
        N0 = blocks["oe"].M0[:, order].T
        N1 = blocks["oe"].M1[:, :, order].transpose(1, 2, 0)
    else:
        N0 = np.array([-0.5, -0.5, -0.5, -1.0, -1.0, -1.0])[:, None] * J.M1[:, :, 0]
    F1, extra = Cr.M1.transpose(1, 2, 0), None
    if sid.geometric or np.any(Ct.M1) or any(np.any(node.phi.M1) for node in nodes) or "oegeo" in blocks:
        if "oegeo" in blocks and "crgeo" in blocks:
            added_F1 = blocks["crgeo"].M1.transpose(1, 2, 0)
            added_N1 = _mirrored(blocks["oegeo"].M1[:, :, W2].transpose(1, 2, 0))
            N1 = N1 - added_N1
        else:
            added_F1, added_N1 = _mirrored(F1), np.zeros((n, 6, n))
        F1 = F1 - added_F1
        E1 = Ct.M1.transpose(1, 2, 0)
        bends = np.array([_symmetric_modes(node.phi.M1) for node in nodes]).reshape(-1, 3, n, n)
        share = _symmetric_rows(blocks["megeo"].M1.transpose(1, 0, 2)) if "megeo" in blocks else None
        extra = Stiffening(_mirrored(E1), added_F1, added_N1, bends, share)
    Z = _symmetric_rows(Me.M1.transpose(1, 0, 2))
    if extra is not None and extra.Z is not None:
        Z = Z - extra.Z
    even = abs(F1 + F1.transpose(2, 1, 0)).max(initial=0.0)
    rotary = bool(np.any(Z) or even > 1e-13 * abs(F1).max(initial=0.0))
    integrals = ModalIntegrals(
        inertia=packed_inertia(sid.mass, blocks["mdcm"].M0[:, 0], tensor),
        F0=np.vstack([Cr.M0.T, Ct.M0.T]),
        Mff=_symmetric(Me.M0),
        N0=N0,
        # Some programs put both products of a pair into one of its entries.
        N1=_mirrored(N1),
        F1=F1,
        Z=Z,
        rotary=rotary,
    )
    return integrals, extra


def oe_order(sid: Sid) -> list[int]:
    """Columns of Oe in our order: SID's, or ours if only that agrees with J, as some programs write it."""
    J1, Oe = sid.blocks["j"].M1[:, :, 0], sid.blocks["oe"].M0
    if not np.any(J1):
        return W2
    wrong = [abs(J1[3:] + Oe[:, order].T[3:]).max(initial=0.0) for order in (W2, list(range(6)))]
    return list(range(6)) if wrong[1] < 1e-3 * wrong[0] else W2


def _symmetric(matrix: Array) -> Array:
    half: Array = 0.5 * (matrix + matrix.T)
    return half


def _symmetric_rows(Z: Array) -> Array:
    half: Array = 0.5 * (Z + Z.transpose(0, 2, 1))
    return half


def _symmetric_modes(bends: Array) -> Array:
    half: Array = 0.5 * (bends + bends.transpose(0, 2, 1))
    return half


def _mirrored(first: Array) -> Array:
    """The part of a derivative (mode, row, mode) that is symmetric in its modes."""
    half: Array = 0.5 * (first + first.transpose(2, 1, 0))
    return half


def _mode_name(label: str, i: int) -> str:
    """What follows the frequency, as bough writes it, else what stands before it."""
    head, hertz, tail = (label + " ").partition(" Hz ")
    name = tail.strip() or head.partition(":")[0] if hertz else label
    return " ".join(name.split()) or f"mode {i}"


def truncated(body: FlexBody, keep: NDArray[np.intp]) -> FlexBody:
    """The body with some of its modes, by index."""
    k = keep
    i, extra = body.integrals, body.stiffening
    square = np.ix_(k, k)
    integrals = ModalIntegrals(
        i.inertia,
        i.F0[:, k],
        i.Mff[square],
        i.N0[:, k],
        i.N1[k][:, :, k],
        i.F1[k][:, :, k],
        i.Z[np.ix_(k, k, k)],
        i.rotary,
    )
    if extra is not None:
        bends = extra.node_bends[:, :, k][:, :, :, k]
        Z = None if extra.Z is None else extra.Z[np.ix_(k, k, k)]
        extra = Stiffening(extra.E1[k][:, :, k], extra.F1[k][:, :, k], extra.N1[k][:, :, k], bends, Z)
    return replace(
        body,
        integrals=integrals,
        node_shapes=body.node_shapes[:, :, k],
        stiffness=body.stiffness[square],
        damping=body.damping[square],
        frequencies=body.frequencies[k],
        mode_names=tuple(body.mode_names[j] for j in k) if body.mode_names else (),
        stiffening=extra,
        points=None,
    )


def _count(sid: Sid, count: int) -> int:
    if count <= sid.nm:
        return count
    expected = f"at most {sid.nm} modes, as the file has"
    raise ModelError(Problem(sid.file, None, "modes.count", expected, str(count), "ask for fewer modes"))


def _no_node(sid: Sid, name: str, number: int, known: list[int]) -> ModelError:
    shown = ", ".join(str(i) for i in known[:20]) + (", ..." if len(known) > 20 else "")
    expected = f"one of the file's {len(known)} nodes: {shown}"
    found = f"node {number}"
    return ModelError(Problem(sid.file, None, f"node {name!r}", expected, found, "correct the node's number"))


# ---- to the file


def body_sid(body: FlexBody) -> Sid:
    """The tables of a body in its own frame."""
    i, extra = about(body.integrals, body.stiffening, -body.node_positions[body.attach])
    n = body.nm
    E1, F1, N1, Z = np.zeros((n, 3, n)), i.F1, i.N1, i.Z
    if extra is not None:
        E1, F1, N1 = extra.E1, F1 + extra.F1, N1 + extra.N1
        Z = Z if extra.Z is None else Z + extra.Z
    J1 = np.array([-2.0, -2.0, -2.0, -1.0, -1.0, -1.0])[:, None] * i.N0
    # dJ/dq_l - Cr_l~ and its derivatives by q_s, as coefficients on (xx yy zz xy xz yz).
    Gr0 = np.array([_tensor(-2 * i.N0[:, k]) - skew(i.F0[:3, k]) for k in range(n)]).reshape(n, 3, 3)
    Gr1 = np.array([[_tensor(-2 * N1[s][:, k]) - skew(F1[s][:, k]) for k in range(n)] for s in range(n)]).reshape(
        n, n, 3, 3
    )
    Ge0 = (F1 - F1.transpose(2, 1, 0)).transpose(2, 1, 0)
    blocks = {
        "mdcm": _taylor(i.inertia[1:4, None], i.F0[3:, :, None]),
        "j": _taylor(i.inertia[4:, None], J1[:, :, None]),
        "ct": _taylor(i.F0[3:].T, E1.transpose(2, 0, 1), order=int(extra is not None)),
        "cr": _taylor(i.F0[:3].T, F1.transpose(2, 0, 1)),
        "me": _taylor(i.Mff, Z.transpose(1, 0, 2), structure=_shape(i.Mff), order=int(np.any(Z))),
        "gr": _taylor(Gr0.transpose(1, 2, 0).reshape(3, 3 * n), Gr1.transpose(2, 0, 3, 1).reshape(3, n, 3 * n)),
        "ge": _taylor(Ge0.reshape(n, 3 * n), np.zeros((n, n, 3 * n)), order=0),
        "oe": _taylor(i.N0[W2].T, N1[:, W2].transpose(2, 0, 1)),
        "ksigma": _taylor(np.zeros((n, 1)), np.zeros((n, n, 1)), order=0),
        "ke": _taylor(body.stiffness, np.zeros((n, n, n)), structure=SYMMETRIC, order=0),
        "de": _taylor(body.damping, np.zeros((n, n, n)), structure=SYMMETRIC, order=0),
    }
    if extra is not None:
        blocks["crgeo"] = _taylor(np.zeros((n, 3)), extra.F1.transpose(2, 0, 1))
        blocks["oegeo"] = _taylor(np.zeros((n, 6)), extra.N1[:, W2].transpose(2, 0, 1))
        if extra.Z is not None:
            blocks["megeo"] = _taylor(np.zeros((n, n)), extra.Z.transpose(1, 0, 2))
    return Sid(
        file="",
        mass=body.mass,
        labels=tuple(_label(body, k) for k in range(n)),
        nodes=tuple(_node(body, j) for j in range(body.nn)),
        blocks=blocks,
        geometric=extra is not None,
    )


def _node(body: FlexBody, j: int) -> SidNode:
    n = body.nm
    psi, phi = body.node_shapes[j, ROTATION], body.node_shapes[j, TRANSLATION]
    turned = np.array([skew(psi[:, k]) for k in range(n)]).reshape(n, 3, 3)
    bends = np.zeros((3, n, n))
    if body.stiffening is not None:
        bends = body.stiffening.node_bends[j].transpose(0, 2, 1)
    moved = bool(np.any(turned))
    return SidNode(
        number=j + 1,
        origin=_taylor(body.node_positions[j][:, None], phi[:, :, None]),
        phi=_taylor(phi, bends, order=int(np.any(bends))),
        psi=_taylor(psi, np.zeros((3, n, n)), order=0),
        AP=_taylor(np.eye(3), turned.transpose(1, 0, 2), structure=FULL if moved else UNIT),
    )


def _taylor(M0: Array, M1: Array, structure: int = FULL, order: int = 1) -> Taylor:
    return Taylor(np.asarray(M0, dtype=np.float64), np.asarray(M1, dtype=np.float64), order, structure)


def _shape(mass: Array) -> int:
    return UNIT if np.array_equal(mass, np.eye(len(mass))) else SYMMETRIC


def _tensor(c: Array) -> Array:
    """Symmetric matrix S with omega' S omega = c.w2."""
    return np.array([[c[0], 0.5 * c[3], 0.5 * c[4]], [0.5 * c[3], c[1], 0.5 * c[5]], [0.5 * c[4], 0.5 * c[5], c[2]]])


def _label(body: FlexBody, k: int) -> str:
    omega = body.frequencies[k]
    hertz = float(omega) / (2 * np.pi) if np.isfinite(omega) else 0.0
    name = body.mode_names[k] if body.mode_names else ""
    return f"Eigen Mode {k + 1:4d} :{hertz:13.3f} Hz {name}".rstrip()
