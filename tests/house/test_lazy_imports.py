"""What starts fast stays fast: counted in modules, which do not depend on the machine's load."""

from __future__ import annotations

import subprocess
import sys

import pytest

import bough

HEAVY = ("numpy", "scipy", "pandas", "matplotlib", "plotly", "pydantic", "ruamel", "typer", "rich", "fmpy", "ctypes")


def modules_after(code: str) -> set[str]:
    """Modules that a fresh Python has loaded after some code, beyond those it starts with."""
    script = f"import sys; before = set(sys.modules)\n{code}\nprint(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("import bough; bough.__version__; bough.ModelError", id="import bough"),
        pytest.param(
            "sys.argv[1:] = ['--version']\nimport bough.__main__\nbough.__main__.main()", id="bough --version"
        ),
    ],
)
def test_it_loads_few_modules_and_no_library(code: str) -> None:
    loaded = modules_after(code)
    assert not {name for name in loaded if name.partition(".")[0] in HEAVY}
    assert {name for name in loaded if name.startswith("bough.")} <= {
        "bough.errors",
        "bough._build_info",
        "bough.__main__",
    }
    assert len(loaded) < 80  # 51 today, most of the standard library; all of bough loads more than 1000


def test_the_version_is_what_the_commands_say() -> None:
    short = subprocess.run([sys.executable, "-m", "bough", "--version"], capture_output=True, text=True, check=True)
    long = "import sys; sys.argv[1:] = ['--version']; import bough.cli; bough.cli.main()"
    slow = subprocess.run([sys.executable, "-c", long], capture_output=True, text=True, check=True)
    assert short.stdout == slow.stdout == f"bough {bough.__version__}\n"


def test_every_public_name_is_found_when_it_is_used() -> None:
    for name in bough.__all__:
        assert getattr(bough, name) is not None
    assert set(bough.__all__) | set(bough._ROOMS) <= set(dir(bough))
    assert set(bough._HOMES) <= set(bough.__all__)
    code = "from bough import *\nassert Mechanism and simulate\nimport bough\nassert bough.run.result.Result is Result"
    assert "bough.mechanism.mechanism" in modules_after(code)
    with pytest.raises(AttributeError, match="module 'bough' has no attribute 'Mechanisms'"):
        bough.Mechanisms  # noqa: B018
