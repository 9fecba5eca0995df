"""Models, FMUs without binaries, and a reader of the resource for the tests of this folder."""

from __future__ import annotations

import io
import struct
import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import fmpy
from lxml import etree
from random_models import random_model

import bough
from bough.fmu.package import fmu_files

SEEDS = range(24)
GOOD = Path(__file__).parents[1] / "model" / "good"
SCHEMAS = Path(fmpy.__file__).parent / "schema"
TYPES = ("fixed", "revolute", "prismatic", "cylindrical", "universal", "planar", "spherical", "free")
AXES: dict[str, dict[str, Any]] = {
    "revolute": {"axis": [0, 0, 1]},
    "prismatic": {"axis": [1, 0, 0]},
    "cylindrical": {"axis": [0, 1, 0]},
    "universal": {"axes": [[0, 0, 1], [0, 1, 0]]},
    "planar": {"axes": [[1, 0, 0], [0, 1, 0]]},
}


def one_hinge(kind: str, **hinge: Any) -> dict[str, Any]:
    """A rigid body on one hinge `h`."""
    rigid = {"mass": 2.0, "com": [0.1, 0.2, 0.3], "inertia": [0.3, 0.4, 0.5, 0.01, 0.02, 0.03], "tunable": True}
    body = {"name": "b", "parent": "ground", "hinge": {"name": "h", "type": kind, **AXES.get(kind, {}), **hinge}}
    return {"bough": 1, "name": f"one_{kind}", "gravity": [0, 0, -9.81], "bodies": [{**body, "rigid": rigid}]}


CASES = [f"random_{seed}" for seed in SEEDS] + [p.name for p in sorted(GOOD.iterdir())] + [f"one_{t}" for t in TYPES]
"""Every model that is exported: random trees, the model files of the model's tests, one hinge of each type."""
ARM = "two_link_arm.yaml"


@cache
def system_of(case: str) -> bough.Mechanism:
    """The model of a case."""
    family, _, rest = case.partition("_")
    if family == "random":
        return bough.Mechanism(random_model(int(rest)))
    return bough.Mechanism(one_hinge(rest) if family == "one" else GOOD / case)


@cache
def files_of(case: str, fmi: str, arrays: bool = False) -> dict[str, bytes]:
    """Files of the case's FMU, binaries left out."""
    return fmu_files(system_of(case), fmi, arrays)


def tree(files: dict[str, bytes], name: str = "modelDescription.xml") -> Any:
    """A file of an FMU as XML."""
    return etree.parse(io.BytesIO(files[name])).getroot()


def description(case: str, fmi: str, arrays: bool = False) -> Any:
    """modelDescription.xml as XML."""
    return tree(files_of(case, fmi, arrays))


@dataclass(frozen=True)
class Record:
    """A variable in the resource."""

    kind: int
    index: int
    type: int
    role: int
    count: int
    name: str
    start: tuple[float, ...]


@dataclass(frozen=True)
class Resource:
    """A resource, read back."""

    token: str
    model: str
    variables: tuple[Record, ...]
    bodies: tuple[tuple[str, str], ...]
    sensors: tuple[int, ...]
    block: bytes


def read_resource(data: bytes) -> Resource:
    """Read `model.bough` as the C side does, by the layout alone."""
    magic, version, order, size, crc, zero = struct.unpack_from("<8sIIQII", data)
    assert (magic, version, order, size, zero) == (b"BOUGHFMU", 2, 0x01020304, len(data), 0)
    assert crc == zlib.crc32(data[32:])
    n_ints, n_reals, n_text, n_block = struct.unpack_from("<qqqq", data, 32)
    at = 64
    ints = list(struct.unpack_from(f"<{n_ints}i", data, at))
    at += (4 * n_ints + 7) // 8 * 8
    reals = struct.unpack_from(f"<{n_reals}d", data, at)
    at += 8 * n_reals
    text = data[at : at + n_text]
    at += (n_text + 7) // 8 * 8
    assert at + n_block == len(data) and at % 8 == 0

    def name(offset: int) -> str:
        return text[offset : text.index(b"\0", offset)].decode()

    n_variables, n_bodies, n_sensors, token, model, n_values, *rest = ints[:8]
    assert rest == [0, 0] and 2 * n_values == n_reals and min(reals[n_values:]) > 0.0
    assert n_ints == 8 + n_sensors + 6 * n_variables + 2 * n_bodies
    sensors, ints = tuple(ints[8 : 8 + n_sensors]), ints[8 + n_sensors :]
    variables, slot = [], 0
    for i in range(n_variables):
        *numbers, offset = ints[6 * i : 6 * i + 6]
        count = numbers[4]
        variables.append(Record(*numbers, name(offset), reals[slot : slot + count]))
        slot += count
    assert slot == n_values
    ends = ints[6 * n_variables :]
    bodies = tuple((name(ends[2 * k]), name(ends[2 * k + 1])) for k in range(n_bodies))
    return Resource(name(token), name(model), tuple(variables), bodies, sensors, data[at:])
