"""The arm of `bough demo`: torques of a rigid arm, applied to one that bends."""

from __future__ import annotations

import sys
from pathlib import Path

import bough
from bough.demo import ArmRun, draw_overview, simulate_arm

HERE = Path(__file__).resolve().parent


def simulate() -> bough.Result:
    """The manoeuvre, and the ringing after it."""
    return simulate_arm().result


def main(folder: Path = HERE) -> None:
    """Run, balance the energy, draw."""
    run: ArmRun = simulate_arm()
    for link, deflection in run.deflection.items():
        print(f"{link} link: tip deflects by up to {1e3 * abs(deflection).max():.1f} mm")
    for joint, plan in run.plan.items():
        late = run.result.t >= 1.5
        error = abs(run.result[f"{joint}.phi"] - plan)[late].max()
        print(f"{joint}: up to {error:.3f} rad from the plan after the manoeuvre")
    print(f"work {run.work.max():.3f} J at most, lost {run.loss[-1]:.3f} J, balance within {run.balance_error:.1e} J")
    draw_overview(run, folder / "two_link_arm.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
