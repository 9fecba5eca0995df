"""Recorded runs travel inside of the FMU (fmi-ls-ref): another program repeats them from the file alone."""

from __future__ import annotations

import hashlib
import io
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import fmpy
import numpy as np
import pytest
from small_models import ARM

import bough
from bough.regression import read_reference, record, verify
from bough.regression.embed import EXPERIMENTS, FOLDER, MANIFEST, content_digest, experiments_of

LS = "{http://fmi-standard.org/fmi-ls-manifest}"


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    fmu = bough.build_fmu(ARM, tmp_path / "arm.fmu", platforms="native")
    (tmp_path / "torque.csv").write_text("time,shoulder.tau\n0,1\n0.1,1\n")
    record(fmu, 0.1, 0.01, input_file=tmp_path / "torque.csv", settings={"shoulder.damping": 0.3})
    return fmu


def test_another_program_repeats_the_run_from_the_fmu_alone(recorded: Path) -> None:
    (about,) = experiments_of(recorded).values()
    assert about["name"] == "arm" and float(about["stopTime"]) == 0.1 and float(about["stepSize"]) == 0.01
    with zipfile.ZipFile(recorded) as archive:
        rows = np.genfromtxt(io.BytesIO(archive.read(about["References"])), delimiter=",", names=True, deletechars="")
        inputs = np.genfromtxt(io.BytesIO(archive.read(about["Stimuli"])), delimiter=",", names=True, deletechars="")
        space = "{http://ssp-standard.org/SSP1/SystemStructureParameterValues}"
        found = ElementTree.fromstring(archive.read(about["Parameters"])).iter(f"{space}Parameter")
        values = {p.get("name"): float(p[0].get("value", "nan")) for p in found}
    run = fmpy.simulate_fmu(
        str(recorded), stop_time=0.1, output_interval=0.01, input=inputs, start_values=values, relative_tolerance=1e-6,
        output=["shoulder.phi"],
    )  # fmt: skip
    size = np.abs(rows["shoulder.phi"]).max()
    assert np.abs(run["shoulder.phi"] - rows["shoulder.phi"]).max() < 1e-6 * size


def test_the_manifest_names_every_file_with_its_role_and_checksum(recorded: Path) -> None:
    with zipfile.ZipFile(recorded) as archive:
        root = ElementTree.fromstring(archive.read(MANIFEST))
        assert root.tag == "fmiReferences" and root.get(f"{LS}fmi-ls-name") == "org.fmi-standard.fmi-ls-ref"
        listed = {FOLDER + e.get("source", ""): e for e in root}
        there = {n for n in archive.namelist() if n.startswith(FOLDER)}
        assert set(listed) == there - {MANIFEST} and listed[EXPERIMENTS].get("role") == "experiment/smoke-test"
        for path, e in listed.items():
            assert e.get("checksum") == hashlib.sha3_256(archive.read(path)).hexdigest()


def test_a_second_run_is_added_and_the_same_one_replaced(recorded: Path) -> None:
    before = content_digest(recorded)
    with zipfile.ZipFile(recorded) as archive:
        rest = {n: archive.read(n) for n in archive.namelist() if not n.startswith(FOLDER)}
    record(recorded, 0.05, 0.01, path=recorded.with_name("arm.free.reference.csv"))
    record(recorded, 0.02, 0.01)
    found = experiments_of(recorded)
    assert {name: float(e["stopTime"]) for name, e in found.items()} == {"arm.free": 0.05, "arm": 0.02}
    with zipfile.ZipFile(recorded) as archive:
        assert {n: archive.read(n) for n in archive.namelist() if not n.startswith(FOLDER)} == rest
        assert not any(n.endswith("arm.inputs.csv") for n in archive.namelist())  # of the run that was replaced
    assert content_digest(recorded) == before
    reference = read_reference(recorded.with_name("arm.free.reference.csv"))
    assert reference.changed_files() == () and verify(reference).ok


def test_an_fmu_may_stay_as_it_is(tmp_path: Path) -> None:
    fmu = bough.build_fmu(ARM, tmp_path / "arm.fmu", platforms="native")
    before = fmu.read_bytes()
    record(fmu, 0.02, 0.01, embed=False)
    assert fmu.read_bytes() == before and experiments_of(fmu) == {}
