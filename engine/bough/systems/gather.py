"""From a system file to components and links, with everything that is wrong reported at once."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bough.errors import BuildError, ModelError, SimulationError
from bough.export import build_fmu
from bough.model.report import Report, describe, one_of
from bough.model.source import Source, read
from bough.model.translate import check
from bough.model.values import NAME_PATTERN
from bough.systems.connect import check_links
from bough.systems.file import ComponentFile, HeaderFile, MasterFile
from bough.systems.interface import fmpy, read_interface
from bough.systems.partner import build_partner
from bough.systems.settings import unsettable
from bough.systems.structure import Assembly, Component, Master, Value

MODELS = (".yaml", ".yml", ".json")


def gather(
    source: str | os.PathLike[str] | Mapping[str, Any],
    folder: Path,
    fmi: str = "2.0",
    platforms: str | Sequence[str] = "native",
) -> Assembly:
    """Read and check a system file; copy and build its FMUs.

    Args:
        source: The file, or its content.
        folder: Where the FMUs go: `<component>.fmu`.
        fmi: Version of the FMUs that are built, where the file does not say.
        platforms: Of the FMUs that are built.

    Raises:
        ModelError: Anything is wrong in the file, with its line.
        SimulationError: FMPy is missing.
    """
    fmpy()
    read_source = read(source)
    report = Report(read_source.file, read_source.line_of, read_source.folder)
    data = dict(read_source.data)
    listed, wires = data.pop("components", None), data.pop("connections", None)
    header = check(HeaderFile, data, (), report)
    components = _components(listed, report, _Builder(folder, read_source, fmi, platforms))
    if isinstance(listed, dict) and len(components) < len(listed):
        report.fail_if_any()  # without one of them, what is said of connections would only be noise
    for key in ("set", "start"):
        if isinstance(data.get(key), dict):
            components = _with_values(components, data[key], key, report)
    links, warnings = check_links(wires, components, report)
    report.fail_if_any()
    master = _master(header.master or MasterFile(), [c.name for c in components], report)
    report.fail_if_any()
    assembly = Assembly(header.name, tuple(components), tuple(links), master)
    loose = [".".join(port) for port in assembly.open_inputs()]
    loose = [name for name in loose if name.partition(".")[2] not in assembly.component(name.partition(".")[0]).values]
    if loose:
        warnings.append(f"nothing is connected to {one_of(loose)}: what the FMUs start with stays there")
    return replace(assembly, warnings=tuple(warnings))


def _master(file: MasterFile, names: list[str], report: Report) -> Master:
    if file.sequence is not None and sorted(file.sequence) != sorted(names):
        found = ", ".join(file.sequence) or "nothing"
        report.add(("master", "sequence"), f"each of {one_of(names)} once", found, "list all components")
    default = Master()
    return Master(
        file.step or default.step,
        file.stop or default.stop,
        default.start,
        file.order,
        tuple(file.sequence or ()),
        file.extrapolation,
        file.tolerance,
    )


def _components(listed: Any, report: Report, builder: _Builder) -> list[Component]:
    expected = "a mapping of names to FMUs, model files or partners, `arm: arm.fmu`"
    if not isinstance(listed, dict) or not listed:
        found = "no such key" if listed is None else describe(listed)
        report.add(("components",), expected, found, "add `components:` and under it `arm: arm.fmu`")
        return []
    out = []
    for name, entry in listed.items():
        if not re.match(NAME_PATTERN, name):
            cure = "use letters, digits and underscores only, and begin with a letter"
            report.add(("components", name), "a name of letters, digits and underscores", describe(name), cure)
            continue
        component = builder.component(name, entry, report)
        if component is not None:
            out.append(component)
    return out


class _Builder:
    """Makes the FMU of each component."""

    def __init__(self, folder: Path, source: Source, fmi: str, platforms: str | Sequence[str]) -> None:
        self._folder, self._base, self._fmi, self._platforms = folder, Path(source.folder), fmi, platforms

    def component(self, name: str, entry: Any, report: Report) -> Component | None:
        path = ("components", name)
        if isinstance(entry, str):
            kind = "model" if Path(entry).suffix.lower() in MODELS else "fmu"
            entry = {kind: entry}
        file = check(ComponentFile, entry, path, report)
        if file is None:
            return None
        kinds = [kind for kind in ("partner", "fmu", "model") if getattr(file, kind) is not None]
        if len(kinds) != 1 and kinds != ["partner", "model"]:
            found = " and ".join(kinds) or "none of them"
            report.add(path, "one of `fmu`, `model`, `partner`", found, "write `arm: arm.fmu`, or `{partner: motor}`")
            return None
        target = self._folder / f"{name}.fmu"
        if not self._make(file, target, (*path, kinds[0]) if isinstance(entry, dict) else path, report):
            return None
        try:
            component = Component(name, target, read_interface(target))
        except SimulationError as error:
            report.add(path, "an FMU for Co-Simulation, FMI 2 or 3", str(error), "name another file")
            return None
        given = file.set or {}
        if file.partner is not None:
            # It has been built with its parameters; inputs are told again, as what nothing is connected to.
            given = {v.name: given[v.name] for v in component.interface.named("input") if v.name in given}
        return values_of(component, given, (*path, "set"), report)

    def _make(self, file: ComponentFile, target: Path, path: tuple[str | int, ...], report: Report) -> bool:
        """Put the FMU into the folder; False with a problem in the report."""
        fmi = file.fmi or self._fmi
        if file.model is not None and not (self._base / file.model).exists():
            cure = "check the path: it starts from the folder of the system file"
            report.add(path, "the path of a model file", f"no such file: {self._base / file.model}", cure)
            return False
        try:
            if file.partner is not None:
                model = None if file.model is None else self._base / file.model
                build_partner(file.partner, target, file.axes, file.set or {}, model, fmi, self._platforms)
            elif file.model is not None:
                build_fmu(self._base / file.model, target, fmi, self._platforms)
            elif file.fmu is not None:
                shutil.copyfile(self._base / file.fmu, target)
        except FileNotFoundError:
            cure = "check the path: it starts from the folder of the system file"
            report.add(path, "the path of an FMU", f"no such file: {self._base / (file.fmu or '')}", cure)
        except OSError as error:
            report.add(
                path, "the path of an FMU", f"{file.fmu}: {error.strerror}", "check the path and its permissions"
            )
        except ModelError as error:
            if error.problems:
                report.problems.extend(error.problems)
            else:
                report.add(path, "a model", str(error), "mend it")
        except BuildError as error:
            report.add(path, "something to build an FMU of", str(error), "see there")
        else:
            return True
        return False


def values_of(component: Component, given: Mapping[str, Any], path: tuple[str | int, ...], report: Report) -> Component:
    """A component with some values set; what does not fit is in the report."""
    values: dict[str, Value] = dict(component.values)
    known = component.interface.variables
    for name, value in given.items():
        place = (*path, name)
        if name not in known:
            close = report.suggest(name, known)
            cure = f"did you mean {close!r}?" if close else f"use one of {one_of(_settable(component))}"
            report.add(place, f"a variable of component {component.name}", f"no variable {name!r}", cure)
            continue
        reason, kind = unsettable(component, name), known[name].kind
        if reason:
            report.add(place, "a parameter, an input or a start value", f"{name}: {reason}", "leave it out")
        elif not _fits(value, kind):
            wanted = {"real": "a finite number", "integer": "a whole number", "boolean": "true or false"}[kind]
            report.add(place, wanted, describe(value), f"write {wanted}")
        else:
            values[name] = float(value) if kind == "real" else value
    return replace(component, values=values)


def _settable(component: Component) -> list[str]:
    return [name for name in component.interface.variables if unsettable(component, name) is None]


def _fits(value: Any, kind: str) -> bool:
    if kind == "boolean":
        return isinstance(value, bool)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return isinstance(value, int) if kind == "integer" else abs(value) < float("inf")


def _with_values(components: list[Component], given: dict[str, Any], key: str, report: Report) -> list[Component]:
    """Components with the values that the file sets at its top level, `component.variable: value`."""
    names = [c.name for c in components]
    out = {c.name: c for c in components}
    for full, value in given.items():
        name, _, variable = full.partition(".")
        if name not in out:
            close = report.suggest(name, names)
            cure = f"did you mean '{close}.{variable}'?" if close else f"use one of {one_of(names)}"
            report.add((key, full), "`component.variable`", f"no component {name!r}", cure)
            continue
        out[name] = values_of(out[name], {variable: value}, (key, full), report)
    return list(out.values())
