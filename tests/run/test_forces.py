"""Forces between nodes in motion: closed forms and energy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import gamma
from small_models import ARM, body, hinge, model, rigid

import bough

BALL = {"mass": 2.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}


def states(system: bough.Mechanism, run: bough.Result) -> tuple[Any, Any]:
    """Positions and speeds of a run, rows."""
    return tuple(np.column_stack([run[n] for n in names]) for names in (system.q_names, system.u_names))


def slide(forces: list[dict[str, Any]], mass: float, s: float, v: float = 0.0, **more: Any) -> dict[str, Any]:
    """A mass on a slide along x."""
    on = hinge("prismatic", "slide", [1, 0, 0], initial={"s": s, "v": v})
    return model("slide", body("ball", "ground", on, rigid={"mass": mass}), forces=forces, **more)


def test_a_spring_and_damper_follow_the_damped_oscillation() -> None:
    """x = x0 exp(-d t/2m) (cos + ...): m 2 kg, k 50 N/m, d 3 N.s/m, free length 1 m, from 1.2 m."""
    m, k, d = 2.0, 50.0, 3.0
    force = {
        "name": "f",
        "type": "spring",
        "between": ["ground.origin", "ball.origin"],
        "stiffness": k,
        "damping": d,
        "length": 1.0,
    }
    run = bough.simulate(slide([force], m, 1.2), stop=3.0, step=0.1, rtol=1e-10)
    delta, w = d / 2 / m, math.sqrt(k / m - (d / 2 / m) ** 2)
    x = 1 + 0.2 * np.exp(-delta * run.t) * (np.cos(w * run.t) + delta / w * np.sin(w * run.t))
    assert run["slide.s"] == pytest.approx(x, abs=1e-8)
    assert run["f.s"] == pytest.approx(x, abs=1e-8)
    assert run["f.f"] == pytest.approx(-k * (run["f.s"] - 1) - d * run["f.v"], abs=1e-9)


def test_a_rope_only_pulls() -> None:
    """A mass thrown into a rope: straight on while slack, half an oscillation while taut, back with the same speed."""
    rope = {
        "name": "rope",
        "type": "spring",
        "between": ["ground.origin", "ball.origin"],
        "stiffness": 200.0,
        "length": 1.0,
        "only": "tension",
    }
    run = bough.simulate(slide([rope], 2.0, 0.5, 1.0), stop=1.6, step=0.01, rtol=1e-9)
    w = 10.0
    taut = (run.t > 0.5) & (run.t < 0.5 + math.pi / w)
    expected = np.where(run.t <= 0.5, 0.5 + run.t, 1.0 - (run.t - 0.5 - math.pi / w))
    expected[taut] = 1.0 + np.sin(w * (run.t[taut] - 0.5)) / w
    assert run["slide.s"] == pytest.approx(expected, abs=1e-6)
    assert run["rope.f"].max() <= 0.0
    assert run["rope.f"].min() < -15.0


def test_spring_pendulum_keeps_energy_and_its_small_oscillations() -> None:
    """Hangs at length 1 + mg/k: vertical sqrt(k/m), swing sqrt(g/L); and energy at large motion."""
    m, k, g = 2.0, 80.0, 9.81
    at_rest = 1 + m * g / k
    force = {"name": "f", "type": "spring", "between": ["ground.origin", "bob.origin"], "stiffness": k, "length": 1.0}
    on = hinge("free", "h", initial={"s": [0, 0, -at_rest]})
    made = model("pendulum", body("bob", "ground", on, rigid=BALL), forces=[force], gravity=[0, 0, -g])
    system = bough.Mechanism(made)
    q, u = system.initial_state()
    A = system.linearize(q, u, np.zeros(6), minimal=True).A
    found = np.sort(np.abs(np.linalg.eigvals(A).imag))
    swing, bounce = math.sqrt(g / at_rest), math.sqrt(k / m)
    assert found[-6:] == pytest.approx([swing] * 4 + [bounce] * 2, rel=1e-9)
    made["bodies"][0]["hinge"]["initial"] = {"s": [1.0, 0.3, 0.2], "w": [1.0, 2.0, 0.5], "v": [0.2, 0, 0]}
    run = bough.simulate(made, stop=5.0, step=0.05, rtol=1e-10)
    energy = np.sum(system.energy_parts(*states(system, run)), axis=1)
    kinetic = system.energy_parts(*states(system, run))[:, 0].max()
    assert energy == pytest.approx(np.full(run.t.size, energy[0]), abs=2e-9 * kinetic)


def test_hertz_impact_lasts_as_long_as_the_textbook_says() -> None:
    """K. L. Johnson, Contact Mechanics (1985), p. 353: depth (5 m v^2/4 k)^(2/5), duration 2.94 depth/v."""
    m, k, v = 0.5, 1e6, 1.0
    force = {
        "name": "foot",
        "type": "contact",
        "between": ["ball.origin", "ground.origin"],
        "normal": [1, 0, 0],
        "radius": 0.1,
        "stiffness": k,
        "exponent": 1.5,
    }
    run = bough.simulate(slide([force], m, 0.1, -v), stop=0.01, step=1e-6, rtol=1e-9)
    depth = (5 * m * v * v / (4 * k)) ** 0.4
    ratio = 4 * math.sqrt(math.pi) / 5 * gamma(0.4) / gamma(0.9)
    assert ratio == pytest.approx(2.94, abs=0.005)
    assert -run["foot.s"].min() == pytest.approx(depth, rel=1e-6)
    inside = run.t[run["foot.f"] > 0]
    assert inside[-1] - inside[0] == pytest.approx(ratio * depth / v, abs=3e-6)
    assert run["slide.v"][-1] == pytest.approx(v, rel=1e-7)
    assert run["foot.f"].min() >= 0.0


def test_a_ball_on_a_slope_slides_with_friction_and_creeps_when_it_holds() -> None:
    """Slope of 0.3 rad: below tan 0.3 it accelerates by g (sin - mu cos), above it creeps as regularized."""
    angle, g = 0.3, 9.81
    down = [g * math.sin(angle), 0, -g * math.cos(angle)]

    def sled(mu: float) -> dict[str, Any]:
        on = hinge("planar", "h", [[1, 0, 0], [0, 0, 1]], initial={"s": [0, 0.05]})
        contact = {
            "name": "c",
            "type": "contact",
            "between": ["sled.origin", "ground.origin"],
            "normal": [0, 0, 1],
            "radius": 0.05,
            "stiffness": 1e5,
            "damping": 300.0,
            "friction": mu,
            "slip": 1e-3,
        }
        block = body("sled", "ground", on, rigid=rigid(1.0, (1e6, 1e6, 1e6)))
        return model("sled", block, forces=[contact], gravity=down)

    slides = bough.simulate(sled(0.2), stop=1.0, step=0.05)
    gained = (slides["h.v[1]"][-1] - slides["h.v[1]"][10]) / 0.5
    assert gained == pytest.approx(g * (math.sin(angle) - 0.2 * math.cos(angle)), rel=1e-4)
    holds = bough.simulate(sled(0.5), stop=1.0, step=0.05)
    share = math.tan(angle) / 0.5
    assert holds["h.v[1]"][-1] == pytest.approx(1e-3 * share / math.sqrt(1 - share * share), rel=1e-3)


def test_energy_gained_is_work_done_less_losses() -> None:
    """A flexible arm with spring, cylinder, bushing and contact: power of every force integrated beside the run."""
    forces = [
        {
            "name": "strut",
            "type": "spring",
            "between": ["upper.tip", "ground.origin"],
            "stiffness": 300.0,
            "damping": 5.0,
            "length": 0.9,
        },
        {"name": "cylinder", "type": "actuator", "between": ["hand.tool", "ground.origin"]},
        {
            "name": "mount",
            "type": "bushing",
            "between": ["lower.tip", "ground.origin"],
            "stiffness": [1, 2, 3, 20, 30, 10],
            "damping": [0.1, 0.1, 0.2, 1, 2, 1],
        },
        {
            "name": "foot",
            "type": "contact",
            "between": ["hand.tool", "ground.origin"],
            "normal": [0, 0, 1],
            "radius": 0.1,
            "frames": [{}, {"position": [0, 0, -1.5]}],
            "stiffness": 2000.0,
            "damping": 20.0,
            "friction": 0.5,
            "slip": 0.1,
        },
    ]
    made = ARM | {"forces": forces}
    system = bough.Mechanism(made)
    run = bough.simulate(made, stop=1.0, step=2e-4, inputs={"cylinder.f": 15.0}, rtol=1e-9)
    q, u = states(system, run)
    gained = system.energy_parts(q, u).sum(axis=1)
    power = run["cylinder.f"] * run["cylinder.v"] - 5.0 * run["strut.v"] ** 2
    y = np.column_stack([run[f"mount.{k}[{i}]"] for k in ("w", "v") for i in (1, 2, 3)])
    power = power - (y * y) @ np.array([0.1, 0.1, 0.2, 1, 2, 1])
    k = system.model
    rates = {f"{b.hinge.name}": b.hinge.damping for b in k.bodies}
    power = power - rates["shoulder"][0] * run["shoulder.w"] ** 2 - rates["grip"][0] * run["grip.v"] ** 2
    power = power - sum(rates["wrist"][i] * run[f"wrist.w[{i + 1}]"] ** 2 for i in range(2))
    for i, d in enumerate(system.block.bodies):
        if d.nm:
            first = [c.index for c in system.u_table if c.modal and c.body == k.bodies[i].name]
            xi = u[:, first] @ np.linalg.inv(d.T).T
            power = power - np.einsum("ri,ij,rj->r", xi, d.damping, xi)
    work = np.concatenate([[0], np.cumsum(0.5 * np.diff(run.t) * (power[1:] + power[:-1]))])
    contact = gained - gained[0] - work
    touched = run["foot.f"] > 0
    assert touched.any() and not touched.all()
    size = gained.max() - gained.min()
    before = int(np.argmax(touched))
    assert contact[:before] == pytest.approx(np.zeros(before), abs=3e-6 * size)
    assert contact[-1] < -1e-4 * size  # damping and friction of the contact only take
    assert np.diff(contact).max() < 2e-6 * size


def test_equilibrium_and_modes_know_springs_between_nodes() -> None:
    """A mass on a line spring hangs mg/k below the free length and swings at sqrt(k/m), damped by d/(2 sqrt(k m))."""
    m, k, d = 2.0, 200.0, 3.0
    force = {"name": "f", "type": "spring", "between": ["ground.origin", "bob.origin"]}
    force |= {"stiffness": k, "damping": d, "length": 0.8}
    on = hinge("prismatic", "h", [0, 0, 1], initial={"s": -1.0})
    made = model("hung", body("bob", "ground", on, rigid={"mass": m}), forces=[force], gravity=[0, 0, -9.81])
    q, _ = bough.equilibrium(made, hinges="free")
    assert q == pytest.approx([-0.8 - m * 9.81 / k], abs=1e-10)
    (mode,) = bough.modes(made, at={"h.s": float(q[0])}).modes
    assert mode.frequency == pytest.approx(math.sqrt(k / m) / 2 / math.pi, rel=1e-9)
    assert mode.damping == pytest.approx(d / 2 / math.sqrt(k * m), rel=1e-9)
