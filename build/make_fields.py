"""Write `engine/bough/mechanism/fields.py` from `engine/kernel/include/fields.def`, the list of what an instance holds.

    python build/make_fields.py

`make kernel` and `make setup` call it; a test fails when the file is not what the list says.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "engine" / "kernel" / "include" / "fields.def"
MODULE = ROOT / "engine" / "bough" / "mechanism" / "fields.py"
_ENTRY = re.compile(r"^BOUGH_(STATE|INPUT|PARAMETER|VALUE|SETTING)\((.*)\)\s*(?:/\*.*)?$", re.MULTILINE)
_HEAD = '''"""Kinds of variables, made by `build/make_fields.py` from `fields.def` of the kernel: change them there."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Kind(IntEnum):
    """Where an instance finds a variable's number; the values are part of the resource's format."""

'''
_FIELD = '''

@dataclass(frozen=True)
class Field:
    """One kind of variable of a mechanism.

    Attributes:
        group: STATE, INPUT, PARAMETER, VALUE (computed) or SETTING (of the solver).
        member: Name of its array in the kernel: in a point of evaluation, among its values, or in the instance.
        count: How many numbers there are, as the list says it: `n->nu` is one for each degree of freedom.
        type: REAL, INTEGER, BOOLEAN or ENUMERATION.
    """

    group: str
    member: str
    count: str = "1"
    type: str = "REAL"


FIELDS: dict[Kind, Field] = {
'''


def entries(text: str) -> list[tuple[str, list[str]]]:
    """Group and arguments of every kind, in the order of the list."""
    return [(group, [part.strip() for part in inside.split(",")]) for group, inside in _ENTRY.findall(text)]


def module(text: str) -> str:
    """The Python module for a list."""
    found = entries(text)
    kinds = sorted((int(row[0]), row[1]) for _, row in found)
    lines = [_HEAD.rstrip("\n"), "", "    TIME = 0", *(f"    {name} = {number}" for number, name in kinds)]
    lines += ["    PARTNER = 100", '    """A number of a partner (`bough.partners`); the index says which."""']
    out = "\n".join(lines) + "\n" + _FIELD
    for group, row in found:
        values = [group, row[2], "1" if group == "SETTING" else row[3]]
        if group == "SETTING":
            values.append(row[3])
        elif group in ("PARAMETER", "VALUE"):
            values.append(row[4])
        defaults = {2: "1", 3: "REAL"}
        while len(values) > 2 and values[-1] == defaults[len(values) - 1]:
            values.pop()
        arguments = ", ".join(f'"{value}"' for value in values)
        out += f"    Kind.{row[1]}: Field({arguments}),\n"
    return out + "}\n"


def main() -> None:
    """Write the module if it changes."""
    made = module(LIST.read_text(encoding="utf-8"))
    if not MODULE.exists() or MODULE.read_text(encoding="utf-8") != made:
        MODULE.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
