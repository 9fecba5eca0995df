"""FMUs of source code: they compile without warnings, link together, and compute what the native FMU computes."""

from __future__ import annotations

import ctypes
import subprocess
import sysconfig
import zipfile
from pathlib import Path
from typing import Any

import fmpy
import fmu_manipulation_toolbox
import numpy as np
import pytest
from fmpy.build import build_platform_binary
from house.tools import require_tool
from house.validators import assert_valid
from lxml import etree
from runtimes.builds import EXAMPLES, system_of, unpacked

import bough

# FMPy's own fmi2Functions.h has the prefix taken out: the standard's comes from here.
HEADERS2 = Path(fmu_manipulation_toolbox.__file__).parent / "resources" / "fmi"
HEADERS3 = Path(fmpy.__file__).parent / "c-code"
PAIR = ("two_link_arm", "pendulum")
NEAR = 1e-10
"""Another compiler rounds otherwise (1e-14); an adaptive solver stays as close as its steps stay the same."""


def build(folder: Path, model: str, fmi: str = "2.0", runtime: str = "source") -> Path:
    """An FMU of an example."""
    target = folder / f"{model}_{runtime}{fmi[0]}.fmu"
    platforms = "all" if runtime == "source" else "native"
    return bough.build_fmu(system_of(model), target, fmi, platforms=platforms, runtime=runtime)


@pytest.mark.parametrize("model", [*EXAMPLES, "rig"])
@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_validators_find_nothing(tmp_path: Path, model: str, fmi: str) -> None:
    assert_valid(build(tmp_path, model, fmi))


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_sources_are_listed_and_nothing_is_missing_or_too_much(tmp_path: Path, fmi: str) -> None:
    folder = unpacked(build(tmp_path, "pendulum", fmi))
    there = {path.name for path in (folder / "sources").iterdir()}
    description = etree.parse(folder / "sources" / "buildDescription.xml")
    schema = etree.XMLSchema(file=str(HEADERS3.parent / "schema" / "fmi3" / "fmi3BuildDescription.xsd"))
    assert schema.validate(description), schema.error_log
    listed = [file.get("name") for file in description.iter("SourceFile")]
    assert sorted(listed) == sorted(name for name in there if name.endswith(".c"))
    assert not [name for name in there if name.startswith("fmi") and name.endswith(".h")]
    assert not (folder / "binaries").exists() and not (folder / "resources").exists()
    if fmi == "2.0":
        root = etree.parse(folder / "modelDescription.xml")
        for kind in ("ModelExchange", "CoSimulation"):
            assert [file.get("name") for file in root.findall(f"{kind}/SourceFiles/File")] == listed


def compile_all(compiler: str, sources: Path, out: Path, include: Path) -> list[Path]:
    """Every listed file as an object; warnings are errors."""
    out.mkdir()
    objects = []
    for file in sorted(sources.glob("*.c")):
        objects.append(out / f"{file.stem}.o")
        command = [compiler, "-std=c99", "-O0", "-Wall", "-Wextra", "-Werror", f"-I{include}", "-c", str(file)]
        done = subprocess.run([*command, "-o", str(objects[-1])], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return objects


def external_names(objects: list[Path]) -> set[str]:
    """Names that object files define for others."""
    command = [require_tool("nm"), "-g", "--defined-only", *map(str, objects)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return {parts[2] for parts in map(str.split, lines) if len(parts) == 3}


def settings(name: str, path: Path) -> tuple[list[str], list[str]]:
    """Macros that tell the program about an FMU, and the names of its outputs."""
    description = fmpy.read_model_description(str(path))
    outputs = [v for v in description.modelVariables if v.causality == "output"]
    first = next(v.valueReference for v in description.modelVariables if v.causality == "input")
    macros = {
        name: description.coSimulation.modelIdentifier,
        f"{name}_GUID": f'"{description.guid}"',
        f"{name}_COUNT": str(len(outputs)),
        f"{name}_OUTPUTS": "{" + ",".join(str(v.valueReference) for v in outputs) + "}",
        f"{name}_INPUT": str(first),
    }
    return [f"-D{key}={value}" for key, value in macros.items()], [v.name for v in outputs]


def native_result(folder: Path, model: str, **more: Any) -> Any:
    """Twenty steps of 10 ms of the native FMU, the first input at 0.3."""
    path = build(folder, model, runtime="native")
    description = fmpy.read_model_description(str(path))
    torque = next(v.name for v in description.modelVariables if v.causality == "input")
    options: dict[str, Any] = {"stop_time": 0.2, "output_interval": 0.01, "fmi_type": "CoSimulation"}
    return fmpy.simulate_fmu(str(path), start_values={torque: 0.3}, **options, **more)


def assert_near(found: Any, expected: Any, name: str) -> None:
    assert np.abs(found - expected).max() <= NEAR * (1.0 + np.abs(expected).max()), name


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_two_fmus_link_into_one_program_and_equal_the_native_ones(tmp_path: Path, compiler: str) -> None:
    cc = require_tool(compiler)
    objects: list[Path] = []
    macros: list[str] = []
    outputs: dict[str, list[str]] = {}
    for name, model in zip(("FIRST", "SECOND"), PAIR, strict=True):
        path = build(tmp_path, model)
        made = compile_all(cc, unpacked(path) / "sources", tmp_path / f"{model}_objects", HEADERS2)
        strange = {symbol for symbol in external_names(made) if not symbol.startswith(f"{model}_")}
        assert not strange
        own, outputs[model] = settings(name, path)
        macros += own
        objects += made
    program = tmp_path / "two"
    main = Path(__file__).parent / "c" / "two.c"
    command = [cc, "-std=c99", "-Wall", "-Wextra", f"-I{HEADERS2}", *macros, str(main), *map(str, objects)]
    linked = subprocess.run([*command, "-lm", "-o", str(program)], capture_output=True, text=True, check=False)
    assert linked.returncode == 0, linked.stderr
    ran = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    rows = [[float(x) for x in line.split()] for line in ran.stdout.splitlines()]
    for k, model in enumerate(PAIR):
        expected = native_result(tmp_path, model)
        found = np.array(rows[k::2])
        assert found.shape == (20, len(outputs[model]))
        for j, name in enumerate(outputs[model]):
            assert_near(found[:, j], expected[name][1:], name)


def test_names_of_fmi_3_are_prefixed_too(tmp_path: Path) -> None:
    sources = unpacked(build(tmp_path, "pendulum", "3.0")) / "sources"
    names = external_names(compile_all(require_tool("gcc"), sources, tmp_path / "objects", HEADERS3))
    assert {"pendulum_fmi3DoStep", "pendulum_fmi3InstantiateCoSimulation"} <= names
    assert not [name for name in names if not name.startswith("pendulum_")]


@pytest.mark.slow
@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_fmpy_compiles_and_runs_them(tmp_path: Path, fmi: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", sysconfig.get_path("scripts"), prepend=":")
    require_tool("cmake"), require_tool("g++")
    folder = unpacked(build(tmp_path, "pendulum", fmi))
    # On Linux FMPy leaves the prefix of FMI 3 in place; its header of FMI 2 has none.
    options = {"CMAKE_C_FLAGS:STRING": "-DFMI3_OVERRIDE_FUNCTION_PREFIX"} if fmi == "3.0" else {}
    work = tmp_path / "work"
    work.mkdir()
    build_platform_binary(folder, work, configuration="Debug", cmake_options=options)
    expected = native_result(tmp_path, "pendulum")
    torque = next(v.name for v in fmpy.read_model_description(folder).modelVariables if v.causality == "input")
    found = fmpy.simulate_fmu(
        str(folder), stop_time=0.2, output_interval=0.01, fmi_type="CoSimulation", start_values={torque: 0.3}
    )
    for name in expected.dtype.names:
        assert_near(found[name], expected[name], name)


def test_platforms_do_not_apply(tmp_path: Path) -> None:
    with pytest.raises(bough.BuildError, match="for any platform: leave platforms out"):
        bough.build_fmu(system_of("pendulum"), tmp_path / "x.fmu", platforms="native", runtime="source")


def test_the_same_model_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = (build(tmp_path, "pendulum").read_bytes() for _ in range(2))
    assert first == second
    with zipfile.ZipFile(tmp_path / "pendulum_source2.fmu") as archive:
        assert archive.namelist()[0] == "modelDescription.xml"


# ---- compilers that know C99 and no more


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_plain_c99_compiles_without_gnu_attributes_and_complex_numbers(tmp_path: Path, fmi: str) -> None:
    """As Microsoft's compiler and those of controllers have it: -DBOUGH_PLAIN_C stands for them here."""
    sources = unpacked(build(tmp_path, "pendulum", fmi)) / "sources"
    include, gcc = HEADERS2 if fmi == "2.0" else HEADERS3, require_tool("gcc")
    for file in sorted(sources.glob("*.c")):
        command = [gcc, "-std=c99", "-pedantic-errors", "-Wall", "-Werror", "-Wno-unused-function", "-DBOUGH_PLAIN_C"]
        command += [f"-I{include}", str(file)]
        done = subprocess.run(
            [*command, "-c", "-o", str(tmp_path / "x.o")], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        text = subprocess.run([*command, "-E"], capture_output=True, text=True, check=True).stdout
        own, ours = False, []
        for line in text.splitlines():
            if line.startswith("# "):
                own = str(sources) in line
            elif own:
                ours.append(line)
        assert "__builtin" not in file.read_text(encoding="utf-8")  # those of INFINITY and its like are the system's
        for word in ("__attribute__", "_Complex", "#pragma"):
            assert not [line for line in ours if word in line], f"{file.name}: {word}"


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_small_compiler_without_complex_numbers_makes_the_same_run(tmp_path: Path, fmi: str) -> None:
    """The Tiny C Compiler, with no option of ours: its binary moves as that of clang does."""
    tcc, folder = require_tool("tcc"), unpacked(build(tmp_path, "pendulum", fmi))
    binary = folder / "binaries" / ("linux64" if fmi == "2.0" else "x86_64-linux")
    binary.mkdir(parents=True)
    description = fmpy.read_model_description(folder)
    out = binary / f"{description.coSimulation.modelIdentifier}.so"
    include = HEADERS2 if fmi == "2.0" else HEADERS3
    files = [str(file) for file in sorted((folder / "sources").glob("*.c"))]
    plain_names = f"-DFMI{fmi[0]}_OVERRIDE_FUNCTION_PREFIX"
    subprocess.run([tcc, plain_names, f"-I{include}", "-shared", "-o", str(out), *files, "-lm"], check=True)
    expected = native_result(tmp_path, "pendulum")
    torque = next(v.name for v in description.modelVariables if v.causality == "input")
    found = fmpy.simulate_fmu(
        str(folder), stop_time=0.2, output_interval=0.01, fmi_type="CoSimulation", start_values={torque: 0.3}
    )
    for name in expected.dtype.names:
        assert_near(found[name], expected[name], name)


def test_plain_c99_computes_the_same_and_derivatives_to_ten_digits(tmp_path: Path) -> None:
    """Linked as a library, and called for accelerations and directional derivatives."""
    gcc, kernel = require_tool("gcc"), Path(bough.__file__).parents[1] / "kernel"
    files = [str(p) for p in sorted((kernel / "src").rglob("*.c")) if p.name != "lanes_four.c"]
    flags = ["-std=c99", "-O1", "-fPIC", "-shared", "-DBOUGH_NO_BATCH", "-DBOUGH_NO_V3", "-DBOUGH_ISA=base"]
    flags += [f"-I{kernel / 'include'}", f"-I{kernel / 'src'}"]
    system = system_of("two_link_arm")
    answers = []
    for plain in ([], ["-DBOUGH_PLAIN_C"]):
        library = tmp_path / f"kernel{len(plain)}.so"
        subprocess.run([gcc, *flags, *plain, *files, "-lm", "-o", str(library)], check=True)
        answers.append(_accelerations(library, system))
    (a, da), (b, db) = answers
    np.testing.assert_allclose(b, a, rtol=1e-12)
    np.testing.assert_allclose(db, da, rtol=1e-8, atol=1e-8 * np.abs(da).max())


class _Point(ctypes.Structure):
    _fields_ = (
        ("t", ctypes.c_double),
        *((name, ctypes.c_void_p) for name in ("q", "u", "tau", "motion", "loads", "udot")),
    )


class _Values(ctypes.Structure):
    """Rates of positions, accelerations, and what is not asked for here."""

    _fields_ = (("qdot", ctypes.c_void_p), ("udot", ctypes.c_void_p), ("rest", ctypes.c_void_p * 16))


def _accelerations(path: Path, system: bough.Mechanism) -> tuple[np.ndarray, np.ndarray]:
    """Accelerations of a state in motion, and their derivative along a direction of q and u."""
    lib, model, data = ctypes.CDLL(str(path)), ctypes.c_void_p(), ctypes.c_void_p()
    block = system.block.data
    assert lib.bough_model_create(block, ctypes.c_size_t(len(block)), ctypes.byref(model)) == 0
    assert lib.bough_data_create(model, 2, ctypes.byref(data)) == 0
    random = np.random.default_rng(2)
    q, u, dq, du = (0.1 * random.normal(size=n) for n in (system.nq, system.nu, system.nq, system.nu))
    udot, d_udot = np.zeros(system.nu), np.zeros(system.nu)
    at, along = _Point(0.0, q.ctypes.data, u.ctypes.data), _Point(0.0, dq.ctypes.data, du.ctypes.data)
    assert (
        lib.bough_evaluate(model, data, ctypes.byref(at), 0, None, ctypes.byref(_Values(None, udot.ctypes.data))) == 0
    )
    values = _Values(None, d_udot.ctypes.data)
    ends = ctypes.byref(at), ctypes.byref(along)
    assert lib.bough_directional(model, data, *ends, 0, None, ctypes.byref(values)) == 0
    return udot, d_udot
