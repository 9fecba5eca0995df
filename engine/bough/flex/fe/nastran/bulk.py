"""Bulk data of Nastran: cards in small, large or free fields, from decks and from punch files.

A card is a name and fields of text. Small fields have 8 columns, eight to a line; large ones (a star after the name)
16 columns, four to a line; free ones end at commas. A line whose first field is empty, or begins with + or *, goes on
with the card before it.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn

from bough.files import lines_in, open_file
from bough.flex.fe.problem import name_of, refuse
from bough.flex.numbers import real_number, whole_number

_DEPTH = 10
INCLUDES = 1000
"""Files that a deck may include, each time counted."""
MEMBERS = 20_000_000
"""Numbers in a list with THRU."""
_MISSING = "INCLUDE"
_NAME = 4096
"""Characters of a file's name, over all its lines."""
_SET = re.compile(r"SET\s+([0-9]{1,18})\s*=\s*(.*)\Z")
_COUNT = re.compile(r"=\(?([0-9]{1,9})\)?")
_STEP = re.compile(r"\*\(?([^()]+)\)?")
_INCLUDE = re.compile(r"INCLUDE\s+(.*)\Z", re.IGNORECASE)

SETS = ("ASET", "ASET1", "BSET", "BSET1", "CSET", "CSET1", "QSET", "QSET1")
"""Cards whose degrees of freedom remain in the matrices KAA and MAA."""
RIGID = ("RBE1", "RBE2", "RBE3", "RBAR", "RBAR1", "RROD", "RTRPLT", "RTRPLT1", "RSPLINE", "RJOINT", "MPC")
"""Cards that make some degrees of freedom depend on others; KGG and MGG do not know of them."""
COORDINATES = ("CORD1R", "CORD1C", "CORD1S", "CORD2R", "CORD2C", "CORD2S")
UNPLACED = ("CONM1", "CMASS1", "CMASS2", "CMASS3", "CMASS4", "NSM", "NSM1", "NSML", "NSML1", "NSMADD")
"""Cards with mass that does not sit at a grid in all directions alike, or that no element card tells of."""
_OTHERS = ("GRID", "GRDSET", "SPOINT", "EXTRN", "OMIT", "OMIT1", "SEQGP", "DMIG", "SET1", "CONM2")
STRESSED = (
    *("CTETRA", "CPENTA", "CHEXA", "CTRIA3", "CTRIAR", "CTRIA6", "CQUAD4", "CQUADR", "CQUAD8"),
    *("CBAR", "CBEAM", "CROD", "CONROD", "PSOLID", "PSHELL", "PBAR", "PBARL", "PBEAM", "PROD", "MAT1"),
)
"""Cards that tell the stress of elements."""
WANTED = frozenset((*STRESSED, *SETS, *RIGID, *COORDINATES, *UNPLACED, *_OTHERS))


@dataclass
class Card:
    """One card.

    Attributes:
        name: In capitals.
        fields: Texts after the name, blanks stripped.
        file: Where it stands.
        line: Of its beginning.
        key: Key of `fe:` that names the file, for messages.
    """

    name: str
    fields: list[str]
    file: str
    line: int
    key: str

    def text(self, i: int) -> str:
        """Field i, counted from 0 after the name; empty beyond the last."""
        return self.fields[i].upper() if i < len(self.fields) else ""

    def integer(self, i: int, default: int | None = None) -> int:
        """Field i as a whole number; an empty one is the default."""
        text = self.text(i)
        if not text and default is not None:
            return default
        value = whole_number(text)
        if value is None:
            self.refuse(f"a whole number in field {i + 2}", text)
        return value

    def real(self, i: int, default: float | None = None) -> float:
        """Field i as a number; an empty one is the default."""
        text = self.text(i)
        if not text and default is not None:
            return default
        value = real_number(text)
        if value is None:
            self.refuse(f"a number in field {i + 2}", text)
        return value

    def refuse(self, expected: str, found: str) -> NoReturn:
        """Raise ModelError about this card."""
        where = f"line {self.line} of {name_of(self.file)}"
        shown = repr(found) if found else "nothing"
        cure = "write the file again: it may be cut short"
        refuse(self.key, f"{expected} of {self.name}", f"{shown} on {where}", cure)


@dataclass
class Bulk:
    """Cards of interest, and what the rest of a deck tells.

    Attributes:
        cards: By name, in the order of the file.
        elements: Names of the element cards that occur.
        parameters: PARAM cards, name to value.
        sets: `SET n` of case control, grid numbers.
        last: The card read last, of any name, that a replicated card is made from.
        pattern: Fields of the replicated card read last, if it was the last card.
    """

    cards: dict[str, list[Card]] = field(default_factory=dict)
    elements: set[str] = field(default_factory=set)
    parameters: dict[str, str] = field(default_factory=dict)
    sets: dict[int, list[int]] = field(default_factory=dict)
    last: Card | None = None
    pattern: list[str] = field(default_factory=list)

    def of(self, *names: str) -> list[Card]:
        """Cards of the given names."""
        return [card for name in names for card in self.cards.get(name, ())]


def read_bulk(path: str, key: str) -> Bulk:
    """The bulk data of a deck (with executive and case control or without) or a punch file."""
    bulk = Bulk()
    control: list[str] = []
    current: Card | None = None
    for file, number, line in bulk_lines(path, key, control):
        current = _take(bulk, current, file, number, line, key)
    _close(bulk, current)
    bulk.sets.update(_case_sets(control, key))
    return bulk


def bulk_lines(path: str, key: str, control: list[str]) -> Iterator[tuple[str, int, str]]:
    """File, number and text of the lines of bulk data, includes followed.

    Lines before BEGIN BULK, if there are any, go to `control`.
    """
    inside = not _has_control(path, key)
    begun = 0
    for file, number, line in _lines(path, key):
        first = line.split(None, 2)
        word = first[0].upper() if first else ""
        if word == "BEGIN":
            begun += 1
            if begun > 1:
                found = f"a second {' '.join(first[:2])} on line {number} of {name_of(file)}"
                refuse(key, "one part: a deck without superelements of its own", found, "give each part a file")
            inside = True
        elif word.startswith("ENDDATA"):
            return
        elif inside and word == _MISSING:
            found = f"INCLUDE {' '.join(first[1:])} on line {number} of {name_of(file)}"
            refuse(key, "an included file that exists, beside the file that includes it", found, "put it there")
        elif inside:
            yield file, number, line
        else:
            control.append(line)


def _has_control(path: str, key: str) -> bool:
    """Whether a file has executive or case control before its bulk data."""
    return any(line.split(None, 1)[0].upper() in ("CEND", "BEGIN") for _, _, line in _lines(path, key))


def _lines(
    path: str, key: str, depth: int = 0, included: Iterator[int] | None = None
) -> Iterator[tuple[str, int, str]]:
    """File, number and text of every line that is not empty, without comments, includes followed and counted."""
    count = itertools.count(1) if included is None else included
    try:
        with open_file(path, "r", encoding="latin-1") as stream:
            lines = lines_in(stream)
            for number, raw in lines:
                line = raw.split("$", 1)[0].rstrip().expandtabs(8)
                if not line.strip():
                    continue
                include = _INCLUDE.match(line.strip())
                if include is None:
                    yield path, number, line
                    continue
                name = include.group(1).strip()
                while (name.count("'") == 1 or name.count('"') == 1) and len(name) < _NAME:
                    more = next(lines, None)
                    if more is None:
                        break
                    name += more[1].strip()
                full = os.path.join(os.path.dirname(path), name.strip("'\" "))
                if os.path.isfile(full):
                    if depth >= _DEPTH or next(count) > INCLUDES:
                        found = f"INCLUDE {name[:60]} on line {number} of {name_of(path)}"
                        expected = f"at most {INCLUDES} included files, {_DEPTH} deep"
                        refuse(key, expected, found, "look for a file that includes itself")
                    yield from _lines(full, key, depth + 1, count)
                else:
                    # Refused in bulk data only: executive control includes what Nastran needs, not we.
                    yield path, number, f"{_MISSING} {name}"
    except OSError as error:
        refuse(key, "a file that can be read", f"{name_of(path)}: {error.strerror}", "check the path")


def _take(bulk: Bulk, current: Card | None, file: str, number: int, line: str, key: str) -> Card | None:
    """Add one line; returns the card that the next line may go on with, None for one that is passed over."""
    if line[0] in " +*,":
        if current is not None:
            current.fields += _fields(line)
        elif bulk.last is not None:
            bulk.last.fields += _fields(line)
        return current
    _close(bulk, current)
    if line[0] == "=":
        return _replicate(bulk, Card("", _fields(line), file, number, key), line.split(",")[0][:8].strip())
    name = re.split(r"[ ,*]", line[:9], maxsplit=1)[0].upper()
    if name[:1] == "C" and not name.startswith(("CORD", "CSET")):
        bulk.elements.add(name)
    if name == "PARAM":
        parameter = (_fields(line) + ["", ""])[:2]
        bulk.parameters[parameter[0].upper()] = parameter[1]
    bulk.last = Card(name, _fields(line), file, number, key)
    bulk.pattern = []
    return bulk.last if name in WANTED else None


def _replicate(bulk: Bulk, new: Card, head: str) -> Card | None:
    """Cards made from the one before: `=` in a field repeats it, `*(x)` adds x, `==` repeats all that follow.

    A card that begins with `=(n)` makes n more by the pattern of the one before.
    """
    count = _COUNT.fullmatch(head)
    last = bulk.last
    if last is None or len(last.fields) > len(new.fields) or (count is None and head != "="):
        new.refuse("a card of one line before a replicated card, and `=` or `=(n)` at its beginning", head)
    if count is not None and not bulk.pattern:
        new.refuse("a replicated card before `=(n)`", head)
    if count is None:
        bulk.pattern = new.fields
    times = 1 if count is None else int(count.group(1))
    check_members(times, new.key, head)
    made: Card | None = None
    for _ in range(times):
        if made is not None:
            _close(bulk, made)
        fields = _repeated(last, bulk.pattern, new)
        last = bulk.last = Card(last.name, fields, new.file, new.line, new.key)
        made = Card(last.name, list(fields), new.file, new.line, new.key) if last.name in WANTED else None
    return made


def _repeated(last: Card, pattern: list[str], new: Card) -> list[str]:
    """Fields of the card before, changed by a pattern."""
    out: list[str] = []
    for i, word in enumerate(pattern):
        old = last.fields[i] if i < len(last.fields) else ""
        step = _STEP.fullmatch(word)
        if word == "==":
            return out + last.fields[i:]
        if step is not None:
            out.append(_raised(old, step.group(1), new))
        else:
            out.append(old if word == "=" else word)
    return out


def _raised(old: str, step: str, new: Card) -> str:
    """A number plus a step; whole if both are."""
    whole, more = whole_number(old), whole_number(step)
    if whole is not None and more is not None:
        return str(whole + more)
    a, b = real_number(old), real_number(step)
    if a is None or b is None:
        new.refuse("a number to add to", f"{old} and {step}")
    return repr(a + b)


def _close(bulk: Bulk, card: Card | None) -> None:
    if card is not None:
        while card.fields and not card.fields[-1]:
            card.fields.pop()
        bulk.cards.setdefault(card.name, []).append(card)


def _fields(line: str) -> list[str]:
    """The data fields of one line: eight, or four of a line in large fields."""
    if "," in line:
        head, *rest = (part.strip() for part in line.split(","))
        count = 4 if head.endswith("*") else 8
        return (rest + [""] * count)[:count]
    width, count = (16, 4) if "*" in line[:8] else (8, 8)
    return [line[8 + k * width : 8 + (k + 1) * width].strip() for k in range(count)]


def _case_sets(control: list[str], key: str) -> Iterator[tuple[int, list[int]]]:
    """`SET 3 = 1, 5 THRU 9, 20` of case control, over as many lines as end in a comma."""
    text = ""
    for line in control:
        text += line.strip().upper()
        if text.endswith(","):
            continue
        match = _SET.match(text)
        text = ""
        if match is not None:
            words = match.group(2).replace(",", " ").split()
            yield int(match.group(1)), expanded(words, key)


def expanded(words: list[str], key: str) -> list[int]:
    """Numbers of a list with THRU in it; words that are no numbers, such as ALL, are passed over."""
    numbers: list[int] = []
    k = 0
    while k < len(words):
        last = whole_number(words[k + 1]) if k + 1 < len(words) else None
        if words[k] == "THRU" and numbers and last is not None:
            more = range(numbers[-1] + 1, last + 1)
            check_members(len(numbers) + len(more), key, f"... THRU {last}")
            numbers += more
            k += 1
        elif (number := whole_number(words[k])) is not None:
            numbers.append(number)
        k += 1
    return numbers


def check_members(count: int, key: str, found: str) -> None:
    """Refuse a list with more numbers than a model has."""
    if count > MEMBERS:
        refuse(key, f"at most {MEMBERS} numbers in a list", f"{count} by {found!r}", "look for a wrong range")
