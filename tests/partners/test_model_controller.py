"""The controller with a model inside, on the two-link arm: what it is worth, and why it may be trusted."""

from __future__ import annotations

import json
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from fmu.fmi import Instance
from partners.built import at_work, described, unpack
from partners.loop import MOVE, SLEW, START, STEP, arm, law, slew
from partners.reference import Reference

import bough
from bough.coupling import run
from bough.demo import MODEL
from bough.errors import BuildError
from bough.partners import describe_partner
from bough.partners.model_design import design, plant_of

PD_BANDWIDTHS = (3.0, 4.0, 5.0)
"""rad/s; below, the arm is late, above, the sampled loop excites the links: the best lies between."""


@cache
def vibration(
    kind: str, bandwidth: float, folder: Path, payload: float = 1.0, late: bool = False
) -> tuple[float, float]:
    """Greatest distance of the tip from its goal after the move, m, and after another second; by native FMUs."""
    if kind == "controller":
        inertia = np.array([3.48, 0.40])  # of the hinges, at the end of the move, kg.m2
        gains = {"kp": (inertia * bandwidth**2).tolist(), "kd": (2.0 * inertia * bandwidth).tolist(), "u_max": 1e3}
        partner = described(kind, 2, output="torque", **gains, **SLEW)
    else:
        partner = described(kind, bandwidth=bandwidth, **SLEW)
    output = ["u[1]", "u[2]"] if kind == "controller" else ["tau[1]", "tau[2]"]
    with Instance(unpack(partner, "2.0", folder / f"{kind}{bandwidth}{payload}{late}")) as it:
        it.initialize({"phi[1]": START[0], "phi[2]": START[1]})

        def control(t: float, phi: np.ndarray, w: np.ndarray) -> np.ndarray:
            if t > it.time:
                assert it.step(t - it.time) == 0
            before = it.get(output)
            it.set({"phi[1]": phi[0], "phi[2]": phi[1], "w[1]": w[0], "w[2]": w[1]})
            return before if late else it.get(output)

        t, away, _, _ = slew(control, payload)
    return float(away[t >= MOVE].max()), float(away[t >= MOVE + 1.0].max())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("slew")


@pytest.mark.parametrize("payload", [1.0, 0.9, 1.1])
def test_vibration_after_a_slew_is_a_fifth_of_that_with_the_best_pd(payload: float, folder: Path) -> None:
    """At the same slew time, also where the payload is a tenth heavier or lighter than the controller thinks."""
    pd = np.min([vibration("controller", b, folder) for b in PD_BANDWIDTHS], axis=0)
    ours = vibration("model-controller", 4.0, folder, payload)
    assert 5.0 * ours[0] < pd[0] and 5.0 * ours[1] < pd[1]
    assert ours[0] < (0.005 if payload == 1.0 else 0.05)


def test_a_master_that_reads_before_it_sets_costs_a_step_of_delay_and_no_more(folder: Path) -> None:
    """What is read then is the last sample as it was, not one of new references and old measurements."""
    assert vibration("model-controller", 4.0, folder, late=True)[0] < 0.01


HINGES = ["shoulder.w", "elbow.w"]


def test_estimate_finds_the_state_of_an_arm_that_begins_elsewhere() -> None:
    """Feedback off: the model is driven by no torque, and learns of deflections from the measured hinges alone."""
    run = at_work("model-controller", tau_max=0.0, **SLEW)
    plant = Reference(arm(), HINGES, SLEW)
    x = np.concatenate(plant.system.initial_state())
    h, speeds = plant.h, [plant.n + j for j in plant.m]
    x[plant.n + 1], x[plant.n + 5] = 0.1, -0.05  # modes move, the controller thinks they rest
    errors = []
    for k in range(1500):
        if k:
            run.step(k * STEP)
        run.set(phi=x[h], w=x[[plant.n + j for j in h]])
        errors.append(np.abs(run["eta_dot"] - x[speeds]).max())
        x = plant.predict(x, np.zeros(2))  # the arm itself
    assert errors[0] == pytest.approx(0.1, rel=0.1)
    assert max(errors[1000:]) < 0.05 * errors[0]  # slowest pole of the correction: 3 per second


def test_exact_model_needs_no_correction() -> None:
    """In a loop of the model with itself the prediction is the measurement."""
    run, plant = at_work("model-controller", **SLEW), Reference(arm(), HINGES, SLEW)
    x = np.concatenate(plant.system.initial_state())
    for k in range(300):
        if k:
            run.step(k * STEP)
        run.set(phi=x[plant.h], w=x[[plant.n + j for j in plant.h]])
        assert run["phi_pred"] == pytest.approx(run["phi"], abs=1e-12)
        x = plant.predict(x, np.array(run["tau"]))


def test_desired_motion_needs_hardly_any_feedback() -> None:
    """Torques, deflections and hinges' part in them fit together: an arm left alone with the torques follows."""
    plan = Reference(arm(), HINGES, SLEW)
    x, far = np.concatenate(plan.system.initial_state()), 0.0
    for k in range(1500):
        d, tau = plan.desire(k * STEP)
        far = max(far, float(np.abs(x[plan.h] - d[plan.h]).max()))
        x = plan.predict(x, tau)
    rigid = max(abs(plan.rigid(1e-3 * k)[0] - plan.desire(1e-3 * k)[0][plan.h])[0] for k in range(0, 1500, 50))
    assert far < 0.2 * rigid  # the hinges' part, 0.1 rad, is what a rigid plan leaves out


def test_gains_stabilize_the_linearized_loop() -> None:
    system = bough.Mechanism(MODEL)
    g = design(plant_of(system, HINGES), SLEW["phi_end"], 4.0, 1e-3)
    assert all(p.real.max() < -1.0 for p in g.poles)
    slow = np.sort(np.abs(g.poles[0]))[0]
    assert 2.0 < slow < 6.0  # the bandwidth that was asked for


def test_law_is_the_one_written_down_in_matrices(fmi: str, tmp_path: Path) -> None:
    """On the motion of the arm, angles measured a milliradian off; a tenth of a second, where torques are some N.m."""
    expected, partner = Reference(arm(), HINGES, SLEW), described("model-controller", **SLEW)
    names = ["tau[1]", "tau[2]", "phi_ref[2]", "e[1]", "phi_pred[2]", *(f"eta[{i}]" for i in range(1, 7))]
    names += [f"eta_dot[{i}]" for i in range(1, 7)]
    _, _, phi, w = slew(law(at_work("model-controller", **SLEW), "tau"), stop=100 * STEP)
    phi += 1e-3 * np.sin(np.arange(100))[:, None]
    with Instance(unpack(partner, fmi, tmp_path)) as native:
        native.initialize()
        for k in range(100):
            native.set({"phi[1]": phi[k, 0], "phi[2]": phi[k, 1], "w[1]": w[k, 0], "w[2]": w[k, 1]})
            now = expected.take(k * STEP, phi[k], w[k])
            wanted = [now[name.split("[")[0]][int(name[-2]) - 1] for name in names]
            assert native.get(names) == pytest.approx(wanted, abs=1e-8, rel=1e-9)  # speeds are differences over 2 ms
            assert native.step(STEP) == 0


def test_angles_that_no_mechanism_could_have_do_not_end_the_run(fmi: str, tmp_path: Path) -> None:
    """The prediction is lost and made anew; torques stay finite and within their limit."""
    random = np.random.default_rng(3)
    with Instance(unpack(described("model-controller", tau_max=20.0, **SLEW), fmi, tmp_path)) as c:
        c.initialize()
        for _ in range(300):
            c.set(
                {
                    name: float(x)
                    for name, x in zip(("phi[1]", "phi[2]", "w[1]", "w[2]"), random.normal(size=4), strict=True)
                }
            )
            assert np.abs(c.get(["tau[1]", "tau[2]"])).max() <= 20.0
            assert c.step(1e-3) == 0


def test_step_repeated_from_a_saved_state_gives_the_same_bits(fmi: str, tmp_path: Path) -> None:
    with Instance(unpack(described("model-controller", **SLEW), fmi, tmp_path)) as c:
        c.initialize({"phi[1]": -0.6, "phi[2]": 1.9})
        for _ in range(5):
            assert c.step(1e-3) == 0
        data, time = c.state_bytes(), c.time
        first = c.run(time + 0.01, 1e-3, ["tau[1]", "tau[2]", "eta[1]"])
        c.restore(c.deserialize(data))
        c.time = time
        assert (c.run(time + 0.01, 1e-3, ["tau[1]", "tau[2]", "eta[1]"]) == first).all()


def test_voltage_is_what_the_motor_needs_for_the_torque() -> None:
    motor = {"Ka": 2.0, "R": 0.4, "L": 0.0, "Kt": 0.06, "Kb": 0.05, "N": 80.0, "eta": 0.85, "u_max": 1e3, "i_max": 1e3}
    ku, kw = 0.4 / (2.0 * 80.0 * 0.85 * 0.06), 0.05 * 80.0 / 2.0
    run = at_work("model-controller", ku=ku, kw=kw, **SLEW)
    run.set(phi=[-0.5, 1.8], w=[0.2, -0.1])
    drive = at_work("motor", 2, **motor)
    drive.set(u=run["u"], w=[0.2, -0.1])
    assert drive["tau"] == pytest.approx(run["tau"], rel=1e-12)


def test_armature_of_the_motors_can_be_given_at_build_time() -> None:
    with_it = describe_partner("model-controller", values={"armature": [0.5, 0.3]}, model=MODEL)
    without = describe_partner("model-controller", model=MODEL)
    assert with_it.block != without.block and with_it.table != without.table


BALL = {
    "bough": 1,
    "name": "ball",
    "bodies": [{"name": "b", "parent": "ground", "hinge": {"type": "spherical"},
                "rigid": {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]}}],
}  # fmt: skip
PENDULUM = {
    "bough": 1,
    "name": "pendulum",
    "gravity": [0, 0, -9.81],
    "bodies": [{"name": "b", "parent": "ground", "hinge": {"name": "pivot", "type": "revolute", "axis": [0, 1, 0]},
                "rigid": {"mass": 1.0, "com": [0.5, 0, 0], "inertia": [0.01, 0.1, 0.1, 0, 0, 0]}}],
}  # fmt: skip


def test_hinges_without_axes_are_refused() -> None:
    with pytest.raises(BuildError, match="hinge 'b_hinge' is spherical"):
        describe_partner("model-controller", model=BALL)
    with pytest.raises(BuildError, match="it has no model; expected the model that it is to control"):
        describe_partner("model-controller")
    with pytest.raises(BuildError, match="bandwidth"):
        describe_partner("model-controller", values={"bandwidth": -1.0}, model=PENDULUM)


def test_rigid_model_is_held_against_gravity(fmi: str, tmp_path: Path) -> None:
    """No modes, no `eta`; at its reference the torque is the weight's."""
    partner = describe_partner("model-controller", values={"phi_start": 0.3, "phi_end": 0.3}, model=PENDULUM)
    assert not any(q.name == "eta" for q in partner.quantities)
    with Instance(unpack(partner, fmi, tmp_path)) as c:
        c.initialize({"phi": 0.3})
        assert c.get(["tau"])[0] == pytest.approx(-9.81 * 0.5 * np.cos(0.3), rel=1e-12)


GEAR = {"ratio": 20, "inertia": 1e-3, "stiffness": 2e4, "damping": 20}


def _joint(**more: object) -> dict:
    hinge = {"name": "joint", "type": "revolute", "axis": [0, 0, 1], **more}
    rigid = {"mass": 3.0, "com": [0.4, 0, 0], "inertia": [0.01, 0.2, 0.2, 0, 0, 0]}
    body = {"name": "arm", "parent": "ground", "hinge": hinge, "rigid": rigid}
    return {"bough": 1, "name": "joint", "gravity": [0, -9.81, 0], "bodies": [body]}


def test_gears_friction_and_limits_leave_the_model_of_a_plain_hinge() -> None:
    """The rotor is its inertia seen at the hinge; gains and the model inside are those of the smooth mechanism."""
    plain = describe_partner("model-controller", values={"phi_end": 1.0}, model=_joint(armature=0.4 + 0.1))
    rubs = {"coulomb": 1.0, "static": 2.0, "stribeck": 0.01}
    stops = {"lower": -2.0, "upper": 2.0, "restitution": 0.3}
    rigid = {"ratio": 20, "inertia": 1e-3}
    for gear in (GEAR, {**GEAR, "backlash": 1e-3, "friction": rubs}, rigid):
        real = _joint(armature=0.1, gear=gear, friction=rubs, limits=stops)
        made = describe_partner("model-controller", values={"phi_end": 1.0}, model=real)
        assert made.axes == 1
        assert made.table == plain.table
        assert made.block == plain.block
        assert "without friction and limits and elasticity and play of gears" in made.text


def test_an_elastic_gear_with_friction_reaches_its_goal(tmp_path: Path) -> None:
    """By the same model file, tau through one over the ratio; the integral takes friction away."""
    file = tmp_path / "arm.yaml"
    file.write_text(json.dumps(_joint(gear=GEAR, friction={"coulomb": 0.5})), encoding="utf-8")
    system = {
        "bough_system": 1,
        "name": "drive",
        "components": {
            "arm": str(file),
            "brain": {"partner": "model-controller", "model": str(file), "set": {"phi_end": 0.8, "integral": 2.0}},
        },
        "connections": [
            {"from": "brain.tau", "to": "arm.joint.tau", "factor": 1.0 / GEAR["ratio"]},
            "arm.joint.phi -> brain.phi",
            "arm.joint.w -> brain.w",
        ],
        "master": {"step": 1e-3, "stop": 4.0, "order": "gauss-seidel"},
    }
    made = tmp_path / "drive.yaml"
    made.write_text(json.dumps(system), encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is said of the two sides
        result = run(made, every=10)
    # Friction may hold it as long as the integral has not yet 0.5 N.m: some bandwidths later within a mrad.
    assert result["arm.joint.phi"][-1] == pytest.approx(0.8, abs=5e-3)
