"""Ways to spoil a file: bytes, numbers, lines and, in archives, members."""

from __future__ import annotations

import io
import re
import struct
import zipfile
from random import Random

NUMBERS = [b"0", b"-1", b"1", b"2", b"1e300", b"-1e300", b"1e-300", b"nan", b"inf", b"-inf", b"1e999", b"2147483648"]
NUMBERS += [b"99999999999999999999", b"2000000000", b"1d5", b"1.-4", b"0x10", b"1_0", "²".encode(), "١".encode()]
NUMBERS += [b"", b"1e", b"--1", b"4294967297", b"9" * 400]
WORDS = [b"=", b"*", b"$", b"#", b",", b"\0", b"\r", b"\t", b'"', b"'", b"\xff", b"\xef\xbb\xbf", b"THRU", b"- ", b": "]
WORDS += [b"<script>alert(1)</script>", b"</script><script>alert(1)</script>", b'"><img src=x onerror=alert(1)>', b"%s"]
WORDS += [b"INCLUDE '../x'\n", b"*INCLUDE, INPUT=job.inp\n", b"1 THRU 2000000000", b"[" * 200, b"{" * 200, b"&a *a"]
NAMES = [
    "../outside",
    "/absolute",
    "a" * 300,
    "resources/../../x",
    "C:\\x",
    "modelDescription.xml",
    "SystemStructure.ssd",
    "K.npy",
]


def _number(data: bytes, rng: Random) -> bytes:
    found = list(re.finditer(rb"[-+]?\d[\d.]*(?:[eEdD][-+]?\d+)?", data))
    if not found:
        return data
    one = rng.choice(found)
    return data[: one.start()] + rng.choice(NUMBERS) + data[one.end() :]


def _line(data: bytes, rng: Random) -> bytes:
    lines = data.splitlines(keepends=True) or [b""]
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    way = rng.randrange(5)
    if way == 0:
        del lines[i]
    elif way == 1:
        lines.insert(j, lines[i])
    elif way == 2:
        lines[i], lines[j] = lines[j], lines[i]
    elif way == 3:
        lines[i] = lines[i].lstrip()[rng.randrange(4) :]
    else:
        lines[i] = lines[i].rstrip(b"\n") + lines[j]
    return b"".join(lines)


def _word(data: bytes, rng: Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(WORDS) + data[at:]


def _byte(data: bytes, rng: Random) -> bytes:
    if not data:
        return b"x"
    out, at = bytearray(data), rng.randrange(len(data))
    out[at] = rng.choice([rng.randrange(256), out[at] ^ (1 << rng.randrange(8))])
    return bytes(out)


def _cut(data: bytes, rng: Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return rng.choice([data[:at], data[at:], data[:at] + data[at + rng.randrange(1, 40) :]])


def _field(data: bytes, rng: Random) -> bytes:
    """A whole number or real of a binary file."""
    if len(data) < 16:
        return data
    out, at = bytearray(data), 4 * rng.randrange(len(data) // 4 - 2)
    if rng.random() < 0.7:
        struct.pack_into("<i", out, at, rng.choice([-1, 0, 1, 2, 7, 1000, 2**31 - 1, -(2**31), rng.randrange(100)]))
    else:
        struct.pack_into("<d", out, at, rng.choice([0.0, -1.0, float("nan"), float("inf"), 1e300, 1e-300]))
    return bytes(out)


TEXT = (_number, _number, _line, _word, _byte, _cut)
BINARY = (_field, _field, _byte, _cut)


def _plain(data: bytes, rng: Random) -> bytes:
    is_text = b"\0" not in data[:1000]
    for _ in range(rng.choice([1, 1, 2, 4])):
        data = rng.choice(TEXT if is_text else BINARY)(data, rng)
    return data


def _archive(data: bytes, rng: Random) -> bytes:
    """An archive with one member spoilt, renamed, missing or there twice: its checksums are right."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as old:
            members = [(name, old.read(name)) for name in old.namelist()]
    except Exception:  # already spoilt as an archive
        return _plain(data, rng)
    small = [i for i, (_, content) in enumerate(members) if len(content) < 100_000] or [0]
    i, way = rng.choice(small), rng.randrange(10)
    name, content = members[i]
    if way < 7:
        members[i] = (name, _plain(content, rng))
    elif way == 7:
        members[i] = (rng.choice(NAMES), content)
    elif way == 8:
        del members[i]
    else:
        members.append((rng.choice(NAMES), rng.choice([content, b"", bytes(1_000_000)])))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name, content in members:
            new.writestr(name, content)
    return out.getvalue()


def spoil(data: bytes, rng: Random) -> bytes:
    """A mutation of the file, the same for the same generator."""
    if data.startswith(b"PK") and rng.random() < 0.85:
        return _archive(data, rng)
    return _plain(data, rng)
