"""Reads what an FMU says of itself, by FMPy."""

from __future__ import annotations

import math
import re
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from bough.coupling.assembly import Interface, Unit, Variable
from bough.coupling.clocks import read_clocks
from bough.errors import SimulationError
from bough.files import check_archive, open_file

_KINDS = {"Real": "real", "Float64": "real", "Float32": "real", "Boolean": "boolean", "String": "string",
          "Binary": "binary", "Clock": "clock"}  # fmt: skip
_VERSION = re.compile(rb"<fmiModelDescription\b[^>]*?\bfmiVersion\s*=\s*[\"']([^\"']*)")
_BASE = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")


def fmpy() -> Any:
    """FMPy, which is an optional part of the installation.

    Raises:
        SimulationError: It is missing.
    """
    try:
        import fmpy as package
    except ImportError:
        raise SimulationError(
            "coupling FMUs needs the package FMPy, which is not installed: pip install fmpy"
        ) from None
    return package


def read_interface(path: Path) -> Interface:
    """Variables, units, dependencies and abilities of an FMU for Co-Simulation, FMI 2 or 3.

    Raises:
        SimulationError: It is no such FMU; the message ends with what is wrong, without the file's name.
    """
    package = fmpy()
    if not path.is_file():
        raise SimulationError("no such file")
    try:
        with open_file(path) as stream, zipfile.ZipFile(stream) as archive:
            check_archive(archive)
            text = archive.read("modelDescription.xml")
        found = _VERSION.search(text)
        version = found[1].decode() if found else "2.0"
    except Exception as error:
        raise SimulationError(f"not a readable FMU: {_reason(error)}") from None
    major = version.split(".")[0]
    if major not in ("2", "3"):
        raise SimulationError(f"an FMU of FMI {version}; FMI 2 and 3 are known")
    try:
        description, dislikes = _description(package, path)
    except Exception as error:  # FMPy raises whatever it meets
        raise SimulationError(f"not a readable FMU: {_reason(error)}") from None
    if description.coSimulation is None and description.modelExchange is None:
        raise SimulationError("an FMU that is neither for Co-Simulation nor for Model Exchange")
    try:
        helped = _helped(description, int(major), text)
    except (ValueError, KeyError, ElementTree.ParseError) as error:
        raise SimulationError(f"not a readable FMU: its clocks: {error}") from None
    return _interface(description, int(major), dislikes, helped)


def _helped(description: Any, fmi: int, text: bytes) -> dict[str, Any]:
    """What an FMU needs to step where it does not by itself."""
    if description.coSimulation is None:
        about = description.modelExchange
        return {
            "states": int(description.numberOfContinuousStates or 0),
            "indicators": int(description.numberOfEventIndicators or 0),
            "completed": bool(about.needsCompletedIntegratorStep),
        }
    if fmi == 2 or not any(v.type == "Clock" for v in description.modelVariables):
        return {}
    return read_clocks(text)


def _description(package: Any, path: Path) -> tuple[Any, tuple[str, ...]]:
    """The description, and what a validator dislikes in it: many FMUs have slips there that do no harm."""
    try:
        return package.read_model_description(str(path)), ()
    except package.model_description.ValidationError as error:
        dislikes = tuple(" ".join(str(problem).split()) for problem in error.problems)
        try:
            return package.read_model_description(str(path), validate=False), dislikes
        except Exception:  # it cannot be read at all, and this is why
            raise error from None


def _reason(error: Exception) -> str:
    """All that is told, in one line."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return " ".join(line.strip() for line in lines)


def _interface(description: Any, fmi: int, dislikes: tuple[str, ...], helped: dict[str, Any]) -> Interface:
    steps = description.coSimulation is not None
    abilities = description.coSimulation if steps else description.modelExchange
    variables = {v.name: _variable(v) for v in description.modelVariables}
    inputs = frozenset(v.name for v in variables.values() if v.causality == "input")
    run = {u.variable.name: _depends(u, inputs) for u in description.outputs if u.variable is not None}
    start = {u.variable.name: _depends(u, inputs) for u in description.initialUnknowns if u.variable is not None}
    outputs = [v for v in variables.values() if v.causality in ("output", "calculatedParameter", "parameter")]
    nothing: frozenset[str] = frozenset()
    at_start = {v.name: nothing if v.initial == "exact" else run.get(v.name, inputs) for v in outputs}
    return Interface(
        description.modelName,
        fmi,
        abilities.modelIdentifier,
        description.guid,
        variables,
        {unit.name: _unit(unit.baseUnit) for unit in description.unitDefinitions if unit.baseUnit is not None},
        {v.name: run.get(v.name, inputs) if v.causality == "output" else nothing for v in outputs},
        at_start | {name: found for name, found in start.items() if name in at_start},
        bool(abilities.canGetAndSetFMUstate) and not helped,  # solver and ticks have a state of their own
        not steps or bool(abilities.canHandleVariableCommunicationStepSize),
        steps and fmi == 2 and bool(abilities.canInterpolateInputs),
        tuple(category.name for category in description.logCategories),
        dislikes,
        helped,
    )


def _depends(unknown: Any, inputs: frozenset[str]) -> frozenset[str]:
    """Inputs among the knowns; all of them where nothing is said."""
    if unknown.dependencies is None:
        return inputs
    return frozenset(known.name for known in unknown.dependencies) & inputs


def _variable(v: Any) -> Variable:
    declared = v.declaredType
    unit = v.unit or (declared.unit if declared is not None else None)
    kind = _KINDS.get(v.type, "integer" if "Int" in v.type or v.type == "Enumeration" else "string")
    return Variable(
        v.name,
        kind,
        v.type,
        v.causality or "local",
        v.variability or ("continuous" if kind == "real" else "discrete"),
        v.initial,
        int(v.valueReference),
        unit,
        math.prod(int(n) for n in v.shape or ()),
        abs(_number(v.nominal) or 1.0),
        _number(v.min),
        _number(v.max),
        {item.name: int(item.value) for item in getattr(declared, "items", None) or () if v.type == "Enumeration"},
    )


def _number(text: Any) -> float | None:
    """A number of the description; None where there is none, or one for each element of an array."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


def _unit(base: Any) -> Unit:
    return Unit(tuple(int(getattr(base, name)) for name in _BASE), float(base.factor), float(base.offset))
