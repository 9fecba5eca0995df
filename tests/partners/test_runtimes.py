"""One description, two runtimes: the FMU in Python is the native one in all that a master sees."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from fmpy.fmi2 import FMU2Slave
from lxml import etree
from runtimes.builds import unpacked

from bough.demo import MODEL
from bough.partners import build_partner

CASES: dict[str, tuple[str, int, dict[str, Any]]] = {
    "motor": ("motor", 1, {}),
    "motors": ("motor", 3, {"L": [0.0, 1e-3, 2e-4], "i_max": 4.0}),
    "controller": ("controller", 1, {"ki": 3.0, "encoder": 500, "tacho": 0}),
    "controllers": ("controller", 2, {"ki": 30.0, "u_max": 5.0, "phi_end": 1.0, "t_move": 0.05, "output": "torque"}),
    "model": ("model-controller", 1, {"phi_end": [1.2, 0.4], "tau_max": 5.0}),
}


@pytest.fixture(scope="module")
def fmus(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Path]:
    folder = tmp_path_factory.mktemp("fmus")
    out = {}
    for case, (kind, axes, values) in CASES.items():
        for runtime in ("native", "python"):
            model = MODEL if kind == "model-controller" else None
            path = folder / f"{case}_{runtime}.fmu"
            out[case, runtime] = build_partner(kind, path, axes=axes, values=values, model=model, runtime=runtime)
    return out


@pytest.mark.parametrize("case", CASES)
def test_variables_and_structure_are_the_same(fmus: dict[tuple[str, str], Path], case: str) -> None:
    def parts(runtime: str) -> list[bytes]:
        with zipfile.ZipFile(fmus[case, runtime]) as archive:
            root = etree.fromstring(archive.read("modelDescription.xml"))
        tags = ("UnitDefinitions", "DefaultExperiment", "ModelVariables", "ModelStructure")
        return [etree.tostring(root.find(tag)) for tag in tags]

    assert parts("python") == parts("native")


def signals(names: list[str], case: str) -> np.ndarray:
    """Inputs that wander, far enough to meet limits."""
    t, random = np.arange(0.0, 0.1, 0.0007), np.random.default_rng(len(case))
    out = np.zeros(t.size, dtype=[("time", float), *((name, float) for name in names)])
    out["time"] = t
    for k, name in enumerate(names):
        size = 10.0 if name.startswith("u") else 1.0
        out[name] = size * np.cumsum(random.normal(size=t.size))
        if case == "model":  # a model believes in angles and speeds that fit together
            first = {"phi[1]": -0.6, "phi[2]": 1.9}.get(name, 0.0)
            wave = np.cos if name.startswith("w[") else lambda x: np.sin(x) / 20.0
            out[name] = first + 0.1 * (1 + k % 2) * wave(20.0 * t)
    return out


@pytest.mark.parametrize("case", CASES)
def test_outputs_are_equal_for_the_same_inputs(fmus: dict[tuple[str, str], Path], case: str) -> None:
    native, python = fmus[case, "native"], fmus[case, "python"]
    variables = fmpy.read_model_description(str(native)).modelVariables
    outputs = [v.name for v in variables if v.causality == "output"]
    inputs = signals([v.name for v in variables if v.causality == "input"], case)
    options: dict[str, Any] = {"stop_time": 0.0994, "output_interval": 0.0007, "input": inputs, "output": outputs}
    one, other = (fmpy.simulate_fmu(str(path), **options) for path in (native, python))
    assert len(one) > 100
    for name in outputs:
        np.testing.assert_allclose(other[name], one[name], rtol=1e-12, atol=1e-12, err_msg=name)
        assert np.ptp(one[name]) > 0.0 or name.startswith(("armature", "phi_ref", "w_ref", "a_ref", "u[", "limited"))


def exercise(path: Path) -> list[Any]:
    """Steps, a saved state, other steps, back, through bytes, and on with a parameter changed."""
    description = fmpy.read_model_description(str(path))
    vr = {v.name: v.valueReference for v in description.modelVariables}
    outputs = [vr[v.name] for v in description.modelVariables if v.causality == "output"]
    it = FMU2Slave(guid=description.guid, unzipDirectory=str(unpacked(path)), instanceName="it",
                   modelIdentifier=description.coSimulation.modelIdentifier)  # fmt: skip
    it.instantiate()
    it.setupExperiment(startTime=0.25)
    it.enterInitializationMode()
    it.setReal([vr["w"]], [0.3])
    it.exitInitializationMode()
    seen, t = [it.getReal(outputs)], 0.25
    for _ in range(3):
        it.doStep(t, 0.0013)
        t += 0.0013
    seen.append(it.getReal(outputs))
    state = it.getFMUState()
    data = it.serializeFMUState(state)
    it.setReal([vr["w"]], [-2.0])
    it.doStep(t, 0.01)
    it.setFMUState(it.deserializeFMUState(data))
    seen.append(it.getReal(outputs))
    it.doStep(t, 0.0013)
    seen.append(it.getReal(outputs))
    it.terminate()
    it.freeInstance()
    return seen


@pytest.mark.parametrize("case", ["motor", "controller"])
def test_saved_states_and_repeated_steps_are_equal(fmus: dict[tuple[str, str], Path], case: str) -> None:
    native, python = exercise(fmus[case, "native"]), exercise(fmus[case, "python"])
    rounding = 1e-14 if case == "motor" else 0.0  # the motor's law in Python has another exponential
    assert native[1] == native[2] and python[1] == python[2]
    for one, other in zip(native, python, strict=True):
        assert other == pytest.approx(one, rel=rounding, abs=0.0)
