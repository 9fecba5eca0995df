"""Pytest plugin: references that `bough record` has made, as tests of your own suite.

`pytest --bough` (or `bough = true` in the settings) collects every `*.reference.csv`. The fixture `bough_verify` does
the same from a test function. What they need is imported when the first of them runs; `-p no:bough` leaves the plugin
out.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from bough.regression import Comparison, Tolerance

ENDING = ".reference.csv"
"""As in `bough.regression`, which is not imported here."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of the plugin."""
    group = parser.getgroup("bough", "references of simulation runs")
    group.addoption("--bough", action="store_true", help="collect *.reference.csv and verify them through the FMU")
    group.addoption("--bough-update", action="store_true", help="accept runs that moved as the new references")
    parser.addini("bough", "collect *.reference.csv, as --bough", type="bool", default=False)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A reference is a file of one test."""
    wanted = parent.config.getoption("--bough") or parent.config.getini("bough")
    if wanted and file_path.name.endswith(ENDING):
        return ReferenceFile.from_parent(parent, path=file_path)
    return None


class Moved(Exception):
    """A run is not where its reference is; the text says where and by how much."""


class ReferenceFile(pytest.File):
    """A reference on disk."""

    def collect(self) -> Iterator[pytest.Item]:
        """One test: the run is where it was."""
        yield ReferenceItem.from_parent(self, name="verify")


class ReferenceItem(pytest.Item):
    """Runs a reference again."""

    def runtest(self) -> None:
        """Verify."""
        _verify(self.config, self.path)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What moved, or what is wrong, without a traceback."""
        from bough.errors import BoughError

        if isinstance(excinfo.value, (Moved, BoughError)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        """Name in the report."""
        return self.path, None, f"bough: {self.path.name}"


@pytest.fixture
def bough_verify(request: pytest.FixtureRequest) -> Callable[..., Comparison]:
    """Verify a model or an FMU against a reference: `bough_verify(model, reference, tol=1e-4)`.

    The function that it gives takes

    - `model`: model file or FMU; None for the one that the reference names,
    - `reference`: the CSV file of `bough record`; by default the one beside the model,
    - `tol`: tolerance of every variable, of its amplitude; by default as recorded,
    - `atol`: of what is exactly zero; by default as recorded,

    and fails the test if anything moved. It returns the comparison.
    """

    def check(
        model: str | os.PathLike[str] | None = None,
        reference: str | os.PathLike[str] | None = None,
        tol: float | None = None,
        atol: float | None = None,
    ) -> Comparison:
        from bough.errors import BoughError
        from bough.regression import reference_path

        if model is None and reference is None:
            raise TypeError("bough_verify: name the model, or the reference, or both")
        source = None if model is None else Path(model)
        path = reference_path(Path(os.fspath(model or ""))) if reference is None else Path(reference)
        try:
            return _verify(request.config, path, source, tol, atol)
        except (Moved, BoughError) as problem:
            pytest.fail(str(problem), pytrace=False)

    return check


def _verify(
    config: pytest.Config, path: Path, source: Path | None = None, tol: float | None = None, atol: float | None = None
) -> Comparison:
    from bough.regression import accept, account, draw_comparison, read_reference, verify

    reference = read_reference(path)
    comparison = verify(reference, source=source, tolerance=_tolerance(reference.tolerance, tol, atol))
    if comparison.ok:
        return comparison
    if config.getoption("--bough-update"):
        accept(reference, comparison.result)
        return comparison
    picture = _picture(config, path)
    if picture and comparison.deviations:
        draw_comparison(comparison, picture)
    raise Moved(account(reference, comparison, str(picture or "")))


def _tolerance(recorded: Tolerance, tol: float | None, atol: float | None) -> Tolerance:
    """A tolerance of the test's own is for every variable."""
    from bough.regression import Tolerance

    relative = recorded.relative if tol is None else tol
    return Tolerance(relative, recorded.absolute if atol is None else atol, recorded.variables if tol is None else {})


def _picture(config: pytest.Config, path: Path) -> Path | None:
    """A place in pytest's cache; None if the cache is switched off."""
    cache = getattr(config, "cache", None)
    if cache is None:
        return None
    tag = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]
    folder: Path = cache.mkdir("bough")
    return folder / f"{path.name.removesuffix(ENDING)}-{tag}.png"
