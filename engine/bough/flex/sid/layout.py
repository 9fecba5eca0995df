"""SID_FEM files written in the usual layout: equals signs below each other, what is zero left out, 17 digits."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bough.flex.sid.sid_text import BLOCKS, spelled
from bough.flex.sid.tables import UNIT, ZERO, Sid, SidNode, Taylor

EQUALS = 48
"""Column of the equals sign, from 0."""


def sid_text(sid: Sid, comment: str) -> str:
    """The text of a file; the comment, one line, follows the numbers of nodes and modes."""
    return "\n".join(_lines(sid, comment)) + "\n"


def _lines(sid: Sid, comment: str) -> Iterator[str]:
    stiff = " Geo_Stiff= yes" if sid.geometric else ""
    yield f"{len(sid.nodes):5d}{sid.nm:4d}    :No. nodes, No. modes:{comment}{stiff}"
    yield " part"
    yield _assigned(6, "new modal", "")
    yield f"{'':11}refmod"
    yield _assigned(16, "mass", real(sid.mass))
    yield _assigned(16, "nelastq", f"{sid.nm:4d}")
    for i, label in enumerate(sid.labels, 1):
        yield _assigned(16, f"ielastq ({i:4d})", label)
    yield f"{'':11}end refmod"
    yield f"{'':11}frame"
    for node in sid.nodes:
        yield from _node(node)
    yield f"{'':11}end frame"
    for name in BLOCKS:
        if name in sid.blocks:
            yield from _taylor(11, spelled(name), sid.blocks[name])
    yield "      end modal"
    yield " end part"


def _node(node: SidNode) -> Iterator[str]:
    yield _assigned(16, "new node", f"{node.number:9d}")
    yield _assigned(21, "rframe", " body ref")
    for name, block in (("origin", node.origin), ("phi", node.phi), ("psi", node.psi), ("AP", node.AP)):
        yield from _taylor(21, name, block)
    yield f"{'':16}end node"


def _taylor(indent: int, name: str, block: Taylor) -> Iterator[str]:
    rows, nq, columns = block.M1.shape
    structure = block.structure
    if not np.any(block.M0) and not np.any(block.M1):
        structure = ZERO
    yield f"{'':{indent}}{name}"
    sizes = {"order": block.order, "nrow": rows, "ncol": columns, "nq": nq, "nqn": 0, "structure": structure}
    for key, size in sizes.items():
        yield _assigned(26, key, f"{size:4d}")
    if structure != UNIT:
        for i, j in np.argwhere(block.M0 != 0.0).tolist():
            yield _assigned(26, f"m0({i + 1:2d},{j + 1:2d})", real(float(block.M0[i, j])))
    # Columns outermost, rows next.
    for k, i, j in np.argwhere(block.M1.transpose(2, 0, 1) != 0.0).tolist():
        yield _assigned(26, f"m1({i + 1:2d},{j + 1:2d},{k + 1:2d})", real(float(block.M1[i, j, k])))
    yield f"{'':{indent}}end {name}"


def _assigned(indent: int, key: str, value: str) -> str:
    return f"{'':{indent}}{key}".ljust(EQUALS) + f"={value}"


def real(value: float) -> str:
    """A number that reads back the same: sign or space, 17 digits, D before the exponent."""
    return f"{value: .16E}".replace("E", "D")
