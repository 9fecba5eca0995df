"""The dynamics of a model: forward, inverse and hybrid, mass matrix and factors, kinematics, energy."""

from __future__ import annotations

import html
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.errors import ArgumentError, SimulationError, choices, did_you_mean, listed
from bough.flex import counted, load
from bough.mechanism import effective, kernel, operators
from bough.mechanism.block import Block, compile_block
from bough.mechanism.closed_calls import ClosedCalls
from bough.mechanism.drawn import drawn_closures, drawn_elements, written_state
from bough.mechanism.linearize import StateSpace, closed, linearize
from bough.mechanism.linearize import minimal as reduced_to_minimum
from bough.mechanism.loops import Loops, Moved
from bough.mechanism.threads import Workspace
from bough.mechanism.variables import Variable, coordinates, variable_table
from bough.model import Model
from bough.model.tree import MODAL

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Hybrid:
    """Result of hybrid dynamics.

    Attributes:
        udot: Generalized accelerations, in the order of u.
        tau: Generalized forces: as given for free DOFs, as found for held ones; N.m or N.
        reactions: (bodies, 6): torque (N.m) and force (N) that the parent exerts on each body through its hinge, at
            the outboard frame's origin, in the outboard frame's axes.
    """

    udot: Array
    tau: Array
    reactions: Array


class Mechanism(ClosedCalls):
    """A model ready for evaluation.

    Positions `q` and speeds `u` are numpy arrays in the order of `q_names` and `u_names`. Array calls take a leading
    batch dimension: `(B, nq)` in, `(B, nu)` out, the loop in C. Threads may share a Mechanism: each of them has
    its own work space in the kernel, and calls run side by side.

    Args:
        model: From `bough.load`, or a path or dict to load.

    Example:
        >>> import bough
        >>> pendulum = {"bough": 1, "name": "pendulum", "gravity": [0, 0, -9.81], "bodies": [{"name": "bob",
        ...     "parent": "ground", "hinge": {"name": "pivot", "type": "revolute", "axis": [0, 1, 0]},
        ...     "rigid": {"mass": 2.0, "com": [1, 0, 0], "inertia": [0, 0, 0, 0, 0, 0]}}]}
        >>> system = bough.Mechanism(bough.load(pendulum))
        >>> system.u_names
        ['pivot.w']
        >>> q, u = system.initial_state()
        >>> system.forward_dynamics(q, u, [0.0]).round(12)
        array([9.81])
    """

    def __init__(self, model: Model | str | os.PathLike[str] | Mapping[str, Any]) -> None:
        """Compile the model for the kernel."""
        self.model: Model = counted(model) if isinstance(model, Model) else load(model)
        closures = drawn_closures(self.model)
        self.block: Block = compile_block(self.model, closures, elements=drawn_elements(self.model))
        self._kernel_model = kernel.KernelModel(self.block.data)
        self._workspace = Workspace(self._kernel_model)
        self.q_table, self.u_table = coordinates(self.model)
        self.q_names, self.u_names = [c.name for c in self.q_table], [c.name for c in self.u_table]
        self._node = self.block.nodes
        self._all: _AllNodes | None = None
        self._all_once = threading.Lock()
        self._held = np.array(self._data.get(kernel.HELD, self.nu), dtype=bool)
        self._start = written_state(self.model)
        self.moved: tuple[Moved, ...] = ()
        self._loops: Loops | None = None
        if self.model.loops or self.model.couplings:
            self._loops = Loops(self)
            q, u, self.moved = self._loops.start(*self._start)
            self._start = (q, u)

    def __repr__(self) -> str:
        """The model's name, and how large it is."""
        return f"<bough.Mechanism {self.model.name}: bodies {len(self.model.bodies)}, nq {self.nq}, nu {self.nu}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the model, and its coordinates."""
        names = html.escape(", ".join(self.q_names[:20]) + (", ..." if self.nq > 20 else ""))
        return f"{self.model._repr_html_()}\n<div>{self.nq} positions, {self.nu} speeds: {names}</div>"

    @property
    def _data(self) -> kernel.KernelData:
        """Parameters and work space of the calling thread."""
        return self._workspace.data

    @property
    def nq(self) -> int:
        """Number of positions."""
        return self._kernel_model.nq

    @property
    def nu(self) -> int:
        """Number of speeds: the degrees of freedom."""
        return self._kernel_model.nu

    @property
    def node_names(self) -> list[str]:
        """Every `body.node` that poses and motions can be asked of."""
        return list(self.model.node_keys())

    @property
    def variables(self) -> list[Variable]:
        """Inputs and outputs by the names of the FMU."""
        return variable_table(self.model, self.block.loads)

    @property
    def kernel_memory(self) -> int:
        """Bytes that the kernel holds for this system in one thread."""
        return self._kernel_model.memory + self._data.memory

    def initial_state(self) -> tuple[Array, Array]:
        """Start positions and speeds of the model file, with loops and couplings closed."""
        return self._start[0].copy(), self._start[1].copy()

    # ---- dynamics

    def forward_dynamics(
        self,
        q: ArrayLike,
        u: ArrayLike,
        tau: ArrayLike,
        method: str = "articulated",
        *,
        motion: ArrayLike | None = None,
        loads: Mapping[str, ArrayLike] | None = None,
    ) -> Array:
        """Accelerations from applied generalized forces.

        Args:
            q: Positions, (nq,) or (B, nq).
            u: Speeds, (nu,) or (B, nu).
            tau: Applied forces in the order of u, N.m or N; entries of driven and locked hinges are not used.
            method: "articulated", order N, or "composite", dense.
            motion: Accelerations of hinges with `drive: motion`, in the order of u; zero if not given.
            loads: Node loads by name, `{"upper.tip.force": [fx, fy, fz]}`, inertial frame.

        Returns:
            Accelerations, (nu,) or (B, nu).

        Raises:
            ArgumentError: An argument has the wrong shape, or names what is not there.
            SimulationError: An inertia is singular, or a number is not finite; the message names the body.
        """
        if motion is None and loads is None and method == "articulated" and self._loops is None:
            quick: Array | None = self._workspace.quick.forward(q, u, tau)
            if quick is not None:
                return quick
        if method not in ("articulated", "composite"):
            raise ArgumentError(f"method: expected 'articulated' or 'composite', found {method!r}")
        motion_: Array | None = None
        if motion is None:
            (q_, u_, tau_), batch = self._rows(q=q, u=u, tau=tau)
        else:
            (q_, u_, tau_, motion_), batch = self._rows(q=q, u=u, tau=tau, motion=motion)
        load = self._loads(loads)
        out = np.empty((q_.shape[0], self.nu))
        with self._errors():
            if method == "composite" and self._loops is not None:
                raise ArgumentError("method: loops and couplings need 'articulated'")
            if method == "composite":
                self._data.composite(q_, u_, tau_, motion_, load, out)
            elif motion_ is None and load is None and q_.shape[0] > 1:
                self._data.forward_batch(q_, u_, tau_, out)
            else:
                self._data.forward_rows(q_, u_, tau_, motion_, load, out)
        if self._loops is not None:
            for row in zip(q_, u_, out, strict=True):
                self._loops.check_accelerations(*row)
        return out if batch else out[0]

    def hybrid_dynamics(
        self,
        q: ArrayLike,
        u: ArrayLike,
        tau: ArrayLike,
        *,
        motion: ArrayLike | None = None,
        held: Sequence[str] | None = None,
        loads: Mapping[str, ArrayLike] | None = None,
    ) -> Hybrid:
        """Forward dynamics with held DOFs, their forces, and every hinge's reaction, in one O(N) sweep.

        Args:
            q: Positions, (nq,).
            u: Speeds, (nu,).
            tau: Applied forces of free DOFs, in the order of u.
            motion: Accelerations of held DOFs, in the order of u; zero if not given.
            held: Names of held speeds (`shoulder.w`), hinges (`shoulder`) or bodies whose modes are held (`upper`);
                by default those whose hinge has `drive: motion` or `locked` in the model.
            loads: Node loads by name, inertial frame.
        """
        (q_, u_, tau_), _ = self._rows(q=q, u=u, tau=tau)
        motion_ = None if motion is None else self._rows(motion=motion)[0][0][0]
        mask = self._held if held is None else self._held_mask(held)
        out = Hybrid(np.empty(self.nu), np.empty(self.nu), np.empty((len(self.model.bodies), 6)))
        self._data.set(kernel.HELD, mask.astype(np.float64))
        try:
            with self._errors():
                load = self._loads(loads)
                self._data.forward(q_[0], u_[0], tau_[0], motion_, load, out.udot, out.tau, out.reactions)
        finally:
            self._data.set(kernel.HELD, self._held.astype(np.float64))
        return out

    def inverse_dynamics(
        self, q: ArrayLike, u: ArrayLike, udot: ArrayLike, *, loads: Mapping[str, ArrayLike] | None = None
    ) -> Array:
        """Generalized forces that give the accelerations, N.m or N, in the order of u; batch allowed.

        They are those of the tree, loops and couplings open. With loops, forces that differ by what loops can exert
        give the same motion, and these are the ones that leave the loops without load.
        """
        if loads is None:
            quick: Array | None = self._workspace.quick.inverse(q, u, udot)
            if quick is not None:
                return quick
        (q_, u_, udot_), batch = self._rows(q=q, u=u, udot=udot)
        out = np.empty((q_.shape[0], self.nu))
        load = self._loads(loads)
        with self._errors():
            self._data.inverse(q_, u_, udot_, load, out)
        return out if batch else out[0]

    def mass_matrix(self, q: ArrayLike) -> Array:
        """Mass matrix by composite bodies, armature included, (nu, nu); of the tree, loops open; batch allowed."""
        quick: Array | None = self._workspace.quick.mass_matrix(q)
        if quick is not None:
            return quick
        (q_,), batch = self._rows(q=q)
        with self._errors():
            out = self._data.mass_matrix(q_)
        return out if batch else out[0]

    def mass_factors(self, q: ArrayLike) -> tuple[Array, Array]:
        """Innovations factors L and D with `M = L D L'`.

        D is block diagonal (a block for each hinge and one for each body's modes). L is triangular by blocks, with
        identity blocks on its diagonal: upper, because bodies are numbered from the base here, tip to base in the
        paper.
        """
        (q_,), batch = self._rows(q=q)
        with self._errors():
            L, D = self._data.mass_factors(q_)
        return (L, D) if batch else (L[0], D[0])

    def mass_solve(self, q: ArrayLike, y: ArrayLike) -> Array:
        """Solve `M x = y` by two sweeps, without M; of the tree, loops open."""
        quick: Array | None = self._workspace.quick.mass_solve(q, y)
        if quick is not None:
            return quick
        (q_, y_), batch = self._rows(q=q, y=y)
        with self._errors():
            out = self._data.mass_solve(q_, y_)
        return out if batch else out[0]

    def linearize(
        self,
        q: ArrayLike,
        u: ArrayLike,
        tau: ArrayLike,
        *,
        inputs: Sequence[str] | None = None,
        outputs: Sequence[str] | None = None,
        minimal: bool = False,
        loads: Mapping[str, ArrayLike] | None = None,
    ) -> StateSpace:
        """State space for small deviations from an operating point, with exact derivatives.

        Args:
            q: Positions, (nq,).
            u: Speeds, (nu,).
            tau: Applied forces, (nu,).
            inputs: Names of the inputs wanted; all of the model's by default.
            outputs: Names of the outputs wanted.
            minimal: States are independent: quaternions become three small angles `h.phi[1..3]` in the outboard frame,
                locked hinges are left out. Otherwise states are (q, u). With loops or couplings states are always
                independent: those whose positions the file writes come first, the others follow by pivoting.
            loads: Node loads at the operating point by name, as in `bough.equilibrium`: `{"upper.tip.force": [fx, fy,
                fz]}` keeps its direction in the inertial frame, `{"upper.tip.local_force": ...}` follows the node.

        Returns:
            A, B, C, D with states, inputs and outputs, all named.
        """
        (q_, u_, tau_), _ = self._rows(q=q, u=u, tau=tau)
        with self._errors():
            full = linearize(self, q_[0], u_[0], tau_[0], loads)
            looped = self._loops is not None
            found = reduced_to_minimum(self, full, q_[0], u_[0]) if minimal or looped else full
            if looped:
                found = closed(self, found, q_[0], u_[0])
        return found.select(inputs, outputs)

    # ---- operators

    def node_jacobian(self, q: ArrayLike, node: str) -> Array:
        """Jacobian of a node, (6, nu): its angular (rad/s) and linear (m/s) velocity in the inertial frame is `J u`.

        Batch allowed: (B, 6, nu).
        """
        (q_,), batch = self._rows(q=q)
        with self._errors():
            out = effective.node_jacobian(self, q_, node)
        return out if batch else out[0]

    def node_jacobian_rate(self, q: ArrayLike, u: ArrayLike, node: str) -> Array:
        """Time derivative of a node's Jacobian while the mechanism moves with u, (6, nu), exact; batch allowed.

        The node's acceleration is `J udot + Jdot u`.
        """
        (q_, u_), batch = self._rows(q=q, u=u)
        with self._errors():
            out = effective.node_jacobian_rate(self, q_, u_, node)
        return out if batch else out[0]

    def mobility(self, q: ArrayLike, node: str) -> Array:
        """`J M^-1 J'`, (6, 6): the acceleration of a node per unit wrench there, angular part first; batch allowed.

        Hinges with `drive: motion` or `locked` do not move. Rows without mobility are zero.
        """
        (q_,), batch = self._rows(q=q)
        with self._errors():
            out = effective.mobility(self, q_, node)
        return out if batch else out[0]

    def effective_mass(self, q: ArrayLike, node: str, *, directions: ArrayLike | None = None) -> Array:
        """Mass matrix of the mechanism as a latch, a docking or a contact at a node meets it: `(J M^-1 J')^-1`.

        Args:
            q: Positions, (nq,) or (B, nq).
            node: `body.node`.
            directions: Rows of six numbers, angular part first, in the inertial frame: only these motions are met, and
                the answer has a row and a column for each. `[[0, 0, 0, 0, 0, 1]]` is a point contact along z.

        Returns:
            (6, 6), angular part first: kg.m^2, kg.m, kg; inertial frame.

        Raises:
            SimulationError: The node cannot be accelerated in some direction, so the mass there is infinite. `mobility`
                still exists.
        """
        (q_,), batch = self._rows(q=q)
        with self._errors():
            out = effective.effective_mass(self, q_, node, directions)
        return out if batch else out[0]

    def articulated(self, q: ArrayLike) -> operators.Articulated:
        """Composite and articulated bodies with P, D, G, K, tau-bar, psi of (51)-(63), one record for each body.

        They are those of the tree, loops open; rotors of gears and wheels are bodies like others. All arrays have a
        leading dimension if q has one.
        """
        (q_,), batch = self._rows(q=q)
        with self._errors():
            return operators.articulated(self, q_, batch)

    def momentum_matrix(self, q: ArrayLike) -> Array:
        """(6, nu): `A u` is the angular momentum about the inertial origin, then the linear one; batch allowed.

        Embedded wheels add their constant momentum to that.
        """
        (q_,), batch = self._rows(q=q)
        with self._errors():
            out = effective.momentum_matrix(self, q_)
        return out if batch else out[0]

    def mass_properties(self, q: ArrayLike) -> operators.MassProperties:
        """Mass, mass centre and inertia about it of the whole mechanism, in the inertial frame; batch allowed."""
        (q_,), batch = self._rows(q=q)
        with self._errors():
            return operators.mass_properties(self, q_, batch)

    # ---- kinematics and energy

    def pose(self, q: ArrayLike, node: str) -> tuple[Array, Array]:
        """Position (m) and attitude quaternion (x, y, z, w) of a node in the inertial frame; batch allowed."""
        if (number := self._node.get(node)) is not None:
            quick: Array | None = self._workspace.quick.pose(q, number)
            if quick is not None:
                return quick[:3], quick[3:]
        (q_,), batch = self._rows(q=q)
        data, index = self._nodes([node])
        with self._errors():
            poses = data.node_pose(q_, int(index[0]))
        return (poses[:, :3], poses[:, 3:]) if batch else (poses[0, :3], poses[0, 3:])

    def node_motion(
        self, q: ArrayLike, u: ArrayLike, udot: ArrayLike | None, nodes: Sequence[str]
    ) -> tuple[Array, Array, Array | None]:
        """Poses (n, 7), velocities (n, 6) and, with udot, accelerations (n, 6) of nodes, inertial frame.

        Velocities and accelerations hold the angular part first, rad and m. The acceleration is the true one:
        gravity is not in it.
        """
        (q_, u_), _ = self._rows(q=q, u=u)
        udot_ = None if udot is None else self._rows(udot=udot)[0][0][0]
        data, index = self._nodes(nodes)
        with self._errors():
            return data.node_motion(q_[0], u_[0], udot_, index)

    def energy(self, q: ArrayLike, u: ArrayLike) -> tuple[Any, Any]:
        """Kinetic and potential energy, J; the latter of gravity, elastic modes and springs. Batch allowed."""
        parts = self.energy_parts(q, u)
        if parts.ndim == 1:
            kinetic, gravity, elastic, springs = parts.tolist()
            return kinetic, gravity + elastic + springs
        return parts[:, 0], parts[:, 1:].sum(axis=-1)

    def energy_parts(self, q: ArrayLike, u: ArrayLike) -> Array:
        """Kinetic, gravitational, elastic and spring energy, J, (4,) or (B, 4)."""
        quick: Array | None = self._workspace.quick.energy(q, u)
        if quick is not None:
            return quick
        (q_, u_), batch = self._rows(q=q, u=u)
        with self._errors():
            out = self._data.energy(q_, u_)
        return out if batch else out[0]

    def momentum(self, q: ArrayLike, u: ArrayLike) -> tuple[Array, Array]:
        """Linear momentum (N.s) and angular momentum about the inertial origin (N.m.s); batch allowed."""
        both: Array | None = self._workspace.quick.momentum(q, u)
        if both is None:
            (q_, u_), batch = self._rows(q=q, u=u)
            with self._errors():
                rows = self._data.momentum(q_, u_)
            both = rows if batch else rows[0]
        return both[..., 3:], both[..., :3]

    def position_rates(self, q: ArrayLike, u: ArrayLike) -> Array:
        """Qdot of the positions for speeds u; batch allowed."""
        quick: Array | None = self._workspace.quick.position_rates(q, u)
        if quick is not None:
            return quick
        (q_, u_), batch = self._rows(q=q, u=u)
        with self._errors():
            out = self._data.position_rates(q_, u_)
        return out if batch else out[0]

    def hinge_has_quaternion(self, name: str) -> bool:
        """Whether a hinge holds its rotations by a quaternion."""
        return any(body.hinge.kind.quaternion for body in self.model.bodies if body.hinge.name == name)

    # ---- helpers

    def _rows(self, **given: ArrayLike) -> tuple[list[Array], bool]:
        """Arguments as contiguous (B, n) arrays of one B, and whether any had a batch dimension; only q has size nq."""
        arrays: list[Array] = []
        for name, value in given.items():
            n = self.nq if name == "q" else self.nu
            try:
                array = np.asarray(value, dtype=np.float64)
            except (TypeError, ValueError):
                raise ArgumentError(f"{name}: expected an array of {n} numbers, found {value!r}") from None
            if array.ndim not in (1, 2) or array.shape[-1] != n:
                raise ArgumentError(f"{name}: expected an array of shape ({n},) or (B, {n}), found {array.shape}")
            arrays.append(array)
        batch = any(a.ndim == 2 for a in arrays)
        count = max((a.shape[0] for a in arrays if a.ndim == 2), default=1)
        if any(a.ndim == 2 and a.shape[0] != count for a in arrays):
            shapes = ", ".join(f"{name} {a.shape}" for name, a in zip(given, arrays, strict=True))
            raise ArgumentError(f"batch sizes differ: {shapes}")
        rows = [np.broadcast_to(a, (count, a.shape[-1])) if a.ndim == 1 else a for a in arrays]
        return [np.ascontiguousarray(a) for a in rows], batch

    def _loads(self, loads: Mapping[str, ArrayLike] | None) -> Array | None:
        if not loads:
            return None
        out = np.zeros((len(self.block.loads), 6))
        for name, value in loads.items():
            node, _, key = name.rpartition(".")
            actuators = [f"{force.name}.f" for force in self.model.forces if force.type == "actuator"]
            known = [*(port for port in self.model.inputs if not port.endswith(f".{MODAL}")), *actuators]
            if name not in known:
                told = f"{name!r} is not a load input of the model; its `inputs:` are: {listed(known)}"
                raise ArgumentError(f"loads: {told}{did_you_mean(name, known)}")
            row = self.block.loads.index(f"{node}.local" if key.startswith("local_") else node)
            first, count = (0, 1) if name in actuators else (3 if key.endswith("force") else 0, 3)
            try:
                out[row, first : first + count] = np.asarray(value, dtype=np.float64)
            except (TypeError, ValueError):
                wanted = "a number" if count == 1 else "three numbers"
                raise ArgumentError(f"loads[{name!r}]: expected {wanted}, found {value!r}") from None
        return out

    def _node_index(self, nodes: Sequence[str]) -> NDArray[np.intc]:
        """The kernel's numbers of nodes that carry a hinge, a load or a sensor."""
        return np.array([self._node[n] for n in nodes], dtype=np.intc)

    def _nodes(self, nodes: Sequence[str]) -> tuple[kernel.KernelData, NDArray[np.intc]]:
        """Kernel data that knows the nodes, and their numbers there."""
        if all(n in self._node for n in nodes):
            return self._data, self._node_index(nodes)
        known = self.node_names
        for node in nodes:
            if node not in known:
                raise ArgumentError(f"there is no node {node!r}{self._node_choices(str(node))}")
        with self._all_once:
            if self._all is None:  # nodes that carry nothing are brought to the kernel when first asked for
                self._all = _AllNodes(self.model)
        return self._all.workspace.data, np.array([self._all.index[n] for n in nodes], dtype=np.intc)

    def _node_choices(self, name: str) -> str:
        """What follows a node that is not there: of a body that is, its node of a similar name or all its nodes."""
        body, _, node = name.partition(".")
        own = next((each.node_names for each in self.model.whole_bodies if each.name == body), ())
        if not own:
            return choices(name, self.node_names)
        similar = [f"{body}.{each}" for each in own if did_you_mean(node, [each])]
        if similar:
            return did_you_mean(name, similar)
        shown = own if len(own) <= 8 else (*own[:2], "...", own[-1])
        return f"; nodes of {body}: {', '.join(shown)}"

    def _held_mask(self, held: Sequence[str]) -> NDArray[np.bool_]:
        mask = np.zeros(self.nu, dtype=bool)
        for name in held:
            hit = [name in (c.name, c.owner) for c in self.u_table]
            if not any(hit):
                known = [*dict.fromkeys(c.owner for c in self.u_table), *self.u_names]
                raise ArgumentError(f"held: {name!r} names no speed, hinge or flexible body{choices(name, known)}")
            mask |= np.array(hit)
        for body in dict.fromkeys(c.body for c in self.u_table if c.modal):
            modes = mask[[c.modal and c.body == body for c in self.u_table]]
            if modes.any() and not modes.all():
                raise ArgumentError(
                    f"held: the modes of {body!r} are held together: name {body!r} instead of single modes"
                )
        return mask

    def _errors(self) -> _Translate:
        return _Translate(self)

    def failure(self, error: kernel.KernelError, time: float | None = None) -> SimulationError:
        """The kernel's complaint in the user's terms: which body, which hinge, when, and what to do."""
        at = "" if time is None else f" at t = {time:.9g} s"
        body = self.model.bodies[error.body] if 0 <= error.body < len(self.model.bodies) else None
        where = "" if body is None else f" at body '{body.label}' (hinge '{body.hinge.name}', {body.hinge.type})"
        if error.status == kernel.SINGULAR:
            text = (
                f"singular inertia{where}{at}: nothing resists this hinge or these modes. Give the body, or what hangs "
                "on it, mass and inertia about the hinge's axes, or an armature, or fix the hinge."
            )
            if 0 <= error.body < len(self.block.bodies) and self.block.bodies[error.body].rotary:
                text += (
                    " Modes that deflect far do it too: this body brings tables of its inertia, which are right for "
                    "small deflections only."
                )
            if time is not None:
                text += (
                    " If the motion grew without bound before that, the step was too long for the stiffest mode: "
                    "take a shorter step, method='dopri5' or method='rosenbrock2'."
                )
        elif error.status == kernel.NOT_FINITE:
            text = (
                f"a number is not finite{where}{at}. Look for an unstable motion, for a step too long for the "
                "stiffest mode (method='rosenbrock2' takes those), or for an input that is not finite."
            )
        elif error.status == kernel.STEP_TOO_SMALL:
            text = (
                f"the step size became too small{at}: the motion changes faster than the tolerance can follow. "
                "Loosen rtol, or look for inputs that jump or stiffness that is too high."
            )
        elif error.status == kernel.OPEN and self._loops is not None:
            name = self._loops.names[error.constraint]
            text = (
                f"{name!r} cannot be kept closed{at}. Look for a driven or locked hinge that its loop does not let "
                "move so, for a position that the mechanism cannot reach, or take a shorter step."
            )
        else:
            text = f"{error}{where}{at}"
        return SimulationError(text)


class _AllNodes:
    """The same model in the kernel with every named node, for kinematics."""

    def __init__(self, model: Model) -> None:
        block = compile_block(model.model_copy(update={"couplings": ()}), every_node=True)
        self.workspace = Workspace(kernel.KernelModel(block.data), lanes=0)
        self.index = block.nodes


class _Translate:
    """Turn the kernel's errors into SimulationError."""

    def __init__(self, system: Mechanism) -> None:
        self.system = system

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, kernel.KernelError):
            raise self.system.failure(error) from None
