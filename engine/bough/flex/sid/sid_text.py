"""The text of a SID_FEM file: blocks, Taylor objects and their numbers, read and written.

    N M :comment                              number of nodes, number of modes (the first line; optional here)
    part
      new modal
        refmod                                mass, nelastq, ielastq(i) = label
        frame  (new node = id  rframe, origin, phi, psi, AP, sigma  end node)...  end frame
        mdCM  J  Ct  Cr  Me  Gr  Ge  Oe  ksigma  Ke  De
      end modal
    end part

A Taylor object is `M(q) = M0 + sum over l of q_l M1[:, l, :]`: keys order, nrow, ncol, nq, nqn and structure (0 zero,
1 diagonal, 2 symmetric, 3 full, 4 unit), then `m0(row, col) = x` and `m1(row, mode, col) = x` for what is not zero.

Case, spaces and the letter of an exponent do not matter; `K` and `D` are also names of Ke and De; entries that follow
from the structure need not be written. Some programs number m1 as (row, col, mode): that is recognized by an index out
of range, and read so throughout the file. `#`, `!`, `%`, `*` and `//` begin a line of comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn

from bough.errors import ModelError, Problem
from bough.flex.numbers import real_number, whole_number, whole_or_error

ALIASES = {"k": "ke", "d": "de"}
NODE_BLOCKS = ("origin", "phi", "psi", "ap", "sigma")
BLOCKS = ("mdcm", "j", "ct", "cr", "me", "gr", "ge", "oe", "ksigma", "ke", "de", "crgeo", "oegeo", "megeo")
SPELLING = {
    "mdcm": "mdCM",
    "ap": "AP",
    "j": "J",
    "ksigma": "ksigma",
    "crgeo": "CrGeo",
    "oegeo": "OeGeo",
    "megeo": "MeGeo",
}
KEYS = ("order", "nrow", "ncol", "nq", "nqn", "structure")

_COMMENT = re.compile(r"[#!%*]|//")
_HEAD = re.compile(r"\s*([0-9]{1,18})(?:\s+|\s*nodes?\b\W*)([0-9]{1,18})")
_ENTRY = re.compile(r"m([01n])\s*\(([0-9\s,]+)\)\s*=\s*(\S+)\s*\Z")
_LABEL = re.compile(r"ielastq\s*\(\s*([0-9]{1,18})\s*\)\s*=?(.*)\Z")


def spelled(name: str) -> str:
    """A block's name as the standard writes it."""
    return SPELLING.get(name, name.capitalize() if name in BLOCKS else name)


@dataclass(frozen=True)
class Line:
    """A line that says something: number from 1, text without outer spaces, the same in lower case."""

    number: int
    text: str
    key: str

    @property
    def name(self) -> str:
        """What stands before the equals sign, with single spaces."""
        return " ".join(self.key.split("=", 1)[0].split())

    @property
    def value(self) -> str:
        """What stands behind the equals sign; empty without one."""
        return self.text.split("=", 1)[1].strip() if "=" in self.text else ""


@dataclass(eq=False)
class RawTaylor:
    """A block as written: sizes, and entries with their lines."""

    name: str
    line: int
    sizes: dict[str, int] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    m0: list[tuple[int, tuple[int, ...], float]] = field(default_factory=list)
    m1: list[tuple[int, tuple[int, ...], float]] = field(default_factory=list)


@dataclass(eq=False)
class RawNode:
    """A node as written: its number, line and blocks."""

    number: int
    line: int
    blocks: dict[str, RawTaylor] = field(default_factory=dict)


@dataclass(eq=False)
class RawSid:
    """A file as written.

    Attributes:
        file: Its name, for messages.
        head: First line, and the numbers of nodes and modes in it, if there are any.
        mass: kg, and its line.
        nelastq: Number of modes, and its line.
        labels: Of the modes, by number.
    """

    file: str
    head: tuple[str, tuple[int, int] | None] = ("", None)
    mass: tuple[float, int] | None = None
    nelastq: tuple[int, int] | None = None
    labels: dict[int, str] = field(default_factory=dict)
    nodes: dict[int, RawNode] = field(default_factory=dict)
    blocks: dict[str, RawTaylor] = field(default_factory=dict)


class Refusal:
    """Raises what is wrong with one file."""

    def __init__(self, file: str) -> None:
        """Remember the file's name."""
        self.file = file

    def __call__(self, line: int | None, key: str, expected: str, found: str, cure: str) -> NoReturn:
        """Raise the ModelError."""
        raise ModelError(Problem(self.file, line, key, expected, found, cure))


def number(text: str) -> float | None:
    """A number with e, d or no letter before its exponent; None if it is not finite, or none at all."""
    return real_number(text)


class Reader:
    """Walks through the lines of one file."""

    def __init__(self, text: str, file: str) -> None:
        """Take the text apart into lines that say something."""
        self.refuse = Refusal(file)
        self.raw = RawSid(file)
        everything = text.splitlines()
        self.last = len(everything)
        self.lines = self._significant(everything)

    def _significant(self, lines: list[str]) -> Iterator[Line]:
        for i, text in enumerate(lines, 1):
            stripped = text.strip()
            if stripped and not _COMMENT.match(stripped):
                yield Line(i, stripped, stripped.lower())

    def next(self, name: str, opened: int) -> Line:
        """The next line of a block."""
        for line in self.lines:
            return line
        return self.refuse(
            self.last,
            spelled(name),
            f"`end {spelled(name)}`, which closes line {opened}",
            "the end of the file",
            "the file is cut off: copy or export it again",
        )

    def ends(self, line: Line, name: str, opened: int) -> bool:
        """Whether the line closes the block `name`; refuses one that closes another."""
        words = line.name.split()
        if not words or words[0] != "end":
            return False
        closed = "".join(words[1:])
        if ALIASES.get(closed, closed) == name:
            return True
        expected = f"`end {spelled(name)}`, which closes line {opened}"
        self.refuse(line.number, spelled(name), expected, f"`{line.text}`", "export the file again")

    def unknown(self, line: Line, where: str, known: str) -> NoReturn:
        """Refuse a line that means nothing here."""
        self.refuse(line.number, where, known, f"`{line.text}`", "remove or correct the line")

    def integer(self, line: Line, key: str) -> int:
        """The whole number, 0 or more, behind the equals sign."""
        value = whole_number(line.value)
        if value is None or value < 0:
            self.refuse(line.number, key, "a whole number, 0 or more", f"`{line.text}`", "correct the line")
        return value

    def read(self) -> RawSid:
        """The whole file."""
        for line in self.lines:
            if line.name == "part":
                self._part(line.number)
                return self.raw
            if not self.raw.head[0]:
                match = _HEAD.match(line.text)
                self.raw.head = (line.text, (int(match[1]), int(match[2])) if match else None)
        self.refuse(None, "", "a SID_FEM file: a line `part`, in it `new modal`", "none", "name another file")

    def _part(self, opened: int) -> None:
        while not self.ends(line := self.next("part", opened), "part", opened):
            if line.name != "new modal":
                self.unknown(line, "part", "`new modal` or `end part`")
            self._modal(line.number)

    def _modal(self, opened: int) -> None:
        while not self.ends(line := self.next("modal", opened), "modal", opened):
            name = ALIASES.get(line.name, line.name)
            if name == "refmod":
                self._refmod(line.number)
            elif name in ("frame", "new frame"):
                self._frame(line.number)
            elif name in BLOCKS:
                if name in self.raw.blocks:
                    first = f"a second block; the first is in line {self.raw.blocks[name].line}"
                    self.refuse(line.number, spelled(name), "one block of this name", first, "remove one")
                self.raw.blocks[name] = self._taylor(name, line.number)
            else:
                names = ", ".join(spelled(block) for block in BLOCKS[:-2])
                self.unknown(line, "modal", f"refmod, frame, one of {names}, or `end modal`")

    def _refmod(self, opened: int) -> None:
        while not self.ends(line := self.next("refmod", opened), "refmod", opened):
            if line.name == "mass":
                value = number(line.value)
                if value is None or value <= 0.0:
                    cure = "a flexible body has mass: export it again"
                    self.refuse(line.number, "refmod.mass", "a mass above 0", f"`{line.text}`", cure)
                self.raw.mass = (value, line.number)
            elif line.name == "nelastq":
                self.raw.nelastq = (self.integer(line, "refmod.nelastq"), line.number)
            elif match := _LABEL.match(line.key):
                self.raw.labels[int(match[1])] = line.value
            else:
                self.unknown(line, "refmod", "mass, nelastq, ielastq or `end refmod`")

    def _frame(self, opened: int) -> None:
        while not self.ends(line := self.next("frame", opened), "frame", opened):
            if line.name != "new node":
                self.unknown(line, "frame", "`new node = ...` or `end frame`")
            node = RawNode(self.integer(line, "frame.node"), line.number)
            if node.number in self.raw.nodes:
                found = f"node {node.number} again; the first is in line {self.raw.nodes[node.number].line}"
                self.refuse(line.number, "frame.node", "every node once", found, "remove one of them")
            self._node(node)
            self.raw.nodes[node.number] = node

    def _node(self, node: RawNode) -> None:
        while not self.ends(line := self.next("node", node.line), "node", node.line):
            if line.name == "rframe":
                if line.value.lower().split() not in (["body", "ref"], []):
                    expected = "body ref: nodes relative to the body reference frame"
                    self.refuse(line.number, "rframe", expected, f"`{line.text}`", "export the nodes so")
            elif line.name in NODE_BLOCKS:
                node.blocks[line.name] = self._taylor(line.name, line.number)
            else:
                self.unknown(line, "node", "rframe, origin, phi, psi, AP, sigma or `end node`")

    def _taylor(self, name: str, opened: int) -> RawTaylor:
        block = RawTaylor(name, opened)
        while True:
            line = self.next(name, opened)
            if match := _ENTRY.match(line.key):
                self._entry(block, line, match)
            elif line.name in KEYS:
                block.sizes[line.name] = self.integer(line, f"{spelled(name)}.{line.name}")
                block.lines[line.name] = line.number
            elif self.ends(line, name, opened):
                return block
            else:
                self.unknown(line, spelled(name), f"{', '.join(KEYS)}, m0(i, j) = x, m1(i, l, j) = x")

    def _entry(self, block: RawTaylor, line: Line, match: re.Match[str]) -> None:
        value = number(match[3])
        try:
            indices = tuple(whole_or_error(part) for part in match[2].split(","))
        except ValueError:
            indices = ()
        places = 2 if match[1] == "0" else 3
        if value is None or len(indices) != places:
            expected = "m0(row, column) = number, or m1(row, mode, column) = number"
            self.refuse(line.number, spelled(block.name), expected, f"`{line.text}`", "correct the line")
        if match[1] == "n":
            expected = "terms of order 0 and 1"
            self.refuse(line.number, spelled(block.name), expected, f"`{line.text}`", "export to first order")
        (block.m0 if places == 2 else block.m1).append((line.number, indices, value))
