"""What a plain YAML scalar means: the YAML 1.2 core schema, and numbers such as `1e-4` besides.

YAML libraries read `1e-4` as text because it has no dot. Engineers write it all the time, and mean a number.
"""

from __future__ import annotations

import math
import re

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"true", "True", "TRUE"})
_FALSE = frozenset({"false", "False", "FALSE"})
_INT = re.compile(r"[-+]?[0-9]+\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_BASED = re.compile(r"0(o[0-7]+|x[0-9a-fA-F]+)\Z")
_INFINITY = re.compile(r"[-+]?\.(inf|Inf|INF)\Z")
_NAN = frozenset({".nan", ".NaN", ".NAN"})
# Longer ones do not fit a float anyway, and Python refuses to convert thousands of digits.
_LONGEST_INT = 300

PREFIX = "tag:yaml.org,2002:"


def plain_scalar(text: str) -> str | int | float | bool | None:
    """The value of an unquoted scalar without a tag."""
    # Nearly every scalar of a model is a number or a word: try the words' first letter before any pattern.
    if text and text[0] in "+-.0123456789":
        number = number_of(text)
        return text if number is None else number
    if text in _NULL:
        return None
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    return text


def number_of(text: str) -> int | float | None:
    """The number that a text denotes, or None if it denotes none."""
    if _INT.match(text):
        return int(text) if len(text) <= _LONGEST_INT else float(text)
    if _FLOAT.match(text):
        return float(text)
    if _INFINITY.match(text):
        return -math.inf if text[0] == "-" else math.inf
    if text in _NAN:
        return math.nan
    if _BASED.match(text) and len(text) <= _LONGEST_INT:
        return int(text, 0)
    return None


def tagged_scalar(tag: str, text: str) -> str | int | float | bool | None:
    """The value of a scalar with an explicit tag such as `!!float`; raises ValueError if it has none."""
    kind = tag[len(PREFIX) :] if tag.startswith(PREFIX) else tag
    if kind in ("str", "!"):
        return text
    value = plain_scalar(text)
    if kind == "null" and value is None:
        return None
    if kind == "bool" and isinstance(value, bool):
        return value
    if kind == "int" and isinstance(value, int) and not isinstance(value, bool):
        return value
    if kind == "float" and isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    raise ValueError(f"{tag} {text[:40]!r}")
