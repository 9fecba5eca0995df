"""Make `oracle` and `random_models` importable from the tests here, whatever pytest's import mode."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = str(Path(__file__).resolve().parent.parent)
if HERE not in sys.path:
    sys.path.insert(0, HERE)
