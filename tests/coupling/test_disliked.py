"""FMUs of other tools that only a validator dislikes run with a warning; `--strict` refuses them, FMI 1 is refused."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from runtimes.test_commands import call

import bough
from bough.coupling import run, single
from bough.coupling.fmu_interface import read_interface


def rewritten(source: Path, target: Path, change: Callable[[str], str]) -> Path:
    """A copy of an FMU with another description."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for item in old.infolist():
            data = old.read(item)
            if item.filename == "modelDescription.xml":
                data = change(data.decode()).encode()
            new.writestr(item, data)
    return target


def sloppy(text: str) -> str:
    """Two slips against the schema that change nothing: an attribute nobody knows, and a wrong convention."""
    return text.replace("<fmiModelDescription ", '<fmiModelDescription colour="red" ', 1).replace(
        "<ModelVariables>", '<ModelVariables taste="sweet">', 1
    )


@pytest.fixture
def disliked(parts: Path, tmp_path: Path) -> Path:
    """The arm with slips in its description."""
    return rewritten(parts / "arm.fmu", tmp_path / "sloppy.fmu", sloppy)


def test_an_fmu_that_a_validator_dislikes_runs_with_every_reason_in_one_warning(parts: Path, disliked: Path) -> None:
    told: list[str] = []
    result = single.run_fmu(disliked, 0.2, 0.05, warn=told.append)
    clean = single.run_fmu(parts / "arm.fmu", 0.2, 0.05)
    np.testing.assert_array_equal(result["shoulder.phi"], clean["shoulder.phi"])
    assert len(told) == 1 and "sloppy.fmu" in told[0] and "colour" in told[0] and "taste" in told[0]
    assert not read_interface(parts / "arm.fmu").dislikes


def test_strict_refuses_it_alone_and_in_a_system(disliked: Path, tmp_path: Path) -> None:
    with pytest.raises(bough.SimulationError, match=r"sloppy\.fmu.*colour.*taste.*strict"):
        single.run_fmu(disliked, 0.2, strict=True)
    system = tmp_path / "system.yaml"
    system.write_text("bough_system: 1\nname: alone\ncomponents: {arm: sloppy.fmu}\n", encoding="utf-8")
    with pytest.raises(bough.SimulationError, match="component arm.*colour"):
        run(system, 0.2, strict=True)
    told: list[str] = []
    assert len(run(system, 0.2, 0.1, warn=told.append)) == 3
    assert sum("colour" in text for text in told) == 1


def test_the_command_tells_and_refuses(disliked: Path, tmp_path: Path) -> None:
    out = tmp_path / "run.csv"
    code, _, err = call("run", disliked, "--stop", "0.1", "-o", out)
    assert code == 0 and "warning" in err and "colour" in err and "taste" in err
    code, _, err = call("run", disliked, "--stop", "0.1", "-o", out, "--strict")
    assert code == 1 and "colour" in err and "Traceback" not in err
    code, _, err = call("run", Path(__file__).parents[2] / "examples" / "pendulum" / "model.yaml", "--strict")
    assert code == 2 and "--strict" in err


def test_what_cannot_be_read_at_all_is_refused_with_every_reason(parts: Path, tmp_path: Path) -> None:
    def broken(text: str) -> str:
        return sloppy(text).replace('valueReference="1"', 'valueReference="one"', 1)

    path = rewritten(parts / "arm.fmu", tmp_path / "broken.fmu", broken)
    with pytest.raises(bough.SimulationError, match="not a readable FMU.*colour.*one"):
        read_interface(path)


def test_fmi_1_is_refused_with_a_word(tmp_path: Path) -> None:
    path = tmp_path / "old.fmu"
    head = '<?xml version="1.0"?><fmiModelDescription fmiVersion="1.0" modelName="old" modelIdentifier="old" guid="x" '
    text = head + 'numberOfContinuousStates="0" numberOfEventIndicators="0"/>'
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", text)
    with pytest.raises(bough.SimulationError, match=r"FMI 1\.0; FMI 2 and 3 are known"):
        single.run_fmu(path, 1.0)
    code, _, err = call("run", path, "--stop", "1")
    assert code == 1 and "FMI 1.0" in err
