"""Flexible bodies before the run: beams, mode sets, nodal data."""

from __future__ import annotations

from bough.flex.body import FlexBody
from bough.flex.build import flex_body

__all__ = ["FlexBody", "flex_body"]
