"""Bodies from finite element programs: readers, interfaces, reduction to modes."""

from __future__ import annotations

from bough.flex.fe.fe_model import FeModel, Geometric

__all__ = ["FeModel", "Geometric"]
