"""Dynamics and FMUs from a description of a flexible mechanism.

Names are imported when they are first used: `import bough` alone loads neither NumPy nor the kernel.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from bough._build_info import VERSION as __version__
from bough.errors import BoughError, BoughWarning, BuildError, ModelError, SimulationError, ToleranceWarning

if TYPE_CHECKING:
    from bough.flex import load
    from bough.fmu import build_fmu
    from bough.mechanism.equilibrium import equilibrium
    from bough.mechanism.linearize import StateSpace
    from bough.mechanism.mechanism import Hybrid, Mechanism
    from bough.model import Model, schema
    from bough.run.result import Result
    from bough.run.simulate import simulate
    from bough.run.stepping import Run
else:
    _HOMES = {
        "Hybrid": "bough.mechanism.mechanism",
        "Mechanism": "bough.mechanism.mechanism",
        "Model": "bough.model",
        "Result": "bough.run.result",
        "Run": "bough.run.stepping",
        "StateSpace": "bough.mechanism.linearize",
        "build_fmu": "bough.fmu",
        "equilibrium": "bough.mechanism.equilibrium",
        "load": "bough.flex",
        "schema": "bough.model",
        "simulate": "bough.run.simulate",
    }
    _ROOMS = ("coupling", "files", "flex", "fmu", "mechanism", "model", "partners", "report", "run", "text")

    def __getattr__(name):
        if name in _HOMES:
            value = getattr(import_module(_HOMES[name]), name)
        elif name in _ROOMS:
            value = import_module(f"bough.{name}")
        else:
            raise AttributeError(f"module 'bough' has no attribute {name!r}")
        globals()[name] = value
        return value

    def __dir__():
        return sorted({*globals(), *__all__, *_ROOMS})


__all__ = [
    "BoughError",
    "BoughWarning",
    "BuildError",
    "Hybrid",
    "Mechanism",
    "Model",
    "ModelError",
    "Result",
    "Run",
    "SimulationError",
    "StateSpace",
    "ToleranceWarning",
    "__version__",
    "build_fmu",
    "equilibrium",
    "load",
    "schema",
    "simulate",
]
