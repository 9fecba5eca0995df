"""The tables of a SID_FEM file as arrays: sizes checked, structure filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from bough.flex.points import Array
from bough.flex.sid.sid_text import NODE_BLOCKS, RawNode, RawSid, RawTaylor, Refusal, spelled
from bough.text.kinds import MAX_MODES

ZERO, DIAGONAL, SYMMETRIC, FULL, UNIT = range(5)
ASYMMETRY = 1e-6
"""Difference of mirrored entries, relative to the largest, that digits may account for."""
REQUIRED = ("mdcm", "j", "ct", "cr", "me", "ke")


@dataclass(frozen=True, eq=False)
class Taylor:
    """A matrix of first order in the modal coordinates, M0 + sum over l of q_l M1[:, l, :].

    Attributes:
        M0: (nrow, ncol).
        M1: (nrow, nq, ncol); zeros if the order is 0.
        order: 0 or 1.
        structure: 0 zero, 1 diagonal, 2 symmetric, 3 full, 4 unit: of M0.
        line: Where its block begins in the file; None if it has none.
    """

    M0: Array
    M1: Array
    order: int
    structure: int = FULL
    line: int | None = None


@dataclass(frozen=True, eq=False)
class SidNode:
    """A node: its number, and position, translation, rotation and attitude in the body reference frame."""

    number: int
    origin: Taylor
    phi: Taylor
    psi: Taylor
    AP: Taylor


@dataclass(frozen=True, eq=False)
class Sid:
    """A SID_FEM file in arrays; what each block means tells `bough.flex.sid.sid`.

    Attributes:
        file: Where it came from, for messages.
        mass: kg.
        labels: One per mode: ielastq.
        nodes: In the order of the file.
        blocks: By name in lower case: mdcm, j (6 x 1: xx yy zz xy xz yz), ct, cr, me, ke, and as far as they are
            there oe, de, ksigma, gr, ge, crgeo, oegeo, megeo.
        geometric: Whether the first line says that geometric stiffness is included.
        lines: Of mass and of the first line.
    """

    file: str
    mass: float
    labels: tuple[str, ...]
    nodes: tuple[SidNode, ...]
    blocks: Mapping[str, Taylor]
    geometric: bool = False
    lines: Mapping[str, int] = field(default_factory=dict)

    @property
    def nm(self) -> int:
        """Number of modes."""
        return len(self.labels)


def tables(raw: RawSid) -> Sid:
    """The arrays of a file as written.

    Raises:
        ModelError: A block is missing, sizes do not belong together, or an index is out of range.
    """
    return _Assembly(raw).sid()


class _Assembly:
    def __init__(self, raw: RawSid) -> None:
        self.raw = raw
        self.refuse = Refusal(raw.file)
        self.n = self._modes()
        self._complete()
        n = self.n
        self.shapes: dict[str, tuple[int, int]] = {
            **{"mdcm": (3, 1), "j": (6, 1), "ct": (n, 3), "cr": (n, 3), "me": (n, n), "gr": (3, 3 * n)},
            **{"ge": (n, 3 * n), "oe": (n, 6), "ksigma": (n, 1), "ke": (n, n), "de": (n, n), "crgeo": (n, 3)},
            **{"oegeo": (n, 6), "megeo": (n, n), "origin": (3, 1), "phi": (3, n), "psi": (3, n), "ap": (3, 3)},
        }
        self.used = [*raw.blocks.values()]
        for node in raw.nodes.values():
            self.used += [block for name, block in node.blocks.items() if name != "sigma"]
        for block in self.used:
            self._check_sizes(block)
        self.mode_last = self._mode_is_last()

    def sid(self) -> Sid:
        """All tables."""
        raw, n = self.raw, self.n
        mass, mass_line = raw.mass or (0.0, 0)
        return Sid(
            file=raw.file,
            mass=mass,
            labels=tuple(raw.labels.get(i, "") for i in range(1, n + 1)),
            nodes=tuple(self._node(node) for node in raw.nodes.values()),
            blocks={name: self._taylor(block) for name, block in raw.blocks.items()},
            geometric="".join(raw.head[0].lower().split()).find("geo_stiff=yes") >= 0,
            lines={"mass": mass_line, "head": 1},
        )

    def _modes(self) -> int:
        if self.raw.nelastq is None:
            self.refuse(None, "refmod.nelastq", "the number of modes", "none", "the block `refmod` is incomplete")
        n, line = self.raw.nelastq
        if n > MAX_MODES:
            expected = f"at most {MAX_MODES} modes"
            self.refuse(line, "refmod.nelastq", expected, str(n), "export fewer modes")
        extra = [i for i in self.raw.labels if not 1 <= i <= n]
        if extra:
            found = f"ielastq({extra[0]})"
            self.refuse(line, "refmod", f"labels of the {n} modes that nelastq says", found, "correct nelastq")
        return n

    def _complete(self) -> None:
        raw = self.raw
        if raw.mass is None:
            self.refuse(None, "refmod.mass", "the body's mass", "none", "the block `refmod` is incomplete")
        for name in REQUIRED:
            if name not in raw.blocks:
                cure = "export the file with all of mdCM, J, Ct, Cr, Me, Ke"
                self.refuse(None, spelled(name), f"a block {spelled(name)}", "none", cure)
        if not raw.nodes:
            self.refuse(None, "frame", "at least one node", "none", "export the nodes that hinges and loads need")
        if raw.head[1] is not None:
            for what, said, there in zip(("nodes", "modes"), raw.head[1], (len(raw.nodes), self.n), strict=True):
                if said != there:
                    expected = f"{said} {what}, as the first line says"
                    cure = "correct the first line if the file is whole, or export it again"
                    self.refuse(1, "", expected, f"{there} {what}", cure)

    def _check_sizes(self, block: RawTaylor) -> None:
        name, rows, columns = block.name, *self.shapes[block.name]
        if name == "j" and block.sizes.get("nrow") == 3:
            rows, columns = 3, 3
        wanted = {"nrow": rows, "ncol": columns}
        if block.sizes.get("order", 0) > 0 or block.m1:
            wanted["nq"] = self.n
        for key, size in wanted.items():
            found = block.sizes.get(key)
            if found != size and not (found is None and key == "nq"):
                why = f" (nelastq is {self.n})" if key == "nq" or size in (self.n, 3 * self.n) else ""
                told = f"{key} = {found}" if found is not None else f"no {key}"
                line = block.lines.get(key, block.line)
                cure = "the tables of one file belong to the same modes: export it again"
                self.refuse(line, f"{spelled(name)}.{key}", f"{key} = {size}{why}", told, cure)
        for key, largest in (("order", 1), ("structure", UNIT)):
            if block.sizes.get(key, 0) > largest:
                told = f"{key} = {block.sizes[key]}"
                cure = "export to first order" if key == "order" else "0 zero, 1 diagonal, 2 symmetric, 3 full, 4 unit"
                self.refuse(block.lines[key], f"{spelled(name)}.{key}", f"{key} from 0 to {largest}", told, cure)

    def _mode_is_last(self) -> bool:
        """Whether m1 is written as (row, column, mode): no index is out of range then, and one is otherwise."""
        wrong: tuple[RawTaylor, int, tuple[int, ...]] | None = None
        last_fits = True
        for block in self.used:
            rows, columns = block.sizes["nrow"], block.sizes["ncol"]
            for line, (i, j, k), _ in block.m1:
                if not (1 <= i <= rows and 1 <= j <= self.n and 1 <= k <= columns) and wrong is None:
                    wrong = (block, line, (i, j, k))
                last_fits = last_fits and 1 <= i <= rows and 1 <= j <= columns and 1 <= k <= self.n
        if wrong is not None and not last_fits:
            block, line, found = wrong
            limits = f"{block.sizes['nrow']}, {self.n} and {block.sizes['ncol']}"
            expected = f"m1(row, mode, column) with indices from 1 to {limits}"
            self.refuse(line, spelled(block.name), expected, f"m1{found}", "correct the line, or export again")
        return wrong is not None

    def _node(self, raw: RawNode) -> SidNode:
        blocks = {name: self._taylor(block) for name, block in raw.blocks.items() if name in NODE_BLOCKS[:4]}
        if "origin" not in blocks:
            found = f"node {raw.number} without it"
            self.refuse(raw.line, "node.origin", "the position of every node", found, "export the node with origin")
        n, origin = self.n, blocks["origin"]
        moves = blocks.get("phi") or Taylor(origin.M1[:, :, 0], np.broadcast_to(0.0, (3, n, n)), 0, line=raw.line)
        attitude = blocks.get("ap") or Taylor(np.eye(3), np.broadcast_to(0.0, (3, n, 3)), 0, line=raw.line)
        turns = blocks.get("psi")
        if turns is None:
            # AP = A0 (1 + psi~) to first order, written in the body reference frame as (1 + psi~) A0.
            spin = np.einsum("ilc,jc->ilj", attitude.M1, attitude.M0)
            psi = 0.5 * np.stack(
                [spin[2, :, 1] - spin[1, :, 2], spin[0, :, 2] - spin[2, :, 0], spin[1, :, 0] - spin[0, :, 1]]
            )
            turns = Taylor(psi, np.broadcast_to(0.0, (3, n, n)), 0, line=raw.line)
        return SidNode(raw.number, origin, moves, turns, attitude)

    def _taylor(self, block: RawTaylor) -> Taylor:
        rows, columns = block.sizes["nrow"], block.sizes["ncol"]
        structure = block.sizes.get("structure", FULL)
        M0 = np.eye(rows, columns) if structure == UNIT else np.zeros((rows, columns))
        # Most tables are constant: zeros that take no memory.
        M1 = np.zeros((rows, self.n, columns)) if block.m1 else np.broadcast_to(0.0, (rows, self.n, columns))
        given: dict[tuple[int, ...], float] = {}
        for line, (i, j), value in block.m0:
            if not (1 <= i <= rows and 1 <= j <= columns):
                expected = f"m0(row, column) with indices from 1 to {rows} and {columns}"
                self.refuse(line, spelled(block.name), expected, f"m0({i}, {j})", "correct the line")
            if structure == DIAGONAL and i != j and value != 0.0:
                expected = "entries on the diagonal, as the structure 1 says"
                self.refuse(line, spelled(block.name), expected, f"m0({i}, {j})", "correct the structure")
            given[i, j] = M0[i - 1, j - 1] = value
        for _, (i, j, k), value in block.m1:
            row, mode, column = (i, k, j) if self.mode_last else (i, j, k)
            given[row, mode, column] = M1[row - 1, mode - 1, column - 1] = value
        if structure == SYMMETRIC and rows == columns:
            self._mirror(block, given, M0, M1)
        if block.name == "j" and rows == 3:
            M0, M1 = self._packed(block, M0, M1)
        order = 1 if block.m1 or block.sizes.get("order", 0) > 0 else 0
        return Taylor(M0, M1, order, structure, block.line)

    def _mirror(self, block: RawTaylor, given: dict[tuple[int, ...], float], M0: Array, M1: Array) -> None:
        """Fill in what symmetry says; refuse what contradicts it."""
        slack = ASYMMETRY * max((abs(value) for value in given.values()), default=0.0)
        for key, value in given.items():
            mirrored = (key[-1], *key[1:-1], key[0])
            if mirrored not in given:
                target = M0 if len(key) == 2 else M1
                target[tuple(i - 1 for i in mirrored)] = value
            elif abs(given[mirrored] - value) > slack:
                expected = "a symmetric matrix, as the structure 2 says"
                found = f"{value:.9g} at {key}, {given[mirrored]:.9g} at {mirrored}"
                self.refuse(block.line, spelled(block.name), expected, found, "export the file again")

    def _packed(self, block: RawTaylor, M0: Array, M1: Array) -> tuple[Array, Array]:
        """J as xx yy zz xy xz yz from a 3 x 3 matrix."""
        both = np.concatenate([M0[:, None, :], M1], axis=1)
        asymmetry = abs(both - both.transpose(2, 1, 0)).max()
        if asymmetry > ASYMMETRY * abs(M0).max():
            found = f"entries that differ by {asymmetry:.3g}"
            self.refuse(block.line, "J", "a symmetric matrix of inertia", found, "export the file again")
        rows, columns = [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]
        half = 0.5 * (both + both.transpose(2, 1, 0))
        packed = half[rows, :, columns]
        return packed[:, :1].copy(), packed[:, 1:, None].copy()
