"""Checks across bodies: names, parents, nodes, and the inputs and outputs that refer to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bough.model.model import Body
from bough.model.sensors import FE_NODE
from bough.text.compose import Data
from bough.text.problems import Path, Report, describe, one_of

GROUND = "ground"
LOADS = ("force", "torque", "local_force", "local_torque")
SENSORS = ("local", "deflection")
MODAL = "modal_force"
RESERVED = (GROUND, "time", "gravity")
"""Names that begin variables of their own, or mean the inertial frame."""

_KIND_WORDS = {"beam": "a beam", "nodal": "a nodal body", "fe": "an fe body"}


@dataclass(frozen=True)
class Entry:
    """One entry of `bodies:`: the checked body, or None with as much of its name as the file tells."""

    index: int
    name: str | None
    hinge: str | None
    parent: str | None
    body: Body | None
    nodes: tuple[str, ...] = ()
    placed: bool = True
    """Whether the file says `at:`."""

    @property
    def path(self) -> Path:
        """Key path of the entry."""
        return ("bodies", self.index)


def entry(index: int, data: Data, body: Body | None) -> Entry:
    """The entry of a body, from the checked body or from whatever text the file has for it."""
    mapping = data if isinstance(data, dict) else {}
    if body is not None:
        return Entry(index, body.name, body.hinge.name, body.parent, body, body.node_names, "at" in mapping)
    name, parent = _text(mapping, "name"), _text(mapping, "parent")
    hinge = mapping.get("hinge")
    default = None if name is None else f"{name}_hinge"
    hinge_name = _text(hinge, "name") if isinstance(hinge, dict) and "name" in hinge else default
    return Entry(index, name, hinge_name, parent, None)


def _text(mapping: Mapping[str, Data], key: str) -> str | None:
    value = mapping.get(key)
    return value if isinstance(value, str) else None


def check_tree(entries: Sequence[Entry], report: Report) -> None:
    """Every name once, every parent an earlier body, every hinge on a node that exists."""
    _check_names(entries, report)
    _check_parents(entries, report)
    _check_nodes(entries, report)


def _check_names(entries: Sequence[Entry], report: Report) -> None:
    """Bodies and hinges share one set of names, because variables begin with them."""
    owner: dict[str, str] = {}
    for e in entries:
        body_path, hinge_path = (*e.path, "name"), (*e.path, "hinge", "name")
        for name, what, path in ((e.name, "body", body_path), (e.hinge, "hinge", hinge_path)):
            if name is None:
                continue
            if name in RESERVED:
                expected = f"a name other than {', '.join(RESERVED)}"
                report.add(path, expected, describe(name), f"rename the {what}")
            elif name in owner:
                expected = "a name that no other body or hinge has"
                cure = f"give the {what} another name; without one, a hinge is called <body>_hinge"
                report.add(path, expected, f"{name!r:.80} again, the name of {owner[name]}", cure)
            else:
                owner[name] = f"the {what} of bodies[{e.index}]" if what == "hinge" else f"bodies[{e.index}]"


def _check_parents(entries: Sequence[Entry], report: Report) -> None:
    parents = {e.name: e.parent for e in reversed(entries) if e.name is not None}
    earlier: set[str | None] = {GROUND}
    for e in entries:
        if e.parent is not None and e.parent not in earlier:
            expected = "'ground' or the name of an earlier body"
            found, cure = _wrong_parent(e, e.parent, parents, report)
            report.add((*e.path, "parent"), expected, found, cure)
        earlier.add(e.name)


def _wrong_parent(e: Entry, parent: str, parents: Mapping[str, str | None], report: Report) -> tuple[str, str]:
    """What is wrong with a parent that is no earlier body, and the cure."""
    if parent not in parents:
        names = [GROUND, *(name for name in parents if name != e.name)]
        close = report.suggest(parent, names)
        cure = f"name one of {one_of(names)}" if close is None else f"did you mean '{close}'?"
        return f"{parent!r:.80}, which does not exist", cure
    chain, seen = [e.name or "?"], {e.name}
    step: str | None = parent
    while step is not None and step not in seen and step in parents:
        chain.append(step)
        seen.add(step)
        step = parents[step]
    if step == e.name:
        return (
            f"a cycle: {' -> '.join([*chain[:10], e.name or '?'])}",
            "hang one of these bodies on the ground",
        )
    return f"{parent!r:.80}, which comes later", f"move '{parent:.80}' before this body"


def _check_nodes(entries: Sequence[Entry], report: Report) -> None:
    nodes_of: dict[str, tuple[str, ...]] = {GROUND: ("origin",)}
    bodies = {e.body.name: e.body for e in entries if e.body is not None}
    for e in entries:
        if e.body is None:
            continue
        nodes = nodes_of.get(e.body.parent)
        # The nodes of a parent that is wrong itself are not known.
        if nodes and e.body.at not in nodes:
            expected = f"a node of {e.body.parent!r}: {one_of(nodes)}"
            found, cure = describe(e.body.at), _node_cure(e.body.at, nodes, report)
            if not e.placed:
                kind = bodies[e.body.parent].kind
                found = f"`at` is missing; its default {e.body.at!r} is not a node of {_KIND_WORDS.get(kind, kind)}"
                cure = f"write `at: {'tip' if 'tip' in nodes else nodes[-1]}`"
            report.add((*e.path, "at"), expected, found, cure)
        nodes_of[e.body.name] = e.nodes


def _node_cure(name: str, nodes: Sequence[str], report: Report) -> str:
    close = report.suggest(name, nodes)
    return f"write e.g. '{nodes[-1]}'" if close is None else f"did you mean '{close}'?"


def check_ports(key: str, ports: Sequence[str], entries: Sequence[Entry], report: Report) -> None:
    """Inputs `<body>.<node>.force`, `.torque` ..., or outputs `<body>.<node>`, of nodes that exist."""
    suffixes = LOADS if key == "inputs" else ()
    form = "<body>.<node>.force or <body>.<node>.torque" if suffixes else "<body>.<node>"
    # A body that is wrong itself may be either; its own error is enough.
    flexible = {e.name for e in entries if e.body is None or e.body.rigid is None}
    known = {e.name: e.nodes for e in reversed(entries) if e.name is not None}
    meshes = {e.name for e in entries if not suffixes and e.body is not None and e.body.fe is not None}
    hinges = {e.hinge for e in entries if e.hinge not in known}
    first: dict[str, int] = {}
    for i, port in enumerate(ports):
        path, parts = (key, i), port.split(".")
        if suffixes and len(parts) == 2 and parts[1] == MODAL and parts[0] in flexible and port not in first:
            first[port] = i
            continue
        if not suffixes and len(parts) == 3 and parts[2] in SENSORS:
            if parts[2] == "deflection" and parts[0] in known and parts[0] not in flexible:
                cure = "remove `.deflection`: a rigid body has no modes"
                report.add(path, "a node of a flexible body", describe(port), cure)
            parts = parts[:2]
        if port in first:
            found = f"{port!r:.80} again, as in {key}[{first[port]}]"
            report.add(path, "each entry once", found, "remove it")
        elif parts[0] in hinges:
            cure = "remove it: every hinge has its inputs and outputs anyway"
            report.add(path, f"a node, as {form}", f"{port!r:.80}, of a hinge", cure)
        elif len(parts) != 2 + bool(suffixes) or (suffixes and parts[2] not in suffixes):
            report.add(path, form, describe(port), f"write e.g. {_example(known, suffixes)}")
        elif parts[0] not in known:
            close = report.suggest(parts[0], known)
            cure = f"name one of {one_of(known)}" if close is None else f"did you mean '{close}'?"
            report.add(path, f"the name of a body in {form}", f"{parts[0]!r:.80}, which does not exist", cure)
        elif (
            known[parts[0]] and parts[1] not in known[parts[0]] and not (parts[0] in meshes and FE_NODE.match(parts[1]))
        ):
            nodes = known[parts[0]]
            expected = f"a node of {parts[0]!r:.80}: {one_of(nodes)}"
            report.add(path, expected, describe(parts[1]), _node_cure(parts[1], nodes, report))
        first.setdefault(port, i)


def _example(known: Mapping[str, Sequence[str]], suffixes: Sequence[str]) -> str:
    node = next((f"{name}.{nodes[-1]}" for name, nodes in known.items() if nodes), "body.node")
    return ".".join((node, *suffixes[:1]))
