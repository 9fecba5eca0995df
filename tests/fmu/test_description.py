"""modelDescription.xml is what the standards' schemas and FMPy's rules ask for."""

from __future__ import annotations

import io
import re
import zipfile
from typing import Any

import fmpy
import pytest
from fmu.described import ARM, CASES, SCHEMAS, description, files_of, system_of, tree
from lxml import etree

FORMS = [("2.0", False), ("3.0", False), ("3.0", True)]


NAME = re.compile(r"(?:der\(([^()]+)\)|([^()]+))")
PART = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[0-9]+\])?")


def archive(files: dict[str, bytes]) -> io.BytesIO:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        for name, data in files.items():
            z.writestr(name, data)
    return out


@pytest.fixture(scope="module")
def schemas() -> dict[str, Any]:
    paths = {
        "2.0": "fmi2/fmi2ModelDescription.xsd",
        "3.0": "fmi3/fmi3ModelDescription.xsd",
        "terminals": "fmi3/fmi3TerminalsAndIcons.xsd",
    }
    return {key: etree.XMLSchema(etree.parse(str(SCHEMAS / path))) for key, path in paths.items()}


@pytest.mark.parametrize(("fmi", "arrays"), FORMS)
@pytest.mark.parametrize("case", CASES)
def test_files_follow_the_schemas_and_fmpy_finds_nothing(
    case: str, fmi: str, arrays: bool, schemas: dict[str, Any]
) -> None:
    system, files = system_of(case), files_of(case, fmi, arrays)
    schemas[fmi].assertValid(tree(files))
    if fmi == "3.0":
        schemas["terminals"].assertValid(tree(files, "terminalsAndIcons/terminalsAndIcons.xml"))
    slow = case == ARM  # FMPy's parser of names takes seconds; the rule is checked below for every model
    read = fmpy.read_model_description(
        archive(files), validate=True, validate_variable_names=slow, validate_model_structure=True
    )
    assert read.modelName == system.model.name
    assert read.coSimulation.modelIdentifier == read.modelExchange.modelIdentifier == system.model.name
    assert read.numberOfContinuousStates == system.nq + system.nu


@pytest.mark.parametrize("case", CASES)
def test_every_variable_has_a_structured_name_a_unit_a_description_and_a_start_value_if_due(case: str) -> None:
    for v in description(case, "2.0").find("ModelVariables"):
        (value,) = v
        match = NAME.fullmatch(v.get("name"))
        assert match and all(PART.fullmatch(part) for part in (match[1] or match[2]).split(".")), v.get("name")
        assert v.get("description"), v.get("name")
        assert value.tag != "String"
        assert value.tag != "Real" or value.get("unit"), v.get("name")
        known = v.get("causality") in ("input", "parameter") or v.get("initial") == "exact"
        assert (value.get("start") is not None) == known, v.get("name")


@pytest.mark.parametrize("case", [case for case in CASES if case != "one_fixed"])
def test_states_start_where_the_model_says_and_have_their_derivative(case: str) -> None:
    system, root = system_of(case), description(case, "2.0")
    variables = list(root.find("ModelVariables"))
    q, u = system.initial_state()
    start = dict(zip([*system.q_names, *system.u_names], [*q, *u], strict=True))
    order = []
    for unknown in root.find("ModelStructure/Derivatives"):
        derivative = variables[int(unknown.get("index")) - 1]
        state = variables[int(derivative[0].get("derivative")) - 1]
        order.append(state.get("name"))
        assert derivative.get("name") == f"der({order[-1]})"
        assert float(state[0].get("start")) == start[order[-1]]
        assert state.get("initial") == "exact"
    assert order == [*system.q_names, *system.u_names]


def test_value_references_are_places_in_the_table_in_both_versions() -> None:
    old, new = (list(description(ARM, fmi).find("ModelVariables")) for fmi in ("2.0", "3.0"))
    assert [int(v.get("valueReference")) for v in old] == list(range(len(old)))
    assert [(v.get("name"), v.get("valueReference")) for v in old] == [
        (v.get("name"), v.get("valueReference")) for v in new
    ]
    assert old[0].get("name") == "time" and old[0].get("causality") == "independent"


@pytest.mark.parametrize(
    ("interface", "flags"),
    [
        ("CoSimulation", "canHandleVariableCommunicationStepSize canInterpolateInputs"),
        ("CoSimulation", "canGetAndSetFMUstate canSerializeFMUstate providesDirectionalDerivative"),
        ("ModelExchange", "canGetAndSetFMUstate canSerializeFMUstate providesDirectionalDerivative"),
    ],
)
def test_fmi_2_claims_what_the_binary_can_do(interface: str, flags: str) -> None:
    found = description(ARM, "2.0").find(interface)
    assert all(found.get(flag) == "true" for flag in flags.split())
    assert found.get("needsExecutionTool") == found.get("canBeInstantiatedOnlyOncePerProcess") == "false"


def test_fmi_3_claims_what_the_binary_can_do() -> None:
    root = description(ARM, "3.0")
    flags = "canGetAndSetFMUState canSerializeFMUState providesDirectionalDerivatives providesAdjointDerivatives"
    for interface in ("ModelExchange", "CoSimulation"):
        assert all(root.find(interface).get(flag) == "true" for flag in flags.split())
    found = root.find("CoSimulation")
    assert found.get("providesIntermediateUpdate") == found.get("canReturnEarlyAfterIntermediateUpdate") == "true"
    assert found.get("hasEventMode") == "false" and found.get("maxOutputDerivativeOrder") == "1"


def test_display_units_convert_as_their_names_say() -> None:
    units = {u.get("name"): u for u in description(ARM, "2.0").find("UnitDefinitions")}
    factors = {d.get("name"): float(d.get("factor")) for u in units.values() for d in u.findall("DisplayUnit")}
    assert factors["deg"] == pytest.approx(57.29577951308232, rel=1e-15)
    assert factors["rpm"] == factors["rev/min"] == pytest.approx(9.549296585513721, rel=1e-15)
    assert dict(units["N.m"].find("BaseUnit").attrib) == {"kg": "1", "m": "2", "s": "-2"}


def test_arrays_hold_what_the_scalars_hold() -> None:
    scalar = {v.get("name"): v for v in description(ARM, "3.0").find("ModelVariables")}
    merged = {v.get("name"): v for v in description(ARM, "3.0", arrays=True).find("ModelVariables")}
    seen = 0
    for name, v in merged.items():
        size = v.find("Dimension")
        if size is None:
            assert name in scalar
            seen += 1
            continue
        count = int(size.get("start"))
        stem, end = (name[:-1], ")") if name.endswith(")") else (name, "")
        members = [scalar[f"{stem}[{i}]{end}"] for i in range(1, count + 1)]
        seen += count
        assert {m.get("unit") for m in members} == {v.get("unit")}
        if v.get("start") is not None:
            assert v.get("start").split() == [m.get("start") for m in members]
    assert seen == len(scalar)


def test_elements_of_different_units_stay_scalars() -> None:
    names = {v.get("name") for v in description("one_free", "3.0", True).find("ModelVariables")}
    assert {"h.tau", "h.f", "h.Q", "h.w", "h.damping[1]", "h.damping[6]", "h.rest"} <= names
    assert "h.damping" not in names


@pytest.mark.parametrize("arrays", [False, True])
def test_every_moving_hinge_is_a_terminal_whose_members_exist(arrays: bool) -> None:
    for case in CASES:
        system, files = system_of(case), files_of(case, "3.0", arrays)
        names = {v.get("name") for v in tree(files).find("ModelVariables")}
        root = tree(files, "terminalsAndIcons/terminalsAndIcons.xml")
        top = root.findall("Terminals/Terminal")
        assert [t.get("name") for t in top] == [b.hinge.name for b in system.model.bodies if b.hinge.kind.nu]
        for terminal in root.iter("Terminal"):
            members = terminal.findall("TerminalMemberVariable")
            assert all(m.get("variableName") in names for m in members)
            kinds = {m.get("memberName"): m.get("variableKind") for m in members}
            assert not members or [k for k in kinds if kinds[k] == "inflow"] in (["tau"], ["f"])
            assert len(kinds) == len(members)
