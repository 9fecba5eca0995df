"""Node sensors: `<body>.<node>`, and with `.local` or `.deflection` what they tell beside."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bough.model.fe_data import FeInterface
from bough.model.model import Body

FE_NODE = re.compile(r"n(0|[1-9][0-9]{0,17})\Z")
"""Name of a node of a finite element model: `n1234` is its node 1234."""
KINDS = ("local", "deflection")


def sensor_node(port: str) -> str:
    """`<body>.<node>` of a sensor as written."""
    node, _, kind = port.rpartition(".")
    return node if kind in KINDS and "." in node else port


def split_outputs(ports: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """All nodes with a sensor, once each; those that tell local motion; those that tell deflections."""
    nodes = tuple(dict.fromkeys(sensor_node(port) for port in ports))
    local, deflection = (
        tuple(p.rpartition(".")[0] for p in ports if p != sensor_node(p) and p.endswith(k)) for k in KINDS
    )
    return nodes, local, deflection


def with_sensors(bodies: tuple[Body, ...], outputs: Sequence[str]) -> tuple[Body, ...]:
    """Bodies whose FE nodes have the names that outputs ask for."""
    asked: dict[str, list[str]] = {}
    for port in outputs:
        body, _, node = port.partition(".")
        asked.setdefault(body, []).append(node)
    return tuple(_with_sensors(body, asked.get(body.name, [])) for body in bodies)


def _with_sensors(body: Body, nodes: Sequence[str]) -> Body:
    if body.fe is None:
        return body
    new = [node for node in dict.fromkeys(nodes) if FE_NODE.match(node) and node not in body.fe.node_names]
    places = tuple(FeInterface(name=node, nodes=(int(node[1:]),), coupling="average") for node in new)
    # Where the file brings modes or tables, a node costs no static shapes: it is one among others.
    key = "interfaces" if body.fe.modes.boundary == "file" else "sensors"
    return body.model_copy(update={"fe": body.fe.model_copy(update={key: getattr(body.fe, key) + places})})
