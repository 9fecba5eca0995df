"""Dynamics and FMUs from a description of a flexible mechanism.

Names are imported when they are first used: `import bough` alone loads neither NumPy nor the kernel.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from bough._build_info import VERSION as __version__
from bough.errors import (
    BoughError,
    BoughWarning,
    BuildError,
    ModelError,
    SimulationError,
    TheoryWarning,
    ToleranceWarning,
)

if TYPE_CHECKING:
    from bough.flex import load
    from bough.flex.body_summary import flex_summary
    from bough.fmu import build_fmu
    from bough.fmu.doctor import doctor
    from bough.mechanism.campbell import Campbell, campbell
    from bough.mechanism.equilibrium import equilibrium
    from bough.mechanism.linearize import StateSpace
    from bough.mechanism.mechanism import Hybrid, Mechanism
    from bough.mechanism.model_summary import check
    from bough.mechanism.vibration import Vibration, Vibrations, modes
    from bough.model import Model, schema
    from bough.report.document import write_report
    from bough.run.balance import EnergyBalance, energy_balance
    from bough.run.result import Result
    from bough.run.simulate import simulate
    from bough.run.stepping import Run
    from bough.run.sweep_files import sweep
else:
    _HOMES = {
        "Campbell": "bough.mechanism.campbell",
        "EnergyBalance": "bough.run.balance",
        "Hybrid": "bough.mechanism.mechanism",
        "Mechanism": "bough.mechanism.mechanism",
        "Model": "bough.model",
        "Result": "bough.run.result",
        "Run": "bough.run.stepping",
        "StateSpace": "bough.mechanism.linearize",
        "Vibration": "bough.mechanism.vibration",
        "Vibrations": "bough.mechanism.vibration",
        "build_fmu": "bough.fmu",
        "check": "bough.mechanism.model_summary",
        "doctor": "bough.fmu.doctor",
        "campbell": "bough.mechanism.campbell",
        "energy_balance": "bough.run.balance",
        "equilibrium": "bough.mechanism.equilibrium",
        "flex_summary": "bough.flex.body_summary",
        "load": "bough.flex",
        "modes": "bough.mechanism.vibration",
        "schema": "bough.model",
        "simulate": "bough.run.simulate",
        "sweep": "bough.run.sweep_files",
        "write_report": "bough.report.document",
    }
    _ROOMS = (
        "coupling",
        "files",
        "flex",
        "fmu",
        "mechanism",
        "model",
        "partners",
        "regression",
        "report",
        "run",
        "text",
    )

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
    "Campbell",
    "EnergyBalance",
    "Hybrid",
    "Mechanism",
    "Model",
    "ModelError",
    "Result",
    "Run",
    "SimulationError",
    "StateSpace",
    "TheoryWarning",
    "ToleranceWarning",
    "Vibration",
    "Vibrations",
    "__version__",
    "build_fmu",
    "check",
    "doctor",
    "campbell",
    "energy_balance",
    "equilibrium",
    "flex_summary",
    "load",
    "modes",
    "schema",
    "simulate",
    "sweep",
    "write_report",
]
