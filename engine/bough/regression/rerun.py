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

from bough.coupling import Master, is_system_file, open_package, open_system, single
from bough.coupling import run as run_system
from bough.coupling.recognize import read_system
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
STOP = 10.0
"""End of a run of a model or an FMU that is not given another, s."""


def record(
    source: Path,
    stop: float | None = None,
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
    """Run a model, an FMU or a system and keep the run as its reference.

    Args:
        source: Model file, FMU for Co-Simulation, system file or SSP package.
        stop: End, s; if None as a system says, and 10 s for a model or an FMU.
        step: Communication step, s; if None as a system says, and a thousandth of the run for a model or an FMU.
        path: Of the reference; by default beside the source, `arm.reference.csv`.
        input_file: CSV of inputs over time; it is needed for every verification, so keep it with the reference.
        settings: Constant inputs, parameters and start values, by the names of the FMU.
        only: Patterns of the variables to keep, `*` for anything; all by default.
        fmi: Version of the FMU that is built from a model file.
        rtol: Relative tolerance of the solver; FMUs of a system keep their own.
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
    stop, spacing = _times(source, stop, step)
    inputs = "" if input_file is None else _relative(input_file, target.parent)
    recipe = Recipe(stop, spacing, rtol, fmi, inputs, dict(settings or {}), tuple(only), embed)
    files = [_relative(path, target.parent) for path in (source, *_named_files(source))] + ([inputs] if inputs else [])
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
    if is_system(origin):
        return _run_system(origin, reference, progress, isolate=isolate, call_timeout=call_timeout)
    run = functools.partial(_run, reference=reference, progress=progress, isolate=isolate, call_timeout=call_timeout)
    if origin.suffix.lower() == ".fmu":
        return run(origin)
    model = load(origin)
    with tempfile.TemporaryDirectory() as folder:
        fmu = build_fmu(model, Path(folder) / f"{origin.stem}.fmu", reference.recipe.fmi, native_platform())
        return run(fmu, model)


def _times(source: Path, stop: float | None, step: float | None) -> tuple[float, float]:
    """End and communication step, s."""
    if not is_system(source):
        end = STOP if stop is None else stop
        return end, end / single.ROWS if step is None else step
    if source.suffix.lower() == ".ssp":
        with tempfile.TemporaryDirectory(prefix="bough-", ignore_cleanup_errors=True) as scratch:
            master = open_package(source, Path(scratch)).master
        said = {"stop": master.stop, "step": master.step}
    else:
        found = read_system(source).data.get("master")
        said = {"stop": Master().stop, "step": Master().step, **(found if isinstance(found, dict) else {})}
    return float(said["stop"]) if stop is None else stop, float(said["step"]) if step is None else step


def is_system(path: Path) -> bool:
    """Whether a file is an SSP package or a system file."""
    return path.suffix.lower() == ".ssp" or is_system_file(path)


def _run_system(path: Path, reference: Reference, progress: Progress, **where: Any) -> Result:
    """The run of a system by our master; solvers are those of its FMUs."""
    recipe, file = reference.recipe, reference.input_path
    with tempfile.TemporaryDirectory(prefix="bough-", ignore_cleanup_errors=True) as scratch:
        assembly = open_system(path, Path(scratch))
        free = [".".join(port) for port in assembly.open_inputs()]
        inputs = {} if file is None else read_series(file, free)
        try:
            result = run_system(
                assembly, recipe.stop, recipe.step, inputs=inputs, values=recipe.set, progress=progress,
                warn=lambda _: None, **where,
            )  # fmt: skip
        except SimulationError as error:
            raise SimulationError(f"{reference.source}: {error}") from None
    return select(result, recipe.only)


def _named_files(source: Path) -> list[Path]:
    """Model files and FMUs that a system file names: the run depends on them, too."""
    if source.suffix.lower() == ".ssp" or not is_system_file(source):
        return []
    components = read_system(source).data.get("components")
    out = []
    for entry in components.values() if isinstance(components, dict) else ():
        keys = (
            [entry]
            if isinstance(entry, str)
            else [entry.get(k) for k in ("fmu", "model")]
            if isinstance(entry, dict)
            else []
        )
        out += [source.parent / key for key in keys if isinstance(key, str)]
    return list(dict.fromkeys(out))


def _run(path: Path, model: Model | None = None, *, reference: Reference, progress: Progress, **where: Any) -> Result:
    recipe, file = reference.recipe, reference.input_path
    fmu = single.open_fmu(path)
    known = single.settable_in(fmu)
    for name in recipe.set:
        if name not in known:
            hint = "" if model is None else setting_hint(model, name)
            told = f"; {hint}" if hint else choices(name, known)
            raise SimulationError(f"{reference.source}: there is no {name!r} that can be set{told}")
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
