"""Colours of curves, the same on paper and on the screen; told apart by people who see few colours too."""

from __future__ import annotations

COLOURS = ("#0b5c8a", "#d1622b", "#2a8f6d", "#8c4c9e", "#c99a1c", "#4aa3d1", "#7a7f85", "#a83249")
INK = "#1c2733"
GRID = "#dde3e9"
