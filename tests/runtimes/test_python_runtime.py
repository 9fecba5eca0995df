"""FMUs in Python: the native FMU's variables, its results to the last bit, and code that can be changed."""

from __future__ import annotations

import importlib.util
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from fmpy.fmi1 import FMICallException
from fmpy.fmi2 import FMU2Slave, fmi2CallbackFunctions, fmi2CallbackLoggerTYPE
from house.tools import ROOT
from house.validators import assert_valid
from lxml import etree
from runtimes.builds import EXAMPLES, system_of, unpacked

import bough
from bough.fmu import python_runtime
from bough.mechanism.resource import resource
from bough.mechanism.variable_table import scalar_table

MODELS = [*EXAMPLES, "rig"]


@pytest.fixture(scope="module")
def fmus(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Path]:
    """Every model native and in Python."""
    folder = tmp_path_factory.mktemp("fmus")
    kinds = {"native": "native", "python": "all"}
    return {
        (name, runtime): bough.build_fmu(
            system_of(name), folder / f"{name}_{runtime}.fmu", platforms=platforms, runtime=runtime
        )
        for name in MODELS
        for runtime, platforms in kinds.items()
    }


def names(path: Path, *causalities: str) -> list[str]:
    """Variables of these causalities."""
    return [v.name for v in fmpy.read_model_description(str(path)).modelVariables if v.causality in causalities]


@contextmanager
def instance(path: Path, heard: list[str] | None = None) -> Iterator[tuple[FMU2Slave, dict[str, int]]]:
    """A Co-Simulation instance in initialization mode, and value references by name."""
    description = fmpy.read_model_description(str(path))
    made = FMU2Slave(
        guid=description.guid,
        modelIdentifier=description.coSimulation.modelIdentifier,
        unzipDirectory=str(unpacked(path)),
        instanceName="it",
    )

    def log(*arguments: Any) -> None:
        if heard is not None:
            heard.append(arguments[-1].decode())

    callbacks = fmi2CallbackFunctions(logger=fmi2CallbackLoggerTYPE(log))
    made.instantiate(callbacks=callbacks, loggingOn=heard is not None)
    made.setupExperiment(startTime=0.0)
    made.enterInitializationMode()
    yield made, {v.name: v.valueReference for v in description.modelVariables}
    made.terminate()
    made.freeInstance()


@pytest.mark.parametrize("model", MODELS)
def test_validators_find_nothing(fmus: dict[tuple[str, str], Path], model: str) -> None:
    path = fmus[model, "python"]
    assert_valid(path)


@pytest.mark.parametrize("model", MODELS)
def test_variables_and_structure_are_those_of_the_native_fmu(fmus: dict[tuple[str, str], Path], model: str) -> None:
    def parts(runtime: str) -> list[bytes]:
        with zipfile.ZipFile(fmus[model, runtime]) as archive:
            root = etree.fromstring(archive.read("modelDescription.xml"))
        for real in root.iter("Real"):
            real.attrib.pop("reinit", None)  # of Model Exchange, which only the native one has
        tags = ("UnitDefinitions", "DefaultExperiment", "ModelVariables", "ModelStructure")
        return [etree.tostring(root.find(tag)) for tag in tags]

    assert parts("python") == parts("native")


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("method", [0, 1, 2])
def test_results_equal_the_native_fmu_bit_for_bit(fmus: dict[tuple[str, str], Path], model: str, method: int) -> None:
    native, python = fmus[model, "native"], fmus[model, "python"]
    wanted, inputs = names(native, "output", "local", "independent"), names(native, "input")
    t = np.linspace(0.0, 0.05, 6)
    signals = np.zeros(t.size, dtype=[("time", float), *((name, float) for name in inputs)])
    signals["time"] = t
    for k, name in enumerate(inputs):
        signals[name] = np.sin(40.0 * t + k)
    options: dict[str, Any] = {"stop_time": 0.05, "output_interval": 0.01, "output": wanted, "input": signals}
    options |= {
        "fmi_type": "CoSimulation",
        "start_values": {"solver.method": method, "solver.step": 5e-5 if method == 0 else 0.0},
    }
    one, other = fmpy.simulate_fmu(str(native), **options), fmpy.simulate_fmu(str(python), **options)
    assert len(one) == 6 and len(wanted) > 10
    for name in one.dtype.names:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def exercise(path: Path) -> list[Any]:
    """Set start values, tune and lock between steps of different lengths; everything that comes out."""
    seen: list[Any] = []
    with instance(path) as (it, vr):
        it.setReal([vr["ball.Q[1]"], vr["yaw.phi"]], [0.4, 0.25])  # the quaternion's length is no longer one
        it.setBoolean([vr["slide.locked"]], [True])
        it.exitInitializationMode()
        outputs = [vr[name] for name in names(path, "output", "local")]
        t = 0.0
        for step, change in (
            (0.01, None),
            (0.003, lambda: it.setReal([vr["gravity[1]"], vr["yaw.damping"]], [1.0, 0.3])),
            (0.02, lambda: it.setBoolean([vr["yaw.locked"]], [True])),
            (0.01, lambda: it.setReal([vr["hand.mass"], vr["hand.com[2]"], vr["boom.damping_scale"]], [0.9, 0.1, 3.0])),
            (0.015, lambda: it.setBoolean([vr["yaw.locked"], vr["slide.locked"]], [False, False])),
            (0.02, lambda: it.setReal([vr["wrist.a"], vr["boom.tip.force[2]"], vr["ball.tau[3]"]], [2.0, 3.0, 0.4])),
        ):
            if change is not None:
                change()
            it.doStep(t, step)
            t += step
            seen.append(it.getReal(outputs))
        seen.append(it.getReal([vr["time"], vr["gravity[1]"], vr["hand.mass"], vr["solver.tolerance"]]))
        seen.append(it.getBoolean([vr["yaw.locked"], vr["slide.locked"]]))
        seen.append(it.getInteger([vr["solver.method"]]))
    return seen


def test_tuning_and_locking_equal_the_native_fmu_bit_for_bit(fmus: dict[tuple[str, str], Path]) -> None:
    native, python = exercise(fmus["rig", "native"]), exercise(fmus["rig", "python"])
    assert native == python
    assert native[-2] == [0, 0] and np.isfinite(np.concatenate(native[:-1])).all()


def test_saved_states_resume_bit_for_bit_in_another_instance(fmus: dict[tuple[str, str], Path]) -> None:
    path = fmus["rig", "python"]
    wanted = names(path, "output")
    with instance(path) as (it, vr), instance(path) as (other, _):
        references = [vr[name] for name in wanted]
        it.exitInitializationMode()
        it.setReal([vr["yaw.tau"]], [0.5])
        it.doStep(0.0, 0.02)
        state = it.getFMUstate()
        stored = it.serializeFMUstate(state)
        it.doStep(0.02, 0.03)
        first = it.getReal(references)
        it.setFMUstate(state)
        it.doStep(0.02, 0.03)
        assert it.getReal(references) == first
        it.freeFMUstate(state)
        read = other.deSerializeFMUstate(stored)
        other.setFMUstate(read)
        other.doStep(0.02, 0.03)
        assert other.getReal(references) == first
        other.freeFMUstate(read)


def test_reset_gives_the_start_back(fmus: dict[tuple[str, str], Path]) -> None:
    path = fmus["rig", "python"]
    with instance(path) as (it, vr):
        it.exitInitializationMode()
        references = [vr[name] for name in names(path, "output")]
        before = it.getReal(references)
        it.setReal([vr["gravity[3]"]], [3.0])
        it.doStep(0.0, 0.05)
        it.reset()
        it.setupExperiment(startTime=0.0)
        it.enterInitializationMode()
        it.exitInitializationMode()
        assert it.getReal(references) == before


def test_wrong_values_are_told_and_nothing_moves_until_they_are_mended(fmus: dict[tuple[str, str], Path]) -> None:
    heard: list[str] = []
    with instance(fmus["rig", "python"], heard) as (it, vr):
        it.exitInitializationMode()
        for name, good, wrong in (("yaw.tau", 0.5, np.nan), ("yaw.damping", 0.1, -1.0), ("hand.mass", 1.0, -0.5)):
            it.setReal([vr[name]], [good])
            it.setReal([vr[name]], [wrong])
            assert f"of '{name}' is refused" in heard[-1] and it.getReal([vr[name]]) == [good]
            with pytest.raises(FMICallException, match="discard"):
                it.doStep(0.0, 0.01)
            assert f"'{name}'" in heard[-1] and it.getReal([vr["time"]]) == [0.0]
            it.setReal([vr[name]], [good])
        it.doStep(0.0, 0.01)


@pytest.mark.parametrize(("name", "why"), [("yaw.phi", "before initialization ends"), ("yaw.a", "computed")])
def test_what_cannot_be_set_is_told_and_stays(fmus: dict[tuple[str, str], Path], name: str, why: str) -> None:
    heard: list[str] = []
    with instance(fmus["rig", "python"], heard) as (it, vr):
        it.exitInitializationMode()
        before = it.getReal([vr[name]])
        it.setReal([vr[name]], [1.0])
        assert f"'{name}'" in heard[-1] and why in heard[-1] and it.getReal([vr[name]]) == before


def test_wrong_steps_are_discarded_with_a_message(fmus: dict[tuple[str, str], Path]) -> None:
    heard: list[str] = []
    with instance(fmus["rig", "python"], heard) as (it, _):
        it.exitInitializationMode()
        for time, step in ((0.0, -0.1), (0.5, 0.1), (0.0, np.nan)):
            with pytest.raises(FMICallException, match="discard"):
                it.doStep(time, step)
            assert "expected finite numbers and a positive step" in heard[-1] or "the instance is at 0 s" in heard[-1]
        it.doStep(0.0, 0.01)


def test_a_model_that_cannot_move_says_so(fmus: dict[tuple[str, str], Path]) -> None:
    heard: list[str] = []
    with instance(fmus["rig", "python"], heard) as (it, vr):
        it.setReal([vr[f"ball.Q[{i}]"] for i in range(1, 5)], [0.0] * 4)
        it.exitInitializationMode()
        assert "'ball.Q[4]' are all zero" in heard[-1]
        with pytest.raises(FMICallException, match="discard"):
            it.doStep(0.0, 0.01)


def test_a_state_of_another_model_is_refused(fmus: dict[tuple[str, str], Path]) -> None:
    heard: list[str] = []
    with instance(fmus["rig", "python"], heard) as (it, vr), instance(fmus["pendulum", "python"]) as (other, _):
        it.exitInitializationMode()
        it.doStep(0.0, 0.01)
        for stored in (other.serializeFMUstate(other.getFMUstate()), b"\0" * 100, b"1 2\n3"):
            it.setFMUstate(it.deSerializeFMUstate(stored))
            assert "not a state of model 'rig'" in heard[-1] and it.getReal([vr["time"]]) == [0.01]
        it.doStep(0.01, 0.01)


def test_the_code_can_be_changed(fmus: dict[tuple[str, str], Path], tmp_path: Path) -> None:
    native, python = fmus["pendulum", "native"], fmus["pendulum", "python"]
    changed = tmp_path / "changed.fmu"
    with zipfile.ZipFile(python) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith("_slave.py"):
                end = b'inertial frame.\n        """\n'
                assert data.count(end) == 1
                data = data.replace(end, end + b"        tau *= 2.0\n")
                name = name.replace("pendulum_slave", "doubled")
            new.writestr(name, b"doubled" if name.endswith("slavemodule.txt") else data)
    (torque,) = names(native, "input")
    (angle,) = (name for name in names(native, "output") if name.endswith(".phi"))
    options: dict[str, Any] = {"stop_time": 0.2, "output_interval": 0.05, "fmi_type": "CoSimulation"}
    doubled = fmpy.simulate_fmu(str(changed), start_values={torque: 0.4}, **options)[angle]
    plain = fmpy.simulate_fmu(str(native), start_values={torque: 0.8}, **options)[angle]
    np.testing.assert_array_equal(doubled, plain)


def test_a_damper_written_into_inputs_converges_with_the_tolerance(tmp_path: Path) -> None:
    """m v' = -c v over steps of 0.1 s: the force sees the speed of every stage, not that of the step's beginning."""
    cart = {"name": "box", "parent": "ground", "rigid": {"mass": 2.0}}
    cart["hinge"] = {"name": "rail", "type": "prismatic", "axis": [1, 0, 0], "initial": {"v": 1.0}}
    system = bough.Mechanism({"bough": 1, "name": "cart", "bodies": [cart]})
    (tmp_path / "model.bough").write_bytes(resource(system, scalar_table(system), "token"))
    spec = importlib.util.spec_from_file_location("slave", ROOT / "fmu_src" / "python" / "slave.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    class Damped(module.Slave):  # type: ignore[misc, name-defined]
        def inputs(self, t: float, q: Any, u: Any, tau: Any, motion: Any, loads: Any) -> None:
            tau[0] -= 3.0 * u[0]

    def error(tolerance: float) -> float:
        it = Damped(instance_name="c", resources=str(tmp_path))
        it.setup_experiment(0.0, None, tolerance)
        it.enter_initialization_mode()
        it.exit_initialization_mode()
        assert all(it.do_step(0.1 * k, 0.1) for k in range(10))
        assert it.model.get("rail.a") == pytest.approx(-1.5 * it.model.get("rail.v"), rel=1e-15)  # outputs see it, too
        return float(abs(it.model.get("rail.s") - (1.0 - np.exp(-1.5)) / 1.5))

    assert error(1e-9) < 1e-8
    assert error(1e-4) > error(1e-9)


def test_without_pythonfmu_the_cure_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = python_runtime.importlib.metadata.distribution

    def missing(name: str) -> Any:
        if name == "pythonfmu":
            raise PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(python_runtime.importlib.metadata, "distribution", missing)
    with pytest.raises(bough.BuildError, match=r"needs the package pythonfmu.*pip install pythonfmu"):
        bough.build_fmu(system_of("pendulum"), tmp_path / "x.fmu", runtime="python")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"fmi": "3.0"}, "FMI 2.0 only"),
        ({"platforms": "aarch64-linux"}, "x86_64-linux and x86_64-windows only"),
    ],
)
def test_what_pythonfmu_lacks_is_refused(tmp_path: Path, options: dict[str, Any], words: str) -> None:
    with pytest.raises(bough.BuildError, match=words):
        bough.build_fmu(system_of("pendulum"), tmp_path / "x.fmu", runtime="python", **options)


def test_an_fmu_can_be_built_after_one_has_run(fmus: dict[tuple[str, str], Path], tmp_path: Path) -> None:
    with instance(fmus["pendulum", "python"]) as (it, _):  # brings its own copy of pythonfmu into this process
        it.exitInitializationMode()
    made = bough.build_fmu(system_of("pendulum"), tmp_path / "x.fmu", runtime="python")
    assert made.read_bytes() == fmus["pendulum", "python"].read_bytes()


def test_pythonfmu_travels_with_its_licence(fmus: dict[tuple[str, str], Path]) -> None:
    with zipfile.ZipFile(fmus["pendulum", "python"]) as archive:
        inside = set(archive.namelist())
        assert {"binaries/linux64/pendulum.so", "binaries/win64/pendulum.dll"} <= inside
        assert b"MIT License" in archive.read("licenses/pythonfmu.txt")
