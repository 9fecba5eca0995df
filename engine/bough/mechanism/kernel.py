"""Models and data of the kernel: a thin, typed layer over `engine/kernel/include/bough.h` by ctypes."""

from __future__ import annotations

import ctypes as c
from collections.abc import Mapping, Sequence

import numpy as np

from bough.errors import BoughError
from bough.mechanism.kernel_calls import (
    _P,
    POINT,
    VALUES,
    Array,
    Nodes,
    _address,
    _lib,
    _place,
    _Point,
    _ptr,
    _Values,
    status_text,
)
from bough.mechanism.quick import Quick, kernel_of

NO_NODES: Nodes = np.empty(0, dtype=np.intc)

OK, SINGULAR, NOT_FINITE, STEP_TOO_SMALL, STOPPED, PAUSED, OPEN = 0, 4, 5, 6, 7, 8, 9
GRAVITY, DAMPING, STIFFNESS, REST, ARMATURE, HELD, INERTIA, MODAL_DAMPING_SCALE = range(8)
STEP_FIXED, STEP_EITHER, STEP_ADAPTIVE = range(3)
LANES_BATCH, LANES_TANGENT = 1, 2

_quick = kernel_of(_lib)


class KernelError(Exception):
    """A kernel call failed; `body` is an index or -1, `constraint` that of a loop or (after these) a coupling."""

    def __init__(self, status: int, body: int, time: float, constraint: int = -1) -> None:
        """Keep what the kernel said."""
        super().__init__(status_text(status))
        self.status, self.body, self.time, self.constraint = status, body, time, constraint


class KernelModel:
    """A model block read and checked by the kernel; immutable, may be shared."""

    def __init__(self, block: bytes) -> None:
        """Read a block.

        Raises:
            BoughError: The block is damaged or there is no memory.
        """
        self.handle = _P()
        status = _lib.bough_model_create(block, len(block), c.byref(self.handle))
        if status != OK:
            raise BoughError(f"the kernel refuses the model block: {status_text(status)}")
        sizes = _lib.bough_model_sizes(self.handle)
        self.nq: int = sizes.nq
        self.nu: int = sizes.nu
        self.bodies: int = sizes.bodies
        self.loads: int = sizes.loads
        """Number of nodes that take a load, and of elements that take an input."""
        self.element_values: int = sizes.element_values
        self.loops: int = sizes.loops
        self.couplings: int = sizes.couplings
        self.rows: int = sizes.rows
        """Number of equations of loops and couplings."""
        self.drives: int = sizes.drives
        """Number of hinge DOFs with friction or limits."""
        self.indicators: int = sizes.indicators
        self.modes: int = sizes.modes
        """Number of numbers that friction, limits and gears remember."""
        self.memory: int = sizes.memory
        """Bytes that the kernel holds for the model."""

    def __del__(self) -> None:
        """Free the kernel's memory."""
        if getattr(self, "handle", None) and _lib is not None:
            _lib.bough_model_free(self.handle)


class KernelData:
    """Parameters that may change, and workspace; belongs to one thread at a time."""

    def __init__(self, model: KernelModel, lanes: int = LANES_BATCH) -> None:
        """Create for a model; `lanes` adds the workspace of the four-lane or of the tangent sweeps."""
        self.model, self._lanes = model, lanes
        self.handle = _P()
        status = _lib.bough_data_create(model.handle, lanes, c.byref(self.handle))
        if status != OK:
            raise BoughError(f"the kernel cannot make its workspace: {status_text(status)}")
        self.quick = Quick(_quick, model.handle.value, self.handle.value, model.nq, model.nu)

    def __del__(self) -> None:
        """Free the kernel's memory."""
        if getattr(self, "handle", None) and _lib is not None:
            _lib.bough_data_free(self.handle)

    def _check(self, status: int) -> None:
        if status != OK:
            where = _lib.bough_data_where(self.handle)
            raise KernelError(status, where.body, where.time, where.constraint - 1)

    @property
    def memory(self) -> int:
        """Bytes that the kernel holds for parameters and workspace."""
        return int(_lib.bough_data_memory(self.handle))

    @property
    def isa(self) -> int:
        """0: the baseline build of the sweeps runs; 1: the x86-64-v3 build."""
        return int(_lib.bough_data_isa(self.handle))

    @isa.setter
    def isa(self, value: int) -> None:
        self._check(_lib.bough_data_set_isa(self.handle, value))

    def set(self, which: int, values: Array) -> None:
        """Set a parameter array."""
        values = np.ascontiguousarray(values, dtype=np.float64)
        self._check(_lib.bough_data_set(self.handle, which, _ptr(values), values.size))

    def get(self, which: int, count: int) -> Array:
        """Copy a parameter array out."""
        out = np.empty(count)
        self._check(_lib.bough_data_get(self.handle, which, _ptr(out), count))
        return out

    def copy(self) -> KernelData:
        """The same parameters with a work space of their own."""
        twin = KernelData(self.model, self._lanes)
        twin.take(self)
        twin.isa = self.isa
        return twin

    def take(self, other: KernelData) -> None:
        """Take over the parameters of another one of the same model."""
        self._check(_lib.bough_data_copy(self.handle, other.handle))

    def evaluate(
        self, at: Mapping[str, Array | None], out: Mapping[str, Array], nodes: Nodes = NO_NODES, rows: int = 1
    ) -> None:
        """Everything that follows from a point: the values named in `out`, computed in one call.

        Args:
            at: q, u and where not zero tau, motion, loads; or accelerations udot that are known.
            out: Arrays to fill, by the names in VALUES; `pose`, `velocity` and `acceleration` are of the nodes.
            nodes: Indices of nodes.
            rows: Number of points; all arrays but loads then hold a row for each.
        """
        point = _Point(**{name: _place(a) for name, a in at.items()})
        values = _Values(**{name: _place(a) for name, a in out.items()})
        model, index = self.model.handle, _place(nodes)
        self._check(_lib.bough_evaluate_rows(model, self.handle, rows, point, nodes.size, index, values))

    def forward(
        self,
        q: Array,
        u: Array,
        tau: Array,
        motion: Array | None,
        loads: Array | None,
        udot: Array,
        force: Array | None = None,
        reaction: Array | None = None,
    ) -> None:
        """Articulated-body dynamics, (63)-(64)."""
        out = {"udot": udot}
        if force is not None:
            out["force"] = force
        if reaction is not None:
            out["reaction"] = reaction
        self.evaluate({"q": q, "u": u, "tau": tau, "motion": motion, "loads": loads}, out)

    def forward_batch(self, q: Array, u: Array, tau: Array, udot: Array) -> None:
        """Articulated-body dynamics of many states, rows of the arrays."""
        arrays = map(_address, (q, u, tau, udot))
        self._check(_lib.bough_forward_dynamics_batch(self.model.handle, self.handle, q.shape[0], *arrays))

    def _rows(self, name: str, count: int, *arrays: Array | None) -> None:
        call = getattr(_lib, f"bough_{name}")
        self._check(call(self.model.handle, self.handle, count, *map(_address, arrays)))

    def forward_rows(
        self, q: Array, u: Array, tau: Array, motion: Array | None, loads: Array | None, udot: Array
    ) -> None:
        """Articulated-body dynamics of many states, one at a time, with given motion and loads."""
        at = {"q": q, "u": u, "tau": tau, "motion": motion, "loads": loads}
        self.evaluate(at, {"udot": udot}, rows=q.shape[0])

    def composite(self, q: Array, u: Array, tau: Array, motion: Array | None, loads: Array | None, udot: Array) -> None:
        """Composite-body dynamics, (46), of many states."""
        work = np.empty(self.model.nu * (self.model.nu + 1))
        self._rows("forward_composite", q.shape[0], q, u, tau, motion, loads, work, udot)

    def inverse(self, q: Array, u: Array, udot: Array, loads: Array | None, tau: Array) -> None:
        """Inverse dynamics, (45), of many states."""
        self._rows("inverse_dynamics", q.shape[0], q, u, udot, loads, tau)

    def mass_matrix(self, q: Array) -> Array:
        """Mass matrices, (50), of many states."""
        out = np.empty((q.shape[0], self.model.nu, self.model.nu))
        self._rows("mass_matrix", q.shape[0], q, out)
        return out

    def mass_factors(self, q: Array) -> tuple[Array, Array]:
        """Innovations factors, (54), of many states."""
        shape = (q.shape[0], self.model.nu, self.model.nu)
        L, D = np.empty(shape), np.empty(shape)
        self._rows("mass_factors", q.shape[0], q, L, D)
        return L, D

    def mass_solve(self, q: Array, y: Array) -> Array:
        """M^-1 y, (56), of many states."""
        out = np.empty((q.shape[0], self.model.nu))
        self._rows("mass_solve", q.shape[0], q, y, out)
        return out

    def node_pose(self, q: Array, node: int) -> Array:
        """Position and quaternion of a node, of many states, (B, 7)."""
        out = np.empty((q.shape[0], 7))
        u = np.zeros((q.shape[0], self.model.nu))
        self.evaluate({"q": q, "u": u}, {"pose": out}, np.array([node], dtype=np.intc), q.shape[0])
        return out

    def node_motion(self, q: Array, u: Array, udot: Array | None, nodes: Nodes) -> tuple[Array, Array, Array | None]:
        """Poses (n, 7), velocities (n, 6) and, with udot, accelerations (n, 6)."""
        n = nodes.size
        pose, velocity = np.empty((n, 7)), np.empty((n, 6))
        acceleration = None if udot is None else np.empty((n, 6))
        out = {"pose": pose, "velocity": velocity}
        if acceleration is not None:
            out["acceleration"] = acceleration
        self.evaluate({"q": q, "u": u, "udot": udot}, out, nodes)
        return pose, velocity, acceleration

    def position_rates(self, q: Array, u: Array) -> Array:
        """Qdot = N(q) u of many states."""
        out = np.empty((q.shape[0], self.model.nq))
        self.evaluate({"q": q, "u": u}, {"qdot": out}, rows=q.shape[0])
        return out

    def directional(
        self,
        at: dict[str, Array],
        direction: dict[str, Array],
        nodes: Nodes,
        bodies: int,
        wanted: Sequence[str] = VALUES,
    ) -> dict[str, Array]:
        """Exact derivatives of the wanted values along a direction; arrays as in `bough_point` and `bough_values`."""
        m, n = self.model, nodes.size
        sizes = (
            *(m.nq, m.nu, m.nu, 6 * bodies, 7 * n, 6 * n, 6 * n, 9 * n, 6 * n),
            *(6 * m.loops, m.couplings, m.element_values),
            *(m.drives, m.drives, m.drives, m.indicators),
        )
        out = {name: np.zeros(size) for name, size in zip(VALUES, sizes, strict=True) if name in wanted}
        point, along = (_Point(**{name: _place(x.get(name)) for name in POINT}) for x in (at, direction))
        values = _Values(**{name: _place(a) for name, a in out.items()})
        self._check(_lib.bough_directional(m.handle, self.handle, point, along, n, _place(nodes), values))
        return out

    def inverse_directional(self, at: dict[str, Array], direction: dict[str, Array]) -> Array:
        """Exact derivative along a direction of the forces that udot takes, (nu,); no inertia is inverted."""
        names = ("q", "u", "loads", "udot")
        point, along = (_Point(**{name: _place(x.get(name)) for name in names}) for x in (at, direction))
        out = np.zeros(self.model.nu)
        self._check(_lib.bough_inverse_directional(self.model.handle, self.handle, point, along, _place(out)))
        return out

    def energy(self, q: Array, u: Array) -> Array:
        """Kinetic, gravitational, elastic and spring energy, J, of many states, (B, 4)."""
        out = np.empty((q.shape[0], 4))
        self._rows("energy", q.shape[0], q, u, out, None)
        return out

    def momentum(self, q: Array, u: Array) -> Array:
        """Angular momentum about the inertial origin, then linear momentum, of many states, (B, 6)."""
        out = np.empty((q.shape[0], 6))
        self._rows("energy", q.shape[0], q, u, None, out)
        return out
