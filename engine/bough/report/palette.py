"""Colours of curves, the same on paper and on the screen; told apart by people who see few colours too."""

from __future__ import annotations

COLOURS = ("#0b5c8a", "#d1622b", "#2a8f6d", "#8c4c9e", "#c99a1c", "#4aa3d1", "#7a7f85", "#a83249")
DASHES = ("solid", "dash", "dot", "dashdot")
INK = "#1c2733"
GRID = "#dde3e9"


def line_style(i: int) -> tuple[str, str]:
    """Colour and dash of the i-th curve: once all colours are used they come again with another dash."""
    return COLOURS[i % len(COLOURS)], DASHES[i // len(COLOURS) % len(DASHES)]
