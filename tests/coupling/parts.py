"""Models, slaves and system files that the tests couple."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

Numbers = np.ndarray[Any, np.dtype[np.float64]]

J = 0.1
"""Inertia of the rigid arm about its hinge, kg.m2: 0.09 from the mass, 0.01 of its own."""
RIGID: dict[str, Any] = {
    "bough": 1,
    "name": "arm",
    "bodies": [
        {
            "name": "link",
            "parent": "ground",
            "hinge": {"name": "shoulder", "type": "revolute", "axis": [0, 0, 1], "initial": {"phi": 0.1, "w": 0.5}},
            "rigid": {"mass": 1.0, "com": [0.3, 0, 0], "inertia": [0.01, 0.01, 0.01, 0, 0, 0]},
        }
    ],
}
DRIVEN = [
    "controller.u -> motor.u",
    "motor.tau -> arm.shoulder.tau",
    "arm.shoulder.w -> motor.w",
    "arm.shoulder.phi -> controller.phi",
    "arm.shoulder.w -> controller.w",
]
"""A shoulder on its motor, under its controller."""
MOTOR = {"R": 0.5, "L": 0.02, "Kt": 0.3, "Kb": 0.3, "N": 2.0, "J": 0.001, "Ka": 1.0, "eta": 1.0, "u": 2.0}

SPRING = '''
from pythonfmu import Fmi2Causality, Fmi2Slave, Fmi2Variability, Real


class Spring(Fmi2Slave):
    """Torsion spring and damper: tau = -k phi - d w, at once."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.phi, self.w, self.k, self.d = 0.0, 0.0, 4.0, 0.3
        for name in ("phi", "w"):
            self.register_variable(Real(name, causality=Fmi2Causality.input))
        for name in ("k", "d"):
            tunable = Fmi2Variability.tunable
            self.register_variable(Real(name, causality=Fmi2Causality.parameter, variability=tunable))
        force = lambda: -self.k * self.phi - self.d * self.w
        self.register_variable(Real("tau", causality=Fmi2Causality.output, getter=force))

    def do_step(self, t, h):
        return True
'''
GAIN = '''
from pythonfmu import Fmi2Causality, Fmi2Slave, Fmi2Variability, Real


class Gain(Fmi2Slave):
    """y = g x + c, at once; breaks at a time if asked to."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.x, self.g, self.c, self.late, self.jump, self.t = 0.0, 0.5, 1.0, 1e9, 0.0, 0.0
        self.register_variable(Real("x", causality=Fmi2Causality.input))
        for name in ("g", "c", "late", "jump"):
            tunable = Fmi2Variability.tunable
            self.register_variable(Real(name, causality=Fmi2Causality.parameter, variability=tunable))
        value = lambda: self.g * self.x + self.c + (self.jump if self.t > self.late else 0.0)
        self.register_variable(Real("y", causality=Fmi2Causality.output, getter=value))

    def do_step(self, t, h):
        self.t = t + h
        return self.jump != 0.0 or self.t <= self.late
'''
FILTER = '''
from pythonfmu import Fmi2Causality, Fmi2Slave, Real


class Filter(Fmi2Slave):
    """First-order lag of 0.1 s that begins at rest."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.x = self.y = 0.0
        self.register_variable(Real("x", causality=Fmi2Causality.input))
        self.register_variable(Real("y", causality=Fmi2Causality.output))

    def exit_initialization_mode(self):
        self.y = self.x

    def do_step(self, t, h):
        self.y += h * (self.x - self.y) / 0.1
        return True
'''


PYTHON_3 = """
from pythonfmu3 import Boolean, Dimension, Fmi3Causality, Fmi3Slave, Fmi3Variability, Float64, Int64, String


class Lag(Fmi3Slave):

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.time, self.x, self.y, self.tau, self.n, self.on, self.label = 0.0, 1.0, 0.0, 0.5, 0, True, "lag"
        into, out, own = Fmi3Causality.input, Fmi3Causality.output, Fmi3Causality.parameter
        moving, held = Fmi3Variability.continuous, Fmi3Variability.discrete
        self.register_variable(Float64("time", causality=Fmi3Causality.independent, variability=moving))
        self.register_variable(Float64("x", causality=into, variability=moving, start=1.0))
        self.register_variable(Float64("y", causality=out, variability=moving))
        self.register_variable(Float64("tau", causality=own, variability=Fmi3Variability.tunable, start=0.5))
        self.register_variable(Int64("n", causality=out, variability=held))
        self.register_variable(Boolean("on", causality=into, variability=held, start=True))
        self.register_variable(String("label", causality=into, variability=held, start="lag"))

    def do_step(self, t, h):
        self.n += 1
        if self.on:
            self.y += h * (self.x - self.y) / self.tau
        return True
"""


def slave(text: str, folder: Path) -> Path:
    """An FMU of a pythonfmu or pythonfmu3 class.

    Made in a process of its own: an FMU in Python that ran in this one may have brought a pythonfmu without binaries.
    """
    name = text.partition("class ")[2].partition("(")[0]
    package = "pythonfmu3" if "pythonfmu3" in text else "pythonfmu"
    script = folder / f"{name.lower()}_slave.py"
    script.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", package, "build", "-f", str(script), "-d", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / f"{name}.fmu"


def edited(fmu: Path, target: Path, *changes: tuple[str, str]) -> Path:
    """An FMU whose description says something else."""
    with zipfile.ZipFile(fmu) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "modelDescription.xml":
                text = data.decode()
                for before, after in changes:
                    assert before in text
                    text = text.replace(before, after)
                data = text.encode()
            new.writestr(name, data)
    return target


def fitted_order(steps: list[float], errors: list[float]) -> float:
    """Slope of log(error) over log(step)."""
    return float(np.polyfit(np.log(steps), np.log(errors), 1)[0])
