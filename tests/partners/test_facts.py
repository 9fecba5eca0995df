"""What a master asks of an FMU beyond its description: optional inputs, sample time, time constant."""

from __future__ import annotations

import zipfile
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
    assert read_facts(path, {}) == Facts(lag=0.005)
    assert read_facts(path, {"R[2]": 4.0, "L[1]": 0.1}).lag == 0.0025
    build_partner("motor", path, values={"L": 0.0}, fmi=fmi, platforms="native")
    assert read_facts(path, {}) == Facts()
    build_partner("controller", path, values={"sample": 0.02}, fmi=fmi, platforms="native")
    assert read_facts(path, {}) == Facts(optional=frozenset([*COMMANDS, "u_ff"]), sample=0.02)
    assert read_facts(path, {"sample": 0.03, "tacho": False}) == Facts(
        optional=frozenset([*COMMANDS, "u_ff", "w"]), sample=0.03
    )
    values = {"phi_end": [1.2, 0.4], "sample": 0.002}
    build_partner("model-controller", path, values=values, model=MODEL, fmi=fmi, platforms="native")
    names = [f"{name}[{i}]" for name in (*COMMANDS, "tau_ff") for i in (1, 2)]
    assert read_facts(path, {}) == Facts(optional=frozenset(names), sample=0.002)


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
