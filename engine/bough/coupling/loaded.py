"""An FMU loaded into a process: FMI 2 or 3, by FMPy's low-level classes.

Run as a program, this file serves the FMU to another process (`supervised.py`). It imports nothing of bough, so that
such a process starts in a fraction of a second.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import mmap
import os
import pickle
import sys
import threading
import time
from collections.abc import Callable, Sequence
from multiprocessing import connection
from pathlib import Path
from typing import Any

PROBLEMS = ("logStatusWarning", "logStatusDiscard", "logStatusError", "logStatusFatal")
"""Standard log categories of what goes wrong."""
LONGEST = 1000
"""Characters of a message that are kept."""
LOG, OK, FAILED = "log", "ok", "failed"
"""Kinds of answers: a message of the FMU, the result of a call, or why there is none."""


CUT = 86
"""Exit code of a process whose FMU has closed the channel."""


class Refused(Exception):
    """A call failed.

    Attributes:
        function: Which call, by FMPy's name.
        status: What the FMU returned, an fmi2Status or fmi3Status; None if the call never reached it.
        time: When it was called, s; None: now.
    """

    def __init__(self, text: str, function: str, status: int | None = None, time: float | None = None) -> None:
        """Keep the reason."""
        super().__init__(text)
        self.function, self.status, self.time = function, status, time


class Loaded:
    """An instance of an FMU in this process.

    Attributes:
        time: Simulation time, s; nothing here needs it.
    """

    time = 0.0

    def __init__(self, say: Callable[[str], None]) -> None:
        """Take what gets the warnings and errors of the FMU."""
        self._say = say
        self._fmu: Any = None
        self._old = False
        self._folder = os.getcwd()

    def load(
        self,
        fmi: int,
        name: str,
        identifier: str,
        token: str,
        folder: str,
        categories: Sequence[str],
        helped: dict[str, Any] | None = None,
    ) -> None:
        """Load the library and make an instance.

        Args:
            fmi: Version of the standard, 2 or 3.
            name: Of the instance.
            identifier: Stem of the library's name.
            token: GUID or instantiation token.
            folder: Of the unpacked FMU.
            categories: Log categories that the FMU knows.
            helped: What an FMU that does not step by itself needs (`embedded.py`): `states`, `indicators` and
                `completed` for one of Model Exchange, `clocks` and `clocked` for one with clocks.

        Raises:
            Refused: It cannot be loaded here, or refuses.
        """
        keys = {"guid": token, "modelIdentifier": identifier, "unzipDirectory": folder, "instanceName": name}
        self._old = fmi == 2
        about = helped or {}
        try:
            if self._old:
                from fmpy import fmi2

                fmu = (fmi2.FMU2Model if "states" in about else fmi2.FMU2Slave)(**keys)
                fmu.instantiate(callbacks=self._callbacks2(), loggingOn=True)
            else:
                from fmpy import fmi3

                fmu = (fmi3.FMU3Model if "states" in about else fmi3.FMU3Slave)(**keys)
                events = {"eventModeUsed": True, "earlyReturnAllowed": True} if "clocks" in about else {}
                fmu.instantiate(logMessage=self._log, loggingOn=True, **events)
            wanted = [category for category in categories if category in PROBLEMS]
            if wanted:  # hear of what goes wrong only, where the FMU has the standard's categories for it
                fmu.setDebugLogging(True, wanted)
        except Exception as error:  # FMPy raises whatever it meets
            raise Refused(str(error) or type(error).__name__, "instantiate") from None
        finally:
            self._return()
        self._fmu = _helped(fmu, fmi, about)

    def call(self, function: str, *arguments: Any) -> Any:
        """Call a function of the instance by FMPy's name of it, `doStep`; states of the FMU are addresses.

        Raises:
            Refused: It did not return OK or a warning.
        """
        try:
            if function == "getFMUState":
                return self._fmu.getFMUState().value
            if function in ("setFMUState", "freeFMUState"):
                from ctypes import c_void_p

                arguments = (c_void_p(arguments[0]),)
            return getattr(self._fmu, function)(*arguments)
        except Exception as error:  # FMICallException, or what ctypes raises
            raise Refused(str(error), function, getattr(error, "status", None)) from None

    def close(self, free: bool) -> None:
        """End: free the instance, unless the standard forbids to touch it; go back to the folder of the beginning.

        Raises:
            Refused: It could not be freed.
        """
        try:
            if free and self._fmu is not None:
                self.call("freeInstance")
        finally:
            self._fmu = None
            self._return()

    def _return(self) -> None:
        """Back to the folder of the beginning: FMPy stays in that of a library it cannot load, and FMUs move too."""
        with contextlib.suppress(OSError):
            os.chdir(self._folder)

    def _callbacks2(self) -> Any:
        """Call backs of this instance alone: FMPy's formatting one is shared by all, and the last one made gets all."""
        from fmpy import calloc, fmi2, free

        callbacks = fmi2.fmi2CallbackFunctions()
        callbacks.logger = fmi2.fmi2CallbackLoggerTYPE(self._log)
        callbacks.allocateMemory = fmi2.fmi2CallbackAllocateMemoryTYPE(calloc)
        callbacks.freeMemory = fmi2.fmi2CallbackFreeMemoryTYPE(free)
        return callbacks

    def _log(self, *arguments: Any) -> None:
        """The call back of both versions: the message comes last, the status before the category."""
        text, status = arguments[-1], arguments[-3]
        if status >= 1:
            said = (text or b"(a message without text)")[:LONGEST].decode("utf-8", "replace")
            # FMI 2 takes a format of printf; one without arguments has its percent signs doubled.
            self._say(said.replace("%%", "%") if self._old else said)


def _helped(fmu: Any, fmi: int, about: dict[str, Any]) -> Any:
    """The instance, with what it needs to step."""
    if not about:
        return fmu
    path = Path(__file__).with_name("embedded.py")  # by its path: the other process knows no package
    spec = importlib.util.spec_from_file_location("bough_embedded", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Clocked(fmu, **about) if "clocks" in about else module.Embedded(fmu, fmi, **about)


# ---- the other process


class _Plain(pickle.Unpickler):
    """Reads numbers, texts and lists; nothing that could run."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"unexpected {module}.{name}")


def encode(message: Any) -> bytes:
    """A message of numbers, texts, lists and tuples: floating-point numbers bit for bit."""
    return pickle.dumps(message, 5)


def decode(data: bytes) -> Any:
    """What `encode` has made."""
    return _Plain(io.BytesIO(data)).load()


def open_mark(path: Path) -> memoryview:
    """A number in a file, which two processes share: the call, of those asked for at once, that is on its way."""
    with path.open("r+b") as file:
        return memoryview(mmap.mmap(file.fileno(), 4)).cast("I")


def serve(channel: Any, mark: memoryview) -> None:
    """Answer calls until the other side closes the channel: several at once, the last one of which has a result."""
    one_at_a_time = threading.Lock()  # FMUs may send messages from threads of their own

    def send(message: Any) -> None:
        with one_at_a_time:
            try:
                channel.send_bytes(encode(message))
            except OSError:
                os._exit(CUT)

    loaded = Loaded(lambda text: send((LOG, text)))
    own: dict[str, Callable[..., None]] = {"instantiate": loaded.load, "freeInstance": loaded.close}
    answer: tuple[str, Any] = (OK, None)
    while True:
        try:
            calls = decode(channel.recv_bytes())
        except EOFError:
            return
        except OSError:
            os._exit(CUT)
        try:
            for k, (function, arguments) in enumerate(calls):
                mark[0] = k
                answer = (OK, own[function](*arguments) if function in own else loaded.call(function, *arguments))
        except Refused as refusal:
            answer = (FAILED, (str(refusal), refusal.status))
        except Exception as error:  # a mistake here is told there
            answer = (FAILED, (f"{type(error).__name__}: {error}", None))
        send(answer)


def main() -> None:
    """Serve one FMU over the channel that the first argument names."""
    handle, parent = int(sys.argv[1]), int(sys.argv[2])
    channel: Any
    if sys.platform == "win32":
        channel = connection.PipeConnection(handle)
        os.set_handle_inheritable(handle, False)
    else:
        channel = connection.Connection(handle)
        os.set_inheritable(handle, False)
    _no_crash_reports()
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    sys.path[:], package, mark = decode(channel.recv_bytes())
    with contextlib.suppress(ImportError):  # now, since it takes its time; a failure is told when the FMU is loaded
        importlib.import_module(package)
    channel.send_bytes(encode((OK, None)))
    serve(channel, open_mark(Path(mark)))
    os._exit(0)  # whatever the FMU has left behind in this process is not run any more


def _no_crash_reports() -> None:
    """No core files, and no window that waits for a click: the other process tells of a crash."""
    if sys.platform == "win32":
        import ctypes

        ctypes.windll.kernel32.SetErrorMode(0x8003)  # no box for critical errors, faults and missing files
    else:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _end_with(parent: int) -> None:
    """End this process with the one that has started it, even if the FMU never returns."""
    if sys.platform == "win32":
        import _winapi

        handle = _winapi.OpenProcess(_winapi.SYNCHRONIZE, False, parent)
        _winapi.WaitForSingleObject(handle, _winapi.INFINITE)
    else:
        first = os.getppid()
        while os.getppid() == first:
            time.sleep(1.0)
    os._exit(1)


if __name__ == "__main__":
    main()
