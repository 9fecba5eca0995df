"""Dynamics and FMUs from a description of a flexible mechanism."""

from bough._build_info import VERSION as __version__
from bough.errors import BoughError, BoughWarning, BuildError, ModelError, SimulationError, ToleranceWarning
from bough.flex import load
from bough.fmu import build_fmu
from bough.mechanism.equilibrium import equilibrium
from bough.mechanism.linearize import StateSpace
from bough.mechanism.mechanism import Hybrid, Mechanism
from bough.model import Model, schema
from bough.run.result import Result
from bough.run.simulate import simulate

__all__ = [
    "BoughError",
    "BoughWarning",
    "BuildError",
    "Hybrid",
    "Mechanism",
    "Model",
    "ModelError",
    "Result",
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
