"""Dynamics and FMUs from a description of a flexible mechanism."""

from bough._build_info import VERSION as __version__
from bough.equilibrium import equilibrium
from bough.errors import BoughError, BoughWarning, BuildError, ModelError, SimulationError, ToleranceWarning
from bough.export import build_fmu
from bough.flex import load
from bough.linearize import StateSpace
from bough.model import Model, schema
from bough.result import Result
from bough.simulate import simulate
from bough.system import Hybrid, System

__all__ = [
    "BoughError",
    "BoughWarning",
    "BuildError",
    "Hybrid",
    "Model",
    "ModelError",
    "Result",
    "SimulationError",
    "StateSpace",
    "System",
    "ToleranceWarning",
    "__version__",
    "build_fmu",
    "equilibrium",
    "load",
    "schema",
    "simulate",
]
