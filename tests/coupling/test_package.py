"""The package is SSP 1.0 by its schema, reads back as it was written, and refuses what is not known."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from coupling.conftest import drive
from fmpy.ssp import ssd as fmpy_ssd
from lxml import etree

import bough
from bough.coupling import couple, open_package, run

SCHEMA = Path(fmpy_ssd.__file__).parent / "schema"


def validate(data: bytes, schema: str) -> None:
    etree.XMLSchema(etree.parse(str(SCHEMA / schema))).assertValid(etree.fromstring(data))


@pytest.fixture
def scaled(parts: Path, tmp_path: Path) -> Path:
    """A package with everything in it: values of all types, a factor, a sequence, a tolerance."""
    wires = [
        {"from": "motor.tau", "to": "arm.shoulder.tau", "factor": 0.5, "offset": 0.25},
        "arm.shoulder.w -> motor.w",
    ]
    values = {"arm.shoulder.locked": False, "arm.solver.method": 0, "arm.shoulder.phi": 0.3}
    master = {"step": 1 / 3e3, "stop": 0.1, "order": "gauss-seidel", "sequence": ["motor", "arm"], "tolerance": 1e-3}
    couple(drive(parts, connections=wires, set=values, master=master), tmp_path / "all.ssp")
    return tmp_path / "all.ssp"


def test_package_is_valid_by_the_schema_of_ssp_1_0(scaled: Path) -> None:
    with zipfile.ZipFile(scaled) as archive:
        assert archive.namelist()[0] == "SystemStructure.ssd"
        validate(archive.read("SystemStructure.ssd"), "SystemStructureDescription.xsd")
        validate(archive.read("resources/arm.ssv"), "SystemStructureParameterValues.xsd")
    assert [c.name for c in fmpy_ssd.read_ssd(str(scaled)).system.elements] == ["arm", "motor"]


def test_package_reads_back_as_it_was_written(parts: Path, scaled: Path, tmp_path: Path) -> None:
    found = open_package(scaled, tmp_path / "unpacked")
    assert found.name == "drive"
    assert [(str(x), x.factor, x.offset) for x in found.links] == [
        ("motor.tau -> arm.shoulder.tau", 0.5, 0.25),
        ("arm.shoulder.w -> motor.w", 1.0, 0.0),
    ]
    assert found.component("arm").values == {"shoulder.locked": False, "solver.method": 0, "shoulder.phi": 0.3}
    master = found.master
    assert (master.step, master.stop, master.order, master.sequence) == (1 / 3e3, 0.1, "gauss-seidel", ("motor", "arm"))
    assert (master.tolerance, master.extrapolation) == (1e-3, "constant")
    result = run(scaled)
    assert result["arm.shoulder.phi"][0] == 0.3
    assert result["arm.shoulder.tau"][-1] == pytest.approx(0.5 * result["motor.tau"][-1] + 0.25)


def test_same_system_gives_the_same_bytes(parts: Path, tmp_path: Path) -> None:
    for name in ("a.ssp", "b.ssp"):
        couple(drive(parts), tmp_path / name)
    assert (tmp_path / "a.ssp").read_bytes() == (tmp_path / "b.ssp").read_bytes()


def test_package_and_system_file_run_alike(parts: Path, driven: Path, written: Callable[..., Path]) -> None:
    one, two = run(driven, 0.1), run(written(drive(parts)), 0.1)
    assert one["arm.shoulder.w"].tolist() == two["arm.shoulder.w"].tolist()


def rewritten(package: Path, target: Path, change: Callable[[str], str], drop: str = "") -> Path:
    with zipfile.ZipFile(package) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            if name != drop:
                data = old.read(name)
                new.writestr(name, change(data.decode()).encode() if name.endswith(".ssd") else data)
    return target


def test_other_tools_may_turn_ends_round_and_put_values_into_the_system(driven: Path, tmp_path: Path) -> None:
    turned = 'startElement="arm" startConnector="shoulder.tau" endElement="motor" endConnector="tau"'
    inline = (
        '<ssd:ParameterBindings><ssd:ParameterBinding prefix="motor."><ssd:ParameterValues><ssv:ParameterSet '
        'version="1.0" name="x"><ssv:Parameters><ssv:Parameter name="u"><ssv:Real value="1.5"/></ssv:Parameter>'
        "</ssv:Parameters></ssv:ParameterSet></ssd:ParameterValues></ssd:ParameterBinding></ssd:ParameterBindings>"
    )

    def change(text: str) -> str:
        before = 'startElement="motor" startConnector="tau" endElement="arm" endConnector="shoulder.tau"'
        assert before in text
        text = text.replace(before, turned).replace('<ssd:System name="drive">', f'<ssd:System name="drive">{inline}')
        return text[: text.index("<ssd:DefaultExperiment")] + "</ssd:SystemStructureDescription>"

    path = rewritten(driven, tmp_path / "other.ssp", change)
    found = open_package(path, tmp_path / "unpacked")
    assert [str(x) for x in found.links][0] == "motor.tau -> arm.shoulder.tau"
    assert found.component("motor").values["u"] == 1.5
    assert len(run(path, 0.05, 0.01)) == 6


def _same(text: str) -> str:
    return text


@pytest.mark.parametrize(
    ("change", "drop", "words"),
    [
        (_same, "resources/arm.fmu", "resources/arm.fmu is missing in the package"),
        (_same, "resources/arm.ssv", "resources/arm.ssv is missing in the package"),
        (_same, "SystemStructure.ssd", "it has no SystemStructure.ssd"),
        (lambda s: s[:300], "", "is not XML"),
        (lambda s: s.replace("resources/arm.fmu", "../arm.fmu"), "", "outside of the package"),
        (lambda s: s.replace('version="1.0"', 'version="7.0"'), "", "SSP version '7.0'"),
        (
            lambda s: s.replace("ssd:Component ", "ssd:Bus ").replace("ssd:Component>", "ssd:Bus>"),
            "",
            "is a Bus",
        ),
        (lambda s: s.replace('startConnector="tau"', 'startConnector="taw"'), "", "did you mean 'tau'?"),
        (lambda s: s.replace('startElement="motor"', 'startElement="moto"'), "", "did you mean 'motor'?"),
        (lambda s: s.replace('startConnector="tau"', 'startConnector="i"'), "", "the units A and N.m do not fit"),
        (lambda s: s.replace("x-fmu-sharedlibrary", "x-ssp-package"), "", "only FMUs are known here"),
    ],
)
def test_package_that_cannot_be_run_is_told(
    driven: Path, tmp_path: Path, change: Callable[[str], str], drop: str, words: str
) -> None:
    path = rewritten(driven, tmp_path / "other.ssp", change, drop)
    with pytest.raises(bough.SimulationError) as caught:
        run(path)
    assert words in str(caught.value)


def test_file_that_is_no_package_is_told(tmp_path: Path) -> None:
    (tmp_path / "text.ssp").write_text("no zip", encoding="utf-8")
    with pytest.raises(bough.SimulationError, match="is not an SSP package"):
        run(tmp_path / "text.ssp")
    with pytest.raises(bough.SimulationError, match="no such file"):
        run(tmp_path / "nothing.ssp")
