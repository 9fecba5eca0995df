"""Node sensors: `<body>.<node>`, and with `.local` or `.deflection` what they tell beside."""

from __future__ import annotations

from collections.abc import Sequence

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
