"""The model block: a model as one pointer-free, versioned run of numbers that the C kernel reads.

`engine/kernel/src/model_block.c` says the layout.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

from bough.mechanism.bodies import PORT_ROTATION, Array, BodyData, NodeData, TwoPort, body_data, two_port
from bough.mechanism.constraint_block import Closure, constraint_ints, constraint_reals
from bough.mechanism.drive_block import drive_ints, drive_reals
from bough.mechanism.element_block import Element, element_ints, element_reals, element_rows
from bough.mechanism.limits import Limits, body_limits
from bough.mechanism.point_block import point_block
from bough.mechanism.slack import check_slack
from bough.model import Body, Model
from bough.model.hinges import HINGES
from bough.model.tree import GROUND, MODAL

VERSION = 8


@dataclass(frozen=True, eq=False)
class Block:
    """A model block and what Python needs to know of it.

    Attributes:
        data: The bytes.
        bodies: Each body as the kernel sees it.
        nodes: Number of every node that the kernel knows, by `body.node` as users call it.
        loads: `body.node` of the nodes that take loads, in the kernel's order; then what elements take, by the names of
            `element_rows`.
        limits: Where the theory of each flexible body ends; None of rigid ones.
    """

    data: bytes
    bodies: tuple[BodyData, ...]
    nodes: dict[str, int]
    loads: tuple[str, ...]
    limits: tuple[Limits | None, ...]


@dataclass(frozen=True, eq=False)
class _Place:
    """A body in the tree: its parent, the node that carries it, and its port there (axes Q, offset r)."""

    parent: int
    node: int
    Q: Array
    r: Array
    children: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class _Tables:
    """Arrays that the kernel reads in this order, and what decides which of them there are."""

    kind: tuple[object, ...]
    arrays: tuple[Array, ...]


def _firsts(tables: list[_Tables]) -> list[int]:
    """For each of them, the place of the first that is equal: chains of equal bodies hold their numbers once."""
    seen: dict[tuple[object, ...], int] = {}
    return [seen.setdefault((t.kind, *(a.tobytes() for a in t.arrays)), i) for i, t in enumerate(tables)]


class _Writer:
    """Ints and reals of a block, in order."""

    def __init__(self) -> None:
        self.ints: list[int] = []
        self.reals: list[Array] = []

    def put(self, *arrays: Array) -> None:
        self.reals += [np.ascontiguousarray(a, dtype=np.float64).ravel() for a in arrays]

    def finish(self) -> bytes:
        ints = np.array(self.ints, dtype="<i4").tobytes()
        reals = np.concatenate([*self.reals, np.zeros(0)]).astype("<f8")
        counts = struct.pack("<qq16x", len(self.ints), reals.size)
        body = counts + ints + b"\0" * (-len(ints) % 8) + reals.tobytes()
        head = struct.pack("<8sIIQI4x", b"BOUGHBLK", VERSION, 0x01020304, len(body) + 32, zlib.crc32(body))
        return head + body


def compile_block(
    model: Model,
    closures: Sequence[Closure] = (),
    every_node: bool = False,
    elements: Sequence[Element] | None = None,
) -> Block:
    """The block of a checked model.

    Args:
        model: A checked model.
        closures: Its loops as the kernel sees them (`bough.mechanism.drawn`); none: loops and couplings stay open.
        every_node: Whether flexible bodies bring all their named nodes, or only those that carry a hinge, a load or a
            sensor: the kernel holds 6 nm numbers for each.
        elements: Its forces as the kernel sees them (`bough.mechanism.drawn`); None: nothing acts between nodes.

    Raises:
        ModelError: The modes of a body depend on each other, or a beam has too few.
    """
    ruthless = [model.ruthless(b) for b in model.bodies]
    bodies = tuple(body_data(b, r, model.geometric_stiffening) for b, r in zip(model.bodies, ruthless, strict=True))
    check_slack(model, bodies)
    if not every_node:
        used = _used_nodes(model)
        bodies = tuple(_trimmed(b, d, used) for b, d in zip(model.bodies, bodies, strict=True))
    nodes = [f"{b.name}.{n.name}" for b, d in zip(model.bodies, bodies, strict=True) for n in d.nodes]
    where = {name: j for j, name in enumerate(nodes)}
    keys = {name: ".".join(key) for name, key in model.node_keys().items()}
    loads = _load_nodes(model)
    places = _places(model, bodies, where)
    w = _Writer()
    mode_tables = [_mode_tables(d, r) for d, r in zip(bodies, ruthless, strict=True)]
    clouds = [point_block(d) for d in bodies]
    first_bodies = _firsts(
        [_Tables((*t.kind, *c.counts), (*t.arrays, *c.arrays)) for t, c in zip(mode_tables, clouds, strict=True)]
    )
    port_tables = [_port_tables(model, k, bodies, places) for k in range(len(bodies))]
    first_ports = _firsts(port_tables)
    nq = sum(b.hinge.kind.nq + d.nm for b, d in zip(model.bodies, bodies, strict=True))
    nu = sum(b.hinge.kind.nu + d.nm for b, d in zip(model.bodies, bodies, strict=True))
    w.ints += [len(bodies), nq, nu, len(nodes), len(loads)]
    w.ints += [len(closures), len(model.couplings), sum(len(c.terms) for c in model.couplings)]
    rows = () if elements is None else element_rows(model)
    w.ints += [len(elements or ()), len(rows), int(model.field is not None)]
    owner = [keys[name].rpartition(".")[0] for name in loads]
    for k, (body, data) in enumerate(zip(model.bodies, bodies, strict=True)):
        first = next((i for i, name in enumerate(owner) if name == body.name), 0)
        _put_ints(w, body, data, places[k], bool(port_tables[k].arrays), where)
        w.ints += [first, owner.count(body.name), first_bodies[k], first_ports[k], int(ruthless[k])]
    node_tables = [_node_tables(n, d) for d in bodies for n in d.nodes]
    first_nodes = _firsts(node_tables)
    owners = [k for k, d in enumerate(bodies) for _ in d.nodes]
    w.ints += [i for pair in zip(owners, first_nodes, strict=True) for i in pair]
    w.ints += [where[keys[name]] for name in loads]
    known = {name: where[key] for name, key in keys.items() if key in where}
    constraint_ints(w.ints, model, closures, known)
    element_ints(w.ints, elements or (), known, len(loads))
    w.ints += [i for cloud in clouds for i in cloud.counts]
    limits = _limits(model, bodies)
    limit_tables = [_Tables((), () if limit is None else limit.numbers()) for limit in limits]
    first_limits = _firsts(limit_tables)
    for k, (body, data) in enumerate(zip(model.bodies, bodies, strict=True)):
        attach = (
            -1 if data.flex is None or not data.nm else where[f"{body.name}.{data.flex.node_names[data.flex.attach]}"]
        )
        w.ints += [first_limits[k], attach]
    drive_ints(w.ints, model)
    w.put(np.array(model.gravity))
    for attribute in ("damping", "stiffness", "rest", "armature"):
        w.put(_per_speed(model, bodies, attribute))
    w.put(_held(model, bodies))
    for k, (body, data) in enumerate(zip(model.bodies, bodies, strict=True)):
        _put_hinge(w, body, data, places[k])
        if first_bodies[k] == k:
            w.put(*mode_tables[k].arrays)
    for k, table in enumerate(port_tables):
        if first_ports[k] == k:
            w.put(*table.arrays)
    for j, table in enumerate(node_tables):
        if first_nodes[j] == j:
            w.put(*table.arrays)
    constraint_reals(w.put, model, bodies, closures)
    element_reals(w.put, elements or ())
    if model.field is not None:
        w.put(np.array([model.field.mu, *model.field.center]))
    for k, cloud in enumerate(clouds):
        if first_bodies[k] == k:
            w.put(*cloud.arrays)
    for k, table in enumerate(limit_tables):
        if first_limits[k] == k:
            w.put(*table.arrays)
    drive_reals(w.put, model)
    return Block(w.finish(), bodies, known, (*loads, *rows), limits)


def _limits(model: Model, bodies: tuple[BodyData, ...]) -> tuple[Limits | None, ...]:
    """Where the theory ends, body by body; that a model is undamped is said of one body alone."""
    held, moves = bool(model.loops), any(b.hinge.kind.nu and b.hinge.drive != "locked" for b in model.bodies)
    out: list[Limits | None] = []
    for body, data in zip(model.bodies, bodies, strict=True):
        told = any(limit is not None and limit.undamped for limit in out)
        out.append(body_limits(data, model.ruthless(body), data.stiffening is not None, held, moves and not told))
    return tuple(out)


def _used_nodes(model: Model) -> set[str]:
    """`body.node` of every node that carries a hinge, a load or a sensor, by the names of the bodies themselves."""
    used = {f"{b.parent}.{b.at}" for b in model.bodies}
    keys = model.node_keys()
    asked = {name.rpartition(".")[0] for name in model.inputs if not name.endswith(f".{MODAL}")} | set(model.outputs)
    joined = [e for loop in model.loops for e in loop.ends] + [e for force in model.forces for e in force.ends]
    asked |= {f"{e.body}.{e.node}" for e in joined if e.body != GROUND}
    return used | {".".join(keys[name]) for name in asked}


def _trimmed(body: Body, data: BodyData, used: set[str]) -> BodyData:
    """A flexible body without the nodes that nothing is attached to; its own attach node stays."""
    if data.flex is None:
        return data
    attach = data.flex.node_names[data.flex.attach]
    nodes = tuple(n for n in data.nodes if n.name == attach or f"{body.name}.{n.name}" in used)
    return replace(data, nodes=nodes)


def _load_nodes(model: Model) -> tuple[str, ...]:
    """`body.node` of every load input, as users call it, once each, in the order of the bodies."""
    asked = {name.rpartition(".")[0] for name in model.inputs if name.rpartition(".")[2] in ("force", "torque")}
    return tuple(name for name in model.node_keys() if name in asked)


def _places(model: Model, bodies: tuple[BodyData, ...], where: dict[str, int]) -> list[_Place]:
    index = {b.name: k for k, b in enumerate(model.bodies)}
    children: list[list[int]] = [[] for _ in bodies]
    for k, b in enumerate(model.bodies):
        if b.parent != "ground":
            children[index[b.parent]].append(k)
    places = []
    for k, (body, data) in enumerate(zip(model.bodies, bodies, strict=True)):
        position, turn = np.array(body.hinge.position), Rotation.from_quat(body.hinge.quaternion).as_matrix()
        parent, node, R0 = -1, -1, np.eye(3)
        if body.parent != "ground":
            parent = index[body.parent]
            node = where[f"{body.parent}.{body.at}"]
            R0 = bodies[parent].nodes[bodies[parent].node(body.at)].R0
        places.append(_Place(parent, node, R0 @ turn @ data.axes, R0 @ position, tuple(children[k])))
    return places


def _is_two_port(model: Model, k: int, data: BodyData, places: list[_Place]) -> bool:
    """A ruthless flexible body that motion does not stiffen, with at most one outboard hinge, that does not shift."""
    out = places[k].children
    shifts = any(model.bodies[c].hinge.kind.shifts for c in out)
    constant = model.ruthless(model.bodies[k]) and data.stiffening is None
    return constant and data.nm > 0 and len(out) <= 1 and not shifts


def _per_speed(model: Model, bodies: tuple[BodyData, ...], attribute: str) -> Array:
    parts: list[Array] = []
    for b, d in zip(model.bodies, bodies, strict=True):
        parts += [np.array(getattr(b.hinge, attribute), dtype=np.float64), np.zeros(d.nm)]
    return np.concatenate(parts)


def _held(model: Model, bodies: tuple[BodyData, ...]) -> Array:
    parts: list[Array] = []
    for b, d in zip(model.bodies, bodies, strict=True):
        parts += [np.full(b.hinge.kind.nu, float(b.hinge.drive != "torque")), np.zeros(d.nm)]
    return np.concatenate(parts)


def _put_ints(w: _Writer, body: Body, d: BodyData, place: _Place, two: bool, where: dict[str, int]) -> None:
    attach = -1 if d.Mff0 is None or d.flex is None else where[f"{body.name}.{d.flex.node_names[d.flex.attach]}"]
    w.ints += [place.parent, place.node, list(HINGES).index(body.hinge.type), d.nm, attach]
    w.ints += [int(d.user_basis), int(d.full_damping), int(d.rotary), int(d.stiffening is not None), int(two)]


def _put_hinge(w: _Writer, body: Body, d: BodyData, place: _Place) -> None:
    hinge, C = body.hinge, d.axes
    lead = np.array([hinge.kind.lead(hinge.own)] if hinge.kind.own else [])
    w.put(place.Q, place.r, hinge.kind.constants(hinge.axes) @ C, lead, C, d.inertia, d.wheel)


def _mode_tables(d: BodyData, ruthless: bool) -> _Tables:
    """Constants of a body's modes; none without modes."""
    i, extra = d.tables, d.stiffening
    rows = d.rows is not None
    kind = (d.nm, d.user_basis, d.full_damping, d.rotary, extra is not None, d.Mff0 is not None, ruthless)
    if i is None:
        return _Tables(kind, ())
    out = [d.stiffness, d.damping if d.full_damping else np.diag(d.damping)]
    if d.user_basis:
        out += [d.T, np.asarray(np.linalg.inv(d.T), dtype=np.float64)]
    if not rows and (d.Mff0 is not None or d.turning is not None):
        out.append(i.Mff)
    out += [i.F0.T, i.N0.T]
    if ruthless:
        out.append((i.mass_rr() - i.F0 @ i.F0.T)[np.tril_indices(6)])
    if not rows and (not ruthless or extra is not None):
        N1, F1 = (i.N1, i.F1) if extra is None else (i.N1 + extra.N1, i.F1 + extra.F1)
        out.append(_pairs(N1, F1, skew=not d.rotary and extra is None))
    if not ruthless and d.rotary:
        lower = np.tril_indices(d.nm)
        Z = i.Z if extra is None or extra.Z is None else i.Z + extra.Z
        out.append(Z[:, lower[0], lower[1]].T)
    if not rows and extra is not None:
        out.append(extra.E1.transpose(0, 2, 1))
    return _Tables(kind, tuple(out))


def _node_tables(n: NodeData, d: BodyData) -> _Tables:
    """Where a node is and how modes move it."""
    bends = () if n.bends is None else (n.bends.transpose(2, 1, 0),)
    return _Tables((d.nm, n.bends is not None), (n.l0, n.R0, n.lam.T, n.gam.T, *bends))


def _pairs(N1: Array, F1: Array, skew: bool) -> Array:
    """Derivatives of N and of F's angular part by pairs of modes s < r, then r itself, as the kernel reads them.

    N1 is symmetric in its modes, so that every pair needs it once; so does F1 where it is `skew`.
    """
    out: list[Array] = []
    for r in range(len(N1)):
        for s in range(r):
            out += [N1[s][:, r], F1[s][:, r]] if skew else [N1[s][:, r], F1[s][:, r], F1[r][:, s]]
        out += [N1[r][:, r]] if skew else [N1[r][:, r], F1[r][:, r]]
    return np.concatenate([*out, np.zeros(0)])


DIGITS = 7e4
"""Mobility of a port by its modes times the inertia behind it; rounding times its square, 1e-6, is lost."""


def _lost(port: TwoPort, carried: tuple[float, float]) -> bool:
    """Whether the inversion lemma (76) would lose its digits: a light body under a heavy one.

    G - G T (1 + T' G T)^-1 T' G is a difference of numbers that are 1 + |T' G T| times as large as itself; the general
    path forms no such difference.
    """
    mass, inertia = carried
    gamma = np.full(6, mass)
    gamma[PORT_ROTATION] = inertia
    most = np.linalg.norm(np.sqrt(gamma)[:, np.newaxis] * port.Theta, 2) ** 2
    return bool(most > DIGITS)


def _carried(model: Model, bodies: tuple[BodyData, ...], places: list[_Place], k: int) -> tuple[float, float]:
    """Mass, kg, and a bound on the inertia about its hinge, kg.m2, of a body and of what is fixed to it."""
    mass, inertia = float(bodies[k].inertia[0]), float(bodies[k].inertia[4:7].max())
    for child in places[k].children:
        if model.bodies[child].hinge.kind.nu:
            continue
        node = bodies[k].nodes[bodies[k].node(model.bodies[child].at)]
        more, moment = _carried(model, bodies, places, child)
        mass += more
        inertia += 2.0 * (moment + more * float(np.sum((node.l0 + places[child].r) ** 2)))
    return mass, inertia


def _port_tables(model: Model, k: int, bodies: tuple[BodyData, ...], places: list[_Place]) -> _Tables:
    """Constants of a body's two-port; none if it is not one."""
    d = bodies[k]
    i = d.integrals
    if i is None or not _is_two_port(model, k, d, places):
        return _Tables((d.nm,), ())
    ports = [two_port(i.F0, d.nodes[d.node(model.bodies[c].at)], places[c].Q, places[c].r) for c in places[k].children]
    if ports and _lost(ports[0], _carried(model, bodies, places, places[k].children[0])):
        return _Tables((d.nm,), ())
    port = ports[0] if ports else TwoPort(np.zeros((6, d.nm)), np.zeros((6, 6)), np.zeros((6, 6)))
    return _Tables((d.nm,), (port.Theta[np.tril_indices(6)], port.Psi, port.Pi.T, port.Pi[PORT_ROTATION].T))
