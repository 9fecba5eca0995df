"""What a YAML parser stumbles over, in the words of somebody who looks at the lines of the file."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ruamel.yaml.error import MarkedYAMLError

_ALIGNED = "a line that is indented like those above that it belongs to"
_SHOWN = 40
"""Characters of a line that a message shows."""


@dataclass(frozen=True)
class Slip:
    """Where the text is no YAML (line from 1), and what to tell; `misplaced` if the line stands in no known place."""

    line: int
    expected: str
    found: str
    cure: str
    misplaced: bool = False


def explain(error: MarkedYAMLError, text: str) -> Slip:
    """The parser's complaint about a text, told by its lines."""
    problem = " ".join(str(error.problem or error.context or "something else").split())
    mark, context = error.problem_mark or error.context_mark, error.context_mark
    line, column = (1, 0) if mark is None else (mark.line + 1, mark.column)
    begin = line if context is None else context.line + 1
    lines = text.splitlines() or [""]
    here = lines[min(line, len(lines)) - 1]
    if "'\\t'" in problem or "\t" in here[: len(here) - len(here.lstrip())]:
        return Slip(line, "blanks at the beginning of a line", "a tab", "indent with blanks: YAML allows no tabs", True)
    if "mapping values are not allowed" in problem and ": " in here[:column]:
        found = f"a second colon in {_quoted(here)}"
        return Slip(line, "one `key: value` in a line", found, "put the value in quotes, or begin a new line")
    if problem.startswith(("expected <block end>", "mapping values are not allowed")):
        return _misplaced(lines, line)
    if "could not find expected ':'" in problem:
        found = _quoted(lines[min(begin, len(lines)) - 1])
        return Slip(begin, "`key: value`", found, "put a colon and a blank between key and value", True)
    if problem.startswith("expected ',' or"):
        bracket = problem.split("'")[3] if problem.count("'") > 3 else "]"
        where = f"{'in' if begin == line else 'before'} {_quoted(here)}"
        found = f"none {where}, with the bracket of line {begin} still open"
        return Slip(line, f"a comma, or the closing bracket `{bracket}`", found, f"close the bracket with `{bracket}`")
    if "end of stream" in problem and "quoted scalar" in str(error.context):
        found = f"none until the end of the file; the text begins on line {begin}"
        return Slip(line, "a closing quotation mark", found, f"close the quotation on line {begin}")
    cure = "check indentation, brackets, quotes and colons near this line"
    return Slip(line, "valid YAML", problem, cure)


def _misplaced(lines: list[str], line: int) -> Slip:
    """A line that begins where no line above it lets it begin."""
    text = lines[min(line, len(lines)) - 1]
    if text.lstrip().startswith("-") and not text.lstrip().startswith(("- ", "--")):
        return Slip(line, "`- ` before an item of a list", _quoted(text), "put a blank after the `-`", True)
    strayed = _strayed(lines, line)
    if strayed is not None:
        return strayed
    item = text.lstrip().startswith("- ")
    column = _indent(text)
    places = [(place, above) for place, above, dash in _open_places(lines, line) if dash == item]
    found = f"{_quoted(text)}, which begins in column {column + 1}"
    if not places:
        return Slip(line, _ALIGNED, found, "check the indentation of this line and of those above", True)
    place, above = min(places, key=lambda p: (abs(p[0] - column), -p[0]))
    neighbour = f"line {above}, {_quoted(lines[above - 1])}"
    if place == column:
        cure = f"indent it like the lines that it belongs to, or those below {neighbour}"
        return Slip(line, _ALIGNED, found, cure, True)
    return Slip(line, _ALIGNED, found, f"move it {_way(column, place)}, to align it with {neighbour}", True)


@dataclass(frozen=True)
class _Row:
    """A line that says something: number from 1, column of its first key from 0, text, whether it begins an item."""

    line: int
    column: int
    text: str
    item: bool

    @property
    def opens(self) -> bool:
        """Whether it is a key whose value is to follow on lines of their own."""
        return self.text.partition(" #")[0].rstrip().endswith(":")


def _rows(lines: list[str]) -> list[_Row]:
    rows = []
    for number, text in enumerate(lines, 1):
        body = text.lstrip()
        if body and not body.startswith("#"):
            item = body.startswith("- ")
            inner = body[1:].lstrip() if item else body
            rows.append(_Row(number, len(text) - len(inner), inner, item))
    return rows


def _strayed(lines: list[str], line: int) -> Slip | None:
    """The first lines below a key such as `beam:` that have left its block, where the parser blames a later line."""
    rows = _rows(lines)
    at = next((i for i, row in enumerate(rows) if row.line == line), 0)
    begin, column = at, rows[at - 1].column
    while begin and not (rows[begin].item or rows[begin - 1].opens) and rows[begin - 1].column == column:
        begin -= 1
    if not 0 < begin < at or rows[at].item or rows[begin].item or not rows[begin - 1].opens:
        return None
    key, first, blamed = rows[begin - 1], rows[begin], rows[at]
    # In the column of the key nothing can be inside of it; farther in, the column that more lines have counts.
    agreed = at + 1 < len(rows) and rows[at + 1].column == blamed.column and at - begin == 1
    if not key.column <= first.column < blamed.column or (first.column > key.column and not agreed):
        return None
    found = f"{_quoted(first.text)}, which begins in column {first.column + 1}"
    what = "it" if at - begin == 1 else f"lines {first.line} to {rows[at - 1].line}"
    inside = f"into {_quoted(key.text)} of line {key.line}, like line {blamed.line}, {_quoted(blamed.text)}"
    return Slip(first.line, _ALIGNED, found, f"move {what} {_way(first.column, blamed.column)}, {inside}", True)


def _way(column: int, place: int) -> str:
    return f"{abs(place - column)} to the {'right' if place > column else 'left'}, to column {place + 1}"


def _open_places(lines: list[str], line: int) -> list[tuple[int, int, bool]]:
    """Columns, from 0, in which a line may begin, innermost first; which line above has it, and whether by `- `."""
    places: list[tuple[int, int, bool]] = []
    limit: float = math.inf
    for above in range(min(line, len(lines)) - 1, 0, -1):
        text = lines[above - 1]
        column, body = _indent(text), text.lstrip()
        if not body or body.startswith("#"):
            continue
        own = [(column, True)] if body.startswith("- ") else []
        content = column + (len(body) - len(body[1:].lstrip()) if own else 0)
        for place, dash in [(content, False), *own]:
            if place < limit:
                places.append((place, above, dash))
                limit = place
    return places


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _quoted(text: str) -> str:
    body = text.strip()
    return f"`{body[:_SHOWN]}{'...' if len(body) > _SHOWN else ''}`" if body else "an empty line"
