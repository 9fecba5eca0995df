"""Symbols of a COFF object file: enough to know what a Windows library still needs."""

from __future__ import annotations

import struct

EXTERNAL = 2
SYMBOL = 18


def symbols(data: bytes) -> tuple[set[str], set[str]]:
    """Names of external symbols that an object defines, and of those that it needs."""
    table, count = struct.unpack_from("<II", data, 8)
    strings = table + SYMBOL * count
    defined: set[str] = set()
    needed: set[str] = set()
    i = 0
    while i < count:
        raw, value, section, _, storage, extra = struct.unpack_from("<8sIhHBB", data, table + SYMBOL * i)
        if storage == EXTERNAL:
            if raw[:4] == b"\0\0\0\0":
                start = strings + struct.unpack("<I", raw[4:])[0]
                raw = data[start : data.index(b"\0", start)]
            name = raw.rstrip(b"\0").decode()
            (needed if section == 0 and value == 0 else defined).add(name)
        i += 1 + extra
    return defined, needed
