"""The same mechanism in other units: every number of a model file by the dimension it has."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Dict = dict[str, Any]

N_LIN = {"prismatic": 1, "cylindrical": 1, "planar": 2, "free": 3}
N_ROT = {"revolute": 1, "cylindrical": 1, "universal": 2, "planar": 1, "spherical": 3, "free": 3}


@dataclass(frozen=True)
class Units:
    """How many new units one metre, one kilogram and one second make."""

    length: float = 1.0
    mass: float = 1.0
    time: float = 1.0

    @property
    def speed(self) -> float:
        return self.length / self.time

    @property
    def inertia(self) -> float:
        return self.mass * self.length**2

    @property
    def torque(self) -> float:
        return self.inertia / self.time**2

    @property
    def force(self) -> float:
        return self.mass * self.length / self.time**2

    def of(self, name: str) -> float:
        """Factor of a variable by the last part of its name; 1 for angles, quaternions and dimensionless modes."""
        owner, _, last = name.partition("[")[0].rpartition(".")
        if last == "a":
            raise ValueError(f"{owner}.a: what it is depends on the hinge")
        return {
            "s": self.length,
            "r": self.length,
            "v": self.speed,
            "w": 1.0 / self.time,
            "eta_dot": 1.0 / self.time,
            "tau": self.torque,
            "torque": self.torque,
            "f": self.force,
            "force": self.force,
        }.get(last, 1.0)


def scaled(model: Dict, units: Units) -> Dict:
    """A model of rigid, nodal and beam bodies in other units. Modal coordinates of nodal bodies keep their numbers."""
    out = copy.deepcopy(model)
    if "gravity" in out:
        out["gravity"] = _times(out["gravity"], units.length / units.time**2)
    for body in out["bodies"]:
        _hinge(body["hinge"], units)
        for key, change in PARTS.items():
            if key in body:
                change(body[key], units)
    return out


def _times(value: Any, factor: float) -> Any:
    return (np.asarray(value, dtype=float) * factor).tolist()


def _change(of: Dict, **factors: float) -> None:
    for key, factor in factors.items():
        if key in of:
            of[key] = _times(of[key], factor)


def _hinge(hinge: Dict, units: Units) -> None:
    n_lin, n_rot = N_LIN.get(hinge["type"], 0), N_ROT.get(hinge["type"], 0)
    linear = {
        "damping": units.mass / units.time,
        "stiffness": units.mass / units.time**2,
        "rest": units.length,
        "armature": units.mass,
    }
    for key, factor in linear.items():
        if key in hinge:
            # What turns has the square of the length more; an angle at rest is a number.
            turning = 1.0 if key == "rest" else factor * units.length**2
            values = np.broadcast_to(np.asarray(hinge[key], dtype=float), (n_lin + n_rot,))
            hinge[key] = (values * ([factor] * n_lin + [turning] * n_rot)).tolist()
    _change(hinge.get("frame", {}), position=units.length)
    _change(hinge.get("initial", {}), s=units.length, v=units.speed, w=1.0 / units.time)


def _rigid(body: Dict, units: Units) -> None:
    _change(body, mass=units.mass, com=units.length, inertia=units.inertia)
    for node in body.get("nodes", {}).values():
        _change(node, position=units.length)
    for wheel in body.get("wheels", ()):
        _change(wheel, momentum=units.inertia / units.time)


def _nodal(body: Dict, units: Units) -> None:
    for node in body["nodes"]:
        _change(node, position=units.length, mass=units.mass, inertia=units.inertia)
    shapes = np.asarray(body["modes"], dtype=float)
    if shapes.size:
        shapes[:, :, 3:] *= units.length
        body["modes"] = shapes.tolist()
    _change(body, stiffness=units.torque, damping_matrix=units.torque * units.time)
    _change(body.get("initial", {}), eta_dot=1.0 / units.time)


def _beam(body: Dict, units: Units) -> None:
    _change(body, length=units.length)
    area = units.length**2
    _change(body["section"], area=area, Iy=area**2, Iz=area**2, J=area**2)
    pressure = units.mass / (units.length * units.time**2)
    _change(body["material"], E=pressure, G=pressure, rho=units.mass / units.length**3)


PARTS: dict[str, Callable[[Dict, Units], None]] = {"rigid": _rigid, "nodal": _nodal, "beam": _beam}
