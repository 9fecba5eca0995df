"""Record a reference run, and run it again."""

from __future__ import annotations

import functools
import importlib.metadata
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from bough.coupling import single
from bough.coupling.slave import CALL_TIMEOUT
from bough.errors import SimulationError, choices
from bough.flex import load
from bough.fmu import build_fmu
from bough.fmu.package import native_platform
from bough.model import Model
from bough.model.named_files import check_target
from bough.regression.compare import Comparison, Tolerance, compare
from bough.regression.reference import Recipe, Reference, about_path, digest, read_reference, reference_path
from bough.run.patterns import select
from bough.run.result import Result
from bough.run.series_file import read_series
from bough.run.signals import setting_hint

Progress: TypeAlias = Callable[[float], None] | None


def record(
    source: Path,
    stop: float,
    step: float | None = None,
    *,
    path: Path | None = None,
    input_file: Path | None = None,
    settings: Mapping[str, float] | None = None,
    only: Sequence[str] = (),
    fmi: str = "2.0",
    rtol: float = 1e-6,
    tolerance: Tolerance | None = None,
    command: str = "",
    progress: Progress = None,
    isolate: bool | None = None,
    call_timeout: float = CALL_TIMEOUT,
    embed: bool = True,
) -> Reference:
    """Run a model or an FMU and keep the run as its reference.

    Args:
        source: Model file, or FMU for Co-Simulation.
        stop: End, s.
        step: Communication step, s; a thousandth of the run if not given.
        path: Of the reference; by default beside the source, `arm.reference.csv`.
        input_file: CSV of inputs over time; it is needed for every verification, so keep it with the reference.
        settings: Constant inputs, parameters and start values, by the names of the FMU.
        only: Patterns of the variables to keep, `*` for anything; all by default.
        fmi: Version of the FMU that is built from a model file.
        rtol: Relative tolerance of the solver.
        tolerance: How far variables may move.
        command: What made it, for people.
        progress: Called with the fraction done.
        isolate: Whether the FMU runs in a process of its own; None: unless its code is bough's.
        call_timeout: Longest time of a call there, s; 0: none.
        embed: Whether an FMU gets the run inside, as fmi-ls-ref has it: the file is replaced by one with these files
            more.

    Raises:
        BoughError: The model is wrong, the run fails or is not finite, or a file cannot be written.
    """
    target = reference_path(source) if path is None else path
    for each in (target, about_path(target)):
        check_target(each, source, input_file)
    spacing = stop / single.ROWS if step is None else step
    inputs = "" if input_file is None else _relative(input_file, target.parent)
    recipe = Recipe(stop, spacing, rtol, fmi, inputs, dict(settings or {}), tuple(only), embed)
    files = [_relative(source, target.parent)] + ([inputs] if inputs else [])
    reference = Reference(
        target, files[0], recipe, tolerance or Tolerance(), _versions(command), _digests(files, target.parent)
    )
    result = run_again(reference, progress, isolate=isolate, call_timeout=call_timeout)
    _finite(result)
    reference.write(result)
    return replace(reference, units=dict(result.units))


def verify(
    reference: Reference | Path,
    *,
    source: Path | None = None,
    tolerance: Tolerance | None = None,
    progress: Progress = None,
    isolate: bool | None = None,
    call_timeout: float = CALL_TIMEOUT,
) -> Comparison:
    """Make the run of a reference again, through the FMU, and compare.

    Args:
        reference: From `record` or `read_reference`, or the path of its CSV file.
        source: Model file or FMU to run instead of the one that was recorded.
        tolerance: Instead of the recorded one.
        progress: Called with the fraction done.
        isolate: Whether the FMU runs in a process of its own; None: unless its code is bough's.
        call_timeout: Longest time of a call there, s; 0: none.

    Raises:
        BoughError: The reference cannot be read, the model is wrong, or the run fails.
    """
    known = read_reference(reference) if isinstance(reference, Path) else reference
    result = run_again(known, progress, source, isolate=isolate, call_timeout=call_timeout)
    return compare(known.result(), result, tolerance or known.tolerance)


def accept(reference: Reference, result: Result) -> Reference:
    """Keep a new run as the reference: same recipe, same tolerance.

    Raises:
        SimulationError: The run is not finite, or the files cannot be written.
    """
    _finite(result)
    made_by = _versions(reference.made_by.get("command", ""))
    updated = replace(reference, made_by=made_by, digests=_digests(list(reference.digests), reference.path.parent))
    updated.write(result)
    return replace(updated, units=dict(result.units))


def run_again(
    reference: Reference,
    progress: Progress = None,
    source: Path | None = None,
    *,
    isolate: bool | None = None,
    call_timeout: float = CALL_TIMEOUT,
) -> Result:
    """The run of a reference, made now: arguments as of `verify`.

    Raises:
        BoughError: The model is wrong, a name is unknown, or the run fails.
    """
    origin = reference.source_path if source is None else source
    run = functools.partial(_run, reference=reference, progress=progress, isolate=isolate, call_timeout=call_timeout)
    if origin.suffix.lower() == ".fmu":
        return run(origin)
    model = load(origin)
    with tempfile.TemporaryDirectory() as folder:
        fmu = build_fmu(model, Path(folder) / f"{origin.stem}.fmu", reference.recipe.fmi, native_platform())
        return run(fmu, model)


def _run(path: Path, model: Model | None = None, *, reference: Reference, progress: Progress, **where: Any) -> Result:
    recipe, file = reference.recipe, reference.input_path
    fmu = single.open_fmu(path)
    known = single.settable_in(fmu)
    for name in recipe.set:
        if name not in known:
            hint = "" if model is None else setting_hint(model, name)
            told = f"; {hint}" if hint else choices(name, known)
            raise SimulationError(f"{reference.source}: there is no {name!r} to be set{told}")
    inputs = {} if file is None else read_series(file, single.inputs_of(fmu))
    result = single.run_fmu(fmu, recipe.stop, recipe.step, inputs, recipe.set, recipe.rtol, progress, **where)
    return select(result, recipe.only)


def _finite(result: Result) -> None:
    for name in result.names:
        bad = np.flatnonzero(~np.isfinite(result[name]))
        if bad.size:
            raise SimulationError(f"{name} is not finite at t = {result.t[bad[0]]:.6g} s: no reference is kept")


def _versions(command: str) -> dict[str, str]:
    packages = {name: importlib.metadata.version(name) for name in ("bough", "fmpy", "numpy")}
    return {"command": command, **packages, "platform": native_platform()}


def _digests(files: Sequence[str], folder: Path) -> dict[str, str]:
    return {name: digest(folder / name) for name in files}


def _relative(path: Path, folder: Path) -> str:
    """A path as the reference writes it: from its own folder, with slashes, so that the folder can be moved."""
    full, base = path.resolve(), folder.resolve()
    ups = 0
    while not full.is_relative_to(base):
        if base == base.parent:
            return full.as_posix()
        base, ups = base.parent, ups + 1
    return "/".join([".."] * ups + [full.relative_to(base).as_posix()])
