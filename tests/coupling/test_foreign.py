"""Other people's FMUs and packages, made here by hand in C: each gives the numbers that follow from its equations."""

from __future__ import annotations

import math
import re
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from coupling.conftest import drive
from coupling.parts import PYTHON_3, edited, slave
from coupling.test_package import rewritten
from house.tools import require_tool

import bough
from bough.coupling import run as run_system
from bough.coupling.fmu_interface import read_interface
from bough.coupling.run_system import open_system
from bough.coupling.single import run_fmu
from bough.coupling.ssp import open_package

HEADERS = Path(fmpy.__file__).parent / "c-code"
SOURCES = Path(__file__).parent / "c"
BINARY = (1).to_bytes(1, "big") + b"\x00\xff\x7f"
DECAY = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="decay" guid="{1}" numberOfEventIndicators="1">
<ModelExchange modelIdentifier="decay" completedIntegratorStepNotNeeded="true"/>
<ModelVariables>
<ScalarVariable name="x" valueReference="0" causality="output" variability="continuous" initial="exact">
<Real start="1"/></ScalarVariable>
<ScalarVariable name="der(x)" valueReference="1" variability="continuous" initial="calculated">
<Real derivative="1"/></ScalarVariable>
<ScalarVariable name="u" valueReference="2" causality="input" variability="continuous">
<Real start="0"/></ScalarVariable>
<ScalarVariable name="k" valueReference="3" causality="parameter" variability="fixed" initial="exact">
<Real start="2"/></ScalarVariable>
<ScalarVariable name="floor" valueReference="4" causality="parameter" variability="fixed" initial="exact">
<Real start="0.5"/></ScalarVariable>
<ScalarVariable name="low" valueReference="5" causality="output" variability="discrete" initial="calculated">
<Integer/></ScalarVariable>
</ModelVariables>
<ModelStructure><Outputs><Unknown index="1" dependencies="1"/><Unknown index="6" dependencies="1"/></Outputs>
<Derivatives><Unknown index="2" dependencies="1 3"/></Derivatives>
<InitialUnknowns><Unknown index="2" dependencies="1 3 4"/><Unknown index="6" dependencies="1"/></InitialUnknowns>
</ModelStructure></fmiModelDescription>
"""
RELAY = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName="relay" instantiationToken="{1}">
<CoSimulation modelIdentifier="relay" hasEventMode="true" canHandleVariableCommunicationStepSize="true"/>
<ModelVariables>
<Float64 name="time" valueReference="0" causality="independent" variability="continuous"/>
<Float64 name="a" valueReference="1" causality="input" variability="continuous" start="1 2 3">
<Dimension start="3"/></Float64>
<Float64 name="b" valueReference="2" causality="output" variability="continuous"><Dimension start="3"/></Float64>
<String name="word" valueReference="3" causality="input" variability="discrete"><Start value=""/></String>
<String name="said" valueReference="4" causality="output" variability="discrete" initial="calculated"/>
<Binary name="data" valueReference="5" causality="input" variability="discrete"><Start value="00"/></Binary>
<Binary name="echo" valueReference="6" causality="output" variability="discrete" initial="calculated"/>
<Int64 name="n" valueReference="7" causality="input" variability="discrete" start="0"/>
<Int64 name="m" valueReference="8" causality="output" variability="discrete"/>
<Clock name="clock" valueReference="9" causality="input" variability="discrete" intervalVariability="constant"
 intervalDecimal="0.1"/>
<Float64 name="add" valueReference="10" causality="input" variability="discrete" clocks="9" start="0"/>
<Float64 name="count" valueReference="11" causality="output" variability="discrete" clocks="9"/>
<Float64 name="when" valueReference="12" causality="output" variability="discrete" clocks="9"/>
<Clock name="bell" valueReference="13" causality="output" variability="discrete" intervalVariability="triggered"/>
<Float64 name="alarm" valueReference="14" causality="output" variability="discrete" clocks="13"/>
</ModelVariables>
<ModelStructure><Output valueReference="2" dependencies="1"/><Output valueReference="4" dependencies="3"/>
<Output valueReference="6" dependencies="5"/><Output valueReference="8" dependencies="7"/>
<Output valueReference="11" dependencies="10"/><Output valueReference="12" dependencies=""/>
<Output valueReference="14" dependencies=""/></ModelStructure>
</fmiModelDescription>
"""


def compiled(name: str, description: str, folder: Path) -> Path:
    """An FMU of one C file, for this machine."""
    compiler, library = require_tool("gcc"), folder / f"{name}.so"
    source, rest = SOURCES / f"{name}.c", folder / f"{name}_rest.c"
    # A loader wants to find every function of FMI 3, whether it is called or not.
    known = re.findall(r"^#define (fmi3\w+) +fmi3FullName", (HEADERS / "fmi3Functions.h").read_text(), re.MULTILINE)
    missing = [f for f in known if not re.search(rf"\b{f}\(", source.read_text(encoding="utf-8"))]
    new = 'fmiVersion="3.0"' in description
    rest.write_text("".join(f"int {f}(void) {{ return 3; }}\n" for f in missing if new), encoding="utf-8")
    flags = ["-shared", "-fPIC", "-O1", "-Wall", "-Wno-unused-parameter", f"-I{HEADERS}"]
    subprocess.run([compiler, *flags, str(source), str(rest), "-o", str(library), "-lm"], check=True)
    where = "linux64" if 'fmiVersion="2.0"' in description else "x86_64-linux"
    path = folder / f"{name}.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", description)
        archive.write(library, f"binaries/{where}/{name}.so")
    return path


@pytest.fixture(scope="module")
def decay(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("decay", DECAY, tmp_path_factory.mktemp("decay"))


@pytest.fixture(scope="module")
def relay(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("relay", RELAY, tmp_path_factory.mktemp("relay"))


@pytest.mark.parametrize("isolate", [True, False])
def test_an_fmu_for_model_exchange_only_runs_with_a_solver(decay: Path, isolate: bool) -> None:
    """der(x) = -2 x, a jump by one at 0.5 s, and two crossings of 0.5 from above: all as on paper."""
    found = run_fmu(decay, 1.5, 0.05, rtol=1e-8, isolate=isolate)
    t = found.t
    jump = (math.exp(-1.0) + 1.0) * np.exp(-2.0 * (t - 0.5))
    expected = np.where(t < 0.5 - 1e-9, np.exp(-2.0 * t), jump)
    assert np.abs(found["x"] - expected).max() < 1e-6
    first, second = math.log(2.0) / 2.0, 0.5 + math.log((math.exp(-1.0) + 1.0) / 0.5) / 2.0
    assert (found["low"] == (t > first - 1e-9).astype(int) + (t > second - 1e-9)).all()


def test_state_events_within_a_long_step_are_met(decay: Path) -> None:
    """One step over both crossings: the first one is over when the jump comes, and seen only where it is located."""
    assert run_fmu(decay, 1.5, 1.5, rtol=1e-8)["low"].tolist() == [0.0, 2.0]


def test_an_fmu_for_model_exchange_only_takes_parameters_and_inputs(decay: Path) -> None:
    inputs: Any = {"u": (np.array([0.0, 0.2, 0.2, 0.4]), np.array([1.0, 1.0, 3.0, 3.0]))}
    found = run_fmu(decay, 0.4, 0.1, inputs, {"k": 1.0, "x": 0.0, "floor": -1.0}, rtol=1e-9)
    at = 1.0 - math.exp(-0.2)
    assert found["x"][2] == pytest.approx(at, rel=1e-6)
    assert found["x"][-1] == pytest.approx(3.0 + (at - 3.0) * math.exp(-0.2), rel=1e-6)


def system(relay: Path, wires: list[str], values: dict[str, Any]) -> dict[str, Any]:
    parts = {"one": str(relay), "two": str(relay)}
    master = {"step": 0.25, "stop": 1.0}
    return {
        "bough_system": 1,
        "name": "pair",
        "components": parts,
        "connections": wires,
        "set": values,
        "master": master,
    }


def test_arrays_texts_bytes_and_long_integers_travel(relay: Path, written: Callable[[dict[str, Any]], Path]) -> None:
    wires = ["one.b -> two.a", "one.said -> two.word", "one.echo -> two.data", "one.m -> two.n"]
    big = 2**62 + 1  # no float64 holds it
    path = written(system(relay, wires, {"one.word": "grüß Gott", "one.n": big}))
    found = run_system(path, warn=lambda _: None)
    assert all((found[f"two.b[{i}]"] == found[f"one.b[{i}]"]).all() for i in (1, 2, 3))
    (path.parent / "opened").mkdir()
    assembly = open_system(path, path.parent / "opened")
    assert len(assembly.wide) == 4 and not assembly.links
    from bough.coupling.exchange import Exchange
    from bough.coupling.slave import Channel, Slave

    slaves = {c.name: Slave(c, path.parent / f"slave-{c.name}") for c in assembly.components}
    try:
        exchange = Exchange(assembly, slaves, {})
        for slave in slaves.values():
            slave.enter_initialization(0.0, 1.0, None)
        about = assembly.component("one").interface.variables
        Channel(slaves["one"], [about["data"]]).set([BINARY])
        exchange(0.0, at_start=True)
        names = ("b", "said", "echo", "m")
        seen = {n: Channel(slaves["two"], [about[n]]).take() for n in names}
        assert seen == {"b": [0.0, 0.0, 0.0], "said": ["grüß Gott"], "echo": [BINARY], "m": [big]}
        Channel(slaves["one"], [about["a"]]).set([1.5, -2.0, 3.0])
        exchange(0.0, at_start=True)
        assert Channel(slaves["two"], [about["b"]]).take() == [1.5, -2.0, 3.0]
    finally:
        for slave in slaves.values():
            slave.free()


def test_periodic_clocks_tick_whatever_the_step_is(relay: Path) -> None:
    """Ticks at 0, 0.1, 0.2...: eleven of them up to one second, with steps of a quarter."""
    inputs: Any = {"add": (np.array([0.0, 1.0]), np.array([2.0, 2.0]))}
    found = run_fmu(relay, 1.0, 0.25, inputs)
    assert found["count"].tolist() == [2.0, 6.0, 12.0, 16.0, 22.0]
    assert np.allclose(found["when"], [0.0, 0.2, 0.5, 0.7, 1.0], atol=1e-12)


def test_output_clocks_bring_their_variables_when_the_fmu_says_so(relay: Path) -> None:
    """Before the first tick there is nothing; it comes at the end of the first step beyond 0.35 s, twice at once."""
    found = run_fmu(relay, 1.0, 0.25, {})
    assert np.allclose(found["alarm"], [0.0, 0.0, 2.4, 2.4, 2.4], atol=1e-12)


def test_input_clocks_that_nothing_ticks_are_told(relay: Path, tmp_path: Path) -> None:
    constant = 'intervalVariability="constant"\n intervalDecimal="0.1"'
    for kind in ("triggered", "countdown", "changing"):
        other = edited(relay, tmp_path / f"{kind}.fmu", (constant, f'intervalVariability="{kind}"'))
        said: list[str] = []
        found = run_fmu(other, 0.5, 0.25, {}, warn=said.append)
        told = [text for text in said if "nothing ticks" in text]
        assert len(told) == 1 and f"clock ({kind})" in told[0] and not found["count"].any()


def test_wrong_partners_of_wide_connections_are_told(relay: Path, written: Callable[[dict[str, Any]], Path]) -> None:
    for wire, words in (
        ("one.b -> two.word", "one.b is real, two.word is string"),
        ("one.clock -> two.clock", "one.clock"),
        ("one.b -> two.add", "one.b has 3 elements, two.add has 1"),
    ):
        with pytest.raises(bough.ModelError) as caught:
            run_system(written(system(relay, [wire], {})))
        assert words in str(caught.value)


def test_interfaces_say_what_an_fmu_needs(decay: Path, relay: Path) -> None:
    assert read_interface(decay).helped == {"states": 1, "indicators": 1, "completed": False}
    helped = read_interface(relay).helped
    assert helped["clocks"] == [(9, 0.1, 0.0)] and set(helped["clocked"]) == {10, 11, 12, 14}


def test_an_fmu_of_pythonfmu3_runs_alone_and_in_a_system(
    tmp_path: Path, written: Callable[[dict[str, Any]], Path]
) -> None:
    """Euler steps of a lag, by hand: y += h (x - y) / tau."""
    fmu = slave(PYTHON_3, tmp_path)
    found = run_fmu(fmu, 0.5, 0.125, {}, {"tau": 0.25})
    y = [0.0]
    for _ in range(4):
        y.append(y[-1] + 0.125 * (1.0 - y[-1]) / 0.25)
    assert found["y"].tolist() == y and found["n"].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    values = {"one.tau": 0.25, "two.on": False, "two.label": "ß"}
    pair = written(system(fmu, ["one.y -> two.x"], values))
    two = run_system(pair, warn=lambda _: None)
    assert two["one.y"].tolist() == [0.0, 1.0, 1.0, 1.0, 1.0] and not two["two.y"].any()  # a step is tau long


# ---- packages

NESTED = (
    '<ssd:System name="left"><ssd:Connectors>'
    '<ssd:Connector name="torque" kind="input"><ssc:Real/></ssd:Connector>'
    '<ssd:Connector name="speed" kind="output"><ssc:Real/></ssd:Connector></ssd:Connectors><ssd:Elements>'
)
INNER = (
    "</ssd:Elements><ssd:Connections>"
    '<ssd:Connection startConnector="torque" endElement="arm" endConnector="shoulder.tau"/>'
    '<ssd:Connection startElement="arm" startConnector="shoulder.w" endConnector="speed"/>'
    "</ssd:Connections></ssd:System>"
)


def nested(text: str) -> str:
    """The arm in a system of its own, reached through its connectors."""
    text = text.replace('endElement="arm" endConnector="shoulder.tau"', 'endElement="left" endConnector="torque"')
    text = text.replace('startElement="arm" startConnector="shoulder.w"', 'startElement="left" startConnector="speed"')
    text = text.replace('target="arm.', 'target="left_arm.')
    first = text.index('<ssd:Component name="arm"')
    last = text.index("</ssd:Component>", first) + len("</ssd:Component>")
    return text[:first] + NESTED + text[first:last] + INNER + text[last:]


def test_systems_within_systems_run_as_the_flat_one(driven: Path, tmp_path: Path) -> None:
    flat = run_system(driven)
    found = run_system(rewritten(driven, tmp_path / "nested.ssp", nested, ""))
    assert set(found.names) == {n.replace("arm.", "left_arm.", 1) if n.startswith("arm.") else n for n in flat.names}
    assert (found["left_arm.shoulder.phi"] == flat["arm.shoulder.phi"]).all()


def dictionary(text: str) -> str:
    """The torque goes through a signal dictionary."""
    reference = (
        '<ssd:SignalDictionaryReference name="bus" dictionary="signals"><ssd:Connectors>'
        '<ssd:Connector name="torque" kind="inout"><ssc:Real/></ssd:Connector></ssd:Connectors>'
        "</ssd:SignalDictionaryReference></ssd:Elements>"
    )
    text = text.replace("</ssd:Elements>", reference, 1)
    start = text.index('<ssd:Connection startElement="motor" startConnector="tau"')
    end = text.index("/>", start) + 2
    two = (
        '<ssd:Connection startElement="motor" startConnector="tau" endElement="bus" endConnector="torque"/>'
        '<ssd:Connection startElement="bus" startConnector="torque" endElement="arm" endConnector="shoulder.tau"/>'
    )
    return text[:start] + two + text[end:]


def test_signals_travel_through_a_dictionary(driven: Path, tmp_path: Path) -> None:
    found = open_package(rewritten(driven, tmp_path / "bus.ssp", dictionary, ""), tmp_path / "opened")
    assert {str(link) for link in found.links} == {"motor.tau -> arm.shoulder.tau", "arm.shoulder.w -> motor.w"}


def test_parameter_mappings_rename_and_scale(driven: Path, tmp_path: Path) -> None:
    space = "http://ssp-standard.org/SSP1/SystemStructureParameter"
    binding = (
        "<ssd:ParameterBinding><ssd:ParameterValues>"
        f'<ssv:ParameterSet xmlns:ssv="{space}Values" version="1.0" name="p">'
        '<ssv:Parameters><ssv:Parameter name="angle"><ssv:Real value="90"/></ssv:Parameter>'
        '<ssv:Parameter name="unused"><ssv:Real value="1"/></ssv:Parameter></ssv:Parameters></ssv:ParameterSet>'
        f'</ssd:ParameterValues><ssd:ParameterMapping><ssm:ParameterMapping xmlns:ssm="{space}Mapping" version="1.0">'
        '<ssm:MappingEntry source="angle" target="shoulder.phi">'
        '<ssc:LinearTransformation factor="0.01" offset="0.25"/></ssm:MappingEntry></ssm:ParameterMapping>'
        "</ssd:ParameterMapping></ssd:ParameterBinding></ssd:ParameterBindings>"
    )
    path = rewritten(driven, tmp_path / "mapped.ssp", lambda s: s.replace("</ssd:ParameterBindings>", binding, 1), "")
    assert open_package(path, tmp_path / "opened").component("arm").values["shoulder.phi"] == pytest.approx(1.15)


def test_packages_name_the_master_of_omsimulator_and_items_of_enumerations(parts: Path, tmp_path: Path) -> None:
    from bough.coupling import couple

    values = {"arm.solver.method": "rosenbrock2", "motor.u": 2.0}
    couple(drive(parts, set=values), tmp_path / "named.ssp")
    with zipfile.ZipFile(tmp_path / "named.ssp") as archive:
        text = archive.read("SystemStructure.ssd").decode()
        assert '<oms:FixedStepMaster description="oms-ma" stepSize="0.01"' in text and "org.openmodelica" in text
        assert 'type="org.bough.master"' in text and '<ssc:Item name="rosenbrock2" value="2"/>' in text
        assert 'value="rosenbrock2"' in archive.read("resources/arm.ssv").decode()
    assert open_package(tmp_path / "named.ssp", tmp_path / "opened").component("arm").values["solver.method"] == 2
