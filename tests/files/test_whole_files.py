"""A file is written whole or not at all, and never over what a command reads."""

from __future__ import annotations

import os
import socket
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from bough.errors import BuildError, OutputError, SimulationError
from bough.files import binary_file, check_different, check_output, text_file, write_bytes, write_text, write_together
from bough.run.result import Result

unix = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes in folders")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    assert not list(tmp_path.rglob("*.part")), "no temporary file is left"


def test_block_that_fails_leaves_the_old_file(folder: Path) -> None:
    Path("out").write_text("old")
    with pytest.raises(KeyboardInterrupt), text_file("out") as file:
        file.write("new")
        file.flush()
        assert Path("out").read_text() == "old", "nothing is replaced before the end"
        assert [p.name for p in folder.glob("out.*.part")], "a name that a user recognises"
        raise KeyboardInterrupt
    assert Path("out").read_text() == "old"


@pytest.mark.parametrize("broken", ["open", "fsync", "replace"])
def test_failing_call_leaves_the_old_file_and_one_message(
    broken: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("out").write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("builtins.open" if broken == "open" else f"os.{broken}", full)
        with pytest.raises(OutputError, match=r"^cannot write out: No space left on device; make room") as caught:
            write_text("out", "new")
    assert isinstance(caught.value, SimulationError) and isinstance(caught.value, BuildError)
    assert Path("out").read_text() == "old"


@unix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_permissions_of_the_old_file_stay(mode: int, folder: Path) -> None:
    Path("out").write_text("old")
    Path("out").chmod(mode)
    write_text("out", "new")
    assert stat.S_IMODE(os.stat("out").st_mode) == mode


@unix
def test_new_file_has_the_permissions_of_any_new_file(folder: Path) -> None:
    write_text("out", "new")
    Path("other").write_text("new")
    assert os.stat("out").st_mode == os.stat("other").st_mode


@unix
def test_link_stays_and_the_file_behind_it_is_replaced(folder: Path) -> None:
    Path("real").mkdir()
    Path("link").symlink_to("real/out")
    for text in ("first", "second"):
        write_text("link", text)
        assert Path("link").is_symlink() and Path("real/out").read_text() == text
    Path("ring").symlink_to("ring")
    with pytest.raises(OutputError, match="cannot write ring"):
        check_output("ring")


def test_name_as_long_as_the_file_system_takes_can_be_written(folder: Path) -> None:
    for name in ("x" * 251 + ".csv", "\N{SNOWMAN}" * 80 + ".csv"):
        check_output(name)
        write_text(name, "new")
        assert Path(name).read_text() == "new"
    with pytest.raises(OutputError, match="choose a shorter name"):
        check_output("x" * 300)


@unix
def test_what_is_no_file_is_refused(folder: Path) -> None:
    Path("folder").mkdir()
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        for name, told in (("folder", "a directory"), ("pipe", "a device or a pipe"), ("socket", "a socket"),
                           (os.devnull, "a device or a pipe"), ("no/out", "there is no directory")):  # fmt: skip
            with pytest.raises(OutputError, match=told):
                check_output(name)
            with pytest.raises(OutputError, match="cannot write"):
                write_bytes(name, b"new")
        with pytest.raises(OutputError, match="a socket"):
            write_text("socket", "new", stream=True)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode) and stat.S_ISFIFO(os.stat("pipe").st_mode)


@unix
def test_text_goes_into_a_pipe_as_it_is(folder: Path) -> None:
    os.mkfifo("pipe")
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(Path("pipe").read_text()))
    reader.start()
    check_output("pipe", stream=True)
    write_text("pipe", "new", stream=True)
    reader.join()
    assert got == ["new"] and stat.S_ISFIFO(os.stat("pipe").st_mode)


@unix
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1"])
def test_open_file_of_the_process_is_written_on_and_not_replaced(name: str, folder: Path) -> None:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.dup2(os.open("out", os.O_WRONLY | os.O_CREAT), 1)
            os.write(1, b"head\n")
            write_text(name, "body\n", stream=True)
            os.write(1, b"tail\n")
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert Path("out").read_text() == "head\nbody\ntail\n"


@unix
def test_protected_targets_are_refused_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory() as place:  # not pytest's folder, which others cannot enter
        Path(place).chmod(0o755)
        monkeypatch.chdir(place)
        _protect_and_check()
        monkeypatch.undo()


def _protect_and_check() -> None:
    Path("shut").mkdir(mode=0o555)
    Path("sticky").mkdir()
    Path("sticky").chmod(0o1777)
    for name in ("file", "sticky/other"):
        Path(name).write_text("old")
    Path("file").chmod(0o444)
    Path("sticky/other").chmod(0o666)
    refused = {
        "file": "the file is write-protected",
        "shut/new": "is write-protected",
        "sticky/other": "only its owner may replace it",
    }
    if os.geteuid() != 0:  # then nothing here belongs to somebody else
        refused.pop("sticky/other")
    assert _as_somebody(lambda: [_refused(name, told) for name, told in refused.items()]) == 0
    Path("shut").chmod(0o755)


def _refused(name: str, told: str) -> None:
    with pytest.raises(OutputError, match=told):
        check_output(name)


def _as_somebody(work: Callable[[], object]) -> int:
    """Exit code of a process that is not the superuser's."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            if os.geteuid() == 0:
                os.setuid(65534)
            work()
            code = 0
        except BaseException as error:
            os.write(2, repr(error).encode())
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@unix
def test_output_is_an_input_under_any_name(folder: Path) -> None:
    Path("model").write_text("model")
    Path("soft").symlink_to("model")
    os.link("model", "hard")
    for name in ("model", "./model", "soft", "hard", str(folder / "model")):
        with pytest.raises(OutputError, match=r"is (an input|model), which is read; choose another output"):
            check_output(name, ["nowhere", "model"])
    Path("copy").write_text("model")
    check_output("copy", ["model"])


def test_two_outputs_of_a_command_are_two_files(folder: Path) -> None:
    check_different("a", "b", None)
    with pytest.raises(OutputError, match="cannot write both a and ./a"):
        check_different("a", "b", "./a")


def test_writers_of_one_file_at_the_same_time_do_not_mix(folder: Path) -> None:
    """Two runs to one output: readers see one of them, never rows of both."""
    results = [Result(np.arange(n, dtype=float), {"x": np.full(n, float(n))}) for n in (300, 500)]
    results[0].to_csv("out.csv")
    ended = threading.Event()
    seen: set[int] = set()

    def read() -> None:
        while not ended.is_set():
            found = Result.from_csv("out.csv")
            assert np.all(found["x"] == len(found))
            seen.add(len(found))

    def write(result: Result) -> None:
        for _ in range(20):
            result.to_csv("out.csv")

    failed: list[BaseException] = []

    def guarded(work: Callable[..., None], *arguments: object) -> threading.Thread:
        def run() -> None:
            try:
                work(*arguments)
            except BaseException as error:
                failed.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        return thread

    reader = guarded(read)
    for thread in [guarded(write, result) for result in results]:
        thread.join()
    ended.set()
    reader.join()
    assert not failed
    assert seen <= {300, 500}


def test_files_that_belong_together_change_together_and_the_mark_last(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = Path("a"), Path("b")
    a.write_text("old")
    b.write_text("old")
    real, order = os.replace, []

    def replace(source: str, target: str) -> None:
        assert len(list(folder.glob("*.part"))) == 2 - len(order), "both are on the disk before the first is replaced"
        order.append(os.path.basename(target))
        real(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", replace)
        write_together({a: b"new", b: b"new"})
    assert order == ["a", "b"] and a.read_text() == b.read_text() == "new"
    with pytest.raises(OutputError, match="no/c"):
        write_together({a: b"newer", Path("no/c"): b"newer"})
    assert a.read_text() == "new"


def test_file_that_is_being_written_can_be_sought(folder: Path) -> None:
    with binary_file("out") as file:
        file.write(b"12345")
        file.seek(0)
        file.write(b"0")
    assert Path("out").read_bytes() == b"02345"
