"""Rigid chains of 1 to 200 bodies: bough, Pinocchio, MuJoCo and NumPy on the same mechanics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import bough
from benchmarks.chains import GRAVITY, Link, links, rigid_model, states
from benchmarks.ctimer import Timer
from benchmarks.numpy_aba import NumpyChain
from benchmarks.pintimer import PinTimer
from benchmarks.timing import Sampler, loop, minima

Array = NDArray[np.float64]
Evaluate = Callable[[Array, Array, Array], Array]

SIZES = (1, 2, 5, 10, 20, 50, 100, 200)
BATCH = 256
AGREEMENT = 1e-8


def pinocchio(chain: list[Link]) -> tuple[Evaluate, Callable[[Array, Array, Array], Callable[[], object]]]:
    """`pin.aba` with joints about z, the form that costs it least."""
    import pinocchio as pin

    model = pin.Model()
    model.gravity = pin.Motion(np.array(GRAVITY), np.zeros(3))
    joint = 0
    for k, link in enumerate(chain):
        x, y, z, w = link.quaternion
        place = pin.SE3(pin.Quaternion(w, x, y, z).matrix(), link.position)
        joint = model.addJoint(joint, pin.JointModelRZ(), place, f"j{k}")
        model.appendBodyToJoint(joint, pin.Inertia(link.mass, link.com, link.inertia), pin.SE3.Identity())
    data = model.createData()

    def evaluate(q: Array, u: Array, tau: Array) -> Array:
        return np.array(pin.aba(model, data, q, u, tau))

    def call(q: Array, u: Array, tau: Array) -> Callable[[], object]:
        return lambda: pin.aba(model, data, q, u, tau)

    return evaluate, call


def mujoco(chain: list[Link]) -> tuple[Evaluate, Callable[[Array, Array, Array], Callable[[], object]]]:
    """`mj_forward` with contacts, constraints, sensors and actuators off."""
    import mujoco as mj

    def text(values: Any) -> str:
        return " ".join(f"{x:.17g}" for x in values)

    head, tail = [], []
    for k, link in enumerate(chain):
        x, y, z, w = link.quaternion
        J = link.inertia
        full = text((J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]))
        head.append(
            f'<body pos="{text(link.position)}" quat="{text((w, x, y, z))}"><joint name="j{k}" axis="0 0 1"/>'
            f'<inertial pos="{text(link.com)}" mass="{link.mass:.17g}" fullinertia="{full}"/>'
        )
        tail.append("</body>")
    flags = '<flag contact="disable" constraint="disable" sensor="disable" actuation="disable"/>'
    model = mj.MjModel.from_xml_string(
        f'<mujoco><compiler angle="radian"/><option gravity="{text(GRAVITY)}">{flags}</option>'
        f"<worldbody>{''.join(head)}{''.join(tail)}</worldbody></mujoco>"
    )
    data = mj.MjData(model)

    def set_state(q: Array, u: Array, tau: Array) -> None:
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, u, tau

    def evaluate(q: Array, u: Array, tau: Array) -> Array:
        set_state(q, u, tau)
        mj.mj_forward(model, data)
        return np.array(data.qacc)

    def call(q: Array, u: Array, tau: Array) -> Callable[[], object]:
        set_state(q, u, tau)
        return lambda: mj.mj_forward(model, data)

    return evaluate, call


def run(quick: bool) -> dict[str, Any]:
    """Seconds per evaluation for each size, after the accelerations were found equal."""
    rows = []
    for n in SIZES:
        chain = links(n)
        system = bough.Mechanism(rigid_model(chain))
        q, u, tau = states(n, n, BATCH)
        ours = system.forward_dynamics(q, u, tau)
        timer = Timer(system, q, u, tau)
        samplers: dict[str, Sampler] = {
            "batch": loop(lambda s=system, x=(q, u, tau): s.forward_dynamics(*x), BATCH),  # type: ignore[misc]
            "batch_c": timer.batch(),
            "single_c": timer.single(),
            "single_python": loop(lambda s=system, x=(q[0], u[0], tau[0]): s.forward_dynamics(*x)),  # type: ignore[misc]
        }
        worst = {}
        for name, make in (("pin", pinocchio), ("mujoco", mujoco)):
            evaluate, call = make(chain)
            theirs = np.stack([evaluate(q[i], u[i], tau[i]) for i in range(8)])
            worst[name] = _agree(name, n, ours[:8], theirs)
            samplers[name] = loop(call(q[0], u[0], tau[0]))
        compiled = PinTimer(chain, q[0], u[0], tau[0])
        worst["pin_cpp"] = _agree("pinocchio::aba", n, ours[:1], compiled.accelerations()[None])
        samplers["pin_cpp"] = compiled.single()
        plain = NumpyChain(chain)
        worst["numpy"] = _agree("numpy", n, ours[:1], plain.forward_dynamics(q[0], u[0], tau[0])[None])
        samplers["numpy"] = loop(lambda p=plain, x=(q[0], u[0], tau[0]): p.forward_dynamics(*x))  # type: ignore[misc]
        seconds = minima(samplers, 15 if quick else 120 if n >= 50 else 60)
        rows.append({"bodies": n, "seconds": seconds, "difference": worst})
    overhead = rows[0]["seconds"]["pin"]  # type: ignore[index]
    return {"rows": rows, "batch": BATCH, "pin_one_body": overhead}


def _agree(name: str, n: int, ours: Array, theirs: Array) -> float:
    """Largest difference over the largest acceleration; the programs must compute the same mechanics."""
    worst = float((np.abs(ours - theirs).max(axis=1) / np.abs(ours).max(axis=1)).max())
    if not worst <= AGREEMENT:
        raise RuntimeError(f"{name} and bough differ by {worst:.1e} of the largest acceleration at {n} bodies")
    return worst
