"""Components of a system file: each becomes an FMU in a folder, copied or built."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bough.coupling.assembly import Component
from bough.coupling.fmu_interface import read_interface
from bough.coupling.partner_component import build_partner
from bough.coupling.recognize import MODELS
from bough.coupling.system_file import ComponentFile
from bough.coupling.values import input_values, with_own_values
from bough.errors import BuildError, ModelError, SimulationError
from bough.fmu import build_fmu
from bough.partners import KINDS, PartnerError
from bough.partners.misfit import FITTING
from bough.text.problems import Path as KeyPath
from bough.text.problems import Report, describe
from bough.text.source import Source
from bough.text.translate import check

PATH_CURE = "check the path: it starts from the folder of the system file"


class Builder:
    """Makes the FMU of each component."""

    def __init__(self, folder: Path, source: Source, fmi: str, platforms: str | Sequence[str]) -> None:
        """Take the folder of the FMUs, the system file, and version and platforms of what is built."""
        self._folder, self._base, self._fmi, self._platforms = folder, Path(source.folder), fmi, platforms
        self.models: dict[str, Path] = {}

    def component(self, name: str, entry: Any, report: Report) -> Component | None:
        """The component of an entry; None with problems in the report.

        Raises:
            BuildError: An FMU cannot be built, and the file has no part in it.
        """
        path = ("components", name)
        long = not isinstance(entry, str)
        if not long:
            entry = {"model" if Path(entry).suffix.lower() in MODELS else "fmu": entry}
        file = check(ComponentFile, entry, path, report)
        kind = None if file is None else _kind(file, path, report)
        if file is None or kind is None:
            return None
        target = self._folder / f"{name}.fmu"
        try:
            made = self._make(file, target, (*path, kind) if long else path, report)
        except PartnerError as error:
            _point(error, path, report)
            return None
        except BuildError as error:
            raise BuildError(f"component {name}: {error}") from None
        if not made:
            return None
        try:
            component = Component(name, target, read_interface(target))
        except SimulationError as error:
            report.add(path, "an FMU for Co-Simulation, FMI 2 or 3", str(error), "name another file")
            return None
        if file.partner is not None:
            # It has been built with its parameters; inputs are told again, as what nothing is connected to.
            return replace(component, values=input_values(component, file.set or {}))
        return with_own_values(component, file.set or {}, (*path, "set"), report)

    def _make(self, file: ComponentFile, target: Path, path: KeyPath, report: Report) -> bool:
        """Put the FMU into the folder; False with a problem in the report."""
        fmi = file.fmi or self._fmi
        if file.model is not None and not (self._base / file.model).exists():
            place = (*path[:2], "model") if file.partner is not None else path
            found = f"no such file: {self._base / file.model}"
            report.add(place, "the path of a model file", found, PATH_CURE)
            return False
        try:
            if file.partner is not None:
                model = None if file.model is None else self._base / file.model
                build_partner(file.partner, target, file.axes, file.set or {}, model, fmi, self._platforms)
            elif file.model is not None:
                build_fmu(self._base / file.model, target, fmi, self._platforms)
                self.models[target.stem] = self._base / file.model
            elif file.fmu is not None:
                shutil.copyfile(self._base / file.fmu, target)
        except FileNotFoundError:
            found = f"no such file: {self._base / (file.fmu or '')}"
            report.add(path, "the path of an FMU", found, PATH_CURE)
        except OSError as error:
            cure = "check the path and its permissions"
            report.add(path, "the path of an FMU", f"{file.fmu}: {error.strerror}", cure)
        except ModelError as error:
            if error.problems:
                report.problems.extend(error.problems)
            else:
                report.add(path, "a model", str(error), "mend it")
        else:
            return True
        return False


def _kind(file: ComponentFile, path: KeyPath, report: Report) -> str | None:
    """What a component is: `partner`, `fmu` or `model`; None with a problem in the report."""
    kinds = [kind for kind in ("partner", "fmu", "model") if getattr(file, kind) is not None]
    if len(kinds) != 1 and kinds != ["partner", "model"]:
        found = " and ".join(kinds) or "none of them"
        report.add(path, "one of `fmu`, `model`, `partner`", found, "write `arm: arm.fmu`, or `{partner: motor}`")
        return None
    if file.partner is not None and file.partner not in KINDS:
        close = report.suggest(file.partner, KINDS)
        cure = f"did you mean '{close}'?" if close else "write one of them, or name an FMU: `{fmu: PATH}`"
        found = f"there is no partner {file.partner!r}"
        report.add((*path, "partner"), f"one of {', '.join(KINDS)}", found, cure)
        return None
    own = "a model-controller takes those of its model" if file.partner == "model-controller" else None
    if file.partner is None:
        own = "only partners have them"
    if file.axes is not None and own is not None:
        report.add((*path, "axes"), f"no `axes`: {own}", describe(file.axes), "remove it")
        return None
    return kinds[0]


def _point(error: PartnerError, path: KeyPath, report: Report) -> None:
    """What does not fit in a partner, at the lines of its keys."""
    for misfit in error.misfits:
        place = (misfit.key,) if misfit.key in ("axes", "model") else ("set", misfit.key)
        cure = misfit.cure if misfit.cure != FITTING else f"write {misfit.expected}"
        report.add((*path, *place), misfit.expected, misfit.found, cure)
