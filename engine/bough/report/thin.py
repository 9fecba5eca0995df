"""Long series, thinned for drawing so that no peak is lost."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]


MOST = 4000
"""Points that a curve is drawn with unless told."""


def thin(t: Array, y: Array, most: int = MOST) -> tuple[Array, Array]:
    """At most about `most` points of a series: the lowest and the highest of each stretch, in the order of time.

    Args:
        t: Times, (n,).
        y: Values, (n,); those that are not finite are kept out of the choice.
        most: Points to keep.
    """
    if t.size <= most:
        return t, y
    stretches = max(most // 2 - 1, 1)
    size = t.size // stretches
    count = t.size // size
    body = y[: count * size].reshape(count, size)
    low = np.argmin(np.where(np.isfinite(body), body, np.inf), axis=1)
    high = np.argmax(np.where(np.isfinite(body), body, -np.inf), axis=1)
    first = np.arange(count) * size
    keep = np.unique(np.concatenate([[0], first + low, first + high, [t.size - 1]]))
    return t[keep], y[keep]
