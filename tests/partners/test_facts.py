"""What a master asks of an FMU beyond its description: optional inputs, sample time, time constant."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from partners.built import VERSIONS

from bough import build_fmu
from bough.demo import MODEL
from bough.partners import build_partner
from bough.partners.facts import Facts, read_facts

COMMANDS = ("phi_cmd", "w_cmd", "a_cmd")


@pytest.mark.parametrize("fmi", VERSIONS)
def test_facts_of_partners_are_read_from_their_fmus(fmi: str, tmp_path: Path) -> None:
    path = tmp_path / "partner.fmu"
    build_partner("motor", path, axes=2, values={"R": [0.5, 2.0], "L": 0.01}, fmi=fmi, platforms="native")
    assert read_facts(path, {}) == Facts(lag=0.005, drives=(("tau[1]",), ("tau[2]",)))
    assert read_facts(path, {"R[2]": 4.0, "L[1]": 0.1}).lag == 0.0025
    build_partner("motor", path, values={"L": 0.0}, fmi=fmi, platforms="native")
    assert read_facts(path, {}) == Facts(drives=(("tau",),))
    build_partner("controller", path, values={"sample": 0.02, "phi_end": 2.0}, fmi=fmi, platforms="native")
    angles = {"phi": 0.0, "phi_cmd": 0.0, "phi_start": 0.0, "phi_end": 2.0}
    whole = Facts(optional=frozenset([*COMMANDS, "u_ff"]), sample=0.02, drives=(("u",),), angles=tuple(angles.items()))
    assert read_facts(path, {}) == whole
    angles["phi_end"] = 3.0
    assert read_facts(path, {"sample": 0.03, "tacho": False, "phi_end": 3.0}) == replace(
        whole, optional=frozenset([*COMMANDS, "u_ff", "w"]), sample=0.03, angles=tuple(angles.items())
    )
    values = {"phi_end": [1.2, 0.4], "sample": 0.002}
    build_partner("model-controller", path, values=values, model=MODEL, fmi=fmi, platforms="native")
    names = [f"{name}[{i}]" for name in (*COMMANDS, "tau_ff") for i in (1, 2)]
    found = read_facts(path, {})
    assert found.drives == (("tau[1]", "u[1]"), ("tau[2]", "u[2]"))
    assert dict(found.angles)["phi_end[2]"] == 0.4
    assert replace(found, drives=(), angles=()) == Facts(optional=frozenset(names), sample=0.002)


def test_facts_of_a_mechanism_and_of_strange_fmus(tmp_path: Path) -> None:
    path = tmp_path / "arm.fmu"
    build_fmu(MODEL, path, platforms="native")
    assert read_facts(path, {}) == Facts(mechanism=True)
    for content in (b"", b"BOUGHFMU and no more"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("resources/model.bough", content)
        assert read_facts(path, {}) == Facts()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", "")
    assert read_facts(path, {}) == Facts()
    path.write_bytes(b"no zip")
    assert read_facts(path, {}) == Facts() and read_facts(tmp_path / "nothing.fmu", {}) == Facts()
