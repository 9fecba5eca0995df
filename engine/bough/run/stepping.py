"""A model that somebody else steps: state, inputs, parameters and outputs as arrays, from one time to the next.

This is what an FMU instance is made of. `fmu_src/common` is the same in C, with the same calls of the kernel in the
same order: results agree to the last bit. The FMU in Python (`fmu_src/python/slave.py`) is a thin layer over it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.errors import SimulationError
from bough.mechanism import kernel, kernel_run
from bough.mechanism.threads import OneThread, one_thread

Array: TypeAlias = NDArray[np.float64]
InputFunction: TypeAlias = Callable[[float, Array, Array, Array, Array, Array], None]
"""Changes tau (nu,), motion (nu,) and loads (n, 6) for a time in s and the state q (nq,), u (nu,) of a stage."""

RK4_STEP = 1e-3
"""Step of rk4 where none is given, s."""
MOST_ATTEMPTS = 1_000_000
"""More attempts at an internal step between two communication points are a mistake."""
_SAVED = ("q", "u", "tau", "motion", "loads", "gravity", "damping", "stiffness", "rest", "armature", "modal", "rigid")
_MAGIC = b"BOUGHSTP"
_NOW, _SETTINGS = "<ddddqq", "<qddd"
_HEAD = struct.calcsize(_NOW) + struct.calcsize(_SETTINGS)


def _hopeless(count: int, start: float, time: float, end: float) -> bool:
    """Whether the end of a step is out of sight after so many attempts, as fmu_src/common/step.c has it."""
    used = count / MOST_ATTEMPTS
    return used > 1.0 or (used >= 0.01 and time - start < used * used * (end - start))


class Stepper:
    """State, inputs and parameters of a model, and the integrator that moves them on.

    The arrays may be written to; call `touch` afterwards. Outputs are computed when `evaluate` is called. Belongs to
    one thread at a time: a call while another thread is at work in it raises SimulationError.

    Attributes:
        q, u: Positions (nq,) and speeds (nu,).
        tau, motion, loads: Inputs: forces (nu,), accelerations of driven DOFs (nu,), torque and force at each load node
            (6n,).
        gravity: (3,), m/s2.
        damping, stiffness, rest, armature: Of hinge DOFs, in the order of u.
        modal: Factor on each body's modal damping.
        rigid: Mass, mass centre and inertia of each body, (10 bodies,); goes to the kernel for `tunable` bodies only.
        locked: By body, for hinges that can be locked: whether they are.
        qdot, udot, force, reaction, pose, velocity, acceleration: Outputs, flat.
        method, step_size, tolerance, max_step: Of the integrator: 0 rk4, 1 dopri5, 2 rosenbrock2; s; relative; s.
        time: s.
    """

    def __init__(self, block: bytes, sensors: Sequence[int] = (), bodies: Sequence[tuple[str, str]] = ()) -> None:
        """Open a model.

        Args:
            block: The kernel's model block, as in `Mechanism.block.data`.
            sensors: Nodes whose pose, velocity and acceleration are outputs, by the kernel's numbers.
            bodies: Names of each body and its hinge, for messages.
        """
        self._one_thread = OneThread("Stepper")
        model = self._model = kernel.KernelModel(block)
        self._data = kernel.KernelData(model, kernel.LANES_TANGENT)
        self._bodies, self._sensors = tuple(bodies), np.array(sensors, dtype=np.intc)
        nq, nu, nb, ns = model.nq, model.nu, model.bodies, len(sensors)
        self._load_count = kernel_run.loads(model)
        self.q, self.u, self.tau, self.motion = np.zeros(nq), np.zeros(nu), np.zeros(nu), np.zeros(nu)
        self.loads, self.gravity, self.modal, self.rigid = (np.zeros(6 * self._load_count), np.zeros(3), np.ones(nb),
                                                            np.zeros(10 * nb))  # fmt: skip
        self.damping, self.rest = self._data.get(kernel.DAMPING, nu), self._data.get(kernel.REST, nu)
        self.stiffness, self.armature = np.zeros(nu), np.zeros(nu)
        self.locked: dict[int, bool] = {}
        self.tunable: tuple[int, ...] = ()
        self.qdot, self.udot, self.force, self.reaction = np.zeros(nq), np.zeros(nu), np.zeros(nu), np.zeros(6 * nb)
        self.pose, self.velocity, self.acceleration = np.zeros(7 * ns), np.zeros(6 * ns), np.zeros(6 * ns)
        self.method, self.step_size, self.tolerance, self.max_step, self.time = 1, 0.0, 1e-6, 0.0, 0.0
        self.running = False
        self._changed, self._moved, self._fresh = True, True, False
        self._input: InputFunction | None = None
        self._run: kernel_run.KernelRun | None = None
        self._run_settings: tuple[int, float, float, float] = (0, 0.0, 0.0, 0.0)

    # ---- parameters into the kernel, values out of it

    def touch(self, what: Literal["inputs", "parameters", "positions"]) -> None:
        """Arrays have been written to: inputs, or parameters and speeds, or q."""
        self._fresh = False
        if what != "inputs":
            self._changed = True
        if what == "positions":
            self._moved = True

    @one_thread
    def apply(self) -> None:
        """Hand changed parameters, start values and locks to the kernel.

        Raises:
            SimulationError: The kernel refuses them.
        """
        if not self._changed:
            return
        data = self._data
        with self._errors("parameters are refused"):
            for which, values in (
                (kernel.GRAVITY, self.gravity),
                (kernel.DAMPING, self.damping),
                (kernel.STIFFNESS, self.stiffness),
                (kernel.REST, self.rest),
                (kernel.ARMATURE, self.armature),
                (kernel.MODAL_DAMPING_SCALE, self.modal),
            ):
                data.set(which, values)
            for body in self.tunable:
                kernel_run.set_rigid(data, body, self.rigid[10 * body : 10 * body + 10])
        if self._moved:
            self._fix_quaternions()
        self._moved = False
        self._changed, self._fresh = False, False
        if self._run is not None:
            self._run.disturb()
        with self._errors("a hinge cannot be locked"):
            self._apply_locks()

    def _fix_quaternions(self) -> None:
        """Start values of quaternions may have any length but zero."""
        for body in range(len(self.modal)):
            q, u = kernel_run.hinge(self._model, body)
            if q.stop - q.start != u.stop - u.start and not self.q[q.stop - 4 : q.stop].any():
                name = self._bodies[body][1] if self._bodies else f"of body {body}"
                raise SimulationError(f"the quaternion '{name}.Q' is zero; set it to 0, 0, 0, 1 for frames that agree")
        kernel_run.normalize(self._model, self.q)

    def _apply_locks(self) -> None:
        """Hold the speeds of locked hinges; those that move are stopped by an impulse that keeps momentum."""
        held = self._data.get(kernel.HELD, self.u.size)
        stop = np.zeros(self.u.size, dtype=np.uint8)
        for body, lock in self.locked.items():
            _, u = kernel_run.hinge(self._model, body)
            held[u] = float(lock)
            stop[u] = lock & (self.u[u] != 0.0)
        self._data.set(kernel.HELD, held)
        if not stop.any():
            return
        if not self.running:  # before the run a locked hinge simply does not move
            self.u[stop != 0] = 0.0
            return
        kernel_run.stop_impulse(self._data, self.q, stop, self.u)
        if self._run is not None:
            self._run.set_state(self.q, self.u)

    @one_thread
    def evaluate(self) -> None:
        """Compute every output for the present state and inputs.

        Raises:
            SimulationError: An inertia is singular or a number is not finite; the message names the body.
        """
        self.apply()
        if self._fresh:
            return
        with self._errors("accelerations cannot be computed"):
            at = {name: getattr(self, name) for name in kernel.POINT}
            out = {name: getattr(self, name) for name in kernel.VALUES}
            self._data.evaluate(at, out, self._sensors)
        self._fresh = True

    # ---- time

    @one_thread
    def step(self, end: float, inputs: InputFunction | None = None) -> None:
        """Integrate to time `end`, s.

        Args:
            end: Where to stop, exactly.
            inputs: Inputs within the step; by default they stay as they are.

        Raises:
            SimulationError: The step cannot be finished; `time`, `q` and `u` say how far it got.
        """
        self.apply()
        with self._errors("the step cannot be finished"):
            run = self._open()
            if self._input != inputs:
                self._input = inputs
                run.set_input(inputs)
            run.set_inputs(self.time, np.concatenate([self.tau, self.motion, self.loads])[None])
            run.disturb()
            start, first = self.time, run.attempts
            while self.time < end:
                run.step(end, self.q, self.u)
                self.time, self._fresh = run.time, False
                if self.time < end and _hopeless(run.attempts - first, start, self.time, end):
                    raise kernel.KernelError(kernel.STEP_TOO_SMALL, -1, self.time)

    def _open(self) -> kernel_run.KernelRun:
        """The integrator, made anew when its settings have changed."""
        settings = (self.method, self.step_size, self.tolerance, self.max_step)
        if self._run is None or settings != self._run_settings:
            self._run = self._make(settings)
            self._run.start(self.time, self.q, self.u)
            self._run_settings = settings
        return self._run

    def _make(self, settings: tuple[int, float, float, float]) -> kernel_run.KernelRun:
        method, step, tolerance, longest = settings
        name = kernel_run.METHOD_NAMES[method]
        stepping = kernel.METHODS[name].stepping
        first = 0.0 if stepping == kernel.STEP_ADAPTIVE else step
        if stepping == kernel.STEP_FIXED:
            first = step or RK4_STEP
        self._input = None
        return kernel_run.KernelRun(self._data, self._load_count, name, tolerance, 0.0, first, longest)

    # ---- snapshots

    @one_thread
    def save(self) -> bytes:
        """Everything this object remembers, without pointers: `restore` continues bit for bit."""
        run = b"" if self._run is None else self._run.save()
        arrays = b"".join(getattr(self, name).tobytes() for name in _SAVED)
        locks = bytes(self.locked[body] for body in sorted(self.locked))
        flags = self.running | self._changed << 1 | self._moved << 2
        now = (self.time, self.step_size, self.tolerance, self.max_step, self.method, flags)
        head = struct.pack(_NOW, *now) + struct.pack(_SETTINGS, *self._run_settings)
        sizes = struct.pack("<8sqqq", _MAGIC, len(arrays), len(locks), len(run))
        return sizes + head + arrays + locks + run

    @one_thread
    def restore(self, state: bytes) -> None:
        """Go back to what `save` gave, in this process or another.

        Raises:
            SimulationError: It is not a state of this model.
        """
        arrays = sum(getattr(self, name).nbytes for name in _SAVED)
        at = struct.calcsize("<8sqqq")
        fits = len(state) >= at + _HEAD
        if fits:
            magic, *sizes = struct.unpack_from("<8sqqq", state)
            fits = magic == _MAGIC and sizes[:2] == [arrays, len(self.locked)] and at + _HEAD + sum(sizes) == len(state)
        if not fits:
            raise SimulationError("this is not a state of this model; nothing is changed")
        now = struct.unpack_from(_NOW, state, at)
        settings = struct.unpack_from(_SETTINGS, state, at + struct.calcsize(_NOW))
        at += _HEAD
        run = state[len(state) - sizes[2] :] if sizes[2] else b""
        with self._errors("the state cannot be restored"):
            self._run = self._make(settings) if run else None
            if self._run is not None:
                self._run.restore(run)
        self._run_settings = settings
        self.time, self.step_size, self.tolerance, self.max_step = now[:4]
        self.method, flags = int(now[4]), int(now[5])
        self.running, self._changed, self._moved = bool(flags & 1), bool(flags & 2) or not run, bool(flags & 4)
        self._fresh = False
        for name in _SAVED:
            array = getattr(self, name)
            array[:] = np.frombuffer(state, np.float64, array.size, at)
            at += array.nbytes
        for body, lock in zip(sorted(self.locked), state[at:], strict=False):
            self.locked[body] = bool(lock)

    def _errors(self, what: str) -> _Translate:
        return _Translate(self, what)

    def name(self, body: int) -> str:
        """A body and its hinge, for messages."""
        if not 0 <= body < len(self._bodies):
            return ""
        return " (body '{}', hinge '{}')".format(*self._bodies[body])


class _Translate:
    """Turn the kernel's errors into SimulationError."""

    def __init__(self, stepper: Stepper, what: str) -> None:
        self.stepper, self.what = stepper, what

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, kernel.KernelError):
            run = self.stepper._run
            if run is not None and run.failure is not None:
                cause, run.failure = run.failure, None
                raise cause
            where = f"{self.stepper.name(error.body)} at t = {self.stepper.time:.9g} s"
            raise SimulationError(f"{self.what}{where}: {error}") from None
