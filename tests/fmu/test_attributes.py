"""Attributes of the description say what is true: who, when, how large, which of a list, and what it needs."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import fmpy
import numpy as np
import pytest
from fmu.conftest import Finder
from fmu.fmi import Instance, pointer
from fmu.models import system
from small_models import ARM
from typer.testing import CliRunner

import bough
from bough.cli.app import app
from bough.mechanism.kernel_sim import METHODS
from bough.mechanism.variable_table import scalar_table


def described(path: Path) -> Any:
    with zipfile.ZipFile(path) as archive:
        return ElementTree.fromstring(archive.read("modelDescription.xml"))


def test_author_version_and_date_are_told(tmp_path: Path, fmi: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    path = bough.build_fmu(ARM, tmp_path / "a.fmu", fmi, "native", author="A. Rodriguez & sons", version="1.2")
    root = described(path)
    assert (root.get("author"), root.get("version")) == ("A. Rodriguez & sons", "1.2")
    assert root.get("generationDateAndTime") == "1970-01-02T00:00:00Z"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    other = described(
        bough.build_fmu(ARM, tmp_path / "b.fmu", fmi, "native", author="A. Rodriguez & sons", version="1.2")
    )
    token = "guid" if fmi == "2.0" else "instantiationToken"
    assert other.get("generationDateAndTime") == "2023-11-14T22:13:20Z" and other.get(token) == root.get(token)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(bough.BuildError, match="SOURCE_DATE_EPOCH is 'yesterday'"):
        bough.build_fmu(ARM, tmp_path / "c.fmu", fmi, "native")


def test_memory_is_the_fmus_own_and_only_model_exchange_reinitializes(tmp_path: Path) -> None:
    both = described(bough.build_fmu(ARM, tmp_path / "a.fmu", platforms="native"))
    assert {
        e.get("canNotUseMemoryManagementFunctions") for e in both if e.tag.endswith(("Exchange", "Simulation"))
    } == {"true"}
    assert both.findall(".//Real[@reinit='true']")
    alone = described(bough.build_fmu(ARM, tmp_path / "p.fmu", runtime="python", platforms="native"))
    assert alone.find("ModelExchange") is None and not alone.findall(".//Real[@reinit]")
    with zipfile.ZipFile(tmp_path / "p.fmu") as archive:
        assert "bough" in archive.read("documentation/externalDependencies.txt").decode()


def test_the_solver_is_one_of_a_list(tmp_path: Path, fmi: str) -> None:
    path = bough.build_fmu(ARM, tmp_path / "a.fmu", fmi, "native")
    about = fmpy.read_model_description(str(path), validate=True)
    method = next(v for v in about.modelVariables if v.name == "solver.method")
    assert method.type == "Enumeration"
    assert {i.name: int(i.value) for i in method.declaredType.items} == {n: m.number for n, m in METHODS.items()}
    runs = [
        fmpy.simulate_fmu(str(path), stop_time=0.02, start_values={"solver.method": value}, output=["shoulder.phi"])
        for value in (1, 2)
    ]
    assert not (runs[0]["shoulder.phi"] == runs[1]["shoulder.phi"]).all()


def test_greatest_and_least_values_are_taken(fmus: Finder, fmi: str) -> None:
    v = next(v for v in scalar_table(system("arm")) if v.name == "solver.tolerance")
    for value, status in ((v.maximum, 0), (v.minimum, 0), (1.0, 2)):
        with Instance(fmus("arm", fmi)) as it:
            assert it.try_set({"solver.tolerance": float(value or 0.0)}) == status


def test_nominal_values_are_those_of_the_model(fmus: Finder, fmi: str) -> None:
    """What the description says the binary says too; a mode that is nominal bends its beam by about a hundredth."""
    of = system("arm")
    table = {v.name: v for v in scalar_table(of)}
    with Instance(fmus("arm", fmi), "me") as it:
        it.initialize()
        out = np.zeros(of.nq + of.nu)
        it.must("GetNominalsOfContinuousStates", pointer(out), out.size)
    expected = [(table[n].nominal or (1.0,))[0] for n in [*of.q_names, *of.u_names]]
    assert out.tolist() == expected and min(expected) < 0.1
    flex = next(b.flex for b in of.block.bodies if b.flex is not None)
    modal = [c for c in of.q_table if c.modal][: flex.nm]
    length = np.ptp(flex.node_positions[:, 0])
    for i, c in enumerate(modal):
        moved = np.abs(flex.node_shapes[:, 3:, i]).max() * table[c.name].nominal[0] / length
        turned = np.abs(flex.node_shapes[:, :3, i]).max() * table[c.name].nominal[0]
        assert 0.003 < max(moved, turned) < 0.04


def test_sources_go_beside_binaries_where_they_are_asked_for(tmp_path: Path) -> None:
    words = ["build", str(tmp_path / "arm.json"), "-o", str(tmp_path / "a.fmu"), "--sources", "--platform", "native"]
    (tmp_path / "arm.json").write_text(json.dumps(ARM), encoding="utf-8")
    assert CliRunner().invoke(app, words).exit_code == 0
    with zipfile.ZipFile(tmp_path / "a.fmu") as archive:
        names = archive.namelist()
    assert "resources/model.bough" in names and "sources/model_data.c" in names
    assert any(n.startswith("binaries/") for n in names) and "sources/buildDescription.xml" in names
    found = fmpy.simulate_fmu(str(tmp_path / "a.fmu"), stop_time=0.01, output=["shoulder.phi"])
    assert len(found) > 2
    with pytest.raises(bough.BuildError, match="no C sources"):
        bough.build_fmu(ARM, tmp_path / "b.fmu", runtime="python", platforms="native", sources=True)
