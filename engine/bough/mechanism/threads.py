"""What may be used from where: work space of each thread, and objects that belong to one thread at a time."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from bough.errors import SimulationError
from bough.mechanism import kernel

P = ParamSpec("P")
R = TypeVar("R")


class Workspace(threading.local):
    """The kernel's parameters and work space, another one for every thread; freed when the thread ends.

    A model is read-only in the kernel and shared. Parameters begin as the model has them in every thread.
    """

    def __init__(self, model: kernel.KernelModel, lanes: int = kernel.LANES_BATCH) -> None:
        """Runs in every thread that uses the object, with the same arguments."""
        self.data = kernel.KernelData(model, lanes)
        self.quick = self.data.quick


class OneThread:
    """Lets one thread in at a time; another one that comes meanwhile gets an error instead of wrong numbers."""

    def __init__(self, what: str) -> None:
        """Say what is guarded, for the message."""
        self._what, self._lock = what, threading.RLock()

    def __enter__(self) -> None:
        """Take it, or say that another thread has it."""
        if not self._lock.acquire(blocking=False):
            raise SimulationError(
                f"this {self._what} is at work in another thread, and belongs to one at a time; give every thread "
                f"a {self._what} of its own, or wait for the other thread"
            )

    def __exit__(self, *_: object) -> None:
        """Give it back."""
        self._lock.release()


class _Guarded(Protocol):
    @property
    def _one_thread(self) -> OneThread: ...


S = TypeVar("S", bound=_Guarded)


def one_thread(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """A method of an object with `_one_thread` that refuses to run in two threads at once."""

    @functools.wraps(method)
    def guarded(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._one_thread:
            return method(self, *args, **kwargs)

    return guarded
