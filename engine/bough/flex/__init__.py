"""Flexible bodies before the run: beams, mode sets, nodal data, finite element models."""

from __future__ import annotations

from bough.flex.body import FlexBody
from bough.flex.build import flex_body
from bough.flex.count import counted, load

__all__ = ["FlexBody", "counted", "flex_body", "load"]
