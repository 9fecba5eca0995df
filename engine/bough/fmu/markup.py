"""XML text: elements with attributes, indented, the same bytes for the same content."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TypeAlias
from xml.sax.saxutils import quoteattr

_SPECIAL = re.compile(r"[&<>\"\n\r\t]")
HEADER = '<?xml version="1.0" encoding="UTF-8"?>\n'
Value: TypeAlias = str | int | float | bool | None
Lines: TypeAlias = list[str]


def text(value: str | int | float | bool) -> str:
    """A value as an attribute writes it; numbers read back the same."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)


def element(tag: str, attributes: Mapping[str, Value], children: Iterable[str] = ()) -> Lines:
    """Lines of one element; attributes that are None are left out."""
    inside = [f"  {line}" for line in children]
    pairs = (f" {key}={_quoted(text(value))}" for key, value in attributes.items() if value is not None)
    head = f"<{tag}{''.join(pairs)}"
    return [f"{head}>", *inside, f"</{tag}>"] if inside else [f"{head}/>"]


def around(tag: str, attributes: Mapping[str, Value], child: Lines) -> Lines:
    """An element around another one, on one line: a large file has many."""
    opened, *_ = element(tag, attributes)
    return [f"{opened[:-2]}>{''.join(child)}</{tag}>"]


def _quoted(value: str) -> str:
    return quoteattr(value) if _SPECIAL.search(value) else f'"{value}"'


def document(root: Lines) -> str:
    """The whole file."""
    return HEADER + "\n".join(root) + "\n"
