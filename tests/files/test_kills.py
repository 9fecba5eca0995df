"""Commands that are killed, or whose writes fail, leave the old file or the new one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from house.tools import IN_CI, require_tool

KILLS, ERRORS = int(os.environ.get("BOUGH_KILLS", "40")), int(os.environ.get("BOUGH_FAILURES", "20"))
"""How many processes are killed, and how many calls fail; `make kills` does it 500 times, and fails every write."""


def test_killed_command_leaves_the_old_file_or_the_new_one() -> None:
    require_tool("strace")
    script = Path(__file__).with_name("kills.py")
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, str(script), str(KILLS), str(ERRORS)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    if "Operation not permitted" in done.stderr and not IN_CI:
        pytest.skip("strace may not trace here")
    assert done.stdout, done.stderr
    report = json.loads(done.stdout)
    assert report["wrong"] == []
    assert report["kills"] >= KILLS and report["errors"] >= min(ERRORS, 80)
    assert report["kept"] and report["replaced"], "kills before and after the move"
