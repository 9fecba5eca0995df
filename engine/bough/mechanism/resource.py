"""The resource `model.bough` that an FMU's binary reads: the variable table and the kernel's model block.

Little-endian. A header of 64 bytes, then ints (i32), reals (f64), strings (zero-terminated UTF-8) and the kernel
block, each padded to eight bytes:

    0 "BOUGHFMU" | 8 u32 version | 12 u32 0x01020304 | 16 u64 size | 24 u32 CRC-32 of bytes 32..size | 28 u32 0
    32 i64 n_ints | 40 i64 n_reals | 48 i64 n_string_bytes | 56 i64 n_block_bytes

    ints   n_variables, n_bodies, n_sensors, token, model name, n_values, partner, axes; a kernel node per sensor;
           per variable kind, index, type, role, count, name; per body name, hinge name (names: offset in strings)
    reals  a start value per element of each variable, 0 where there is none; then a nominal value per element
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from bough.errors import BoughError
from bough.mechanism.mechanism import Mechanism
from bough.mechanism.variable_table import TYPES, FmuVariable

MAGIC = b"BOUGHFMU"
VERSION = 2
BYTE_ORDER = 0x01020304


class _Strings:
    """Zero-terminated strings, one after the other, each once."""

    def __init__(self) -> None:
        self.data = bytearray()
        self._offsets: dict[str, int] = {}

    def offset(self, text: str) -> int:
        """Where a string is, or is put."""
        if text not in self._offsets:
            self._offsets[text] = len(self.data)
            self.data += text.encode() + b"\0"
        return self._offsets[text]


@dataclass(frozen=True)
class Content:
    """What a resource holds besides its variables.

    Attributes:
        token: GUID or instantiation token, as in modelDescription.xml.
        name: The model's name.
        block: The kernel's model block; for partners their own.
        bodies: Names of each body and its hinge.
        sensors: The kernel's number of each sensor's node.
        partner: Which partner it is, and for how many axes; 0, 0 for a mechanism.
    """

    token: str
    name: str
    block: bytes
    bodies: tuple[tuple[str, str], ...] = ()
    sensors: tuple[int, ...] = ()
    partner: tuple[int, int] = (0, 0)


def resource(system: Mechanism, variables: Sequence[FmuVariable], token: str) -> bytes:
    """The bytes of a mechanism's `model.bough`.

    Args:
        system: The model, compiled.
        variables: The table; its order is that of the value references.
        token: GUID or instantiation token, as in modelDescription.xml.
    """
    model = system.model
    sensors = tuple(int(j) for j in system._node_index(model.outputs))
    bodies = tuple((body.label, body.hinge.name) for body in model.bodies)
    return pack(variables, Content(token, model.name, system.block.data, bodies, sensors))


def pack(variables: Sequence[FmuVariable], content: Content) -> bytes:
    """The bytes of a `model.bough`."""
    strings = _Strings()
    values = [x for v in variables for x in (v.start or (0.0,) * v.count)]
    ints = [len(variables), len(content.bodies), len(content.sensors)]
    nominals = [x for v in variables for x in (v.nominal or (1.0,) * v.count)]
    ints += [strings.offset(content.token), strings.offset(content.name), len(values), *content.partner]
    ints += content.sensors
    for v in variables:
        ints += [int(v.kind), v.index, TYPES[v.type], int(v.role), v.count, strings.offset(v.name)]
    for names in content.bodies:
        ints += [strings.offset(name) for name in names]
    block, text = content.block, bytes(strings.data)
    body_bytes = struct.pack("<qqqq", len(ints), 2 * len(values), len(text), len(block))
    body_bytes += _padded(struct.pack(f"<{len(ints)}i", *ints))
    body_bytes += struct.pack(f"<{2 * len(values)}d", *values, *nominals) + _padded(text) + block
    head = struct.pack("<8sIIQII", MAGIC, VERSION, BYTE_ORDER, 32 + len(body_bytes), zlib.crc32(body_bytes), 0)
    return head + body_bytes


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 8)


@dataclass(frozen=True)
class Record:
    """A variable as the resource has it: what `FmuVariable` says of it in numbers."""

    kind: int
    index: int
    type: int
    role: int
    count: int
    name: str
    start: tuple[float, ...]


@dataclass(frozen=True)
class Resource:
    """A resource, read back.

    Attributes:
        token: GUID or instantiation token.
        model: The model's name.
        variables: In the order of the value references.
        bodies: Names of each body and its hinge.
        sensors: The kernel's number of each sensor's node.
        block: The kernel's model block; for partners their own.
        partner: Which partner it is, and for how many axes; 0, 0 for a mechanism.
    """

    token: str
    model: str
    variables: tuple[Record, ...]
    bodies: tuple[tuple[str, str], ...]
    sensors: tuple[int, ...]
    block: bytes
    partner: tuple[int, int] = (0, 0)


def read_resource(data: bytes) -> Resource:
    """The content of a `model.bough`.

    Raises:
        BoughError: It is not one, is damaged, or has another version.
    """
    intact = len(data) >= 64 and data[:8] == MAGIC and zlib.crc32(data[32:]) == struct.unpack_from("<I", data, 24)[0]
    if not intact or struct.unpack_from("<II", data, 8) != (VERSION, BYTE_ORDER):
        raise BoughError("model.bough is damaged or of another version of bough: build the FMU again")
    n_ints, n_reals, n_text, n_block = struct.unpack_from("<qqqq", data, 32)
    ints = struct.unpack_from(f"<{n_ints}i", data, 64)
    at = 64 + (4 * n_ints + 7) // 8 * 8
    reals = struct.unpack_from(f"<{n_reals}d", data, at)
    text = data[at + 8 * n_reals :]

    def name(offset: int) -> str:
        return text[offset : text.index(b"\0", offset)].decode()

    n_variables, n_bodies, n_sensors, token, model = ints[:5]
    rows, variables, slot = ints[8 + n_sensors :], [], 0
    for i in range(n_variables):
        kind, index, type_, role, count, offset = rows[6 * i : 6 * i + 6]
        variables.append(Record(kind, index, type_, role, count, name(offset), reals[slot : slot + count]))
        slot += count
    ends = rows[6 * n_variables :]
    bodies = tuple((name(ends[2 * k]), name(ends[2 * k + 1])) for k in range(n_bodies))
    sensors = tuple(ints[8 : 8 + n_sensors])
    block = data[len(data) - n_block :]
    return Resource(name(token), name(model), tuple(variables), bodies, sensors, block, (ints[6], ints[7]))
