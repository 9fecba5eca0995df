"""Random calls, legal and illegal, with every access and every allocation watched: no crash, no leak, no lasting harm.

tests/fuzz/c/calls.c takes bytes for a sequence of calls and says what must hold after each. It is linked with kernel,
common part and adapter under AddressSanitizer and UBSan, outside Python: a finding is an exit code and a report, and
hypothesis shrinks the bytes that lead to it.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from fuzz.campaign import Attack, Outcome
from fuzz.programs import CALLS, compiler
from house.tools import require_tool
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


@pytest.fixture
def attack(fmi: str, tmp_path: Path) -> Attack:
    if compiler() is None:
        require_tool("gcc")
    program = next(p for p in CALLS if p.fmi == fmi[0] and not p.partner)
    return Attack.prepare(program, "arm", tmp_path)


def replay(attack: Attack, sequences: list[bytes]) -> Outcome:
    folder = attack.folder / "sequences"
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for i, sequence in enumerate(sequences):
        (folder / f"{i:04d}").write_bytes(sequence)
    return attack.replay(folder, timeout=300)


def check_counts(done: Outcome, sequences: int, calls: int, refused: int) -> None:
    """What the program says in the end."""
    assert not done.failed, done.said
    found = re.search(r"(\d+) sequences, (\d+) calls, (\d+) refused", done.said)
    assert found is not None, done.said
    counts = [int(n) for n in found.groups()]
    assert counts[0] >= sequences and counts[1] > calls and counts[2] > refused, found[0]


@pytest.mark.parametrize("seed", range(2))
def test_thousands_of_random_calls_do_no_harm(attack: Attack, fmi: str, seed: int) -> None:
    random = np.random.default_rng([seed, int(fmi[0])])
    sequences = [random.integers(0, 256, int(random.integers(1, 900)), dtype=np.uint8).tobytes() for _ in range(600)]
    check_counts(replay(attack, sequences), 600, 20000, 2000)


def test_sequences_that_hypothesis_thinks_of_do_no_harm(attack: Attack) -> None:
    call = st.tuples(st.integers(0, 255), st.binary(max_size=12)).map(lambda c: bytes([c[0]]) + c[1])

    @settings(max_examples=80, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(st.lists(st.lists(call, max_size=60).map(b"".join), min_size=1, max_size=4))
    def harmless(sequences: list[bytes]) -> None:
        done = replay(attack, sequences)
        assert not done.failed, done.said

    harmless()


def test_sequences_that_reach_new_code_do_no_harm(attack: Attack) -> None:
    """Guided by coverage where libFuzzer is; a night of it is `make fuzz`."""
    done = attack.run(400, seed=1, timeout=300)
    assert not done.failed, done.said
    assert done.executions >= 400
