"""`between: [body.node, body.node]` with `frames:`: the two ends of whatever joins two nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from bough.model.frames import unit_quaternion, vector
from bough.model.model import End
from bough.model.tree import GROUND
from bough.text.problems import Path, Report, describe, one_of

GROUND_NODES = ("origin",)


class _Frame(Protocol):
    @property
    def position(self) -> list[float]: ...

    @property
    def quaternion(self) -> list[float]: ...

    @property
    def model_fields_set(self) -> set[str]: ...


def resolve_ends(
    between: Sequence[str], frames: Sequence[_Frame], nodes: Mapping[str, Sequence[str]], path: Path, report: Report
) -> tuple[End, End]:
    """The two ends, checked against the nodes of every body; what is wrong goes into the report."""
    known = {GROUND: GROUND_NODES, **nodes}
    ends = []
    for i, written in enumerate(between):
        place = (*path, "between", i)
        body, _, node = written.partition(".")
        if body not in known or not node:
            close = report.suggest(body, known)
            cure = f"write e.g. '{_example(known)}'" if close is None else f"did you mean '{close}'?"
            report.add(place, "a node, as <body>.<node> or ground.origin", describe(written), cure)
        elif node not in known[body]:
            close = report.suggest(node, known[body])
            cure = f"write e.g. '{body}.{known[body][-1]}'" if close is None else f"did you mean '{close}'?"
            report.add(place, f"a node of {body!r:.80}: {one_of(known[body])}", describe(node), cure)
        frame = frames[i] if frames else None
        ends.append(_end(body, node, frame, (*path, "frames", i), report))
    if between[0] == between[1]:
        cure = "name two nodes that can move against each other"
        report.add((*path, "between"), "two different nodes", f"{between[0]!r:.80} twice", cure)
    return ends[0], ends[1]


def _end(body: str, node: str, frame: _Frame | None, path: Path, report: Report) -> End:
    if frame is None:
        return End(body=body, node=node)
    return End(
        body=body,
        node=node,
        position=vector(frame.position),
        quaternion=unit_quaternion(frame.quaternion, (*path, "quaternion"), report),
        turned="quaternion" in frame.model_fields_set,
    )


def _example(known: Mapping[str, Sequence[str]]) -> str:
    return next((f"{name}.{nodes[-1]}" for name, nodes in known.items() if nodes and name != GROUND), "ground.origin")
