"""The axis of a beam by numbers: how a path with corners is divided into elements."""

from __future__ import annotations

import heapq
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]


def corner_places(corners: Array) -> Array:
    """Path coordinates of the corners (nc, 3) of an axis, m, (nc,)."""
    lengths = np.linalg.norm(np.diff(corners, axis=0), axis=1)
    return np.concatenate([[0.0], np.cumsum(lengths)])


def divided(breaks: Array, pieces: int) -> Array:
    """Places that divide a path into so many pieces, the breaks among them, (pieces + 1,).

    Every interval between breaks is cut evenly; the next cut goes where pieces are longest, first come first
    served among equal ones, so that the longest piece is as short as can be. At least one piece per interval.
    """
    lengths = np.diff(breaks)
    counts = [1] * lengths.size
    if lengths.size == 1:
        counts = [pieces]
    else:
        # Rounded, so that round-off does not choose among equal pieces.
        queue = [(-round(float(x / breaks[-1]), 12), i) for i, x in enumerate(lengths)]
        heapq.heapify(queue)
        for _ in range(pieces - lengths.size):
            _, i = heapq.heappop(queue)
            counts[i] += 1
            heapq.heappush(queue, (-round(float(lengths[i] / breaks[-1] / counts[i]), 12), i))
    cuts = [np.linspace(breaks[i], breaks[i + 1], n + 1)[:-1] for i, n in enumerate(counts)]
    return np.concatenate([*cuts, breaks[-1:]])
