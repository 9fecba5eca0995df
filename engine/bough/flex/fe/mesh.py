"""Nodes and node sets from Abaqus or CalculiX input (`.inp`) and from CalculiX results (`.frd`)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np

from bough.files import lines_in, open_file
from bough.flex.fe.fe_model import Array, Integers
from bough.flex.fe.problem import name_of, refuse
from bough.flex.numbers import real_or_error, whole_number, whole_or_error

_DEPTH = 10
INCLUDES = 1000
"""Files that a file may include, each time counted."""
MEMBERS = 20_000_000
"""Numbers in all sets of a file together."""


MATERIALS = ("MATERIAL", "ELASTIC", "SOLID SECTION", "SHELL SECTION", "BEAM SECTION", "BEAM GENERAL SECTION")
"""Keywords that tell what elements are made of."""


@dataclass
class Keyword:
    """A keyword with its options (names in capitals), the lines of data after it, and its place."""

    name: str
    options: dict[str, str]
    where: str
    data: list[list[str]] = field(default_factory=list)


@dataclass
class Mesh:
    """Positions by node number, and the node numbers of every set (names in capitals).

    `types` has the type of every element, `keywords` the materials and sections.
    """

    nodes: dict[int, tuple[float, float, float]] = field(default_factory=dict)
    sets: dict[str, list[int]] = field(default_factory=dict)
    element_sets: dict[str, list[int]] = field(default_factory=dict)
    elements: dict[int, tuple[int, ...]] = field(default_factory=dict)
    types: dict[int, str] = field(default_factory=dict)
    keywords: list[Keyword] = field(default_factory=list)

    def arrays(self) -> tuple[Integers, Array]:
        """Node numbers in rising order, and positions."""
        ids = np.array(sorted(self.nodes), dtype=np.int64)
        positions = np.array([self.nodes[int(k)] for k in ids], dtype=np.float64).reshape(-1, 3)
        return ids, positions

    def node_sets(self) -> dict[str, tuple[int, ...]]:
        """Node sets; an element set stands for the nodes of its elements where no node set has its name."""
        sets: dict[str, tuple[int, ...]] = {}
        for name, elements in self.element_sets.items():
            members = {node for element in elements for node in self.elements.get(element, ())}
            sets[name] = tuple(sorted(members & self.nodes.keys()))
        return sets | {name: tuple(dict.fromkeys(numbers)) for name, numbers in self.sets.items()}


def read_mesh(path: str) -> Mesh:
    """The mesh in an `.inp` or `.frd` file."""
    mesh = Mesh()
    if path.lower().endswith(".frd"):
        _read_frd(path, mesh)
    else:
        _Input(mesh).read(path, 0)
    if not mesh.nodes:
        expected = "a mesh with nodes: an .inp file with *NODE, or an .frd file"
        refuse("mesh", expected, f"none in {name_of(path)}", "name the file that holds the nodes")
    return mesh


def beside(path: str, given: str | None) -> str:
    """The mesh file that is given, or the one beside the matrices with the same stem."""
    if given is not None:
        return given
    stem = os.path.splitext(path)[0]
    for ending in (".inp", ".frd"):
        if os.path.isfile(stem + ending):
            return stem + ending
    found = f"neither {name_of(stem + '.inp')} nor {name_of(stem + '.frd')} beside the matrices"
    refuse("mesh", "the path of the mesh", found, "add `mesh: FILE.inp`")


def lines_of(path: str, key: str) -> Iterator[tuple[int, str]]:
    """Number and text of every line, without the line's end."""
    try:
        with open_file(path, "r", encoding="latin-1") as stream:
            for number, line in lines_in(stream):
                yield number, line.rstrip("\r\n")
    except OSError as error:
        refuse(key, "a file that can be read", f"{name_of(path)}: {error.strerror}", "check the path")


class _Input:
    """Reads keyword lines and the data lines after them; everything but nodes, elements and sets is passed over."""

    def __init__(self, mesh: Mesh) -> None:
        self.mesh = mesh
        self.keyword = self.where = ""
        self.options: dict[str, str] = {}
        self.pending: list[str] = []
        self.instances = self.includes = self.members = 0

    def read(self, path: str, depth: int) -> None:
        for number, line in lines_of(path, "mesh"):
            text = line.strip()
            if not text or text.startswith("**"):
                continue
            if text.startswith("*"):
                self._keyword(text, path, number, depth)
                continue
            self.where = f"line {number} of {name_of(path)}: {text[:60]!r}"
            try:
                self._data(text)
            except ValueError:
                expected = f"numbers separated by commas under *{self.keyword}"
                refuse("mesh", expected, self.where, "write the mesh again")
        if self.pending:
            found = f"{name_of(path)}, which ends within an element"
            refuse("mesh", "a whole mesh file", found, "write it again: it is cut short")

    def _keyword(self, text: str, path: str, number: int, depth: int) -> None:
        head, *parts = (part.strip() for part in text[1:].split(","))
        self.keyword = " ".join(head.upper().split())
        pairs = (part.partition("=") for part in parts)
        self.options = {key.strip().upper(): value.strip().strip('"') for key, _, value in pairs}
        if self.keyword == "INCLUDE":
            included = os.path.join(os.path.dirname(path), self.options.get("INPUT", ""))
            self.includes += 1
            found = f"line {number} of {name_of(path)}: {text[:60]!r}"
            if not os.path.isfile(included):
                refuse("mesh", "an included file that exists", found, "put the file beside the mesh")
            if depth >= _DEPTH or self.includes > INCLUDES:
                expected = f"at most {INCLUDES} included files, {_DEPTH} deep"
                refuse("mesh", expected, found, "look for a file that includes itself")
            self.read(included, depth + 1)
            self.keyword = ""
        elif self.keyword in MATERIALS:
            self.mesh.keywords.append(Keyword(self.keyword, self.options, f"line {number} of {name_of(path)}"))
        elif self.keyword in ("TRANSFORM", "SYSTEM"):
            found = f"line {number} of {name_of(path)}: {text[:60]!r}"
            refuse("mesh", "nodes and directions in global axes", found, f"remove *{self.keyword}, export again")
        elif self.keyword == "INSTANCE":
            self.instances += 1
            if self.instances > 1:
                self._refuse_instance("a second *INSTANCE")

    @staticmethod
    def _refuse_instance(found: str) -> NoReturn:
        cure = "export the input as one part, or without parts and assemblies"
        refuse("mesh", "one part instance at its own place: the matrices number its nodes", found, cure)

    def _data(self, text: str) -> None:
        words = [word.strip() for word in text.rstrip(",").split(",")]
        if self.keyword == "NODE":
            x, y, z = (real_or_error(word) if word else 0.0 for word in (*words[1:4], "", "", "")[:3])
            node = whole_or_error(words[0])
            self.mesh.nodes[node] = (x, y, z)
            if "NSET" in self.options:
                self.mesh.sets.setdefault(self.options["NSET"].upper(), []).append(node)
        elif self.keyword == "ELEMENT":
            self._element([*self.pending, *words], text.endswith(","))
        elif self.keyword in ("NSET", "ELSET"):
            self._set(words)
        elif self.keyword in MATERIALS:
            self.mesh.keywords[-1].data.append(words)
        elif self.keyword == "INSTANCE":
            self._refuse_instance("an *INSTANCE that is moved")

    def _element(self, words: list[str], more: bool) -> None:
        """An element's line; one that ends in a comma goes on in the next."""
        self.pending = words if more else []
        if not more:
            number, *nodes = (whole_or_error(word) for word in words if word)
            self.mesh.elements[number] = tuple(nodes)
            self.mesh.types[number] = self.options.get("TYPE", "").upper()
            if "ELSET" in self.options:
                self.mesh.element_sets.setdefault(self.options["ELSET"].upper(), []).append(number)

    def _set(self, words: list[str]) -> None:
        sets = self.mesh.sets if self.keyword == "NSET" else self.mesh.element_sets
        members = sets.setdefault(self.options.get(self.keyword, "").upper(), [])
        if "GENERATE" in self.options:
            first, last, *step = (whole_or_error(word) for word in words if word)
            self._extend(members, range(first, last + 1, step[0] if step else 1))
            return
        for word in (word for word in words if word):
            number = whole_number(word)
            if number is None and word.lstrip("+-")[:1].isdigit():
                raise ValueError(word)  # no name begins with a digit
            self._extend(members, sets.get(word.strip('"').upper(), []) if number is None else [number])

    def _extend(self, members: list[int], more: Sequence[int]) -> None:
        self.members += len(more)
        if self.members > MEMBERS:
            cure = "look for a wrong range, or write fewer sets"
            refuse("mesh", f"at most {MEMBERS} numbers in all sets", f"more by {self.where}", cure)
        members.extend(more)


def _read_frd(path: str, mesh: Mesh) -> None:
    """The node block `2C` of a results file: fixed columns, a node per line that begins with -1."""
    inside = False
    for number, line in lines_of(path, "mesh"):
        if not inside:
            inside = line.startswith("    2C")
            continue
        if line.startswith(" -3"):
            return
        try:
            wide = len(line) >= 49
            start = 13 if wide else 8
            x, y, z = (real_or_error(line[start + 12 * k : start + 12 * (k + 1)]) for k in range(3))
            mesh.nodes[whole_or_error(line[3:start])] = (x, y, z)
        except ValueError:
            found = f"line {number} of {name_of(path)}: {line[:60]!r}"
            refuse("mesh", "a node number and three coordinates", found, "write the file again: it is cut short")
    if inside:
        refuse("mesh", "a whole results file", f"{name_of(path)}, which ends within its nodes", "write it again")
