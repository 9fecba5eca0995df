"""Coupled FMUs follow the equations of the whole: from the first instant, and ever closer with shorter steps."""

from __future__ import annotations

import json
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from coupling.conftest import drive
from coupling.parts import DRIVEN, MOTOR, RIGID, J, Numbers, fitted_order
from small_models import SHOULDER

import bough
from bough.coupling import couple, gather, run
from bough.coupling.fmu_interface import read_interface
from bough.coupling.graph import sequence
from bough.coupling.master import communication_points
from bough.coupling.ports import power_ports

STEPS = [0.008, 0.004, 0.002, 0.001]
ARMATURE = MOTOR["J"] * MOTOR["N"] ** 2


@cache
def exact() -> Numbers:
    """Speed of the rigid arm with the motor, every 8 ms: J w' = N Kt i, L i' = u - Kb N w - R i, by its exponential."""
    n, kt, kb, r, inductance = (MOTOR[name] for name in ("N", "Kt", "Kb", "R", "L"))
    a = np.array([[0.0, n * kt / (J + ARMATURE)], [-kb * n / inductance, -r / inductance]])
    values, vectors = np.linalg.eig(a)
    rest = -np.linalg.solve(a, np.array([0.0, MOTOR["u"] / inductance]))
    start = np.linalg.solve(vectors, np.array([0.5, 0.0]) - rest)
    times = 0.008 * np.arange(101)
    x = rest[:, None] + vectors @ (start[:, None] * np.exp(np.outer(values, times)))
    w: Numbers = x[0].real
    return w


def error(path: Path, step: float, **options: Any) -> tuple[float, dict[str, float]]:
    result = run(path, step=step, **options)
    return float(np.abs(result["arm.shoulder.w"][:: round(0.008 / step)] - exact()).max()), result.statistics


@pytest.mark.parametrize("order", ["jacobi", "gauss-seidel"])
@pytest.mark.parametrize(("extrapolation", "claimed"), [("constant", 1), ("linear", 2), ("energy", 2)])
def test_error_falls_at_the_order_that_the_method_claims(
    driven: Path, order: str, extrapolation: str, claimed: int
) -> None:
    """Against the closed solution. Fitted over three halvings, where the next term changes the slope by 0.1."""
    errors = [error(driven, h, order=order, extrapolation=extrapolation)[0] for h in STEPS]
    assert fitted_order(STEPS, errors) == pytest.approx(claimed, abs=0.15)
    assert errors[-1] < {1: 1e-2, 2: 5e-4}[claimed]


@pytest.mark.parametrize(("extrapolation", "claimed"), [("constant", 1), ("linear", 2), ("energy", 2)])
def test_energy_at_the_port_balances_to_the_order_of_the_method(driven: Path, extrapolation: str, claimed: int) -> None:
    residuals = []
    for h in STEPS:
        statistics = error(driven, h, extrapolation=extrapolation)[1]
        residuals.append(abs(statistics["residual motor.tau -> arm.shoulder.tau"]))
    assert fitted_order(STEPS, residuals) > claimed - 0.15
    # docs/systems.md: at a step of 1 ms constant inputs leave 0.7 %, corrected ones a millionth of the energy
    energy = statistics["energy motor.tau -> arm.shoulder.tau"]
    assert residuals[-1] < {"constant": 1e-2, "linear": 1e-6, "energy": 1e-6}[extrapolation] * abs(energy)


def test_energy_through_the_port_is_the_kinetic_energy_that_the_arm_has_won(driven: Path) -> None:
    result = run(driven, step=0.001, extrapolation="energy")
    w = result["arm.shoulder.w"]
    won = (J + ARMATURE) * (w[-1] ** 2 - w[0] ** 2) / 2
    # the meter takes speeds as straight lines between communication points: (0.001 s / 0.05 s)^2 / 12 is 3e-5
    assert result.statistics["energy motor.tau -> arm.shoulder.tau"] == pytest.approx(won, rel=1e-4)


@pytest.mark.parametrize(("effort", "flow", "scale"), [(1.0, 1.0, 1.0), (20.0, 20.0, 0.05), (0.5, 1.0, None)])
def test_scaled_links_are_a_port_where_the_power_is_the_same_at_both_ends(
    parts: Path, tmp_path: Path, effort: float, flow: float, scale: float | None
) -> None:
    wires = [
        {"from": "motor.tau", "to": "arm.shoulder.tau", "factor": effort},
        {"from": "arm.shoulder.w", "to": "motor.w", "factor": flow},
    ]
    ports = power_ports(couple(drive(parts, connections=wires), tmp_path / "scaled.ssp"))
    assert [(port.effort, port.flow, port.scale) for port in ports] == ([] if scale is None else [(0, 1, scale)])


def test_values_agree_from_the_first_instant(parts: Path, tmp_path: Path) -> None:
    """Without inductance the torque depends on the speed at once, and the acceleration on the torque."""
    motor = {"partner": "motor", "set": {**MOTOR, "L": 0.0}}
    data = drive(parts, components={"arm": str(parts / "arm.fmu"), "motor": motor})
    result = run(couple_to(data, tmp_path), step=0.01)
    n, kt, kb, r = (MOTOR[name] for name in ("N", "Kt", "Kb", "R"))
    torque = n * kt * (MOTOR["u"] - kb * n * result["arm.shoulder.w"]) / r
    np.testing.assert_allclose(result["motor.tau"], torque, rtol=1e-12)
    np.testing.assert_allclose(result["arm.shoulder.tau"], torque, rtol=1e-12)
    np.testing.assert_allclose(result["arm.shoulder.a"], torque / (J + ARMATURE), rtol=1e-9)
    assert result["motor.tau"][0] != 0.0


def test_initialization_sees_the_values_of_the_others(parts: Path, tmp_path: Path) -> None:
    """A filter that begins at rest, at the value of its input while initializing."""
    data = {
        "bough_system": 1,
        "name": "filtered",
        "components": {"filter": str(parts / "Filter.fmu"), "source": str(parts / "Gain.fmu")},
        "connections": ["source.y -> filter.x"],
        "set": {"source.c": 3.0},
    }
    assert run(couple_to(data, tmp_path), 0.1)["filter.y"].tolist() == [3.0] * 101


def couple_to(data: dict[str, Any], folder: Path) -> Path:
    path = folder / "system.ssp"
    couple(data, path, platforms="native")
    return path


def test_communication_points_do_not_add_up_rounding(driven: Path) -> None:
    result = run(driven, step=0.1, stop=0.75, warn=lambda _: None)
    assert result.t.tolist() == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75]


@pytest.mark.parametrize("step", [1e-3, 2.5e-4, 1e-6, 0.3, 1 / 3e3, 1 / 64])
@pytest.mark.parametrize("start", [0.0, 0.1, -2.0])
def test_communication_points_print_as_the_decimals_of_start_and_step_make_them(start: float, step: float) -> None:
    """Within rounding of start + i step in any case; and exactly what a person would write down."""
    points = communication_points(start, start + 3000 * step, step)
    assert len(points) == 3001
    np.testing.assert_allclose(points, start + step * np.arange(3001), rtol=1e-15, atol=4e-16 * max(1, abs(start)))
    assert points[:-1] == [float(Decimal(repr(start)) + i * Decimal(repr(step))) for i in range(3000)]
    if step == 1e-3:
        assert max(len(repr(t)) for t in points) <= len("-1.999")


def test_every_nth_point_and_the_last_are_kept(driven: Path) -> None:
    assert run(driven, step=0.01, stop=0.25, every=10).t.tolist() == [0.0, 0.1, 0.2, 0.25]


@pytest.mark.parametrize("order", ["jacobi", "gauss-seidel"])
def test_coupled_flexible_arm_and_motor_become_the_monolithic_model(tmp_path: Path, order: str) -> None:
    """A motor without inductance is a torque, a damper N^2 Kt Kb / R and an armature J N^2."""
    n, kt, kb, r, u = (MOTOR[name] for name in ("N", "Kt", "Kb", "R", "u"))
    (tmp_path / "arm.yaml").write_text(str(SHOULDER).replace("'", '"'), encoding="utf-8")
    data = {
        "bough_system": 1,
        "name": "drive",
        "components": {
            "arm": {"model": str(tmp_path / "arm.yaml"), "set": {"solver.tolerance": 1e-11}},
            "motor": {"partner": "motor", "set": {**MOTOR, "L": 0.0}},
        },
        "connections": [
            "motor.tau -> arm.shoulder.tau",
            "arm.shoulder.w -> motor.w",
            "motor.armature -> arm.shoulder.armature",
        ],
        # The motor first: what its torque is at the end of a step depends on a speed that is not known yet.
        "master": {"sequence": ["motor", "arm"]},
    }
    path = couple_to(data, tmp_path)
    whole = {**SHOULDER, "bodies": [dict(SHOULDER["bodies"][0])]}
    extra = {"damping": n * n * kt * kb / r, "armature": ARMATURE}
    whole["bodies"][0]["hinge"] = {**SHOULDER["bodies"][0]["hinge"], **extra}
    reference = bough.simulate(whole, 0.4, {"shoulder.tau": n * kt * u / r}, step=0.004, rtol=1e-11)
    steps, errors = [0.001, 0.0005, 0.00025], []
    names = ("shoulder.phi", "upper.eta[1]", "upper.tip.r[2]")
    for h in steps:
        result = run(path, stop=0.4, step=h, order=order, extrapolation="linear")
        rows = [result[f"arm.{name}"][:: round(0.004 / h)] - reference[name] for name in names]
        errors.append(
            max(float(np.abs(x).max() / np.abs(reference[k]).max()) for k, x in zip(names, rows, strict=True))
        )
    assert fitted_order(steps, errors) == pytest.approx(2.0, abs=0.2)
    assert errors[-1] < 1e-3


@pytest.mark.parametrize("extrapolation", ["constant", "energy"])
def test_fmi_2_and_3_give_one_trajectory_also_mixed(parts: Path, tmp_path: Path, extrapolation: str) -> None:
    """Both run the same kernel, and inputs that are held are the same numbers: equal to the last digits."""
    runs = []
    for arm, motor in (("arm", "motor"), ("arm3", "motor3"), ("arm3", "motor"), ("arm", "motor3")):
        files = {"arm": str(parts / f"{arm}.fmu"), "motor": str(parts / f"{motor}.fmu")}
        path = couple_to(drive(parts, components=files), tmp_path)
        runs.append(run(path, step=0.004, extrapolation=extrapolation)["arm.shoulder.w"])
    for other in runs[1:]:
        np.testing.assert_allclose(other, runs[0], rtol=1e-12)


def test_fmu_without_input_derivatives_gets_the_mean_of_the_line(parts: Path, tmp_path: Path) -> None:
    """FMI 3 has none: second order all the same."""
    files = {"arm": str(parts / "arm3.fmu"), "motor": str(parts / "motor3.fmu")}
    path = couple_to(drive(parts, components=files), tmp_path)
    errors = [error(path, h, extrapolation="linear")[0] for h in STEPS]
    assert fitted_order(STEPS, errors) == pytest.approx(2.0, abs=0.15)


def test_error_control_keeps_the_error_near_its_tolerance(driven: Path) -> None:
    errors, steps = [], []
    for tolerance in (1e-3, 1e-4, 1e-5):
        size, statistics = error(driven, 0.008, extrapolation="energy", tolerance=tolerance)
        errors.append(size)
        steps.append(statistics["steps"])
    assert statistics["rejected"] > 0
    # Errors of steps add up over a run of some 20 time constants; the speed goes up to 3.3 rad/s.
    assert errors[0] < 100e-3 and errors[1] < 100e-4 and errors[2] < 100e-5
    assert errors[0] > 3 * errors[1] > 9 * errors[2]
    assert steps[0] < steps[1] < steps[2]


def test_missing_dependencies_make_no_algebraic_loop(parts: Path, tmp_path: Path) -> None:
    """pythonfmu tells no dependencies: spring and arm look like a loop, and the iteration sees that it is none."""
    data = {
        "bough_system": 1,
        "name": "pendulum",
        "components": {"arm": str(parts / "arm.fmu"), "spring": str(parts / "Spring.fmu")},
        "connections": [
            "spring.tau -> arm.shoulder.tau",
            "arm.shoulder.phi -> spring.phi",
            "arm.shoulder.w -> spring.w",
        ],
        "set": {"arm.solver.tolerance": 1e-11},
    }
    path = couple_to(data, tmp_path)
    sprung = {**RIGID, "bodies": [dict(RIGID["bodies"][0])]}
    sprung["bodies"][0]["hinge"] = {**RIGID["bodies"][0]["hinge"], "stiffness": 4.0, "damping": 0.3}
    reference = bough.simulate(sprung, 2.0, step=0.02, rtol=1e-11)["shoulder.phi"]
    steps = [0.02, 0.01, 0.005]
    for extrapolation, claimed in (("constant", 1), ("linear", 2)):
        runs = [run(path, 2.0, h, extrapolation=extrapolation)["arm.shoulder.phi"] for h in steps]
        errors = [float(np.abs(x[:: round(0.02 / h)] - reference).max()) for h, x in zip(steps, runs, strict=True)]
        assert fitted_order(steps, errors) == pytest.approx(claimed, abs=0.1)


def ring(parts: Path, gain: float) -> dict[str, Any]:
    return {
        "bough_system": 1,
        "name": "ring",
        "components": {"a": str(parts / "Gain.fmu"), "b": str(parts / "Gain.fmu")},
        "connections": ["a.y -> b.x", "b.y -> a.x"],
        "set": {"a.g": gain, "b.g": 0.8},
        "master": {"step": 0.1, "stop": 0.5},
    }


def test_algebraic_loop_that_shrinks_is_solved(parts: Path, tmp_path: Path) -> None:
    """y_a = g y_b + 1, y_b = 0.8 y_a + 1."""
    result = run(couple_to(ring(parts, 0.5), tmp_path))
    np.testing.assert_allclose(result["a.y"], 1.5 / (1 - 0.4), rtol=1e-10)


def test_algebraic_loop_that_grows_is_told_with_its_variables(parts: Path, tmp_path: Path) -> None:
    with pytest.raises(bough.SimulationError, match=r"algebraic loop at t = 0 s.*a\.y -> b\.x, b\.y -> a\.x"):
        run(couple_to(ring(parts, 1.5), tmp_path))


def test_acceleration_fed_back_far_along_a_light_chain_is_seen_as_an_algebraic_loop(
    parts: Path, tmp_path: Path
) -> None:
    """joint3.a depends on joint7.tau through four light links: y = 0.1 a3 + 1 holds at every instant."""
    chain = Path(__file__).parents[2] / "examples" / "flexible_chain" / "model.yaml"
    interface = read_interface(bough.build_fmu(chain, tmp_path / "chain.fmu", platforms="native"))
    assert "joint7.tau" in interface.feedthrough["joint3.a"]
    assert not interface.feedthrough["joint3.phi"] and not interface.feedthrough["joint3.w"]
    data = {
        "bough_system": 1,
        "name": "fed_back",
        "components": {"chain": str(tmp_path / "chain.fmu"), "gain": str(parts / "Gain.fmu")},
        "connections": [
            {"from": "chain.joint3.a", "to": "gain.x", "factor": 1.0},
            {"from": "gain.y", "to": "chain.joint7.tau", "factor": 1e-5},
        ],
        "set": {"gain.g": 0.1},
        "master": {"step": 1e-3, "stop": 0.005},
    }
    result = run(couple_to(data, tmp_path))
    np.testing.assert_allclose(result["gain.y"], 0.1 * result["chain.joint3.a"] + 1.0, rtol=1e-9)


def test_inputs_from_outside_and_values_override_the_package(driven: Path) -> None:
    """The steady speed is u / (Kb N); a voltage as a function of time is followed at second order."""
    slow = run(driven, stop=3.0, inputs={"motor.u": 1.0})
    assert slow["arm.shoulder.w"][-1] == pytest.approx(1.0 / 0.6, rel=1e-3)
    weak = run(driven, stop=3.0, values={"motor.Kb": 0.6})
    assert weak["arm.shoulder.w"][-1] == pytest.approx(2.0 / 1.2, rel=1e-3)
    table = (np.array([0.0, 0.4, 0.8]), np.array([0.0, 2.0, 2.0]))
    fine = run(driven, step=0.0005, extrapolation="linear", inputs={"motor.u": table})["arm.shoulder.w"][::16]
    steps, errors = [0.008, 0.004, 0.002], []
    for h in steps:
        found = run(driven, step=h, extrapolation="linear", inputs={"motor.u": lambda t: min(5 * t, 2.0)})
        errors.append(float(np.abs(found["arm.shoulder.w"][:: round(0.008 / h)] - fine).max()))
    assert fitted_order(steps, errors) == pytest.approx(2.0, abs=0.25)


def test_gauss_seidel_takes_a_sampled_controller_before_the_mechanism(tmp_path: Path) -> None:
    """Whatever the order of the list: its sample at the beginning of a step must not see angles from the end of it."""
    arm = {
        "bough": 1,
        "name": "arm",
        "bodies": [
            {
                "name": "link",
                "parent": "ground",
                "hinge": {"name": "shoulder", "type": "revolute", "axis": [0, 0, 1]},
                "rigid": {"mass": 1.0, "com": [0.5, 0, 0], "inertia": [0.01, 0.1, 0.1, 0, 0, 0]},
            }
        ],
    }
    (tmp_path / "arm.yaml").write_text(json.dumps(arm), encoding="utf-8")
    system = {
        "bough_system": 1,
        "name": "drive",
        "components": {"arm": "arm.yaml", "motor": {"partner": "motor"}, "controller": {"partner": "controller"}},
        "connections": [*DRIVEN],
        "master": {"step": 1e-3, "stop": 0.1, "order": "gauss-seidel"},
    }
    (tmp_path / "drive.yaml").write_text(json.dumps(system), encoding="utf-8")
    (tmp_path / "work").mkdir()
    assembly = gather(tmp_path / "drive.yaml", tmp_path / "work")
    assert sequence(assembly) == ["controller", "motor", "arm"]
