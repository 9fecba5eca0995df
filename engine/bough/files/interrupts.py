"""Signals that end a process, noted instead of raised.

Python raises KeyboardInterrupt between any two instructions: inside a lock's bookkeeping it leaves the lock locked, and
inside a destructor it is lost. Where threads work, or files are written, a signal is better noted and answered later.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextlib.contextmanager
def noted(first: Callable[[], object]) -> Iterator[None]:
    """Within the block the first signal calls a function; the next one does what signals did before.

    Signals that Python does not handle, and those that are ignored, stay as they are. Only the main thread gets
    signals: in another one nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: handler for number in SIGNALS if callable(handler := signal.getsignal(number))}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def note(number: int, frame: FrameType | None) -> None:
        restore()
        first()

    try:
        for number in before:
            signal.signal(number, note)
        yield
    finally:
        restore()
