"""Power that a mechanism loses in a state, element by element: dampers, friction, stops, shafts, contacts.

The laws stand here once more, as the model file gives them: the energy balance of a run checks the kernel's with these.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from bough.mechanism.along import force_values_along, nodes_along
from bough.mechanism.drive_block import driven, shafts
from bough.mechanism.element_block import force_values
from bough.mechanism.mechanism import Mechanism
from bough.model import End
from bough.model.drives import Friction
from bough.model.model import Force

Array: TypeAlias = NDArray[np.float64]


class Losses:
    """Lost power of every element that can take energy, W, by a name such as `friction of shoulder`."""

    def __init__(self, system: Mechanism) -> None:
        """Find out where each of them is."""
        self.system = system
        self.first_q: dict[str, int] = {}
        self.first_u: dict[str, int] = {}
        for c in reversed(system.q_table):
            self.first_q[c.body] = c.index
        for c in reversed(system.u_table):
            self.first_u[c.body] = c.index

    def power(self, q: Array, u: Array) -> dict[str, Array]:
        """Lost power in many states, (B,) of each element."""
        return {**self._dampers(u), **self._drives(q, u), **self._shafts(q, u), **self._forces(q, u)}

    # ---- hinges and modes

    def _dampers(self, u: Array) -> dict[str, Array]:
        out: dict[str, Array] = {}
        for body, data in zip(self.system.model.bodies, self.system.block.bodies, strict=True):
            hinge, n = body.hinge, body.hinge.kind.nu
            first = self.first_u.get(body.name, 0)
            if any(hinge.damping):
                out[f"damping of {hinge.name}"] = u[:, first : first + n] ** 2 @ np.array(hinge.damping)
            if data.damping.any():
                rate = u[:, first + n : first + n + body.mode_count] @ np.linalg.inv(data.T).T
                name = f"modes of {body.label}"
                out[name] = out.get(name, 0.0) + np.einsum("ri,ij,rj->r", rate, data.damping, rate)
        return out

    def _drives(self, q: Array, u: Array) -> dict[str, Array]:
        """Friction, which is zero where nothing moves, and stops that give."""
        out: dict[str, Array] = {}
        for d in driven(self.system.model):
            h, n = d.body.hinge.name, d.body.hinge.kind.nu
            v = u[:, self.first_u[d.body.name] + d.dof]
            axis = "" if n == 1 else f"[{d.dof + 1}]"
            if d.friction is not None:
                out[f"friction of {h}{axis}"] = _friction(d.friction, v) * abs(v)
            if d.limits is not None and d.limits.kind == "gives":
                x, stop = q[:, self.first_q[d.body.name] + d.dof], d.limits
                lost = _flank(x - stop.upper, v, stop.stiffness, stop.damping)
                out[f"stop of {h}{axis}"] = lost + _flank(stop.lower - x, -v, stop.stiffness, stop.damping)
        return out

    def _shafts(self, q: Array, u: Array) -> dict[str, Array]:
        out: dict[str, Array] = {}
        bodies = self.system.model.bodies
        for rotor, _, body in shafts(self.system.model):
            gear, name = body.hinge.gear, bodies[rotor].name
            if gear is None or not gear.damping:
                continue
            x = q[:, self.first_q[name]] / gear.ratio - q[:, self.first_q[body.name]]
            v = u[:, self.first_u[name]] / gear.ratio - u[:, self.first_u[body.name]]
            half, k, d = 0.5 * gear.backlash, gear.stiffness or 0.0, gear.damping
            lost = d * v * v if half == 0.0 else _flank(x - half, v, k, d) + _flank(-x - half, -v, k, d)
            out[f"shaft of {body.hinge.name}"] = lost
        return out

    # ---- forces between nodes

    def _forces(self, q: Array, u: Array) -> dict[str, Array]:
        """What a force is beyond that of the same place at rest, which has a potential, against its speed."""
        model = self.system.model
        passive = [f for f in model.forces if f.type != "actuator" and _takes(f)]
        if not passive:
            return {}
        moving, still = force_values_along(self.system, q, u), force_values_along(self.system, q, 0.0 * u)
        place = {(force.name, key): i for force, key, _, i in force_values(model)}
        out: dict[str, Array] = {}
        for force in passive:
            pairs = [("f", "v")]
            if force.type == "bushing":
                pairs = [(f"{a}[{i}]", f"{b}[{i}]") for a, b in (("f", "v"), ("tau", "w")) for i in (1, 2, 3)]
            lost = np.zeros(len(q))
            for effort, speed in pairs:
                i, j = place[force.name, effort], place[force.name, speed]
                lost -= (moving[:, i] - still[:, i]) * moving[:, j]
            out[force.name] = lost
            if force.type == "contact" and force.friction:
                out[f"friction of {force.name}"] = self._rubbing(force, q, u, moving[:, place[force.name, "f"]])
        return out

    def _rubbing(self, force: Force, q: Array, u: Array, normal_force: Array) -> Array:
        """Power of a contact's friction: mu f v^2 / sqrt(v^2 + v_s^2) of the slip v where the two touch."""
        (r_A, _, w_A, v_A), (r_B, axes, w_B, v_B) = (self._end(end, q, u) for end in force.ends)
        apart = r_A - r_B
        n = axes @ np.array(force.normal)
        if len(force.radius) > 1:
            n = apart / np.linalg.norm(apart, axis=1)[:, None]
        arm = -force.radius[0] * n
        slip = v_A + np.cross(w_A, arm) - v_B - np.cross(w_B, apart + arm)
        slip = slip - np.sum(slip * n, axis=1)[:, None] * n
        square = np.sum(slip * slip, axis=1)
        lost: Array = force.friction * normal_force * square / np.sqrt(square + force.slip**2)
        return lost

    def _end(self, end: End, q: Array, u: Array) -> tuple[Array, Array, Array, Array]:
        """Position (B, 3), axes (B, 3, 3), angular and linear velocity of one end of a force, inertial frame."""
        count = len(q)
        own = Rotation.from_quat(end.quaternion).as_matrix()
        if end.body == "ground":
            still = np.zeros((count, 3))
            return still + np.array(end.position), np.tile(own, (count, 1, 1)), still, still
        body = next(b for b in self.system.model.bodies if b.name == end.body)
        pose, velocity = nodes_along(self.system, q, u, [body.address(end.node)])
        axes = Rotation.from_quat(pose[:, 0, 3:]).as_matrix()
        arm = axes @ np.array(end.position)
        w = velocity[:, 0, :3]
        return pose[:, 0, :3] + arm, axes @ own, w, velocity[:, 0, 3:] + np.cross(w, arm)


def _friction(law: Friction, v: Array) -> Array:
    """Coulomb's friction in motion, with Stribeck's peak."""
    peak = np.exp(-((v / law.stribeck) ** 2)) if law.stribeck > 0.0 else np.zeros_like(v)
    out: Array = law.coulomb + (law.static - law.coulomb) * peak
    return out


def _flank(depth: Array, rate: Array, k: float, d: float) -> Array:
    """Lost in a stop that pushes k depth + d rate and never pulls, beyond the spring in it."""
    pressed = depth > 0.0
    spring = np.where(pressed, k * depth, 0.0)
    force = np.where(pressed, np.maximum(spring + d * rate, 0.0), 0.0)
    lost: Array = (force - spring) * np.where(pressed, rate, 0.0)
    return lost


def _takes(force: Force) -> bool:
    """Whether a force can take energy."""
    return bool(force.damping or force.damping_table or np.any(force.damping_matrix) or force.friction)
