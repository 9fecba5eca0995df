"""A reference: a run in a CSV file, and beside it in JSON how it was made and how far it may move."""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bough.errors import SimulationError
from bough.files import TEXT_BYTES, open_file, write_together
from bough.regression.compare import Tolerance
from bough.regression.embed import content_digest, embed
from bough.run.result import Result

FORMAT = 1
ENDING = ".reference.csv"


@dataclass(frozen=True)
class Recipe:
    """How a run is made.

    Attributes:
        stop: End, s.
        step: Communication step of the master and distance of rows, s.
        rtol: Relative tolerance of the solver.
        fmi: Version of the FMU that is built from a model file.
        input: CSV file of inputs, relative to the reference; empty for none.
        set: Constant inputs, parameters and start values, by name.
        only: Patterns of the variables that are kept; all if empty.
        embed: Whether an FMU gets the run inside, for whoever it is given to.
    """

    stop: float
    step: float
    rtol: float = 1e-6
    fmi: str = "2.0"
    input: str = ""
    set: Mapping[str, float] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    embed: bool = False


@dataclass(frozen=True)
class Reference:
    """A reference on disk.

    Attributes:
        path: Of the CSV file.
        source: The model file or FMU, relative to it.
        recipe: How the run is made.
        tolerance: How far it may move.
        made_by: Command and versions, for people.
        digests: SHA-256 of model and inputs when it was recorded, by file.
        units: Units of the variables, by name.
    """

    path: Path
    source: str
    recipe: Recipe
    tolerance: Tolerance
    made_by: Mapping[str, str] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)

    @property
    def source_path(self) -> Path:
        """Of the model file or FMU."""
        return self.path.parent / self.source

    @property
    def input_path(self) -> Path | None:
        """Of the inputs."""
        return self.path.parent / self.recipe.input if self.recipe.input else None

    def changed_files(self) -> tuple[str, ...]:
        """Model and inputs that are not what they were when the reference was recorded."""
        return tuple(name for name, known in self.digests.items() if digest(self.path.parent / name) != known)

    def result(self) -> Result:
        """The run as it was.

        Raises:
            SimulationError: The file cannot be read.
        """
        found = Result.from_csv(self.path)
        units = {name: self.units[name] for name in found.names if name in self.units}
        return Result(found.t, {name: found[name] for name in found.names}, units)

    def write(self, result: Result) -> None:
        """Write both files; the JSON file says which rows are its.

        Raises:
            OutputError: They cannot be written.
        """
        rows = io.StringIO()
        result.write_rows(rows)
        text = rows.getvalue().encode()
        data = {
            "bough_reference": FORMAT,
            "source": self.source,
            "run": {**vars(self.recipe), "set": dict(self.recipe.set), "only": list(self.recipe.only)},
            "tolerance": {**vars(self.tolerance), "variables": dict(self.tolerance.variables)},
            "made_by": dict(self.made_by),
            "sha256": dict(self.digests),
            "rows_sha256": digest_of(text),
            "units": dict(result.units),
        }
        about = (json.dumps(data, indent=2) + "\n").encode()
        write_together({self.path: text, about_path(self.path): about})
        if self.recipe.embed and self.source_path.suffix.lower() == ".fmu":
            self._embed(text)

    def _embed(self, rows: bytes) -> None:
        """Let the run travel inside of the FMU."""
        recipe, file = self.recipe, self.input_path
        embed(
            self.source_path,
            self.path.name.removesuffix(ENDING),
            rows,
            stop=recipe.stop,
            step=recipe.step,
            inputs=None if file is None else file.read_bytes(),
            values=recipe.set,
            text=f"Recorded by bough; relative tolerance of the solver {recipe.rtol:g}",
        )


def reference_path(source: Path, name: str = "") -> Path:
    """Where the reference of a model or FMU is: `arm.reference.csv`, or `arm.slew.reference.csv` for a name."""
    return source.with_name(f"{source.stem}.{name}{ENDING}" if name else source.stem + ENDING)


def about_path(path: Path) -> Path:
    """The JSON file beside a reference."""
    return path.with_suffix(".json")


def references_of(source: Path) -> list[Path]:
    """References beside a model or FMU that say they are its."""
    ours = []
    for path in sorted(source.parent.glob(f"{_literal(source.stem)}.*reference.csv")):
        if path.name.endswith(ENDING) and about_path(path).is_file():
            if read_reference(path).source_path.resolve() == source.resolve():
                ours.append(path)
    return ours


def read_reference(path: Path) -> Reference:
    """Read what `Reference.write` has written.

    Raises:
        SimulationError: There is no reference, or its description is not readable; with the cure.
    """
    about = about_path(path)
    for file in (path, about):
        if not file.is_file():
            raise SimulationError(f"there is no {file}; `bough record MODEL` makes it")
    try:
        with open_file(about, "r", most=TEXT_BYTES, encoding="utf-8") as stream:
            data = json.load(stream)
        if data["bough_reference"] != FORMAT:
            raise ValueError(f"bough_reference is {data['bough_reference']!r}; this version reads {FORMAT}")
        run, rule = data["run"], data["tolerance"]
        if data.get("rows_sha256", digest(path)) != digest(path):
            raise ValueError(f"it belongs to other rows than those in {path.name}")
        recipe = Recipe(**{**run, "set": {k: float(v) for k, v in run["set"].items()}, "only": tuple(run["only"])})
        tolerance = Tolerance(**{**rule, "variables": {k: float(v) for k, v in rule["variables"].items()}})
        _check(recipe, tolerance)
        units = {str(name): str(unit) for name, unit in data.get("units", {}).items()}
        return Reference(path, str(data["source"]), recipe, tolerance, data["made_by"], data["sha256"], units)
    except KeyError as error:
        raise SimulationError(f"{about}: the key {error} is missing; record the run again") from None
    except (OSError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise SimulationError(f"{about}: {error}; mend it, or record the run again") from None


def _check(recipe: Recipe, tolerance: Tolerance) -> None:
    numbers: dict[str, Any] = {"stop": recipe.stop, "step": recipe.step, "rtol": recipe.rtol}
    numbers |= {"relative": tolerance.relative, "absolute": tolerance.absolute, **tolerance.variables}
    for name, value in numbers.items():
        if not (isinstance(value, (int, float)) and math.isfinite(value) and value >= 0.0):
            raise ValueError(f"{name}: expected a number, zero or more, found {value!r}")


def digest(path: Path) -> str:
    """SHA-256 of a file, blind to how lines end, and in FMUs to reference runs; empty if it cannot be read."""
    if path.suffix.lower() == ".fmu":
        return content_digest(path)
    try:
        with open_file(path) as stream:
            return digest_of(stream.read())
    except OSError:
        return ""


def digest_of(data: bytes) -> str:
    """SHA-256 of text, blind to how lines end."""
    return hashlib.sha256(data.replace(b"\r\n", b"\n")).hexdigest()


def _literal(text: str) -> str:
    """A name in which glob finds nothing special."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in text)
