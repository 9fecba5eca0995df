"""What Python's binding repeats of the headers (numbers, members of structures, arguments) is what they say."""

from __future__ import annotations

import ctypes as c
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bough.mechanism import instance, kernel, kernel_calls, kernel_loops, kernel_sim, kernel_watch

HEADERS = Path(__file__).parents[2] / "engine" / "kernel" / "include"


def _header(name: str) -> str:
    """A header without comments and directives."""
    text = re.sub(r"/\*.*?\*/", " ", (HEADERS / name).read_text(encoding="utf-8"), flags=re.DOTALL)
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith(("#", "BOUGH_RANGE")))


def _enumerators() -> Iterator[tuple[str, int]]:
    for name in ("bough.h", "instance.h"):
        for inside in re.findall(r"enum\s*\{([^}]*)\}", _header(name)):
            known: dict[str, int] = {}
            for entry in filter(None, (part.strip() for part in inside.split(","))):
                key, _, value = (word.strip() for word in entry.partition("="))
                last = next(reversed(known.values()), -1)
                known[key] = eval(value, {}, NUMBERS | known) if value else last + 1
            NUMBERS.update(known)
    yield from NUMBERS.items()


NUMBERS: dict[str, int] = {}
NUMBERS = dict(_enumerators())
PYTHON = {
    **{
        f"BOUGH_{name}": getattr(kernel, name) for name in ("OK", "SINGULAR", "NOT_FINITE", "STEP_TOO_SMALL", "STOPPED")
    },
    **{f"BOUGH_{name}": getattr(kernel, name) for name in ("PAUSED", "OPEN", "STEP_FIXED", "STEP_EITHER")},
    **{
        f"BOUGH_{name}": getattr(kernel, name)
        for name in ("GRAVITY", "DAMPING", "STIFFNESS", "REST", "ARMATURE", "HELD")
    },
    **{f"BOUGH_{name}": getattr(kernel, name) for name in ("INERTIA", "MODAL_DAMPING_SCALE", "STEP_ADAPTIVE")},
    **{f"BOUGH_{name}": getattr(kernel, name) for name in ("LANES_BATCH", "LANES_TANGENT")},
    "BOUGH_INPUT_ORDERS": kernel_sim.INPUT_ORDERS,
    **{f"INSTANCE_{name}": getattr(instance, name) for name in ("OK", "WARNING", "DISCARD", "ERROR")},
    **{f"AT_{name}": getattr(instance, name) for name in ("INSTANTIATED", "INITIALIZATION", "STEP", "FAILED")},
    **{f"CALL_{name}": getattr(instance, f"_CALL_{name}") for name in ("SETUP", "SET", "STATE", "STEP")},
    "CALL_ENTER_INITIALIZATION": instance._CALL_ENTER,
    "CALL_EXIT_INITIALIZATION": instance._CALL_EXIT,
    "LOG_DEFAULT": instance._LOG_DEFAULT,
}


@pytest.mark.parametrize("name", PYTHON)
def test_number_is_that_of_the_header(name: str) -> None:
    assert PYTHON[name] == NUMBERS[name]


def _ctype(declared: str) -> str:
    """double, int, pointer ..., whatever it points to."""
    return "pointer" if "*" in declared or declared.endswith(("_fn", "_hook")) else declared.split()[-1]


def _members(name: str) -> list[tuple[str, str]]:
    found = re.search(r"typedef struct \{([^}]*)\} " + name + ";", _header("bough.h") + _header("instance.h"))
    assert found, name
    members = []
    for declaration in filter(None, (part.strip() for part in found[1].split(";"))):
        words = re.match(r"((?:const )?\w+)\s*(.*)", declaration, re.DOTALL)
        assert words, declaration
        for part in words[2].split(","):
            members.append((part.strip(" *\n"), _ctype(words[1] + ("*" if "*" in part else ""))))
    return members


SIZES = {"int": c.c_int, "double": c.c_double, "size_t": c.c_size_t, "int64_t": c.c_int64}
STRUCTURES: dict[str, type[c.Structure]] = {
    "bough_where": kernel_calls._Where,
    "bough_sizes": kernel_calls._Sizes,
    "bough_sim_options": kernel_calls._Options,
    "bough_sim_counts": kernel_calls._Counts,
    "bough_method_facts": kernel_calls._Method,
    "bough_point": kernel_calls._Point,
    "bough_values": kernel_calls._Values,
    "bough_rows": kernel_calls._Rows,
    "bough_warning": kernel_watch._Warning,
    "bough_instance_setting": instance._Setting,
}


@pytest.mark.parametrize("name", STRUCTURES)
def test_structure_has_the_members_of_the_header_in_their_order(name: str) -> None:
    fields: list[tuple[str, Any]] = list(STRUCTURES[name]._fields_)
    declared = _members(name)
    assert [field[0] for field in fields] == [member for member, _ in declared]
    for (member, kind), (_, type_) in zip(fields, declared, strict=True):
        if type_ in SIZES:
            assert kind is SIZES[type_], member
        elif type_ == "pointer":
            assert c.sizeof(kind) == c.sizeof(c.c_void_p), member


ROOMS = [(kernel_calls, "bough_"), (kernel_loops, "bough_"), (kernel_watch, "bough_"), (instance, "bough_instance_")]
FUNCTIONS = {prefix + name: row for room, prefix in ROOMS for name, row in room._SIGNATURES.items()}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_takes_the_arguments_of_the_header(name: str) -> None:
    found = re.search(r"(\w[\w ]*[ *])" + name + r"\s*\(([^)]*)\)", _header("bough.h") + _header("instance.h"))
    assert found, f"{name} is not in the headers"
    result, arguments = FUNCTIONS[name]
    declared = [part.strip() for part in found[2].split(",") if part.strip() != "void"]
    assert len(arguments) == len(declared)
    for given, wanted in zip(arguments, declared, strict=True):
        type_ = _ctype(" ".join(wanted.split()[:-1]) + ("*" if "*" in wanted or "[" in wanted else ""))
        if type_ in SIZES:
            assert given is SIZES[type_], wanted
        elif type_ == "pointer":
            assert c.sizeof(given) == c.sizeof(c.c_void_p), wanted
    assert (result is None) == (found[1].split()[-1] == "void")
