"""The one place where a system asks for partners: motors and controllers that are built with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bough.partners import build_partner as build


def build_partner(
    kind: str,
    path: Path,
    axes: int | None,
    values: Mapping[str, Any],
    model: Path | None,
    fmi: str,
    platforms: str | Sequence[str],
) -> None:
    """Build a partner FMU.

    Args:
        kind: 'motor', 'controller' or 'model-controller'.
        path: Of the FMU.
        axes: Number of axes; None for one without an index.
        values: Values of its parameters.
        model: Model file inside a model-controller.
        fmi: '2.0' or '3.0'.
        platforms: As `bough.build_fmu` takes them.

    Raises:
        BuildError: There is no such partner, or a value does not fit.
    """
    build(kind, path, axes=axes or 1, values=dict(values), model=model, fmi=fmi, platforms=platforms)
