"""Bode diagrams: magnitude and phase over frequency, of several inputs and outputs."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.files import write_bytes, write_text
from bough.report.figures import DPI, new_figure, style_axes
from bough.report.palette import COLOURS

Array: TypeAlias = NDArray[np.float64]
Complex: TypeAlias = NDArray[np.complex128]

PICTURES = (".png", ".svg", ".pdf")


def phase_degrees(values: Complex) -> Array:
    """Continuous phase, degrees, of each curve along the first axis; where a response is zero it has none: nan."""
    out = np.degrees(np.unwrap(np.angle(values), axis=0))
    return np.asarray(np.where(values == 0, np.nan, out))


def draw_bode(omega: Array, response: Complex, labels: Sequence[str], title: str, path: str | os.PathLike[str]) -> None:
    """Write a picture.

    Args:
        omega: rad/s, (n,).
        response: (n, curves).
        labels: One per curve, with its unit.
        title: Heads the picture.
        path: .png, .svg or .pdf.
    """
    figure = new_figure(8.0, 6.5)
    above, below = figure.subplots(2, 1, sharex=True)
    for i, label in enumerate(labels):
        colour = COLOURS[i % len(COLOURS)]
        size = abs(response[:, i])
        above.loglog(omega, np.where(size > 0, size, np.nan), color=colour, linewidth=1.6, label=label)
        below.semilogx(omega, phase_degrees(response[:, i : i + 1])[:, 0], color=colour, linewidth=1.6)
    style_axes(above, title, "", "magnitude, SI units")
    style_axes(below, "", "frequency, rad/s", "phase, degrees")
    above.legend(fontsize=8.5, frameon=False, loc="best")
    buffer = io.BytesIO()
    ending = os.path.splitext(os.fspath(path))[1].lower().removeprefix(".")
    figure.savefig(buffer, format=ending, dpi=DPI)
    write_bytes(path, buffer.getvalue())


def bode_csv(omega: Array, response: Complex, labels: Sequence[str]) -> str:
    """Frequency, then magnitude and phase of each curve; numbers read back the same."""
    head = ["frequency [rad/s]"]
    for label in labels:
        head += [f"|{label}|", f"phase {label} [deg]"]
    quoted = ",".join('"' + name.replace('"', '""') + '"' for name in head)
    phases = phase_degrees(response)
    lines = [quoted]
    for i, w in enumerate(omega.tolist()):
        cells = [repr(w)]
        for j in range(response.shape[1]):
            cells += [repr(float(abs(response[i, j]))), repr(float(phases[i, j]))]
        lines.append(",".join(cells))
    return "\n".join(lines) + "\n"


def save_bode(omega: Array, response: Complex, labels: Sequence[str], title: str, path: str | os.PathLike[str]) -> None:
    """Write a picture, or the numbers as .csv, by the ending of the name."""
    if os.fspath(path).lower().endswith(".csv"):
        write_text(path, bode_csv(omega, response, labels))
    else:
        draw_bode(omega, response, labels, title, path)
