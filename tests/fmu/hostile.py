"""States that nobody saved, with a right checksum: any number in any place."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

import numpy as np

CHECKED = 32  # bytes: the checksum covers what follows
NONSENSE = (float("nan"), float("inf"), -1e300, 1e-310, -1.0, 2.0**53, 0.5)
WHOLE = (-1, 2, 255, 2**62, -(2**63))


def sealed(state: bytearray) -> bytes:
    """With the checksum that belongs to it."""
    struct.pack_into("<Q", state, CHECKED - 8, zlib.crc32(state[CHECKED:]))
    return bytes(state)


def with_word(good: bytes, place: int, value: float | int) -> bytes:
    """A state with another number at one place, counted in words of eight bytes."""
    state = bytearray(good)
    struct.pack_into("<d" if isinstance(value, float) else "<q", state, 8 * place, value)
    return sealed(state)


def crafted(good: bytes, samples: int, seed: int = 5) -> Iterator[tuple[int, float | int, bytes]]:
    """Every number of the head and some of the rest, each with all nonsense: place, number, state."""
    words = len(good) // 8
    rest = np.random.default_rng(seed).choice(np.arange(24, words), min(samples, words - 24), replace=False)
    for place in [*range(CHECKED // 8, 24), *map(int, rest)]:
        for value in (*NONSENSE, *WHOLE):
            state = with_word(good, place, value)
            if state != good:
                yield place, value, state
