"""Every example runs as its folder shows it, and gives the numbers it always gave."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from house.tools import IN_CI

import bough

from .make_golden import COLUMNS, EXAMPLES, HERE, excerpt, script

NAMES = sorted(COLUMNS)
# The examples integrate with tolerances of 1e-6 and less; CPUs differ in last digits, which moves the steps but keeps
# each result within its tolerance. Swinging chains stretch differences by about ten.
WITHIN = 2e-6
# Versions of gmsh place nodes differently: elements of 13 mm instead of 14 mm move these numbers by up to 1e-3. The
# matrices come from CalculiX or scikit-fem, which agree to 1e-7 here (their frequencies to 3e-5).
WITHIN_MESH = {"fe_bracket": 2e-3}
# One count of the encoder, which a last digit can decide, is 1e-4 rad: it moves the run by some 1e-5 of its size.
WITHIN_COUNTS = {"arm_control": 1e-4}


def require_parts(name: str) -> None:
    """Skip an example whose mesh generator is not there; fail in CI."""
    if name not in WITHIN_MESH:
        return
    try:
        import gmsh  # noqa: F401
    except (ImportError, OSError) as error:
        if IN_CI:
            pytest.fail(f"gmsh does not load ({error}), and CI must not skip a test")
        pytest.skip(f"gmsh does not load: {error}")


@cache
def simulated(name: str) -> bough.Result:
    """The run of an example."""
    return script(name).simulate()


def test_every_example_has_its_parts() -> None:
    folders = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir() and not path.name.startswith((".", "_")))
    assert folders == NAMES
    for name in NAMES:
        found = {path.name for path in (EXAMPLES / name).iterdir()}
        assert {"model.yaml", "run.py", "README.md", f"{name}.png"} <= found
        assert (EXAMPLES / name / f"{name}.png").stat().st_size < 200_000, "pictures are small"


@pytest.mark.parametrize("name", NAMES)
def test_example_gives_its_golden_numbers(name: str) -> None:
    require_parts(name)
    golden = bough.Result.from_csv(HERE / "golden" / f"{name}.csv")
    result = excerpt(name, simulated(name))
    assert np.array_equal(result.t, golden.t)
    for column in golden.names:
        within = {**WITHIN_MESH, **WITHIN_COUNTS}.get(name, WITHIN) * abs(golden[column]).max()
        assert result[column] == pytest.approx(golden[column], rel=0, abs=within), column


@pytest.mark.parametrize("name", NAMES)
def test_example_script_leaves_its_picture(name: str, tmp_path: Path) -> None:
    require_parts(name)
    command = [sys.executable, str(EXAMPLES / name / "run.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [p.name for p in tmp_path.iterdir()] == [f"{name}.png"]
    assert re.search(r"\d", done.stdout)


def test_pendulum_has_the_period_of_the_closed_form() -> None:
    example = script("pendulum")
    # Relative tolerance 1e-10 per step of the integrator, some hundred steps per period.
    assert example.period(example.simulate()) == pytest.approx(example.PERIOD, rel=1e-8)


def test_free_flyer_keeps_its_momentum() -> None:
    example = script("free_flyer")
    linear, angular = example.momenta(example.simulate(step=0.5))
    # Wheel and hub exchange 25 N.m.s; relative tolerance 1e-10.
    assert abs(angular - [0.0, 0.2, 0.0]).max() < 25e-9
    assert abs(linear).max() < 25e-9


def test_ruthless_error_of_the_chain_is_of_first_order_in_the_deflection() -> None:
    model = bough.load(EXAMPLES / "flexible_chain" / "model.yaml")
    apart = []
    for stiffer in (4.0, 16.0):
        bodies = tuple(
            body.model_copy(update={"beam": body.beam.model_copy(update={"material": material})})
            for body in model.bodies[:5]
            if body.beam and (material := body.beam.material.model_copy(update={"E": stiffer * body.beam.material.E}))
        )
        tips = []
        for fidelity in ("full", "ruthless"):
            chain = model.model_copy(update={"bodies": bodies, "fidelity": fidelity, "outputs": ("link5.tip",)})
            result = bough.simulate(chain, stop=0.5, step=0.05, rtol=1e-7)
            tips.append(np.column_stack([result["link5.tip.r[1]"], result["link5.tip.r[3]"]]))
        apart.append(np.linalg.norm(tips[0] - tips[1], axis=1).max())
    # Four times the stiffness, a quarter of the deflection, a quarter of the error; the rest is of second order.
    assert apart[0] / apart[1] == pytest.approx(4.0, rel=0.1)


def test_coupled_msat_has_the_published_transfer_function() -> None:
    """Eq (30), corrected: 1 % in magnitude and 2 degrees in phase from 0.1 Hz to 4 Hz."""
    magnitude, phase = script("msat_drive").errors(simulated("msat_drive"))
    assert magnitude < 0.01
    assert phase < 2.0


def test_locks_and_releases_keep_the_momentum() -> None:
    example, result = script("array_deployment"), simulated("array_deployment")
    assert len(set(example.lock_times(result).values())) == 10, "ten locks, one after the other"
    momenta = example.momenta(result)
    # Relative tolerance 1e-8, some ten thousand steps; the impacts themselves are exact to round-off.
    assert abs(momenta - momenta[0]).max() < 15.0 * 1e-7


def test_a_payload_picked_up_in_flight_does_not_jerk() -> None:
    """Angles and bends go on smoothly; afterwards the same gains meet a slower arm."""
    example, result = script("station_arm"), simulated("station_arm")
    grip = round(example.GRIP / example.STEP)
    for name in ("j1.phi", "j4.phi", "upper.eta[1]"):
        steps = np.abs(np.diff(result[name][grip - 100 : grip + 100]))
        assert steps.max() < 1e-3 * np.ptp(result[name])
    bend = np.abs(example.bend(result, "upper")).max(axis=1)
    assert bend[grip:].max() > 10.0 * bend[:grip].max()


def test_a_model_inside_the_controller_calms_the_arm() -> None:
    """After the slew the payload moves at least five times less than under a controller for each joint."""
    result = simulated("arm_control")
    late = result.t >= 2.2
    swing = {
        key: max(np.ptp(result[f"{key}.arm.payload.origin.r[{i}]"][late]) for i in (1, 2)) for key in ("joint", "model")
    }
    assert swing["joint"] > 5.0 * swing["model"]


def test_a_joint_hunts_because_it_breaks_away_harder_than_it_moves() -> None:
    """At its goal: it stands still between slips, breaks away at `static`, and each slip ends at the other side."""
    example, result = script("robot_joint"), simulated("robot_joint")
    late = result.t > example.STOP - 9.0
    stuck = late & (result["robot.joint.sticking"] > 0.5)
    assert not result["robot.joint.w"][stuck].any()
    # Rows are 5 ms apart, in which the integral (400 V/(rad.s), 2 mrad, 10 N.m/V) adds 0.04 N.m of 3.5.
    assert abs(result["robot.joint.friction"][stuck]).max() == pytest.approx(3.5, abs=0.1)
    assert abs(result["robot.joint.friction"][late]).max() <= 3.5 * (1.0 + 1e-9)
    # The shaft carries what friction holds, beyond half of the play.
    wind = abs(example.lost(result)) - 0.5 * example.BACKLASH
    calm = stuck & (result["robot.joint.rotor.sticking"] > 0.5) & (wind > 0.0)
    assert abs(result["robot.joint.friction"][calm]) == pytest.approx(5000.0 * wind[calm], abs=1e-6)
    period, size = example.hunting(result)
    assert size > 5e-4
    assert 1.0 < period < 5.0


def test_ropes_of_the_crane_pull_where_they_are_taut() -> None:
    result = simulated("crane")
    slack = result["sling.s"] <= 1.5
    assert slack.any()
    assert not result["sling.f"][slack].any()
    assert result["sling.f"].max() == 0.0 == result["hoist.f"].max()
    # In the end the load stands on the floor, and the hoist carries the hook alone; a swing of the hook by some 0.1 deg
    # and its ringing are left.
    assert result["floor.f"][-1] == pytest.approx(1000.0 * 9.81, rel=5e-3)
    assert result["hoist.f"][-1] == pytest.approx(-120.0 * 9.81, rel=5e-3)


def test_wheels_keep_what_thrusters_give() -> None:
    example, result = script("satellite"), simulated("satellite")
    before, end = (round(t / example.STEP) for t in (example.JETS[0], example.STOP))
    h = 0.02 * np.column_stack([result[f"bus.rw{i}.w"] for i in example.WHEELS]) @ example.AXES
    # Two thrusters of 0.04 N, 1 m apart, for 10 s. The gradient of gravity, 3 n^2 dI / 2 of 4e-4 N.m for the 50 s, adds
    # up to 0.02 N.m.s.
    assert h[end][1] - h[before][1] == pytest.approx(0.4, abs=0.05)
    off = example.pointing(result)
    assert off[before] < 0.01
    assert off[end] < 0.02
    assert example.height_error(result) < 1e-3
    late = result.t > example.STOP - 10.0
    bends = abs(result["left_array.tip.deflection[3]"])
    assert bends[late].max() < 0.01 * bends.max(), "the control does not shake the arrays"
