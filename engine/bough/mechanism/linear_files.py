"""Linear models in files: one, or a family over a grid of operating points.

All formats hold A, B, C, D, the names of states, inputs and outputs, and the operating point. A family has one more
dimension: first in .npz and .json (n, rows, columns), last in .mat and .m, as MATLAB has it. Numbers read back as
they were.
"""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.errors import ArgumentError
from bough.files import write_bytes, write_text
from bough.mechanism.linearize import StateSpace

Array: TypeAlias = NDArray[np.float64]

ENDINGS = (".mat", ".npz", ".json", ".m")


def check_ending(path: str | os.PathLike[str]) -> str:
    """The ending of a file that linear models can be written to.

    Raises:
        ArgumentError: It is another one, or MATLAB cannot run a script of that name.
    """
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise ArgumentError(f"{os.fspath(path)}: expected a name that ends in {', '.join(ENDINGS)}")
    if ending == ".m" and not re.fullmatch(r"[A-Za-z]\w*", Path(path).stem):
        raise ArgumentError(f"{os.fspath(path)}: MATLAB runs scripts whose names are letters, digits and _ only")
    return ending


def save_family(
    models: Sequence[StateSpace],
    path: str | os.PathLike[str],
    grid: Sequence[Mapping[str, float]] | None = None,
    facts: Mapping[str, float] | None = None,
) -> None:
    """Write models with the same states, inputs and outputs to one file.

    Args:
        models: One, or one for each operating point.
        path: .mat, .npz, .json or .m.
        grid: What was varied, by name, for each model; None for a single model, which gets no further dimension.
        facts: More numbers for the file, such as the bound of a reduced model.

    Raises:
        ArgumentError: The ending is another one, or the models do not belong together.
    """
    ending = check_ending(path)
    first = models[0]
    for other in models[1:]:
        if (other.states, other.inputs, other.outputs) != (first.states, first.inputs, first.outputs):
            raise ArgumentError("models of a family have the same states, inputs and outputs")
    arrays = {name: np.stack([getattr(m, name) for m in models]) for name in "ABCD"}
    if grid is None:
        arrays = {name: a[0] for name, a in arrays.items()}
    names = {"states": first.states, "inputs": first.inputs, "outputs": first.outputs}
    about = [dict(m.about) for m in models]
    varied = {} if grid is None else {key: np.array([row[key] for row in grid]) for key in grid[0]}
    family = _Family(arrays, names, about, varied, dict(facts or {}), grid is None)
    if ending == ".m":
        write_text(path, _script(Path(path).stem, family))
    else:
        {".json": _write_json, ".npz": _write_npz, ".mat": _write_mat}[ending](path, family)


_About: TypeAlias = Sequence[Mapping[str, float]]


@dataclass(frozen=True, eq=False)
class _Family:
    """What a file holds.

    Attributes:
        arrays: A, B, C, D; of several models stacked.
        names: Of states, inputs and outputs.
        about: The operating point of each model.
        varied: Values of the grid by coordinate; empty without a grid.
        more: Further numbers by name.
        single: Whether it is one model without a grid.
    """

    arrays: Mapping[str, Array]
    names: Mapping[str, tuple[str, ...]]
    about: _About
    varied: Mapping[str, Array]
    more: Mapping[str, float]
    single: bool


def _write_json(path: str | os.PathLike[str], f: _Family) -> None:
    content: dict[str, Any] = {key: list(value) for key, value in f.names.items()}
    content |= {key: a.tolist() for key, a in f.arrays.items()}
    content["about"] = f.about[0] if f.single else list(f.about)
    if f.varied:
        content["grid"] = {key: a.tolist() for key, a in f.varied.items()}
    write_text(path, json.dumps(content | dict(f.more), indent=1, allow_nan=False) + "\n")


def _table(about: _About) -> tuple[list[str], Array]:
    """Names and values of the operating points, (n, names)."""
    names = list(dict.fromkeys(name for row in about for name in row))
    return names, np.array([[row.get(name, 0.0) for name in names] for row in about])


def _write_npz(path: str | os.PathLike[str], f: _Family) -> None:
    about_names, values = _table(f.about)
    content: dict[str, Any] = {key: np.array(value) for key, value in f.names.items()} | dict(f.arrays) | dict(f.more)
    content |= {"about_names": np.array(about_names), "about": values}
    if f.varied:
        content |= {"grid_names": np.array(list(f.varied)), "grid": np.column_stack(list(f.varied.values()))}
    buffer = io.BytesIO()
    np.savez(buffer, **content)
    write_bytes(path, buffer.getvalue())


def _write_mat(path: str | os.PathLike[str], f: _Family) -> None:
    from scipy.io import savemat

    def cells(texts: Sequence[str]) -> NDArray[np.object_]:
        out = np.empty((len(texts), 1), dtype=object)
        out[:, 0] = list(texts)
        return out

    about_names, values = _table(f.about)
    content: dict[str, Any] = {key: cells(value) for key, value in f.names.items()} | dict(f.more)
    content |= {key: a if a.ndim == 2 else np.moveaxis(a, 0, 2) for key, a in f.arrays.items()}
    content |= {"about_names": cells(about_names), "about": values}
    if f.varied:
        content |= {"grid_names": cells(list(f.varied)), "grid": np.column_stack(list(f.varied.values()))}
    buffer = io.BytesIO()
    savemat(buffer, content, do_compression=True)  # type: ignore[arg-type]  # the stubs know file names only
    write_bytes(path, buffer.getvalue())


def _script(stem: str, f: _Family) -> str:
    """A script for MATLAB and Octave: matrices, names, and the `ss` object where there is a control toolbox."""

    def matrix(a: Array) -> str:
        if not a.size:
            return f"zeros({a.shape[0]}, {a.shape[1]})"
        return "[" + ";\n".join(" ".join(map(repr, row)) for row in a.tolist()) + "]"

    def cells(texts: Sequence[str]) -> str:
        return "{" + "; ".join("'" + text.replace("'", "''") + "'" for text in texts) + "}"

    about_names, values = _table(f.about)
    lines = [f"% {stem}: linear model written by bough. SI units and radians."]
    for key, a in f.arrays.items():
        if a.ndim == 2:
            lines.append(f"{key} = {matrix(a)};")
        else:
            lines += [f"{key}(:, :, {i + 1}) = {matrix(each)};" for i, each in enumerate(a)]
    lines += [f"{key} = {cells(value)};" for key, value in f.names.items()]
    lines += [f"about_names = {cells(about_names)};", f"about = {matrix(values)};"]
    if f.varied:
        lines += [
            f"grid_names = {cells(list(f.varied))};",
            f"grid = {matrix(np.column_stack(list(f.varied.values())))};",
        ]
    lines += [f"{key} = {value!r};" for key, value in f.more.items()]
    lines += [
        "if exist('ss', 'file')",
        "  sys = ss(A, B, C, D);",
        "  set(sys, 'StateName', states, 'InputName', inputs, 'OutputName', outputs);",
        "end",
    ]
    return "\n".join(lines) + "\n"
