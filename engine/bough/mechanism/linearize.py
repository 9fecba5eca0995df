"""Linearization with exact derivatives: A, B, C, D with named states, inputs and outputs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.errors import ArgumentError, BoughError, choices
from bough.mechanism import kernel
from bough.mechanism.independent import independent

if TYPE_CHECKING:
    from bough.mechanism.mechanism import Mechanism

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StateSpace:
    """`dx/dt = A x + B w`, `y = C x + D w` for small deviations x, w, y from the operating point.

    It unpacks as `A, B, C, D`.

    Attributes:
        A: (nx, nx), x = (q, u), or what `minimal` leaves of it.
        B: (nx, nw).
        C: (ny, nx).
        D: (ny, nw).
        states: Names of x.
        inputs: Names of w.
        outputs: Names of y.
        mass: Mass matrix of the speeds among the states, where these are the second half: the modal form needs it.
        about: The operating point: values of q, u and the inputs that are not zero, by name.
    """

    A: Array
    B: Array
    C: Array
    D: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    mass: Array | None = None
    about: Mapping[str, float] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Array]:
        """A, B, C, D."""
        return iter((self.A, self.B, self.C, self.D))

    def select(self, inputs: Sequence[str] | None = None, outputs: Sequence[str] | None = None) -> StateSpace:
        """The same with some inputs and outputs only, in the order asked for; a name without its number is all of it.

        Raises:
            ArgumentError: There is no such input or output.
        """
        columns = _chosen("inputs", inputs, self.inputs)
        rows = _chosen("outputs", outputs, self.outputs)
        return replace(
            self,
            B=self.B[:, columns],
            C=self.C[rows],
            D=self.D[np.ix_(rows, columns)],
            inputs=tuple(self.inputs[j] for j in columns),
            outputs=tuple(self.outputs[i] for i in rows),
        )

    def response(self, omega: ArrayLike) -> NDArray[np.complex128]:
        """Frequency response C (jw - A)^-1 B + D at frequencies in rad/s, (n, ny, nw), by the modal form."""
        from bough.mechanism.modal_form import ModalForm

        return ModalForm(self).response(np.atleast_1d(np.asarray(omega, dtype=np.float64)))

    def poles(self) -> NDArray[np.complex128]:
        """Eigenvalues of A, rad/s, slowest first; those of rigid-body modes are exactly zero in modal form."""
        from bough.mechanism.modal_form import ModalForm

        return ModalForm(self).poles()

    def zeros(self, output: str, input: str) -> NDArray[np.complex128]:
        """Zeros of the transfer function from one input to one output, rad/s."""
        from bough.mechanism.modal_form import ModalForm

        return ModalForm(self.select([input], [output])).zeros()

    def to_scipy(self) -> Any:
        """A `scipy.signal.StateSpace`; it has no names."""
        from scipy.signal import StateSpace as Scipy

        return Scipy(self.A, self.B, self.C, self.D)

    def to_control(self) -> Any:
        """A `control.StateSpace` of the package `control`, with all names; their dots become `_`, as it allows none.

        Raises:
            BoughError: The package is not installed.
        """
        try:
            import control  # type: ignore[import-untyped,import-not-found,unused-ignore]
        except ImportError:
            raise BoughError("python-control is not installed; install the package `control`") from None
        names = {"states": self.states, "inputs": self.inputs, "outputs": self.outputs}
        labels = {key: [name.replace(".", "_") for name in value] for key, value in names.items()}
        return control.ss(self.A, self.B, self.C, self.D, **labels)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file: .mat, .npz, .json or .m by its name; see docs/linear-models.md."""
        from bough.mechanism.linear_files import save_family

        save_family([self], path)


def _chosen(what: str, names: Sequence[str] | None, known: tuple[str, ...]) -> list[int]:
    """Places of names; `upper.tip.r` stands for `upper.tip.r[1]` and so on."""
    if names is None:
        return list(range(len(known)))
    out: list[int] = []
    for name in names:
        hit = [i for i, each in enumerate(known) if each == name] or [
            i for i, each in enumerate(known) if each.partition("[")[0] == name
        ]
        if not hit:
            raise ArgumentError(f"{what}: there is no {name!r}{choices(name, known)}")
        out += hit
    return out


def linearize(
    system: Mechanism, q: Array, u: Array, tau: Array, loads: Mapping[str, ArrayLike] | None = None
) -> StateSpace:
    """Derivatives by the complex step, column by column; see `Mechanism.linearize`."""
    data = kernel.KernelData(system._kernel_model, kernel.LANES_TANGENT)
    nq, nu, bodies = system.nq, system.nu, len(system.model.bodies)
    nodes = system._node_index(system.model.outputs)
    at = {"q": q, "u": u, "tau": tau}
    given = system._loads(loads)
    if given is not None:
        at["loads"] = given.reshape(-1)
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
    about = {**dict(zip(system.q_names, q.tolist(), strict=True)), **dict(zip(system.u_names, u.tolist(), strict=True))}
    about |= {v.name: float(tau[v.index]) for v in inputs if v.kind == "tau" and tau[v.index]}
    if given is not None:
        about |= {v.name: float(at["loads"][v.index]) for v in inputs if v.kind == "loads" and at["loads"][v.index]}
    return StateSpace(
        rates[:, :nx].copy(),
        rates[:, nx:].copy(),
        values[:, :nx].copy(),
        values[:, nx:].copy(),
        (*system.q_names, *system.u_names),
        tuple(v.name for v in inputs),
        tuple(v.name for v in outputs),
        about=about,
    )


def minimal(system: Mechanism, full: StateSpace, q: Array, u: Array) -> StateSpace:
    """Quaternions reduced to three small angles, locked hinges left out: as many states as the motion has.

    A small rotation x of a quaternion hinge, in the outboard frame as its speed is, moves Q by `dQ = E(Q) x`, and
    `Qdot = E(Q) w`. E moves with Q, so `E xdot = (A_QQ E - E(Qdot)) x + ...`: at rest the second term is zero; while
    the hinge turns with w it makes `xdot = -w~ x + dw`.
    """
    nq, nu = system.nq, system.nu
    T, rate = np.zeros((nq, nu)), np.zeros((nq, nu))
    qdot = system.position_rates(q, u)
    names = [""] * nu
    scalar = {(c.owner, c.kind, c.number): c for c in system.q_table}
    for c in system.u_table:
        place = scalar.get((c.owner, c.kind, c.number))
        if place is not None:
            T[place.index, c.index], names[c.index] = 1.0, place.name
            continue
        first = scalar[(c.owner, "quaternion", 1)].index
        rows = slice(first, first + 4)
        T[rows, c.index] = _turn(q[rows])[:, c.number - 1]
        rate[rows, c.index] = _turn(qdot[rows])[:, c.number - 1]
        names[c.index] = f"{c.owner}.phi[{c.number}]"
    locked = {b.hinge.name for b in system.model.bodies if b.hinge.drive == "locked"}
    kept = np.array([c.index for c in system.u_table if c.modal or c.owner not in locked], dtype=int)
    T, rate = T[:, kept], rate[:, kept]
    back = np.linalg.pinv(T)
    n = kept.size
    speeds = np.eye(nu)[:, kept]
    A = np.zeros((2 * n, 2 * n))
    A[:n, :n] = back @ (full.A[:nq, :nq] @ T - rate)
    A[:n, n:] = back @ full.A[:nq, nq:] @ speeds
    A[n:, :n], A[n:, n:] = speeds.T @ full.A[nq:, :nq] @ T, speeds.T @ full.A[nq:, nq:] @ speeds
    A[:n][abs(A[:n]) < 1e-14] = 0.0
    A[:n, n:][np.eye(n, dtype=bool) & (abs(A[:n, n:] - 1.0) < 1e-14)] = 1.0
    B = np.vstack([back @ full.B[:nq], full.B[nq:][kept]])
    C = np.hstack([full.C[:, :nq] @ T, full.C[:, nq:] @ speeds])
    states = (*(names[i] for i in kept), *(system.u_names[i] for i in kept))
    mass = system.mass_matrix(q)[np.ix_(kept, kept)] if n else np.zeros((0, 0))
    return replace(full, A=A, B=B, C=C, states=states, mass=mass)


def closed(system: Mechanism, open_: StateSpace, q: Array, u: Array) -> StateSpace:
    """A minimal model of the tree reduced to motions that keep loops and couplings closed: x = V y, v = V w + W y."""
    found = independent(system, q, u)
    names = [name for name in open_.states[len(open_.states) // 2 :]]
    kept = np.array([system.u_names.index(name) for name in names], dtype=np.intp)
    n, rows = kept.size, np.flatnonzero(np.isin(kept, found.index))
    V, W = found.V[kept], found.W[kept]
    spread = np.block([[V, np.zeros_like(V)], [W, V]])
    picked = np.concatenate([rows, n + rows])
    mass = V.T @ open_.mass @ V if open_.mass is not None else None
    A = (open_.A @ spread)[picked]
    A[: rows.size][abs(A[: rows.size]) < 1e-14] = 0.0
    states = tuple(open_.states[i] for i in picked)
    return replace(open_, A=A, B=open_.B[picked], C=open_.C @ spread, states=states, mass=mass)


def _turn(Q: Array) -> Array:
    """E(Q), (4, 3): the rate of a quaternion x, y, z, w for an angular velocity in its own axes."""
    x, y, z, w = Q
    return 0.5 * np.array([[w, -z, y], [z, w, -x], [-y, x, w], [-x, -y, -z]])
