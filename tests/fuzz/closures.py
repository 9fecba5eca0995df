"""Mutated closures of loops: each is solved, or refused by name, in bounded time.

python tests/fuzz/closures.py [-runs=N] [-seed=N]
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from run.test_mutated_loops import judged


def main(arguments: list[str]) -> int:
    """See above. Seed s takes the models s * runs to (s + 1) * runs - 1, so that chunks do not repeat each other."""
    options = dict(a[1:].split("=", 1) for a in arguments if a.startswith("-"))
    runs, seed = int(options.get("runs", "250")), int(options.get("seed", "0"))
    warnings.simplefilter("ignore")
    found = 0
    for number in range(seed * runs, (seed + 1) * runs):
        try:
            judged(number)
        except Exception as error:
            found += 1
            print(f"closures: model {number}: {type(error).__name__}: {error}", file=sys.stderr)
    print(f"stat::number_of_executed_units: {runs}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
