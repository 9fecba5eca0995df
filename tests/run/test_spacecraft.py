"""Wheels with dynamics and the gravity of a point mass: closed forms, momentum, energy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from small_models import beam, body, hinge, model

import bough

Array = NDArray[np.float64]
SATELLITE = {"mass": 50.0, "inertia": [8.0, 10.0, 12.0, 0.5, -0.3, 0.2]}
MU = 3.986004418e14
LOW = 7e6
STRIP = {"area": 1e-4, "Iy": 2e-9, "Iz": 1e-9, "J": 2e-9}


def states(system: bough.Mechanism, run: bough.Result) -> tuple[Array, Array]:
    """Positions and speeds of a run, rows."""
    q, u = (np.column_stack([run[n] for n in names]) for names in (system.q_names, system.u_names))
    return q, u


def gyrostat(**wheel: Any) -> dict[str, Any]:
    """A free body with a wheel on a skew axis."""
    on = hinge("free", "h", initial={"w": [0.1, -0.2, 0.3]})
    own = {"name": "rw1", "axis": [1.0, 2.0, 2.0], "inertia": 0.2, **wheel}
    return model("gyrostat", body("bus", "ground", on, rigid=SATELLITE | {"wheels": [own]}))


def test_a_wheel_that_spins_up_follows_the_gyrostat_equations() -> None:
    """J wdot + w x (J w + h a) = -hdot a with J of the whole, h = I W: Euler's equations beside the run."""
    made = gyrostat(w=50.0)
    run = bough.simulate(made, stop=20.0, step=0.5, inputs={"bus.rw1.tau": 0.3}, rtol=1e-11)
    xx, yy, zz, xy, xz, yz = SATELLITE["inertia"]  # type: ignore[misc]
    J, a, spin = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), np.array([1.0, 2.0, 2.0]) / 3, 0.2

    def rate(t: float, y: Array) -> Array:
        w, W = y[:3], y[3]
        # I (Wdot + a.wdot) = tau;  J wdot + I Wdot a + w x (J w + I W a) = 0
        left = np.block([[J, spin * a[:, None]], [spin * a[None, :], np.array([[spin]])]])
        return np.linalg.solve(left, np.r_[-np.cross(w, J @ w + spin * W * a), 0.3])

    there = solve_ivp(rate, (0, 20), [0.1, -0.2, 0.3, 50.0], "DOP853", rtol=1e-12, atol=1e-13, t_eval=run.t).y
    for i in range(3):
        assert run[f"h.w[{i + 1}]"] == pytest.approx(there[i], abs=1e-8)
    assert run["bus.rw1.w"] == pytest.approx(there[3], rel=1e-8)
    assert run["bus.rw1.h"] == pytest.approx(0.2 * run["bus.rw1.w"], rel=1e-14)


@pytest.mark.parametrize("wheel", [{}, {"static": 2e-3, "dynamic": 1e-3, "at": "deck"}], ids=["balanced", "unbalanced"])
def test_momentum_is_kept_while_wheels_spin_up(wheel: dict[str, Any]) -> None:
    """Total momentum to 1e-11, balanced or not: what the motor gives the wheel it takes from the body."""
    made = gyrostat(**wheel)
    made["bodies"][0]["rigid"]["nodes"] = {"deck": {"position": [0.1, 0.2, 0.3], "quaternion": [0.5, 0.5, 0.5, 0.5]}}
    system = bough.Mechanism(made)
    run = bough.simulate(made, stop=10.0, step=0.5, inputs={"bus.rw1.tau": 0.5}, rtol=1e-12)
    linear, angular = system.momentum(*states(system, run))
    size = float(np.linalg.norm(angular[0]))
    assert angular == pytest.approx(np.tile(angular[0], (run.t.size, 1)), abs=1e-11 * size)
    assert linear == pytest.approx(np.tile(linear[0], (run.t.size, 1)), abs=1e-10 * size)
    assert run["bus.rw1.h"][-1] > 4.0


def test_nutation_of_a_gyrostat() -> None:
    """Symmetric body, wheel on its axis: nutation at ((Is - It) w + h)/It in body axes."""
    on = hinge("free", "h", initial={"w": [0.05, 0, 0.4]})
    wheel = {"name": "rw", "axis": [0, 0, 1], "inertia": 0.1, "w": 300.0}
    made = model(
        "nutation", body("bus", "ground", on, rigid={"mass": 9, "inertia": [5, 5, 7, 0, 0, 0], "wheels": [wheel]})
    )
    rate = ((7 - 5) * 0.4 + 0.1 * 300.0) / 5
    run = bough.simulate(made, stop=3.0, step=0.1, rtol=1e-11)
    assert run["h.w[1]"] == pytest.approx(0.05 * np.cos(rate * run.t), abs=1e-9)
    assert run["h.w[2]"] == pytest.approx(0.05 * np.sin(rate * run.t), abs=1e-9)


def test_a_wheel_is_the_body_on_a_hinge_that_it_stands_for() -> None:
    """The same satellite with the wheel drawn as a body of its own, by hand: accelerations agree to rounding."""
    made = bough.Mechanism(gyrostat(w=40.0))
    a = np.array([1.0, 2.0, 2.0]) / 3
    across, mass = 0.11, 3.0  # of the real wheel: part of the whole
    xx, yy, zz, xy, xz, yz = SATELLITE["inertia"]  # type: ignore[misc]
    real = across * (np.eye(3) - np.outer(a, a)) + 0.2 * np.outer(a, a)
    J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) - real
    six = [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
    own = [real[0, 0], real[1, 1], real[2, 2], real[0, 1], real[0, 2], real[1, 2]]
    on = hinge("free", "h", initial={"w": [0.1, -0.2, 0.3]})
    spins = hinge("revolute", "rw", [1.0, 2.0, 2.0], initial={"w": 40.0})
    drawn = bough.Mechanism(model(
        "drawn", body("bus", "ground", on, rigid={"mass": 47.0, "inertia": six}),
        body("wheel", "bus", spins, rigid={"mass": mass, "inertia": own}),
    ))  # fmt: skip
    rng = np.random.default_rng(3)
    tau = rng.normal(size=7)
    found = [s.forward_dynamics(*s.initial_state(), tau) for s in (made, drawn)]
    assert found[0] == pytest.approx(found[1], rel=1e-12)


def test_wheels_on_flexible_bodies_keep_momentum_and_energy() -> None:
    """A wheel on the tip of a boom: momentum constant, energy gained is the motor's work."""
    on = hinge("free", "h", initial={"w": [0.1, -0.2, 0.3]})
    boom = beam(1.5, {"bending_y": 1, "bending_z": 1, "torsion": 1}, STRIP, damping=0.0)
    wheel = {"name": "rw", "axis": [0, 0, 1], "inertia": 2e-3, "mass": 0.2, "w": 20.0, "at": "tip"}
    made = model(
        "boomed", body("bus", "ground", on, rigid=SATELLITE),
        body("boom", "bus", hinge("fixed", "root"), beam=boom | {"wheels": [wheel]}),
    )  # fmt: skip
    system = bough.Mechanism(made)
    run = bough.simulate(made, stop=1.0, step=2e-3, inputs={"boom.rw.tau": 0.02}, rtol=1e-10)
    q, u = states(system, run)
    _, angular = system.momentum(q, u)
    assert angular == pytest.approx(np.tile(angular[0], (run.t.size, 1)), abs=1e-10 * float(np.linalg.norm(angular[0])))
    energy = system.energy_parts(q, u).sum(axis=1)
    work = 0.02 * run["boom.rw.phi"]
    assert energy - energy[0] == pytest.approx(work, abs=1e-8 * energy[0])


def orbit(inertia: list[float], mass: float = 10.0, eccentricity: float = 0.0, **initial: Any) -> dict[str, Any]:
    """A rigid body in an orbit in the xy plane, from its pericentre."""
    v = math.sqrt(MU / LOW * (1 + eccentricity))
    on = hinge("free", "h", initial={"s": [LOW, 0, 0], "v": [0, v, 0], **initial})
    satellite = body("sat", "ground", on, rigid={"mass": mass, "inertia": inertia})
    return model("orbit", satellite, gravity={"mu": MU, "center": [0, 0, 0]})


@pytest.mark.filterwarnings("ignore::bough.errors.ToleranceWarning")  # the attitude stands still
def test_a_kepler_orbit_closes_after_ten_turns() -> None:
    """Eccentricity 0.3: back at the pericentre after ten periods, to 1e-9 of the radius; energy by the axis."""
    made = orbit([1e-3, 1e-3, 1e-3, 0, 0, 0], eccentricity=0.3)
    period = 2 * math.pi * math.sqrt((LOW / 0.7) ** 3 / MU)
    run = bough.simulate(made, stop=10 * period, step=period / 4, rtol=1e-13, atol=1e-7)
    end = np.array([run[f"h.s[{i}]"][-1] for i in (1, 2, 3)])
    assert np.linalg.norm(end - [LOW, 0, 0]) < 1e-9 * LOW
    system = bough.Mechanism(made)
    kinetic, potential = system.energy(*system.initial_state())
    assert kinetic + potential == pytest.approx(-10.0 * MU / (2 * LOW / 0.7), rel=1e-12)


def test_libration_of_a_dumbbell() -> None:
    """In-plane sqrt(3 k) w0, k = (Iyaw - Iroll..)/Ipitch: a dumbbell of slender inertia along the radius has k = 1."""
    w0 = math.sqrt(MU / LOW**3)
    J = [1.0, 400.0, 400.0, 0, 0, 0]  # long axis x, along the radius
    k = (400.0 - 1.0) / 400.0
    angle = 1e-4
    Q = Rotation.from_rotvec([0, 0, angle]).as_quat().tolist()
    made = orbit(J, Q=Q, w=[0, 0, w0])
    period = 2 * math.pi / (math.sqrt(3 * k) * w0)
    run = bough.simulate(made, stop=2 * period, step=period / 20, rtol=1e-11)
    yaw = 2 * np.arctan2(run["h.Q[3]"], run["h.Q[4]"])
    where = np.arctan2(run["h.s[2]"], run["h.s[1]"])
    libration = (yaw - where + math.pi) % (2 * math.pi) - math.pi
    assert libration == pytest.approx(angle * np.cos(math.sqrt(3 * k) * w0 * run.t), abs=1e-3 * angle)


def test_gravity_gradient_on_rigid_and_flexible_bodies_is_that_of_their_points() -> None:
    """Point masses, bent or not: against the sum over the points; what is left falls with the distance."""
    rng = np.random.default_rng(5)
    points, masses = rng.normal(size=(5, 3)), rng.uniform(1, 2, size=5)
    points[0] = 0.0
    nodes = [
        {"name": f"n{i}", "position": p.tolist(), "mass": float(m)}
        for i, (p, m) in enumerate(zip(points, masses, strict=True))
    ]
    shapes = np.zeros((2, 5, 6))
    shapes[:, 1:, 3:] = rng.normal(size=(2, 4, 3))

    def error(distance: float, fidelity: str) -> float:
        at = distance * np.array([2.0, -1.0, 2.0]) / 3
        on = hinge(
            "free", "h", initial={"s": at.tolist(), "Q": Rotation.from_rotvec([0.3, 0.5, -0.2]).as_quat().tolist()}
        )
        flexible = {
            "attach": "n0", "nodes": nodes, "modes": shapes.tolist(), "stiffness": [1.0, 2.0],
            "initial": {"eta": [0.1, -0.05] if fidelity == "full" else [0.0, 0.0]},
        }  # fmt: skip
        made = model("cloud", body("cloud", "ground", on, nodal=flexible), gravity={"mu": 1.0, "center": [0.1, 0, 0]})
        system = bough.Mechanism(made | {"fidelity": fidelity, "outputs": [f"cloud.{n['name']}" for n in nodes]})
        bare = bough.Mechanism(
            made | {"fidelity": fidelity, "gravity": [0, 0, 0], "outputs": [f"cloud.{n['name']}" for n in nodes]}
        )
        q, u = system.initial_state()
        still = np.zeros(system.nu)
        found = bare.inverse_dynamics(q, u, still) - system.inverse_dynamics(q, u, still)
        expected, V = np.zeros(system.nu), 0.0
        for node, m in zip(nodes, masses, strict=True):
            r = system.pose(q, f"cloud.{node['name']}")[0] - [0.1, 0, 0]
            expected += system.node_jacobian(q, f"cloud.{node['name']}")[3:].T @ (-m * r / np.linalg.norm(r) ** 3)
            V -= m / np.linalg.norm(r)
        assert system.energy_parts(q, u)[1] == pytest.approx(V, rel=20 / distance**3)
        # units: a force of the gradient's size
        return float(np.abs(found - expected).max() * distance**3)

    for fidelity in ("full", "ruthless"):
        near, far = error(300.0, fidelity), error(3000.0, fidelity)
        assert near < 0.3
        assert far < 0.15 * near


@pytest.mark.parametrize("stiffening", [False, True])
def test_energy_is_kept_by_a_flexible_body_in_the_field(stiffening: bool) -> None:
    """A boom whirls past a centre at a few of its lengths: gravity's power is the change of its potential."""
    boom = beam(1.5, {"bending_y": 1, "bending_z": 1, "torsion": 1}, STRIP, damping=0.0)
    on = hinge("free", "h", initial={"s": [6.0, 0, 0], "v": [0, 3.0, 0.5], "w": [0.5, 1.0, 2.0]})
    made = model(
        "whirl", body("hub", "ground", on, rigid={"mass": 2.0, "inertia": [0.1, 0.1, 0.2, 0, 0, 0]}),
        body("boom", "hub", hinge("revolute", "root", [0, 1, 0]), beam=boom), gravity={"mu": 50.0, "center": [0, 1, 0]},
    )  # fmt: skip
    made["geometric_stiffening"] = stiffening
    system = bough.Mechanism(made)
    run = bough.simulate(made, stop=3.0, step=0.05, rtol=1e-10)
    parts = system.energy_parts(*states(system, run))
    assert parts[:, 1].max() - parts[:, 1].min() > 1.0
    assert parts.sum(axis=1) == pytest.approx(np.full(run.t.size, parts[0].sum()), abs=1e-8 * parts[:, 0].max())


def test_an_accelerometer_reads_no_gravity() -> None:
    """Local loads and sensors: a thruster in node axes, a gyro and an accelerometer on a node turned by 90 degrees."""
    made = gyrostat(w=5.0) | {"gravity": [0, 0, -9.81]}
    half = math.sqrt(0.5)
    made["bodies"][0]["rigid"]["nodes"] = {"imu": {"position": [0.4, 0, 0.1], "quaternion": [0, 0, half, half]}}
    made |= {"inputs": ["bus.imu.local_force", "bus.imu.local_torque"], "outputs": ["bus.imu.local"]}
    system = bough.Mechanism(made)
    push = {f"bus.imu.local_force[{i + 1}]": x for i, x in enumerate([3.0, -2.0, 5.0])}
    run = bough.simulate(made, stop=1.0, step=0.1, inputs=push)
    free = bough.simulate(made, stop=0.1, step=0.1)
    i = -1
    R = Rotation.from_quat([run[f"bus.imu.Q[{j}]"][i] for j in (1, 2, 3, 4)])

    def vector(name: str) -> Array:
        return np.array([run[f"bus.imu.{name}[{j}]"][i] for j in (1, 2, 3)])

    assert vector("local_v") == pytest.approx(R.inv().apply(vector("v")), abs=1e-12)
    assert vector("local_w") == pytest.approx(R.inv().apply(vector("w")), abs=1e-12)
    assert vector("specific_force") == pytest.approx(R.inv().apply(vector("a") + [0, 0, 9.81]), abs=1e-10)
    q, u = (np.array([run[n][0] for n in names]) for names in (system.q_names, system.u_names))
    local = system.forward_dynamics(q, u, np.zeros(7), loads={"bus.imu.local_force": [3.0, -2.0, 5.0]})
    A = Rotation.from_quat(system.pose(q, "bus.imu")[1])
    made["inputs"] = ["bus.imu.force"]
    same = bough.Mechanism(made).forward_dynamics(q, u, np.zeros(7), loads={"bus.imu.force": A.apply([3.0, -2.0, 5.0])})
    assert local == pytest.approx(same, rel=1e-12)
    assert (
        np.linalg.norm([free[f"bus.imu.specific_force[{j}]"][0] for j in (1, 2, 3)]) < 1.0
    )  # falls freely, turns slowly


def test_deflections_are_those_of_the_modes() -> None:
    """A cantilever under its own weight and a modal force: deflection and rotation of the tip in body axes."""
    boom = beam(1.5, {"bending_y": 1, "bending_z": 1, "torsion": 1}, STRIP)
    made = model(
        "bent", body("boom", "ground", hinge("revolute", "root", [0, 1, 0], initial={"phi": 0.4}), beam=boom),
        outputs=["boom.tip.deflection"], inputs=["boom.modal_force"], gravity=[0, 0, -9.81],
    )  # fmt: skip
    run = bough.simulate(made, stop=0.2, step=0.02, inputs={"boom.modal_force[2]": 0.4})
    system = bough.Mechanism(made)
    q, _ = states(system, run)
    tip, Q = system.pose(q[-1], "boom.tip")
    root, R = system.pose(q[-1], "boom.root")
    bent = Rotation.from_quat(R).inv()
    moved = bent.apply(tip - root) - [1.5, 0, 0]
    turned = (bent * Rotation.from_quat(Q)).as_rotvec()
    assert [run[f"boom.tip.deflection[{i}]"][-1] for i in (1, 2, 3)] == pytest.approx(moved, abs=1e-12)
    assert [run[f"boom.tip.rotation[{i}]"][-1] for i in (1, 2, 3)] == pytest.approx(turned, abs=1e-12)
    assert abs(moved).max() > 1e-3
