"""States of partners that come from outside, and steps that ask for more than anybody waits for."""

from __future__ import annotations

import importlib.util
import math
import struct
from pathlib import Path
from typing import Any

import pytest
from fmu.fmi import DISCARD, ERROR, OK
from fmu.hostile import crafted, with_word
from house.tools import ROOT
from partners.built import at_work, described, instance

from bough.errors import SimulationError
from bough.partners import KINDS
from bough.partners.partner_fmu import partner_files


@pytest.mark.parametrize("kind", KINDS)
def test_crafted_state_is_refused_or_harmless(kind: str, fmi: str, tmp_path: Path) -> None:
    """Clocks, counters and parameters: whatever is accepted takes a step to its end, and a reset forgets it."""
    with instance(tmp_path, kind, fmi) as it:
        fresh = it.state_bytes()
        it.initialize(start=1.0)
        it.time = 1.0
        assert it.step(0.0123) == OK
        good, refused = it.state_bytes(), 0
        for place, value, state in crafted(good, 40):
            it.time = 1.0123
            if it.resume(state) != OK:
                assert it.state_bytes() == good, (place, value)
                refused += 1
                continue
            it.step(0.001)
            it.must("Reset")
            assert it.state_bytes() == fresh, (place, value)
            assert it.resume(good) == OK
        assert refused > 100


@pytest.mark.parametrize("kind", ["controller", "model-controller"])
@pytest.mark.parametrize("number", [2.0**53, 1e300, -1.0, 11.0, 14.5, 1e6, float("nan")])
def test_number_of_the_next_sample_agrees_with_the_clock(kind: str, number: float, fmi: str, tmp_path: Path) -> None:
    with instance(tmp_path, kind, fmi) as it:
        it.initialize()
        assert it.step(0.0125) == OK
        good = it.state_bytes()
        words = [i for i in range(24, len(good) // 8) if good[8 * i : 8 * i + 8] == struct.pack("<d", 13.0)]
        assert len(words) == 1
        assert it.resume(with_word(good, words[0], number)) == ERROR
        assert it.state_bytes() == good
        assert it.step(0.001) == OK


@pytest.mark.parametrize("kind", ["controller", "model-controller"])
def test_step_of_more_than_a_million_samples_is_refused_at_once(kind: str, fmi: str, tmp_path: Path) -> None:
    with instance(tmp_path, kind, fmi) as it:
        it.initialize()
        assert it.step(1e9) == DISCARD
        assert "samples of 0.001 s" in it.last and "shorter communication steps" in it.last
    with pytest.raises(SimulationError, match=r"samples of 0\.001 s"):
        at_work(kind).step(1e9)


@pytest.fixture
def slave(tmp_path: Path) -> Any:
    """The motor's FMU in Python, opened as pythonfmu opens it."""
    pytest.importorskip("pythonfmu")
    files = partner_files(described("motor"), "2.0")
    (tmp_path / "model.bough").write_bytes(files["resources/model.bough"])
    spec = importlib.util.spec_from_file_location("motor_slave", ROOT / "fmu_src" / "python" / "motor_slave.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Slave(instance_name="m", resources=str(tmp_path))


def test_motor_in_python_refuses_what_setting_would_refuse(slave: Any) -> None:
    said: list[str] = []
    slave.log = lambda text, *_: said.append(text)
    slave.setup_experiment(0.0)
    slave.exit_initialization_mode()
    assert slave.do_step(0.0, 0.0125)
    good = slave._get_fmu_state()
    for place, value in ((0, math.nan), (0, -1.0), (1, math.inf), (3, 0.5), (4, math.inf), (5, math.nan)):
        state = {"numbers": list(good["numbers"])}
        state["numbers"][place] = value
        slave._set_fmu_state(state)
        assert "nothing is changed" in said.pop() and slave._get_fmu_state() == good
    slave._set_fmu_state(good)
    assert not said and slave._get_fmu_state() == good
