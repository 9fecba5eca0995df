"""Random calls, legal and illegal, on partners, with every access and every allocation watched; see tests/fmu."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fmu.test_random_calls import check_counts, replay
from fuzz.campaign import Attack
from fuzz.programs import CALLS, compiler
from house.tools import require_tool

from bough.partners import KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_thousands_of_random_calls_do_no_harm(kind: str, fmi: str, tmp_path: Path) -> None:
    if compiler() is None:
        require_tool("gcc")
    program = next(p for p in CALLS if p.fmi == fmi[0] and p.partner)
    random = np.random.default_rng([len(kind), int(fmi[0])])
    # variables are few: small numbers name them
    sizes = random.integers(1, 900, 300)
    sequences = [random.integers(0, 256, n, dtype=np.uint8) for n in sizes]
    sequences += [
        np.where(random.random(n) < 0.5, random.integers(0, 30, n), random.integers(0, 256, n)) for n in sizes
    ]
    packed = [s.astype(np.uint8).tobytes() for s in sequences]
    check_counts(replay(Attack.prepare(program, kind, tmp_path), packed), 600, 20000, 2000)
