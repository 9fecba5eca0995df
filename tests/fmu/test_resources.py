"""Where hosts say the resources are, and resources that are not as they were built."""

from __future__ import annotations

import shutil
import struct
import zlib
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from fmu.fmi import Fmu, Instance

HEADER, COUNTS = 32, 64


def works(fmu: Fmu, location: str) -> bool:
    with Instance(fmu, location=location) as it:
        if it.handle is None:
            return False
        it.initialize()
        return it.step(0.01) == 0


# ---- location


@pytest.fixture
def strange(arm: Fmu, tmp_path: Path) -> Path:
    """The resources in a folder whose name no host encodes the same way."""
    folder = tmp_path / "Größe 100%25 50% +#1 日本" / "resources"
    shutil.copytree(arm.resources, folder)
    return folder


@pytest.mark.parametrize("tail", ["", "/", "//"])
@pytest.mark.parametrize("scheme", ["file:", "file://", "file://localhost", "FILE://"])
def test_uri_is_understood_as_hosts_send_it(arm: Fmu, strange: Path, scheme: str, tail: str) -> None:
    assert works(arm, scheme + quote(str(strange)) + tail)


@pytest.mark.parametrize("tail", ["", "/"])
def test_plain_path_is_taken_literally(arm: Fmu, strange: Path, tail: str) -> None:
    assert works(arm, str(strange) + tail)


def test_uri_that_the_host_forgot_to_encode_is_understood(arm: Fmu, tmp_path: Path) -> None:
    folder = tmp_path / "with space é 5% more" / "resources"
    shutil.copytree(arm.resources, folder)
    assert works(arm, "file://" + str(folder))
    assert works(arm, "file:" + str(folder))


def test_lower_case_hex_digits_are_understood(arm: Fmu, tmp_path: Path) -> None:
    folder = tmp_path / "a+b" / "resources"
    shutil.copytree(arm.resources, folder)
    assert works(arm, "file://" + str(folder).replace("+", "%2b"))


@pytest.mark.parametrize(
    "location", [None, "/nowhere", "file:///nowhere", "file://", "file:", "%", "file:///%", "file:///a%00b", "x" * 3000]
)
def test_location_that_does_not_exist_gives_no_instance_and_says_where_it_looked(
    arm: Fmu, location: str | None
) -> None:
    with Instance(arm, location=location) as it:
        assert it.handle is None
        assert "Cure: " in it.last or len(location or "") > 1000
        assert it.messages[-1].status == 3
        if location == "/nowhere":
            assert "/nowhere/model.bough" in it.last


def test_wrong_token_gives_no_instance_and_names_both(arm: Fmu) -> None:
    for token in ("", "{0}", arm.token[:-1], arm.token + " "):
        with Instance(arm, token=token) as it:
            assert it.handle is None and arm.token in it.last and "Cure: " in it.last


# ---- damage


def attempt(fmu: Fmu, folder: Path, data: bytes) -> str | None:
    """Instantiate with these bytes as the resource; the message if there is no instance."""
    folder.mkdir(exist_ok=True)
    (folder / "model.bough").write_bytes(data)
    with Instance(fmu, location=str(folder)) as it:
        if it.handle is None:
            return it.last
        if it.enter() == 0 and it.call("ExitInitializationMode") == 0:
            it.step(0.001)
        return None


def sealed(data: bytes) -> bytes:
    """With size and checksum set right again, so that what lies behind them is looked at."""
    out = bytearray(data)
    struct.pack_into("<Q", out, 16, len(out))
    struct.pack_into("<I", out, 24, zlib.crc32(out[HEADER:]))
    return bytes(out)


def test_missing_empty_and_foreign_resources_are_refused(arm: Fmu, tmp_path: Path) -> None:
    for data in (b"", b"B", b"BOUGHFMU", b"PK\3\4" * 100, bytes(10000)):
        text = attempt(arm, tmp_path / "r", data)
        assert text is not None and "model.bough" in text and "Cure: " in text
    (tmp_path / "f" / "model.bough").mkdir(parents=True)  # a folder of that name
    for where in ("f", "none"):
        with Instance(arm, location=str(tmp_path / where)) as it:
            assert it.handle is None and "cannot read" in it.last and "Cure: " in it.last


def test_resource_cut_anywhere_or_grown_is_refused(arm: Fmu, tmp_path: Path) -> None:
    good = (arm.resources / "model.bough").read_bytes()
    assert attempt(arm, tmp_path / "r", good) is None
    for size in [*range(0, 80, 7), *range(80, len(good), len(good) // 60), len(good) - 1]:
        text = attempt(arm, tmp_path / "r", good[:size])
        assert text is not None and "Cure: build the FMU again" in text or size == 0
    for extra in (b"\0", b"\0" * 8, good):
        text = attempt(arm, tmp_path / "r", good + extra)
        assert text is not None and "cut short or has grown" in text


def test_every_flipped_bit_that_is_looked_at_is_found(arm: Fmu, tmp_path: Path) -> None:
    """Bytes 28 to 31 are reserved; a single flipped bit anywhere else is refused, most by the checksum."""
    good = (arm.resources / "model.bough").read_bytes()
    random = np.random.default_rng(1)
    places = [p for p in (*range(64), *random.integers(64, len(good), 150)) if not 28 <= p < 32]
    for place in places:
        broken = bytearray(good)
        broken[place] ^= 1 << int(random.integers(8))
        text = attempt(arm, tmp_path / "r", bytes(broken))
        assert text is not None and "Cure: " in text, place


def test_resource_of_another_model_is_refused(fmus: object, arm: Fmu, flyer: Fmu, tmp_path: Path) -> None:
    text = attempt(arm, tmp_path / "r", (flyer.resources / "model.bough").read_bytes())
    assert text is not None and arm.token in text and flyer.token in text


def test_damage_behind_a_checksum_set_right_never_crashes(arm: Fmu, tmp_path: Path) -> None:
    """Whoever rewrites the checksum may get any message or a strange model, but not a crash; counts are caught."""
    good = (arm.resources / "model.bough").read_bytes()
    random = np.random.default_rng(2)
    (ints,) = struct.unpack_from("<q", good, 32)
    refused = 0
    for place in [*range(32, 96, 4), *(64 + 4 * random.integers(0, ints, 250))]:
        for word in (-1, 0x7FFFFFFF, int(random.integers(0, 40))):
            broken = bytearray(good)
            struct.pack_into("<i", broken, int(place), word)
            refused += attempt(arm, tmp_path / "r", sealed(bytes(broken))) is not None
    assert refused > 300
    for place in random.integers(64 + 4 * ints, len(good), 200):
        broken = bytearray(good)
        broken[place] = int(random.integers(256))
        attempt(arm, tmp_path / "r", sealed(bytes(broken)))


def test_start_value_out_of_range_is_refused_with_its_variable(arm: Fmu, tmp_path: Path) -> None:
    good = (arm.resources / "model.bough").read_bytes()
    (ints,) = struct.unpack_from("<q", good, 32)
    reals = 64 + (4 * ints + 7) // 8 * 8
    for name, value, word in (
        ("shoulder.damping", -1.0, "'shoulder.damping'"),
        ("solver.tolerance", 7.0, "'solver.tolerance'"),
        ("shoulder.phi", float("nan"), "not finite"),
    ):
        broken = bytearray(good)
        struct.pack_into("<d", broken, reals + 8 * arm.references[name], value)
        text = attempt(arm, tmp_path / "r", sealed(bytes(broken)))
        assert text is not None and word in text
