"""What comes from outside is bounded: kinds and sizes of files, lines, archives, and the digits of numbers."""

from __future__ import annotations

import contextlib
import os
import stat
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bough import files
from bough.coupling.fmu_interface import read_interface
from bough.coupling.recognize import is_system_file
from bough.coupling.ssp import open_package
from bough.errors import BoughError, ModelError, SimulationError
from bough.files import RefusedFileError, check_archive, check_archives, lines_in, open_file, unpack
from bough.flex.fe.matrix_text import read_table
from bough.flex.fe.mesh import read_mesh
from bough.flex.fe.nastran.bulk import read_bulk
from bough.flex.fe.nastran.op2 import read_op2
from bough.flex.fe.nastran.op4 import read_op4
from bough.flex.fe.npz import _arrays
from bough.flex.integrals import modal_integrals
from bough.flex.numbers import real_number, whole_number
from bough.flex.points import Points
from bough.flex.sid.sid import load_sid
from bough.model import load
from bough.regression.reference import digest
from bough.run.result import Result
from bough.run.series_file import read_series

READERS = {
    "model": load,
    "mesh": lambda path: read_mesh(str(path)),
    "matrix": lambda path: read_table(str(path), 3, "file", "row, column, value"),
    "bulk": lambda path: read_bulk(str(path), "file"),
    "op4": lambda path: read_op4(str(path), "file"),
    "op2": lambda path: read_op2(str(path)),
    "npz": lambda path: _arrays(str(path)),
    "sid": load_sid,
    "inputs": lambda path: read_series(path, ["a"]),
    "result": Result.from_csv,
    "ssp": lambda path: open_package(path, path.parent / "unpacked"),
    "fmu": read_interface,
}


def within(seconds: float, call: object, path: Path) -> None:
    """Run a reader in a thread, so that one that waits for ever fails the test instead."""
    caught: list[BaseException] = []

    def work() -> None:
        try:
            call(path)  # type: ignore[operator]
        except BaseException as error:
            caught.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    assert not thread.is_alive(), "the reader waits"
    if caught:
        raise caught[0]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("name", READERS)
def test_named_pipe_is_refused_by_every_reader(name: str, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(BoughError, match=r"named pipe|no such file"):
        within(20, READERS[name], pipe)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="this system has no /dev/zero")
@pytest.mark.parametrize("name", READERS)
def test_device_is_refused_by_every_reader(name: str) -> None:
    with pytest.raises(BoughError, match=r"a device|no such file"):
        within(20, READERS[name], Path("/dev/zero"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_what_only_looks_at_files_does_not_wait_for_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    within(20, lambda path: is_system_file(path) or digest(path), pipe)


def test_file_larger_than_its_limit_is_refused_with_both_sizes(tmp_path: Path) -> None:
    large = tmp_path / "large"
    with large.open("wb") as stream:
        stream.truncate(files.FILE_BYTES + 1)  # takes no room on the disk
    with pytest.raises(OSError, match=r"at most 8 GiB are read") as caught:
        open_file(large)
    assert str(files.FILE_BYTES + 1) in str(caught.value)


def test_file_without_lines_is_refused_before_it_fills_the_memory(tmp_path: Path) -> None:
    file = tmp_path / "mesh.inp"
    with file.open("wb") as stream:
        stream.truncate(2**31)
    with pytest.raises(ModelError, match="line 1 has more than"):
        read_mesh(str(file))
    short = tmp_path / "short"
    short.write_text("a\nb")
    with open_file(short, "r", encoding="utf-8") as text:
        assert list(lines_in(text)) == [(1, "a\n"), (2, "b")]


# ---- archives


def packed(path: Path, *entries: tuple[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return path


@pytest.mark.parametrize("name", ["../out", "a/../../out", "/etc/out", "\\out", "c:out", "a\\..\\..\\out"])
def test_entry_outside_of_its_archive_is_refused(name: str, tmp_path: Path) -> None:
    path = packed(tmp_path / "a.fmu", ("modelDescription.xml", b""), (name, b"x"))
    with pytest.raises(RefusedFileError, match="outside"):
        unpack(path, tmp_path / "in")
    assert not (tmp_path / "in").exists() and not (tmp_path / "out").exists()


def test_link_in_an_archive_is_refused(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("binaries")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.fmu", "w") as archive:
        archive.writestr(link, "/etc")
    with pytest.raises(RefusedFileError, match="is a link"):
        unpack(tmp_path / "a.fmu", tmp_path / "in")


def test_archive_of_too_many_bytes_or_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files.reading, "ARCHIVE_BYTES", 10**6)
    monkeypatch.setattr(files.reading, "ARCHIVE_ENTRIES", 5)
    bomb = packed(tmp_path / "bomb", ("SystemStructure.ssd", bytes(10**6)), ("more", b"x"))
    crowd = packed(tmp_path / "crowd", *((f"{i}", b"") for i in range(5)), ("SystemStructure.ssd", b""))
    assert bomb.stat().st_size < 5000
    for path, why in ((bomb, "at most 0.953674 MiB are unpacked"), (crowd, "6 files in it, and at most 5")):
        for call in (lambda p: unpack(p, tmp_path / "in"), lambda p: open_package(p, tmp_path), read_interface):
            with pytest.raises((RefusedFileError, SimulationError), match=why):
                call(path)
        with pytest.raises(ModelError, match=why):
            _arrays(str(path))
    assert not (tmp_path / "in").exists() and not (tmp_path / "ssp").exists()


def test_archives_that_hold_too_much_together_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files.reading, "SYSTEM_BYTES", 10**6)
    paths = [packed(tmp_path / f"{k}.fmu", ("big", bytes(4 * 10**5))) for k in range(3)]
    check_archives(paths[:2])
    with pytest.raises(RefusedFileError, match="together"):
        check_archives(paths)


def test_archive_that_states_less_than_it_holds_unpacks_no_more(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.fmu", ("big", bytes(10**6)))
    data = path.read_bytes()
    stated, size = (10**6).to_bytes(4, "little"), (100).to_bytes(4, "little")
    path.write_bytes(data.replace(stated, size))
    with zipfile.ZipFile(path) as archive:
        check_archive(archive)
    with pytest.raises(zipfile.BadZipFile):
        unpack(path, tmp_path / "in")
    assert all(file.stat().st_size <= 100 for file in (tmp_path / "in").glob("*"))


# ---- numbers


@pytest.mark.parametrize("text", ["²", "1²", "٣", "1_0", "", " ", "+", "1.0", "0x1", "1e3", "12345678901234567890"])
def test_whole_number_has_ascii_digits_only(text: str) -> None:
    assert whole_number(text) is None


@pytest.mark.parametrize(
    "text", ["²", "٣", "1_0", "", ".", "nan", "inf", "infinity", "1e999", "1e1e1", "1.2.3", "e5", "1,5"]
)
def test_real_number_is_finite_and_ascii(text: str) -> None:
    assert real_number(text) is None


@pytest.mark.parametrize(
    "text, value", [("1.5-3", 1.5e-3), ("1.5D+3", 1.5e3), (" -.5e0 ", -0.5), ("7", 7.0), ("7.E1", 70.0)]
)
def test_real_number_takes_every_way_of_writing_an_exponent(text: str, value: float) -> None:
    assert real_number(text) == value


@given(st.integers(-(10**18) + 1, 10**18 - 1))
def test_whole_numbers_read_back(number: int) -> None:
    assert whole_number(str(number)) == number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_real_numbers_read_back(number: float) -> None:
    assert real_number(repr(number)) == number


@given(st.text(alphabet="0123456789.+-eEdD_ ²٣naif", max_size=12))
def test_what_is_read_as_a_number_is_one_for_python_too(text: str) -> None:
    value, whole = real_number(text), whole_number(text)
    if whole is not None:
        assert int(text) == whole == value
    if value is not None and not set(text) & set("dD") and "e" in text.lower():
        assert float(text) == value


# ---- FE files


def refused(tmp_path: Path, text: str, match: str) -> None:
    path = tmp_path / "job.inp"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match=match):
        read_mesh(str(path))


NODES = "*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n"


@pytest.mark.parametrize(
    "text, match",
    [
        (NODES + "*NSET, NSET=A, GENERATE\n1, 2000000000\n", r"line 5 of 'job\.inp': '1, 2000000000'"),
        (NODES + "*NSET, NSET=A, GENERATE\n1, 9, 0\n", "line 5"),
        (NODES + "*NSET, NSET=A\n1, 2\n" + "*NSET, NSET=A\nA, A\n" * 40, "at most 20000000 numbers"),
        (NODES + "*NSET, NSET=A\n12345678901234567890\n", "line 5"),
        (NODES + "*NSET, NSET=A\n1²\n", "line 5"),
        ("*NODE\n²,0,0,0\n", "line 2"),
        ("*NODE\n12345678901234567890,0,0,0\n", "line 2"),
        ("*NODE\n1,1_0,0,0\n", "line 2"),
        ("*NODE\n1,nan,0,0\n", "line 2"),
        (NODES + "*INCLUDE, INPUT=job.inp\n" * 10, "at most 1000 included files, 10 deep"),
    ],
)
def test_mesh_is_refused_at_its_line(tmp_path: Path, text: str, match: str) -> None:
    refused(tmp_path, text, match)


def test_includes_that_branch_are_counted(tmp_path: Path) -> None:
    """Ten levels of ten includes each would be ten thousand million files."""
    for level in range(9):
        (tmp_path / f"{level}.inc").write_text(f"*INCLUDE, INPUT={level + 1}.inc\n" * 10)
    (tmp_path / "9.inc").write_text(NODES)
    with pytest.raises(ModelError, match="at most 1000 included files"):
        read_mesh(str(tmp_path / "0.inc"))
    for level in range(9):
        (tmp_path / f"{level}.bdf").write_text(f"INCLUDE '{level + 1}.bdf'\n" * 10)
    (tmp_path / "9.bdf").write_text("GRID,1,,0.,0.,0.\n")
    with pytest.raises(ModelError, match="at most 1000 included files"):
        read_bulk(str(tmp_path / "0.bdf"), "file")


@pytest.mark.parametrize("line", ["SET 1 = 1 THRU 2000000000", "SET 1 = 5, 7 THRU 99999999"])
def test_range_of_thousands_of_millions_in_a_deck_is_refused(tmp_path: Path, line: str) -> None:
    deck = tmp_path / "deck.bdf"
    deck.write_text(f"SOL 103\nCEND\n{line}\nBEGIN BULK\nGRID,1,,0.,0.,0.\nENDDATA\n")
    with pytest.raises(ModelError, match="at most 20000000 numbers in a list"):
        read_bulk(str(deck), "file")


def test_card_with_digits_of_other_scripts_is_refused(tmp_path: Path) -> None:
    deck = tmp_path / "deck.bdf"
    deck.write_text("GRID,1²,,0.,0.,0.\n", encoding="latin-1")
    card = read_bulk(str(deck), "file").of("GRID")[0]
    with pytest.raises(ModelError, match="line 1 of 'deck.bdf'"):
        card.integer(0)


@pytest.mark.parametrize("line", ["=", "= 3", "==", "=end part"])
@pytest.mark.parametrize("before", ["part\n", "part\nnew modal\n", "part\nnew modal\nrefmod\n", "part\nnew modal\nJ\n"])
def test_sid_line_that_starts_with_an_equals_sign_is_refused(tmp_path: Path, before: str, line: str) -> None:
    path = tmp_path / "body.SID_FEM"
    path.write_text(f"{before}{line}\n")
    with pytest.raises(ModelError, match=f"`{line}`"):
        load_sid(path)


@pytest.mark.parametrize("value", ["٣", "²", "12345678901234567890", "1_0"])
def test_sid_size_with_other_digits_is_refused(tmp_path: Path, value: str) -> None:
    path = tmp_path / "body.SID_FEM"
    path.write_text(f"part\nnew modal\nrefmod\nnelastq = {value}\n", encoding="utf-8")
    with pytest.raises(ModelError, match="a whole number, 0 or more"):
        load_sid(path)


SEEDS = {
    "mesh": NODES + "*NSET, NSET=A, GENERATE\n1, 2, 1\n*ELEMENT, ELSET=E\n1, 1, 2\n*NSET, NSET=B\nA, 2\n",
    "bulk": "SOL 103\nCEND\nSET 1 = 1 THRU 2\nBEGIN BULK\nGRID,1,,0.,1.5-3,0.\nSET1,3,1,THRU,2\nENDDATA\n",
    "matrix": "1 1 2.0\n2 1 -1.0e0\n2 2 2.0D0\n",
    "sid": "1 1\npart\nnew modal\nrefmod\nmass = 1.0\nnelastq = 1\nend refmod\nJ\norder = 0\nm0(1,1) = 1\nend J\n",
}
PIECES = (
    "=",
    "²",
    "٣",
    "-",
    "99999999999999999999",
    "2000000000",
    "1e999",
    "nan",
    "_",
    "*",
    ",",
    "THRU",
    "\0",
    "end",
    "'",
    "",
)


@pytest.mark.parametrize("name", SEEDS)
def test_mutated_text_is_read_or_refused(name: str, tmp_path: Path) -> None:
    """Pieces that have broken readers, at random places: nothing but a ModelError comes out."""
    random, path = np.random.default_rng(11), tmp_path / "file"
    for _ in range(400):
        text = SEEDS[name]
        for _ in range(random.integers(1, 4)):
            at, length = random.integers(len(text) + 1), random.integers(3)
            text = text[:at] + PIECES[random.integers(len(PIECES))] + text[at + length :]
        path.write_text(text, encoding="utf-8")
        with contextlib.suppress(ModelError):
            READERS[name](path)


# ---- modes


def flexible(**body: object) -> dict[str, object]:
    hinge = {"name": "root", "type": "fixed"}
    return {"bough": 1, "name": "m", "bodies": [{"name": "b", "parent": "ground", "hinge": hinge, **body}]}


def test_more_modes_than_the_tables_have_room_for_are_refused(tmp_path: Path) -> None:
    """2500 modes would take 125 GB: the tables hold the cube of their number."""
    beam = {
        "length": 1.0,
        "elements": 1000,
        "section": {"shape": "rectangle", "width": 0.01, "height": 0.01},
        "material": {"E": 7e10, "nu": 0.3, "rho": 2700},
        "modes": {"boundary": "cantilever", "count": 2500},
    }
    fe = {"file": "a.npz", "interfaces": {"a": {"nodes": [1]}}, "attach": "a", "modes": {"count": 2500}}
    nodal = {
        "attach": "a",
        "nodes": [{"name": "a", "position": [0, 0, 0], "mass": 1.0}],
        "modes": [[[0.0] * 6]] * 2500,
        "stiffness": [1.0] * 2500,
    }
    families = {**beam, "modes": {"boundary": "cantilever", "bending_y": 400, "bending_z": 400}}
    for body in ({"beam": beam}, {"beam": families}, {"nodal": nodal}, {"fe": fe}):
        with pytest.raises(ModelError, match=r"at most 500 modes|from 0 to 500") as caught:
            load(flexible(**body))
        assert "modes" in caught.value.problems[0].key
    with pytest.raises(ModelError, match="at most 500 modes"):
        modal_integrals(Points(np.zeros((1, 3)), np.ones(1), np.zeros((1, 3, 3)), np.zeros((1, 6, 501))), np.zeros(3))
