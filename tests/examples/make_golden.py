"""Make the golden files of the examples: python tests/examples/make_golden.py [NAME ...]

Each holds a few variables of an example at a few times. Look at the difference before committing new ones: it is what
users of the example will see.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np

import bough

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parents[1] / "examples"
ROWS = 11
COLUMNS = {
    "pendulum": ["pivot.phi", "pivot.w", "rod.end.r[1]", "pivot.reaction_force[3]"],
    "two_link_arm": ["shoulder.phi", "elbow.phi", "upper.eta[1]", "lower.eta[1]", "payload.origin.r[1]"],
    "free_flyer": ["flight.Q[3]", "flight.w[1]", "flight.w[3]", "rotor.w", "left_panel.eta[1]", "left_panel.eta[2]"],
    "flexible_chain": ["joint1.phi", "joint10.phi", "link5.eta[1]", "link10.tip.r[1]", "link10.tip.r[3]"],
    "fe_bracket": ["motor.phi", "motor.w", "arm.eye.r[1]", "arm.eye.r[2]"],
    "msat_beam": ["motor.phi", "motor.w", "boom.eta[1]", "boom.eta[2]", "boom.tip.r[2]"],
    "station_arm": ["j1.phi", "j4.phi", "upper.eta[1]", "lower.eta[1]", "payload.origin.r[1]", "j1.tau"],
    "array_deployment": ["left_hinge2.phi", "right_hinge3.phi", "flight.Q[1]", "flight.s[3]", "left1.eta[1]"],
    "arm_control": ["joint.arm.shoulder.phi", "joint.arm.lower.eta[1]", "model.arm.shoulder.phi", "model.motor.i[1]"],
    "msat_drive": ["boom.hub.phi", "boom.hub.w", "motor.tau", "boom.boom.tip.r[2]"],
    "slider_crank": ["main.phi", "cylinder.s", "rod.eta[1]", "wrist.reaction_force[1]", "main.reaction_force[2]"],
    "stewart_platform": ["leg1.s", "leg4.f", "platform.origin.r[1]", "pose.Q[1]", "ball2.reaction_force[3]"],
    "four_bar": ["knee.phi", "pivot.phi", "coupler.eta[1]", "rocker.eta[2]", "pin.reaction_force[1]", "motor.tau"],
    "excavator": ["boom_foot.phi", "wrist.phi", "boom.eta[1]", "boom_cylinder.f", "bucket_pin.reaction_force[2]"],
    "crane": ["rail.s", "hang.s[3]", "flight.s[1]", "flight.s[3]", "sling.f"],
    "satellite": ["flight.Q[1]", "flight.w[1]", "bus.rw1.w", "bus.rw2.w", "left_array.tip.deflection[3]"],
    "robot_joint": ["robot.joint.phi", "robot.joint.rotor.phi", "robot.joint.friction", "motor.i", "controller.e"],
    "spin_up": ["hub.phi", "hub.tau", "blade.eta[1]", "blade.tip.r[1]", "blade.tip.r[2]"],
}


def script(name: str) -> ModuleType:
    """The run.py of an example."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / name / "run.py")
    if spec is None or spec.loader is None:
        raise FileNotFoundError(name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def excerpt(name: str, result: bough.Result) -> bough.Result:
    """The variables and times that the golden file holds."""
    rows = np.linspace(0, len(result) - 1, ROWS).round().astype(int)
    return bough.Result(result.t[rows], {column: result[column][rows] for column in COLUMNS[name]})


if __name__ == "__main__":
    for name in sys.argv[1:] or COLUMNS:
        excerpt(name, script(name).simulate()).to_csv(HERE / "golden" / f"{name}.csv")
