"""What holds for all tests."""

from __future__ import annotations

import os

import pytest

os.environ.setdefault("SOURCE_DATE_EPOCH", "1700000000")
"""FMUs are dated by one moment, so that the same model gives the same bytes."""


def pytest_configure(config: pytest.Config) -> None:
    """Warnings are errors but one: tests of identities and energy bend and spin bodies beyond what modes are good for.

    `run/test_theory_ends.py` holds when it is given and when not.
    """
    config.addinivalue_line("filterwarnings", "ignore::bough.errors.TheoryWarning")
    # the same, from an FMU within a system
    config.addinivalue_line("filterwarnings", "ignore:component [^ ]+. body .*Cure:UserWarning")
