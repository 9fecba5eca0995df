"""The pytest plugin, in suites of its own."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import pytest
from regression.arm import write_arm

from bough.regression import record

pytest_plugins = ["pytester"]


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    """A suite with a recorded model, and the plugin as an installed bough brings it."""
    record(write_arm(pytester.path), 0.2, 0.02)
    return pytester


def _run(suite: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    # An editable install that is older than the plugin does not announce it yet.
    announced = any(e.name == "bough" for e in importlib.metadata.entry_points(group="pytest11"))
    load = [] if announced else ["-p", "bough.testing.plugin"]
    return suite.runpytest_subprocess(*load, *arguments)


def test_references_are_not_collected_unless_asked_for(suite: pytest.Pytester) -> None:
    _run(suite).assert_outcomes()


def test_reference_passes_as_a_test(suite: pytest.Pytester) -> None:
    done = _run(suite, "--bough", "-v")
    done.assert_outcomes(passed=1)
    done.stdout.fnmatch_lines(["*arm.reference.csv::verify PASSED*"])


def test_setting_switches_collection_on(suite: pytest.Pytester) -> None:
    suite.makeini("[pytest]\nbough = true\n")
    _run(suite).assert_outcomes(passed=1)


def test_failure_shows_what_moved_and_no_traceback(suite: pytest.Pytester) -> None:
    write_arm(suite.path, mass=0.8)
    done = _run(suite, "--bough")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        ["*bough: arm.reference.csv*", "*variables moved beyond their tolerance; most *", "variable *off by*", "*MOVED"]
    )
    done.stdout.no_fnmatch_line("*Traceback*")
    done.stdout.no_fnmatch_line("*plugin.py*")
    pictures = list((suite.path / ".pytest_cache").rglob("*.png"))
    assert len(pictures) == 1
    done.stdout.fnmatch_lines([f"picture: *{pictures[0].name}"])


def test_update_accepts_what_moved(suite: pytest.Pytester) -> None:
    write_arm(suite.path, mass=0.8)
    _run(suite, "--bough", "--bough-update").assert_outcomes(passed=1)
    _run(suite, "--bough").assert_outcomes(passed=1)


def test_failure_without_a_cache_has_no_picture(suite: pytest.Pytester) -> None:
    write_arm(suite.path, mass=0.8)
    done = _run(suite, "--bough", "-p", "no:cacheprovider")
    done.assert_outcomes(failed=1)
    done.stdout.no_fnmatch_line("picture:*")


def test_broken_model_is_told_in_its_own_words(suite: pytest.Pytester) -> None:
    (suite.path / "arm.json").write_text("{}", encoding="utf-8")
    done = _run(suite, "--bough")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*cure:*"])
    done.stdout.no_fnmatch_line("*Traceback*")


def test_fixture_verifies_from_a_test_function(suite: pytest.Pytester) -> None:
    Path(suite.path / "sub").mkdir()
    write_arm(suite.path / "sub", mass=0.5001)
    suite.makepyfile(
        """
        def test_beside(bough_verify):
            assert bough_verify("arm.json").ok

        def test_by_reference(bough_verify):
            assert bough_verify(reference="arm.reference.csv", tol=0.0).ok

        def test_loose(bough_verify):
            assert bough_verify("sub/arm.json", "arm.reference.csv", tol=0.1).ok

        def test_moved(bough_verify):
            bough_verify("sub/arm.json", "arm.reference.csv", tol=1e-9)

        def test_missing(bough_verify):
            bough_verify("sub/arm.json")
        """
    )
    done = _run(suite)
    done.assert_outcomes(passed=3, failed=2)
    done.stdout.fnmatch_lines(["*moved beyond their tolerance*", "*there is no *sub*arm.reference.csv; `bough record*"])
    done.stdout.no_fnmatch_line("*plugin.py*")


def test_plugin_is_announced_to_pytest() -> None:
    text = (Path(__file__).resolve().parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert '[project.entry-points.pytest11]\nbough = "bough.testing.plugin"\n' in text


def test_plugin_imports_what_it_needs_when_it_is_used(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "import sys\ndef test_light():\n    assert not {'bough.regression', 'fmpy', 'matplotlib'} & set(sys.modules)\n"
    )
    _run(pytester).assert_outcomes(passed=1)
