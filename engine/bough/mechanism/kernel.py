"""The only place that calls C: a thin, typed layer over `engine/kernel/include/bough.h` by ctypes."""

from __future__ import annotations

import ctypes as c
import importlib.resources
import itertools
import os
import time as clock
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough import _build_info
from bough.errors import BoughError, SimulationError
from bough.mechanism.quick import Quick, kernel_of

Array: TypeAlias = NDArray[np.float64]
Nodes: TypeAlias = NDArray[np.intc]
NO_NODES: Nodes = np.empty(0, dtype=np.intc)

OK, SINGULAR, NOT_FINITE, STEP_TOO_SMALL, STOPPED, PAUSED, OPEN = 0, 4, 5, 6, 7, 8, 9
GRAVITY, DAMPING, STIFFNESS, REST, ARMATURE, HELD, INERTIA, MODAL_DAMPING_SCALE = range(8)
STEP_FIXED, STEP_EITHER, STEP_ADAPTIVE = range(3)
LANES_BATCH, LANES_TANGENT = 1, 2

_D, _P = c.POINTER(c.c_double), c.c_void_p
INPUT_FN = c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_double, *[_D] * 5)
INPUT_ORDERS = 3
"""Highest derivative of an input that the kernel takes."""
_CHUNK = 0.05
"""Rows are recorded for about so long between two looks at the outside world, s."""
_PAUSE = 100_000
"""Attempts at a step, times speeds, between two looks at the outside world: a fraction of a second."""


class _Where(c.Structure):
    _fields_ = (("body", c.c_int), ("time", c.c_double), ("constraint", c.c_int))


class _Options(c.Structure):
    _fields_ = (
        ("method", c.c_int),
        ("rtol", c.c_double),
        ("atol", c.c_double),
        ("step", c.c_double),
        ("step_max", c.c_double),
        ("pause", c.c_int64),
    )


_SIZES: tuple[str, ...] = (
    "nq",
    "nu",
    "bodies",
    "nodes",
    "loads",
    "elements",
    "element_values",
    "loops",
    "couplings",
    "rows",
)
_SIZES += ("drives", "modes", "indicators")


class _Sizes(c.Structure):
    _fields_ = (
        *((name, c.c_int) for name in _SIZES),
        ("memory", c.c_size_t),
    )


class _Method(c.Structure):
    _fields_ = (("name", c.c_char_p), ("note", c.c_char_p), ("order", c.c_int), ("stepping", c.c_int))


POINT = ("q", "u", "tau", "motion", "loads")
"""Arguments of an evaluation, and those that directional derivatives are taken by."""


class _Point(c.Structure):
    _fields_ = (("t", c.c_double), *((name, _P) for name in (*POINT, "udot")))


VALUES = (
    *("qdot", "udot", "force", "reaction", "pose", "velocity", "acceleration"),
    *("local", "deflection"),
    *("closure", "coupling", "element"),
    *("friction", "sticking", "contact", "indicator"),
)
"""What an evaluation gives, and directional derivatives are given of."""
DRIVE_VALUES = ("friction", "sticking", "contact")
"""Of these what friction exerts, where it holds, and which limit is touched."""


class _Values(c.Structure):
    _fields_ = tuple((name, _P) for name in VALUES)


class _Rows(c.Structure):
    _fields_ = (
        ("times", _P),
        ("knot_count", c.c_int),
        ("knots", _P),
        ("input_count", c.c_int),
        ("places", _P),
        ("input_values", _P),
        ("input_slopes", _P),
        ("work", _P),
        ("count", c.c_int),
        ("nodes", _P),
        *((name, _P) for name in ("q", "u", "motion", "loads")),
        ("values", _Values),
    )


class _Counts(c.Structure):
    _fields_ = (("steps", c.c_int64), ("rejected", c.c_int64), ("evaluations", c.c_int64))


_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "status_text": (c.c_char_p, [c.c_int]),
    "model_create": (c.c_int, [c.c_char_p, c.c_size_t, c.POINTER(_P)]),
    "model_free": (None, [_P]),
    "model_sizes": (_Sizes, [_P]),
    "data_create": (c.c_int, [_P, c.c_int, c.POINTER(_P)]),
    "data_free": (None, [_P]),
    "data_memory": (c.c_size_t, [_P]),
    "data_where": (_Where, [_P]),
    "data_isa": (c.c_int, [_P]),
    "data_set_isa": (c.c_int, [_P, c.c_int]),
    "data_set": (c.c_int, [_P, c.c_int, _D, c.c_int]),
    "data_get": (c.c_int, [_P, c.c_int, _D, c.c_int]),
    "data_copy": (c.c_int, [_P, _P]),
    "evaluate_rows": (c.c_int, [_P, _P, c.c_int, c.POINTER(_Point), c.c_int, _P, c.POINTER(_Values)]),
    "directional": (c.c_int, [_P, _P, c.POINTER(_Point), c.POINTER(_Point), c.c_int, _P, c.POINTER(_Values)]),
    "inverse_directional": (c.c_int, [_P, _P, c.POINTER(_Point), c.POINTER(_Point), _P]),
    "forward_dynamics_batch": (c.c_int, [_P, _P, c.c_int, _D, _D, _D, _D]),
    "forward_composite": (c.c_int, [_P, _P, c.c_int, *[_D] * 7]),
    "inverse_dynamics": (c.c_int, [_P, _P, c.c_int, *[_D] * 5]),
    "mass_matrix": (c.c_int, [_P, _P, c.c_int, _D, _D]),
    "mass_factors": (c.c_int, [_P, _P, c.c_int, _D, _D, _D]),
    "mass_solve": (c.c_int, [_P, _P, c.c_int, _D, _D, _D]),
    "energy": (c.c_int, [_P, _P, c.c_int, *[_D] * 4]),
    "method_about": (c.POINTER(_Method), [c.c_int]),
    "normalize": (None, [_P, _D]),
    "sim_create": (c.c_int, [_P, _P, c.POINTER(_Options), c.POINTER(_P)]),
    "sim_free": (None, [_P]),
    "sim_start": (c.c_int, [_P, c.c_double, _D, _D]),
    "sim_set_stop": (None, [_P, c.c_double]),
    "sim_disturb": (None, [_P]),
    "sim_set_inputs": (c.c_int, [_P, c.c_double, c.c_int, _D]),
    "sim_excursion": (c.c_int, [_P, _D, _D]),
    "sim_advance": (c.c_int, [_P, c.c_double, c.c_int, INPUT_FN, _P, _D, _D]),
    "sim_record": (c.c_int, [_P, c.POINTER(_Rows), c.c_int, c.POINTER(c.c_int), c.POINTER(c.c_int)]),
    "sim_time": (c.c_double, [_P]),
    "sim_get_counts": (_Counts, [_P]),
    "sim_where": (_Where, [_P]),
}


def _open() -> c.CDLL:
    path = importlib.resources.files("bough").joinpath(*_build_info.LIBRARY.split("/"))
    library = c.CDLL(os.environ.get("BOUGH_KERNEL_LIBRARY") or str(path))
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(library, f"bough_{name}")
        function.restype, function.argtypes = result, arguments
    return library


_lib = _open()
_quick = kernel_of(_lib)


@dataclass(frozen=True)
class Method:
    """An integrator: its number in the kernel, what it is for, and what a given step means to it (STEP_...)."""

    number: int
    note: str
    stepping: int


def _methods() -> Iterator[tuple[str, Method]]:
    for number in itertools.count():
        found = _lib.bough_method_about(number)
        if not found:
            return
        facts = found.contents
        yield facts.name.decode(), Method(number, facts.note.decode(), facts.stepping)


METHODS = dict(_methods())
"""The kernel's integrators by their names."""


def _where(a: Array | Nodes) -> int:
    """Address of an array whose entries follow one another, as C reads them.

    Raises:
        ValueError: They do not: a column or a transposed matrix, whose neighbours C would take for its entries.
    """
    about = a.__array_interface__
    if about["strides"] is not None:
        raise ValueError(f"an array of shape {a.shape} is not contiguous: the kernel would read other numbers")
    place: int = about["data"][0]
    return place


def _ptr(a: Array | None) -> Any:
    return None if a is None else c.cast(_where(a), _D)


def _address(a: Array | None) -> Any:
    """Pointer to a C-contiguous float64 array; the cheap way, for calls that are made often."""
    return None if a is None else c.cast(_where(a), _D)


def _place(a: Array | Nodes | None) -> int | None:
    """Address of a C-contiguous array, for a field of a structure."""
    return None if a is None else _where(a)


def status_text(status: int) -> str:
    """One line of English for a kernel status."""
    text: bytes = _lib.bough_status_text(status)
    return text.decode()


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


InputFunction: TypeAlias = Callable[[float, Array, Array, Array, Array, Array], None]
"""Changes tau (nu,), motion (nu,) and loads (n, 6) for a time in s and the state q (nq,), u (nu,) of a stage."""


@dataclass(frozen=True, eq=False)
class LinearInputs:
    """Inputs that are linear from one knot to the next.

    Attributes:
        knots: Start of each piece, s; the last is the end of the run.
        places: Where the inputs are among tau (nu,), motion (nu,) and loads (6n,).
        values: (inputs, knots), just after each knot.
        slopes: (inputs, knots), from there on.
    """

    knots: Array
    places: NDArray[np.intc]
    values: Array
    slopes: Array


class KernelSim:
    """A time integration in progress."""

    def __init__(
        self, data: KernelData, loads: int, method: str, rtol: float, atol: float, step: float, step_max: float
    ) -> None:
        """Make the integrator's workspace.

        Args:
            data: Parameters, and the workspace of evaluations; must not be used elsewhere during the run.
            loads: Number of nodes that take a load.
            method: A key of METHODS.
            rtol: Relative tolerance.
            atol: Absolute tolerance of positions; 0: each coordinate is judged by its own motion.
            step: Fixed step, or the first of an adaptive method (0: chosen), s.
            step_max: Longest step, s; 0: no bound.
        """
        self.data, self._loads = data, loads
        self.handle = _P()
        model = data.model
        pause = max(4, _PAUSE // (model.nu + 1))
        options = _Options(METHODS[method].number, rtol, atol, step, step_max, pause)
        status = _lib.bough_sim_create(model.handle, data.handle, c.byref(options), c.byref(self.handle))
        if status != OK:
            raise SimulationError(f"the integrator cannot start: {status_text(status)}")
        self.q, self.u = np.empty(model.nq), np.empty(model.nu)
        self.failure: BaseException | None = None
        self.paused: Callable[[], None] | None = None
        self._callback = INPUT_FN(0)

    def __del__(self) -> None:
        """Free the kernel's memory."""
        if getattr(self, "handle", None) and _lib is not None:
            _lib.bough_sim_free(self.handle)

    def start(self, t: float, q: Array, u: Array, stop: float = float("inf")) -> None:
        """Begin at time t; no step looks beyond `stop`."""
        self.set_stop(stop)
        status = _lib.bough_sim_start(self.handle, t, _ptr(q), _ptr(u))
        if status != OK:
            raise KernelError(status, -1, t)

    def set_stop(self, t: float) -> None:
        """No step looks beyond time t, s, from now on."""
        _lib.bough_sim_set_stop(self.handle, t)

    def disturb(self) -> None:
        """Inputs or parameters have jumped."""
        _lib.bough_sim_disturb(self.handle)

    def set_inputs(self, t: float, values: Array) -> None:
        """Inputs from now on as polynomials in the time since t.

        Args:
            t: s.
            values: (order + 1, 2 nu + 6 loads): tau, motion and loads at time t, then their derivatives.
        """
        if values.shape[1] != 2 * self.data.model.nu + 6 * self._loads or not values.flags.c_contiguous:
            raise ValueError(f"inputs of shape {values.shape}")
        status = _lib.bough_sim_set_inputs(self.handle, t, values.shape[0] - 1, _address(values))
        if status != OK:
            raise KernelError(status, -1, t)

    def set_input(self, function: InputFunction | None) -> None:
        """A function that changes inputs at every stage; an exception in it stops the run and is kept in `failure`."""
        if function is None:
            self._callback = INPUT_FN(0)
            return
        nq, nu, loads = self.data.model.nq, self.data.model.nu, self._loads
        view = np.ctypeslib.as_array

        def call(_: Any, t: float, q: Any, u: Any, tau: Any, motion: Any, load: Any) -> int:
            try:
                state = view(q, (nq,)), view(u, (nu,))
                forces = view(load, (loads, 6)) if loads else np.empty((0, 6))
                function(t, *state, view(tau, (nu,)), view(motion, (nu,)), forces)
            except BaseException as error:  # every error must cross the C frames as a status
                self.failure = error
                return 1
            return 0

        self._callback = INPUT_FN(call)

    def advance(self, t: float, exact: bool = False) -> None:
        """Advance to time t, s; `q` and `u` hold the state there, or the last good one.

        The kernel comes back for a moment every fraction of a second, so that signals are handled; `paused` is called
        then.
        """
        while True:
            state = _ptr(self.q), _ptr(self.u)
            status = _lib.bough_sim_advance(self.handle, t, int(exact), self._callback, None, *state)
            if status == OK:
                return
            if status != PAUSED:
                where = _lib.bough_sim_where(self.handle)
                raise KernelError(status, where.body, where.time, where.constraint - 1)
            if self.paused is not None:
                self.paused()

    def record(
        self, times: Array, inputs: LinearInputs, nodes: Nodes, store: Mapping[str, Array], told: Callable[[int], None]
    ) -> None:
        """Run through all times and fill the rows of `store`, the loop in C.

        Python looks at the outside world every fraction of a second: signals are handled, and `told` is called with the
        number of rows that are there.
        """
        work = np.zeros((2, 2 * self.data.model.nu + 6 * self._loads))
        values = _Values(**{name: _place(store[name]) for name in VALUES if name in store and store[name].size})
        rows = _Rows(
            _place(times), inputs.knots.size, _place(inputs.knots), inputs.places.size, _place(inputs.places),
            _place(inputs.values), _place(inputs.slopes), _place(work), nodes.size, _place(nodes),
            *(_place(store[name]) for name in ("q", "u", "motion", "loads")), values,
        )  # fmt: skip
        row, piece, chunk = c.c_int(0), c.c_int(-1), 8
        while row.value < times.size:
            began = clock.perf_counter()
            end = min(row.value + chunk, times.size)
            status = _lib.bough_sim_record(self.handle, rows, end, row, piece)
            told(row.value)
            if status not in (OK, PAUSED):
                where = _lib.bough_sim_where(self.handle)
                raise KernelError(status, where.body, where.time, where.constraint - 1)
            took = clock.perf_counter() - began
            chunk = min(2 * chunk, 100_000) if took < _CHUNK else max(1, chunk // 2)

    @property
    def excursion(self) -> tuple[Array, Array]:
        """Of every coordinate, q then u: largest distance from its start value, and absolute tolerance."""
        size, floor = (np.empty(self.data.model.nq + self.data.model.nu) for _ in range(2))
        _lib.bough_sim_excursion(self.handle, _ptr(size), _ptr(floor))
        return size, floor

    @property
    def time(self) -> float:
        """Time that the integrator has reached, s."""
        return float(_lib.bough_sim_time(self.handle))

    @property
    def counts(self) -> tuple[int, int, int]:
        """Steps, rejected steps, evaluations."""
        n = _lib.bough_sim_get_counts(self.handle)
        return n.steps, n.rejected, n.evaluations
