"""YAML text to plain data, with the line of every key and value.

The composer works on ruamel's events with a stack of its own: no depth of nesting can exhaust Python's, and
an alias shares its value instead of copying it, so that a file of nested aliases stays as small as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeAlias

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)
from ruamel.yaml.reader import ReaderError

from bough.errors import Problem
from bough.model.report import Path, describe, key_path
from bough.model.scalars import PREFIX, plain_scalar, tagged_scalar
from bough.model.yaml_words import explain

MAX_DEPTH = 40
"""Deepest nesting of a model file; the deepest that a right one needs is 8."""
MAX_EXPANSION = 1_000_000
"""Values that aliases may add to what the file spells out."""

Data: TypeAlias = Any
"""Plain data: dict, list, str, int, float, bool or None."""


@dataclass(eq=False)
class Node:
    """One value of the file.

    Attributes:
        line: Where the value begins, from 1.
        data: The plain value; containers hold the plain values of their children.
        items: Nodes of a list.
        keys: Line of the key and node of the value, for a mapping.
        size: Number of values below and including this one, aliases counted as copies.
        depth: Levels of containers, this one included.
    """

    line: int
    data: Data
    items: list[Node] = field(default_factory=list)
    keys: dict[str, tuple[int, Node]] = field(default_factory=dict)
    size: int = 1
    depth: int = 0
    closed: bool = True


class ComposeError(Exception):
    """The text is not one YAML document that could be a model; carries the problems."""

    def __init__(self, problems: list[Problem]) -> None:
        """Take the problems, at least one."""
        super().__init__()
        self.problems = problems


@dataclass
class _Open:
    """A container whose end has not been read yet."""

    node: Node
    mapping: bool
    part: str | int = ""
    key: str | None = None
    key_line: int = 0
    merges: list[Node] = field(default_factory=list)
    merging: bool = False


class _Composer:
    def __init__(self, file: str) -> None:
        self.file = file
        self.line = 1
        self.problems: list[Problem] = []
        self.root: Node | None = None
        self.count = 0
        self._documents = 0
        self._stack: list[_Open] = []
        self._anchors: dict[str, Node] = {}

    def feed(self, event: Any) -> None:
        """Take one event of ruamel's parser."""
        self.line = event.start_mark.line + 1
        if isinstance(event, ScalarEvent):
            self._scalar(event)
        elif isinstance(event, (SequenceStartEvent, MappingStartEvent)):
            self._open(event)
        elif isinstance(event, (SequenceEndEvent, MappingEndEvent)):
            self._close()
        elif isinstance(event, AliasEvent):
            self._alias(event.anchor)
        elif isinstance(event, DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                self.stop("one YAML document", "a second document", "keep one model per file, remove '---'")

    def leave_all(self) -> None:
        """Forget the key path: a line that begins in the wrong place belongs to none."""
        self._stack.clear()

    def stop(self, expected: str, found: str, cure: str) -> NoReturn:
        """Give up: nothing that follows could be understood."""
        self._problem(expected, found, cure)
        raise ComposeError(self.problems)

    def _problem(self, expected: str, found: str, cure: str) -> None:
        path: Path = tuple(level.part for level in self._stack if level.part != "")
        self.problems.append(Problem(self.file, self.line, key_path(path), expected, found, cure))

    def _scalar(self, event: Any) -> None:
        top = self._stack[-1] if self._stack else None
        if top is not None and top.mapping and top.key is None:
            self._key(top, event.value, merge=event.value == "<<" and event.style is None)
            return
        data: Data = event.value
        tag = None if event.ctag is None else str(event.ctag)
        if tag is not None:
            try:
                data = tagged_scalar(tag, event.value)
            except ValueError:
                self._problem("a plain value", f"the tag {tag}", "remove the tag, write the value alone")
        elif event.implicit[0]:
            data = plain_scalar(event.value)
        self._value(Node(self.line, data), event.anchor)

    def _key(self, top: _Open, key: str, merge: bool) -> None:
        top.key, top.part, top.key_line, top.merging = key, key, self.line, merge
        if not merge and key in top.node.keys:
            first = top.node.keys[key][0]
            self._problem(
                "each key once",
                f"the key {key!r} again, first given on line {first}",
                "keep one of the two, or give one another name",
            )

    def _open(self, event: Any) -> None:
        mapping = isinstance(event, MappingStartEvent)
        top = self._stack[-1] if self._stack else None
        if top is not None and top.mapping and top.key is None:
            self.stop("a plain name as the key", "a list or mapping as the key", "write `name: value`")
        tag = None if event.ctag is None else str(event.ctag)
        if tag not in (None, "!", PREFIX + "map", PREFIX + "seq"):
            self._problem("a plain value", f"the tag {tag}", "remove the tag")
        node = Node(self.line, {} if mapping else [], closed=False)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        self._stack.append(_Open(node, mapping, part="" if mapping else 0))
        if len(self._stack) > MAX_DEPTH:
            self._too_deep()

    def _close(self) -> None:
        level = self._stack.pop()
        node = level.node
        for merged in level.merges:
            for key, entry in merged.keys.items():
                node.keys.setdefault(key, entry)
        if level.mapping:
            children = [child for _, child in node.keys.values()]
            node.data.update((key, child.data) for key, (_, child) in node.keys.items())
        else:
            children = node.items
            node.data.extend([child.data for child in children])
        node.size = 1 + sum([child.size for child in children])
        node.depth = 1 + max([child.depth for child in children], default=0)
        node.closed = True
        if node.depth > MAX_DEPTH:
            self._too_deep()
        self._value(node, None)

    def _too_deep(self) -> NoReturn:
        self.stop(
            f"at most {MAX_DEPTH} levels of nesting",
            "more levels",
            "check the brackets and the indentation: no key of a model is that deep",
        )

    def _alias(self, name: str) -> None:
        node = self._anchors.get(name)
        if node is None:
            self.stop(f"an anchor &{name} earlier in the file", f"the alias *{name} only", f"define &{name}")
        elif not node.closed:
            self.stop("a value that ends", f"*{name} inside of &{name} itself", f"remove *{name}")
        elif self._stack and self._stack[-1].mapping and self._stack[-1].key is None:
            if not isinstance(node.data, str):
                self.stop("a plain name as the key", f"*{name}: {describe(node.data)}", "write the name")
            self._key(self._stack[-1], node.data, merge=False)
        else:
            self._value(node, None)

    def _value(self, node: Node, anchor: str | None) -> None:
        self.count += 1
        if anchor is not None:
            self._anchors[anchor] = node
        if not self._stack:
            self.root = node
            return
        top = self._stack[-1]
        if not top.mapping:
            top.node.items.append(node)
            top.part = len(top.node.items)
        elif top.merging:
            self._merge(top, node)
        elif top.key is not None:
            top.node.keys[top.key] = (top.key_line, node)
        if top.mapping:
            top.key, top.part, top.merging = None, "", False

    def _merge(self, top: _Open, node: Node) -> None:
        sources = node.items if isinstance(node.data, list) else [node]
        if all(isinstance(source.data, dict) for source in sources):
            top.merges.extend(sources)
        else:
            self._problem("a mapping to merge", describe(node.data), "give << an alias of a mapping")


def compose(text: str, file: str) -> Node:
    """The document in the text, or ComposeError."""
    composer = _Composer(file)
    try:
        for event in YAML(typ="safe", pure=True).parse(text):
            composer.feed(event)
    except ComposeError:
        raise
    except MarkedYAMLError as error:
        slip = explain(error, text)
        composer.line = slip.line
        if slip.misplaced:
            composer.leave_all()
        composer.stop(slip.expected, slip.found, slip.cure)
    except ReaderError as error:
        composer.line = text.count("\n", 0, error.position) + 1
        composer.stop("text", f"the character {chr(int(error.character))!r}", "remove it, save as UTF-8 text")
    # The parser is a foreign state machine fed with whatever the user has: its slips (a character number
    # out of range, a directive cut short) are still the file's fault, and the user's to cure.
    except Exception as error:
        composer.stop("valid YAML", f"what the YAML parser stumbles over ({error})", "rewrite this line")
    if composer.problems:
        raise ComposeError(composer.problems)
    if composer.root is None:
        composer.stop("a model", "an empty file", "begin with `bough: 1`")
    if composer.root.size > composer.count + MAX_EXPANSION:
        composer.line = composer.root.line
        composer.stop(
            f"aliases that add at most {MAX_EXPANSION} values",
            "more, once the aliases are written out",
            "use fewer nested aliases",
        )
    return composer.root
