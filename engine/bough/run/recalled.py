"""Coordinates of a mechanism in every row of a result."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.errors import SimulationError
from bough.mechanism.mechanism import Mechanism
from bough.run.result import Result

Array: TypeAlias = NDArray[np.float64]


def positions(system: Mechanism, result: Result, prefix: str = "") -> Array:
    """Positions q of every row, (rows, nq), from a result that holds them by name.

    Args:
        system: The mechanism.
        result: A run of it: from `bough.simulate`, an FMU, or a CSV file.
        prefix: What its variables begin with in the result of a system of several parts, such as `arm.`.

    Raises:
        SimulationError: A coordinate is missing: the result is another model's, or holds a choice of variables.
    """
    return _columns(system.q_names, system, result, prefix)


def speeds(system: Mechanism, result: Result, prefix: str = "") -> Array:
    """Speeds u of every row, (rows, nu); arguments and errors as in `positions`."""
    return _columns(system.u_names, system, result, prefix)


def find_prefix(system: Mechanism, result: Result) -> str:
    """What the mechanism's variables begin with in a result: nothing, or the name of a component and a dot.

    Raises:
        SimulationError: Several components have all of its coordinates.
    """
    names = system.q_names
    if not names or names[0] in result:
        return ""
    ends = [name[: -len(names[0])] for name in result.names if name.endswith("." + names[0])]
    fitting = [prefix for prefix in ends if all(prefix + name in result for name in names)]
    if len(fitting) > 1:
        raise SimulationError(f"several parts of the result fit the model: {', '.join(fitting)}; name one as prefix")
    return fitting[0] if fitting else ""


def _columns(names: list[str], system: Mechanism, result: Result, prefix: str) -> Array:
    missing = [prefix + name for name in names if prefix + name not in result]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise SimulationError(
            f"the result does not hold {missing[0]!r}{more}, coordinates of the model {system.model.name!r}: "
            "give the model that the result was made with, and a result with all of its variables"
        )
    columns = [result[prefix + name] for name in names]
    return np.column_stack(columns) if columns else np.zeros((len(result), 0))
