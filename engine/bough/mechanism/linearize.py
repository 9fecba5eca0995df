"""Linearization with exact derivatives: A, B, C, D with named states, inputs and outputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.mechanism import kernel

if TYPE_CHECKING:
    from bough.mechanism.mechanism import Mechanism

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StateSpace:
    """`dx/dt = A x + B w`, `y = C x + D w` for small deviations x, w, y from the operating point.

    It unpacks as `A, B, C, D`.

    Attributes:
        A: (nx, nx), x = (q, u).
        B: (nx, nw).
        C: (ny, nx).
        D: (ny, nw).
        states: Names of x.
        inputs: Names of w.
        outputs: Names of y.
    """

    A: Array
    B: Array
    C: Array
    D: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def __iter__(self) -> Iterator[Array]:
        """A, B, C, D."""
        return iter((self.A, self.B, self.C, self.D))


def linearize(system: Mechanism, q: Array, u: Array, tau: Array) -> StateSpace:
    """Derivatives by the complex step, column by column; see `Mechanism.linearize`."""
    data = kernel.KernelData(system._kernel_model, kernel.LANES_TANGENT)
    nq, nu, bodies = system.nq, system.nu, len(system.model.bodies)
    nodes = system._node_index(system.model.outputs)
    at = {"q": q, "u": u, "tau": tau}
    variables = system.variables
    inputs = [v for v in variables if v.causality == "input"]
    outputs = [v for v in variables if v.causality == "output"]
    seeds = [("q", i) for i in range(nq)] + [("u", i) for i in range(nu)]
    seeds += [(v.kind, v.index) for v in inputs]
    sizes = {"q": nq, "u": nu, "tau": nu, "motion": nu, "loads": 6 * len(system.block.loads)}
    nx = nq + nu
    rates, values = np.zeros((nx, len(seeds))), np.zeros((len(outputs), len(seeds)))
    for j, (name, index) in enumerate(seeds):
        direction = {name: np.zeros(sizes[name])}
        direction[name][index] = 1.0
        d = data.directional(at, direction, nodes, bodies)
        d["q"], d["u"] = direction.get("q", np.zeros(nq)), direction.get("u", np.zeros(nu))
        rates[:nq, j], rates[nq:, j] = d["qdot"], d["udot"]
        values[:, j] = [d[v.kind][v.index] for v in outputs]
    return StateSpace(
        rates[:, :nx].copy(),
        rates[:, nx:].copy(),
        values[:, :nx].copy(),
        values[:, nx:].copy(),
        (*system.q_names, *system.u_names),
        tuple(v.name for v in inputs),
        tuple(v.name for v in outputs),
    )
