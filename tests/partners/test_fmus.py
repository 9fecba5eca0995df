"""Partners' FMUs as files: what validators, the command line and the binaries themselves say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import fmpy
import lief
import pytest
from fmpy.validation import validate_fmu
from fmu.test_binaries import LIMIT, LINKER, fmi_functions, needed
from typer.testing import CliRunner

from bough.cli import app
from bough.demo import MODEL
from bough.fmu.package import FOLDERS, find_binary
from bough.partners import KINDS, build_partner
from bough.partners.partner_fmu import FAMILIES
from bough.text.units import UNITS

BUILDS = [("native", "2.0"), ("native", "3.0"), ("python", "2.0")]


@pytest.mark.parametrize("runtime, version", BUILDS)
@pytest.mark.parametrize(
    "kind, axes", [("motor", 1), ("motor", 2), ("controller", 1), ("controller", 2), ("model-controller", 1)]
)
def test_validators_find_nothing(kind: str, axes: int, runtime: str, version: str, tmp_path: Path) -> None:
    model = MODEL if kind == "model-controller" else None
    path = build_partner(kind, tmp_path / "it.fmu", axes=axes, model=model, fmi=version, runtime=runtime)
    assert validate_fmu(str(path)) == []
    program = Path(sys.executable).with_name("fmutool")
    done = subprocess.run([str(program), "-input", str(path), "-check"], capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    assert done.returncode == 0 and "compliant with FMI-" in said and "No semantic error" in said, said
    assert not [line for line in said.splitlines() if not line.startswith("INFO")], said


def test_same_arguments_give_the_same_bytes(tmp_path: Path, fmi: str) -> None:
    one = build_partner("controller", tmp_path / "a.fmu", fmi=fmi, values={"kp": 3})
    other = build_partner("controller", tmp_path / "b.fmu", fmi=fmi, values={"kp": 3.0})
    assert one.read_bytes() == other.read_bytes()
    third = build_partner("controller", tmp_path / "c.fmu", fmi=fmi, values={"kp": 4.0})
    tokens = {fmpy.read_model_description(str(p)).guid or fmpy.read_model_description(str(p)).instantiationToken
              for p in (one, third)}  # fmt: skip
    assert len(tokens) == 2


def unknowns(path: Path) -> dict[str, set[str]]:
    description = fmpy.read_model_description(str(path))
    return {x.variable.name: {v.name for v in x.dependencies or ()} for x in description.outputs}


def test_dependencies_tell_what_feeds_through(tmp_path: Path, fmi: str) -> None:
    """A winding with inductance breaks the loop from command to torque; one without does not."""
    ports = {"u[1]", "u[2]", "w[1]", "w[2]"}
    inductive = unknowns(build_partner("motor", tmp_path / "a.fmu", axes=2, fmi=fmi, platforms="native"))
    assert not inductive["tau[1]"] & ports and inductive["power[2]"] & ports == {"w[2]"}
    bare = unknowns(build_partner("motor", tmp_path / "b.fmu", axes=2, values={"L": 0}, fmi=fmi, platforms="native"))
    assert bare["tau[1]"] & ports == {"u[1]", "w[1]"}
    control = unknowns(build_partner("controller", tmp_path / "c.fmu", axes=2, fmi=fmi, platforms="native"))
    assert {"phi[2]", "w[2]"} <= control["u[2]"] and "phi[1]" not in control["u[2]"]


def test_every_quantity_has_a_unit_that_is_defined_and_a_text() -> None:
    for family in FAMILIES.values():
        for q in family.quantities:
            assert q.unit in UNITS if q.type == "Real" else q.unit == ""
            assert q.text and q.text[0].isupper() and not q.text.endswith(".")


# ---- the command line


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["build-partner", *arguments])


def test_command_builds_with_values_by_axis(tmp_path: Path) -> None:
    path = tmp_path / "m.fmu"
    done = run(
        "motor", "-o", str(path), "--axes", "2", "--set", "R=0.5,0.7", "--set", "N=30", "--set", "Kt[2]=0.1", "--json"
    )
    assert done.exit_code == 0 and '"partner": "motor"' in done.output, done.output
    start = {v.name: v.start for v in fmpy.read_model_description(str(path)).modelVariables}
    assert (start["R[1]"], start["R[2]"], start["N[1]"], start["N[2]"]) == ("0.5", "0.7", "30.0", "30.0")
    assert (start["Kt[1]"], start["Kt[2]"]) == ("0.05", "0.1")


def test_command_builds_a_controller_of_a_model(tmp_path: Path) -> None:
    path = tmp_path / "c.fmu"
    done = run("model-controller", str(MODEL), "-o", str(path), "--platform", "native", "--set", "bandwidth=3")
    assert done.exit_code == 0, done.output
    assert "bandwidth 3 rad/s" in (fmpy.read_model_description(str(path)).description or "")


def test_command_refuses_unknown_names_with_the_list_of_names(tmp_path: Path) -> None:
    done = run("motor", "-o", str(tmp_path / "m.fmu"), "--set", "resistance=1")
    assert done.exit_code == 1 and "no parameter 'resistance'" in done.output and "R (Ohm)" in done.output
    assert run("motor", "-o", str(tmp_path / "m.fmu"), "--set", "R").exit_code == 2
    assert run("gearbox").exit_code == 2
    assert run("motor", "--runtime", "python", "--fmi", "3.0").exit_code == 2


@pytest.mark.parametrize("kind", KINDS)
def test_help_names_every_parameter_with_its_unit(kind: str) -> None:
    text = " ".join(run(kind, "--help").output.split())
    for q in FAMILIES[kind].parameters:
        assert f" {q.name} = " in text and q.text.split(";")[0] in text
    assert q.unit in text


def test_list_shows_all_variables_of_all_partners() -> None:
    done = run("--list")
    assert done.exit_code == 0
    for family in FAMILIES.values():
        for q in family.quantities:
            assert f" {q.name} " in done.output


# ---- the binaries


@pytest.mark.parametrize("platform", FOLDERS)
def test_libraries_export_the_fmi_and_need_the_c_library_only(platform: str, fmi: str) -> None:
    data = find_binary(platform, fmi)
    assert 10_000 < len(data) < LIMIT
    for word in (str(Path.home()).encode() + b"/", b"/tmp/", str(Path(__file__).parents[2]).encode()):
        assert word not in data
    if "darwin" in platform:
        fat = lief.MachO.parse(list(data))
        assert fat is not None
        binary: Any = fat.at(0)
        exported = {str(e.symbol.name).removeprefix("_") for e in binary.dyld_info.exports} - LINKER
        assert {str(x.name) for x in binary.libraries} >= {"/usr/lib/libSystem.B.dylib"}
    elif "windows" in platform:
        binary = lief.parse(data)
        exported = {str(e.name) for e in binary.get_export().entries}
        assert {name.lower() for name in needed(binary)} == {"ucrtbase.dll"}
    else:
        binary = lief.parse(data)
        exported = {str(s.name) for s in binary.exported_symbols}
        assert needed(binary) <= {"libc.so.6", "libm.so.6"}
    assert exported == fmi_functions(fmi)
