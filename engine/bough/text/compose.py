"""YAML text to plain data, with the line of every key and value.

ruamel composes the nodes. What is added here are plain values, key paths for messages, and limits: nesting has a
largest depth, and an alias shares its value instead of copying it, so that a file of nested aliases stays small.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, NoReturn, TypeAlias

from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer, ComposerError
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.events import AliasEvent, CollectionStartEvent, MappingStartEvent
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError
from ruamel.yaml.resolver import VersionedResolver
from ruamel.yaml.tag import Tag

from bough.errors import Problem
from bough.text.problems import Path, describe, key_path
from bough.text.scalars import PREFIX, plain_scalar, tagged_scalar
from bough.text.yaml_words import explain

MAX_DEPTH = 40
"""Deepest nesting of a file; the deepest that a right model needs is 8."""
MAX_EXPANSION = 1_000_000
"""Values that aliases may add to what the file spells out."""

Data: TypeAlias = Any
"""Plain data: dict, list, str, int, float, bool or None."""
Node: TypeAlias = Any
"""A node of ruamel: it ships no types."""

_UNTAGGED = Tag(suffix="untagged")
_TEXT = Tag(suffix=PREFIX + "str")
_CONTAINERS = ("!", PREFIX + "map", PREFIX + "seq")


_NO_KEYS: Mapping[str, tuple[int, Node]] = {}


class _Value(NamedTuple):
    """What a node holds.

    Attributes:
        data: The plain value.
        keys: Line of the key and node of the value, for a mapping.
        size: Number of values below and including this one, aliases counted as copies.
        depth: Levels of containers, this one included.
    """

    data: Data
    keys: Mapping[str, tuple[int, Node]] = _NO_KEYS
    size: int = 1
    depth: int = 0


class ComposeError(Exception):
    """The text is not one YAML document that could be a model; carries the problems."""

    def __init__(self, problems: list[Problem]) -> None:
        """Take the problems, at least one."""
        super().__init__()
        self.problems = problems


class _Resolver(VersionedResolver):
    """Leaves unquoted scalars to `plain_scalar`."""

    def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
        if kind is ScalarNode:
            return _UNTAGGED if implicit[0] else _TEXT
        return super().resolve(kind, value, implicit)


class _Composer(Composer):
    """ruamel's composer, with the value and the key path of every node."""

    def __init__(self, loader: Any = None) -> None:
        super().__init__(loader)
        self.warn_double_anchors = False
        self.file = ""
        self.line = 1
        self.problems: list[Problem] = []
        self.values: dict[int, _Value] = {}
        self.count = 0
        self._merged = 0
        self._key_lines: dict[int, dict[str, int]] = {}  # of mappings that are still open
        self._places: list[str | int] = []
        self._next: str | int = ""  # place of what follows in the innermost container

    @cached_property
    def parser(self) -> Any:
        """Ruamel's parser: looked up once, not once for every event."""
        return self.loader.parser

    @cached_property
    def resolver(self) -> Any:
        """The resolver, looked up once too."""
        return self.loader.resolver

    def stop(self, expected: str, found: str, cure: str, misplaced: bool = False) -> NoReturn:
        """Give up: nothing that follows could be understood. A misplaced line belongs to no key path."""
        if misplaced:
            self._places, self._next = [], ""
        self._problem(expected, found, cure)
        raise ComposeError(self.problems)

    def _problem(self, expected: str, found: str, cure: str) -> None:
        path: Path = tuple(place for place in (*self._places, self._next) if place != "")
        self.problems.append(Problem(self.file, self.line, key_path(path), expected, found, cure))

    def compose_node(self, parent: Node, index: Any) -> Node:
        """One node; `index` is None for a key, the node of the key for a value, and a number for an item."""
        is_key = index is None and parent is not None
        place: str | int = index.value if isinstance(index, ScalarNode) else "" if index is None else index
        self._places.append(place)
        self._next = ""
        event = self.parser.peek_event()
        self.line = line = event.start_mark.line + 1
        alias = isinstance(event, AliasEvent)
        if alias:
            self._check_alias(event.anchor, is_key)
        elif isinstance(event, CollectionStartEvent):
            self._check_start(event, is_key)
        elif str(event.ctag) == "!":
            event.ctag = _TEXT
        node = super().compose_node(parent, index)
        self._next = ""
        if is_key:
            self._take_key(parent, node, line)
        else:
            self.count += 1
            if not alias:
                self._take_value(node)
            if _merges(index):
                self._check_merge(node)
        self._places.pop()
        self._next = place + 1 if isinstance(place, int) else ""
        return node

    def _check_alias(self, name: str, is_key: bool) -> None:
        node = self.anchors.get(name)
        if node is None:
            self.stop(f"an anchor &{name} earlier in the file", f"the alias *{name} only", f"define &{name}")
        if node.end_mark is None:
            self.stop("a value that ends", f"*{name} inside of &{name} itself", f"remove *{name}")
        if id(node) not in self.values:  # the anchor is on a key
            self._take_value(node)
        data = self.values[id(node)].data
        if is_key and not isinstance(data, str):
            self.stop("a plain name as the key", f"*{name}: {describe(data)}", "write the name")

    def _check_start(self, event: Any, is_key: bool) -> None:
        if is_key:
            self.stop("a plain name as the key", "a list or mapping as the key", "write `name: value`")
        tag = None if event.ctag is None else str(event.ctag)
        if tag is not None and tag not in _CONTAINERS:
            self._problem("a plain value", f"the tag {tag}", "remove the tag")
        if len(self._places) > MAX_DEPTH:
            self._too_deep()
        self._next = "" if isinstance(event, MappingStartEvent) else 0

    def _too_deep(self) -> NoReturn:
        self.stop(
            f"at most {MAX_DEPTH} levels of nesting",
            "more levels",
            "check the brackets and the indentation: no key of a model is that deep",
        )

    def _take_key(self, parent: Node, node: Node, line: int) -> None:
        lines = self._key_lines.setdefault(id(parent), {})
        if _merges(node) or node.value not in lines:
            lines[node.value] = line
            return
        self._places[-1] = node.value
        self._problem(
            "each key once",
            f"the key {node.value!r} again, first given on line {lines[node.value]}",
            "keep one of the two, or give one another name",
        )

    def _check_merge(self, node: Node) -> None:
        if not all(isinstance(source, MappingNode) for source in _sources(node)):
            data = self.values[id(node)].data
            self._problem("a mapping to merge", describe(data), "give << an alias of a mapping")

    def _take_value(self, node: Node) -> None:
        if isinstance(node, ScalarNode):
            self.values[id(node)] = _Value(self._scalar(node))
            return
        keys = self._keys(node) if isinstance(node, MappingNode) else _NO_KEYS
        nodes = [child for _, child in keys.values()] if isinstance(node, MappingNode) else node.value
        children = [self.values[id(child)] for child in nodes]
        plain = [child.data for child in children]
        data = dict(zip(keys, plain, strict=True)) if isinstance(node, MappingNode) else plain
        size = 1 + sum([child.size for child in children])
        depth = 1 + max([child.depth for child in children], default=0)
        self.values[id(node)] = _Value(data, keys, size, depth)
        if depth > MAX_DEPTH:
            self._too_deep()

    def _scalar(self, node: Node) -> Data:
        if node.ctag is _UNTAGGED:
            return plain_scalar(node.value)
        try:
            return tagged_scalar(str(node.ctag), node.value)
        except ValueError:
            self._problem("a plain value", f"the tag {node.ctag}", "remove the tag, write the value alone")
            return node.value

    def _keys(self, node: Node) -> dict[str, tuple[int, Node]]:
        """Line and value of every key of a mapping: its own first, then those that it merges."""
        lines = self._key_lines.pop(id(node), {})
        keys = {key.value: (lines[key.value], child) for key, child in node.value if not _merges(key)}
        merged = [source for key, child in node.value if _merges(key) for source in _sources(child)]
        for source in merged:
            found = self.values[id(source)].keys
            self._merged += len(found)  # merging copies keys: count before the memory is taken
            if self._merged > MAX_EXPANSION:
                self.too_large()
            for key, entry in found.items():
                keys.setdefault(key, entry)
        return keys

    def too_large(self) -> NoReturn:
        """Give up: a small file must not become a large model."""
        self.stop(
            f"aliases that add at most {MAX_EXPANSION} values",
            "more, once the aliases are written out",
            "use fewer nested aliases",
        )


def _merges(key: Node) -> bool:
    return isinstance(key, ScalarNode) and key.value == "<<" and key.style is None


def _sources(node: Node) -> list[Node]:
    """What `<<: node` merges."""
    return list(node.value) if isinstance(node, SequenceNode) else [node]


@dataclass(frozen=True)
class Document:
    """A YAML document as plain data that knows its lines."""

    data: Data
    root: Node
    values: dict[int, _Value]

    def line_of(self, path: Path) -> int:
        """Line of a key path, from 1, or of the nearest value above it."""
        node = self.root
        line: int = node.start_mark.line + 1
        for part in path:
            keys = self.values[id(node)].keys
            if isinstance(part, str) and part in keys:
                line, node = keys[part]
            elif isinstance(part, int) and isinstance(node, SequenceNode) and part < len(node.value):
                node = node.value[part]
                line = node.start_mark.line + 1
            else:
                break
        return line


def compose(text: str, file: str) -> Document:
    """The document in the text, or ComposeError."""
    yaml = YAML(typ="safe", pure=True)
    yaml.Composer, yaml.Resolver = _Composer, _Resolver
    composer: _Composer = yaml.composer
    composer.file = file
    root = _root(yaml, composer, text)
    if composer.problems:
        raise ComposeError(composer.problems)
    if root is None:
        composer.stop("a model", "an empty file", "begin with `bough: 1`")
    top = composer.values[id(root)]
    if top.size > composer.count + MAX_EXPANSION:
        composer.line = root.start_mark.line + 1
        composer.too_large()
    return Document(top.data, root, composer.values)


def _root(yaml: YAML, composer: _Composer, text: str) -> Node:
    """The node of the document, None without one; ComposeError if the text is not YAML."""
    try:
        return yaml.compose(text)
    except ComposeError:
        raise
    except ComposerError as error:  # aliases have been checked: only a second document is left
        composer.line = error.problem_mark.line + 1
        composer.stop("one YAML document", "a second document", "keep one model per file, remove '---'", misplaced=True)
    except MarkedYAMLError as error:
        slip = explain(error, text)
        composer.line = slip.line
        composer.stop(slip.expected, slip.found, slip.cure, slip.misplaced)
    except ReaderError as error:
        composer.line = text.count("\n", 0, error.position) + 1
        composer.stop("text", f"the character {chr(int(error.character))!r}", "remove it, save as UTF-8 text")
    # The parser is a foreign state machine fed with whatever the user has: its slips (a character number
    # out of range, a directive cut short) are still the file's fault, and the user's to cure.
    except Exception as error:
        composer.stop("valid YAML", f"what the YAML parser stumbles over ({error})", "rewrite this line")
