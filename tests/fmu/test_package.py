"""FMU files: what is inside, the same bytes each time, and clear refusals."""

from __future__ import annotations

import io
import zipfile
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from fmu.described import ARM, CASES, GOOD, files_of, read_resource, system_of, tree
from PIL import Image

import bough
from bough import BuildError
from bough.fmu import build_fmu, package

FOLDERS2 = {"linux64": ".so", "aarch64-linux": ".so", "win64": ".dll", "darwin64": ".dylib", "aarch64-darwin": ".dylib"}
FOLDERS3 = {
    "x86_64-linux": ".so",
    "aarch64-linux": ".so",
    "x86_64-windows": ".dll",
    "x86_64-darwin": ".dylib",
    "aarch64-darwin": ".dylib",
}


@pytest.fixture(autouse=True)
def binaries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that name their platform, in place of the compiled ones."""
    monkeypatch.setattr(package, "find_binary", lambda name, fmi: f"{name} {fmi}".encode())


@pytest.mark.parametrize(("fmi", "folders"), [("2.0", FOLDERS2), ("3.0", FOLDERS3)])
def test_every_platform_has_its_folder_and_extension(tmp_path: Path, fmi: str, folders: dict[str, str]) -> None:
    path = build_fmu(GOOD / ARM, tmp_path / "arm.fmu", fmi)
    with zipfile.ZipFile(path) as z:
        found = {n for n in z.namelist() if n.startswith("binaries/")}
        assert found == {f"binaries/{folder}/two_link_arm{end}" for folder, end in folders.items()}
        assert z.read("binaries/aarch64-linux/two_link_arm.so") == f"aarch64-linux {fmi}".encode()
        assert z.namelist()[0] == "modelDescription.xml" and z.testzip() is None
        for info in z.infolist():
            assert info.extract_version <= 20 and "\\" not in info.filename
            assert info.external_attr >> 16 == (0o100755 if info.filename in found else 0o100644)


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_description_model_page_licence_and_icon_are_inside(fmi: str) -> None:
    files = files_of(ARM, fmi)
    common = {"modelDescription.xml", "resources/model.bough", "documentation/index.html"}
    own = {"model.png", "licenses/license.txt"}
    if fmi == "3.0":
        own = {f"terminalsAndIcons/{name}" for name in ("terminalsAndIcons.xml", "icon.png")}
        own |= {"documentation/licenses/license.txt"}
    assert set(files) == common | own
    licence = files["licenses/license.txt" if fmi == "2.0" else "documentation/licenses/license.txt"]
    assert b"BSD 3-Clause" in licence


def test_platforms_can_be_chosen(tmp_path: Path) -> None:
    for chosen, expected in (
        ("native", {package.native_platform()}),
        ("x86_64-windows", {"x86_64-windows"}),
        (["aarch64-darwin", "x86_64-linux"], {"aarch64-darwin", "x86_64-linux"}),
    ):
        path = build_fmu(system_of(ARM), tmp_path / "arm.fmu", "3.0", platforms=chosen)
        with zipfile.ZipFile(path) as z:
            assert {n.split("/")[1] for n in z.namelist() if n.startswith("binaries/")} == expected


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_the_same_model_gives_the_same_bytes(tmp_path: Path, fmi: str) -> None:
    first = build_fmu(GOOD / ARM, tmp_path / "first.fmu", fmi).read_bytes()
    second = build_fmu(bough.load(GOOD / ARM), str(tmp_path / "second.fmu"), fmi).read_bytes()
    assert first == second


def test_tokens_tell_models_apart_and_join_description_and_resource() -> None:
    tokens = set()
    for case in CASES:
        for fmi, key in (("2.0", "guid"), ("3.0", "instantiationToken")):
            files = files_of(case, fmi)
            token = tree(files).get(key)
            assert read_resource(files["resources/model.bough"]).token == token
            tokens.add(token)
    assert len(tokens) == 2 * len(CASES)


class _Page(HTMLParser):
    """Collects text, and checks that what is opened is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("case", CASES)
def test_the_page_names_every_variable_and_draws_every_body(case: str) -> None:
    files = files_of(case, "2.0")
    page = _Page()
    page.feed(files["documentation/index.html"].decode())
    assert not page.open and "NaN" not in page.text
    for v in tree(files).find("ModelVariables"):
        assert v.get("causality") in ("local", "independent") or v.get("name") in page.text
    html = files["documentation/index.html"].decode()
    drawn = html[html.index("<svg") : html.index("</svg>")]
    assert "nan" not in drawn
    assert all(f">{body.name}<" in drawn for body in system_of(case).model.bodies)


@pytest.mark.parametrize("case", CASES)
def test_the_icon_is_a_picture(case: str) -> None:
    data = files_of(case, "2.0")["model.png"]
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    Image.open(io.BytesIO(data)).verify()  # every chunk's check sum
    icon = Image.open(io.BytesIO(data))
    assert (icon.format, icon.mode, icon.size) == ("PNG", "RGBA", (128, 128))
    opaque = np.asarray(icon)[..., 3] == 255
    assert opaque.any() and not opaque[[0, -1]].any() and not opaque[:, [0, -1]].any()


# ---- refusals


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"fmi": "1.0"}, ["'1.0'", "'2.0' or '3.0'"]),
        ({"platforms": "amiga"}, ["'amiga'", "x86_64-linux", "'native'"]),
        ({"platforms": ["x86_64-linux", "linux64"]}, ["'linux64'", "aarch64-darwin"]),
        ({"platforms": "win32"}, ["'win32'", "64 bits", "sources=True"]),
        ({"platforms": []}, ["empty", "'all'"]),
        ({"runtime": "cloud"}, ["'cloud'", "'native'"]),
        ({"arrays": True}, ["arrays", "fmi='3.0'"]),
    ],
)
def test_unknown_options_are_refused_with_the_known_ones(
    tmp_path: Path, options: dict[str, object], words: list[str]
) -> None:
    with pytest.raises(BuildError) as error:
        build_fmu(system_of(ARM), tmp_path / "arm.fmu", **options)  # type: ignore[arg-type]
    assert all(word in str(error.value) for word in words)
    assert not list(tmp_path.iterdir())


def test_a_missing_binary_is_refused_with_the_cure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(package.importlib.resources, "files", lambda _: tmp_path / "empty")
    with pytest.raises(BuildError, match=r"no FMI 3.0 binary for x86_64-linux .*platforms='native'"):
        build_fmu(system_of(ARM), tmp_path / "arm.fmu", "3.0")
    assert not list(tmp_path.iterdir())


def test_binaries_come_from_the_installed_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    folder = tmp_path / "_fmu" / "x86_64-windows"
    folder.mkdir(parents=True)
    (folder / "bough_fmi3.dll").write_bytes(b"library")
    monkeypatch.setattr(package.importlib.resources, "files", lambda _: tmp_path)
    assert package.find_binary("x86_64-windows", "3.0") == b"library"


def test_a_path_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "no" / "folder" / "arm.fmu", tmp_path):
        with pytest.raises(
            BuildError, match=r"cannot write .*(choose one that exists|it is a directory; name a file in it)"
        ):
            build_fmu(system_of(ARM), path)
    assert not list(tmp_path.iterdir())


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "arm.fmu"
    path.write_bytes(b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("bough.files.writing.os.replace", full)
        with pytest.raises(BuildError, match="No space left on device"):
            build_fmu(system_of(ARM), path)
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_a_wrong_model_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(bough.ModelError):
        build_fmu({"bough": 1, "name": "empty", "bodies": []}, tmp_path / "empty.fmu")
    assert not list(tmp_path.iterdir())
