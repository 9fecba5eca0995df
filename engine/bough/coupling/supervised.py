"""An FMU in a process of its own, which may crash, exit, hang, print and change folder without harm to this one."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time as clock
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bough.coupling import loaded
from bough.coupling.loaded import CUT, LOG, OK, Refused, decode, encode, open_mark

START = 60.0
"""Time that a process has to start, s: it depends on the machine, not on the FMU."""
GRACE = 5.0
"""Time that a process has to end by itself, s."""
LOOK = 0.25
"""Time between two looks at the clock and at the process, s."""
SHOWN = 100
"""Printed lines of an FMU that are logged; of the others only their number is."""
WIDTH = 500
"""Characters of a printed line; a longer one is broken."""
LAST = 5
"""Printed lines that are told when the process ends."""
LATE = ("set", "freeFMUState")
"""Beginnings of the names of functions without a result."""
MOST = 100
"""Calls that wait at most."""
CRASHES = {0xC0000005: "access violation", 0xC00000FD: "stack overflow", 0xC0000374: "heap corruption"}
"""Exit codes of Windows that are crashes."""

LOST = "lost its connection: the FMU has closed it"

log = logging.getLogger("bough.fmu")
"""What FMUs print, line by line, at level INFO."""


class Gone(Refused):
    """The process of an FMU ended, or had to be ended; the text follows the name of the call."""


class Supervised:
    """An instance of an FMU in another process; does what `loaded.Loaded` does.

    Calls without a result wait for the next one that has one: two processes that talk often are slow. Whatever fails
    is reported as of the call that failed.

    Attributes:
        limit: Longest time of a call, s; 0: none.
        time: Simulation time of the calls that come next, s.
        printed: The last lines that it has printed.
    """

    def __init__(self, name: str, fmi: int, folder: Path, limit: float, say: Callable[[str], None]) -> None:
        """Start the process.

        Args:
            name: Of the component, for what it prints.
            fmi: Version of the standard.
            folder: Where the process works and keeps its temporary files; it must exist.
            limit: Longest time of a call, s; 0: none.
            say: What gets the warnings and errors of the FMU.

        Raises:
            Gone: The process does not start.
        """
        self.limit, self.time = limit, 0.0
        self.printed: deque[str] = deque(maxlen=LAST)
        self._name, self._say = name, say
        self._calls: list[tuple[str, tuple[Any, ...]]] = []
        self._times: list[float] = []
        self._late = ("doStep", *LATE) if fmi == 2 else LATE  # a step of FMI 3 has a result
        path = folder / "mark"
        path.write_bytes(bytes(4))
        self._mark = open_mark(path)
        self._busy = True
        self._seen, self._since = 0, 0.0
        self._channel, self._process = _start(folder)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        try:
            paths = [str(Path(entry).absolute()) for entry in sys.path]
            self._ask((paths, f"fmpy.fmi{fmi}", str(path)), START)
        except BaseException:
            self._end()
            raise

    def load(self, *arguments: Any) -> None:
        """Load the library and make an instance, as `Loaded.load`."""
        self.call("instantiate", *arguments)

    def call(self, function: str, *arguments: Any) -> Any:
        """Call a function of the instance, or keep it in mind if it has no result.

        Raises:
            Refused: It, or one before it, did not return OK or a warning.
            Gone: It, or one before it, did not return.
        """
        if self._busy:
            raise Gone("cannot be called: a call before it has not returned", function)
        self._calls.append((function, arguments))
        self._times.append(self.time)
        if function.startswith(self._late) and len(self._calls) < MOST:
            return None
        self._mark[0] = 0
        try:
            return self._ask(self._calls, self.limit)
        finally:
            self._calls.clear()
            self._times.clear()

    def close(self, free: bool) -> None:
        """Free the instance if it can be, and end the process.

        Raises:
            Gone: The process ended meanwhile.
        """
        try:
            if free and not self._busy and not self._channel.closed:
                self.call("freeInstance", True)
        finally:
            self._end()

    # ---- the channel

    def _ask(self, message: Any, limit: float) -> Any:
        """Send a message, and wait for its answer; Ctrl-C interrupts."""
        self._busy = True
        self._seen, self._since = 0, clock.monotonic()
        try:
            with contextlib.suppress(BrokenPipeError):  # the answer tells why
                self._channel.send_bytes(encode(message))
            kind, content = self._receive(limit)
            while kind == LOG:
                self._say(content)
                self._watch(limit)
                kind, content = self._receive(limit)
        except (EOFError, OSError):
            raise self._gone() from None
        self._busy = False
        if kind != OK:
            text, status = content
            function, time = self._current()
            raise Refused(text, function, status, time)
        return content

    def _receive(self, limit: float) -> tuple[str, Any]:
        while not self._channel.poll(min(LOOK, limit or LOOK)):
            # A process that it has forked may keep the channel open.
            if self._process.poll() is not None and not self._channel.poll():
                raise self._gone()
            self._watch(limit)
        kind, content = decode(self._channel.recv_bytes())
        return kind, content

    def _watch(self, limit: float) -> None:
        """End the process if the call that is on its way takes too long."""
        if self._seen != self._mark[0]:
            self._seen, self._since = self._mark[0], clock.monotonic()
        elif limit and clock.monotonic() - self._since >= limit:
            function, time = self._current()
            self._end()
            raise Gone(f"did not return within {limit:g} s, the limit of a call", function, time=time)

    def _current(self) -> tuple[str, float]:
        """The call that is on its way, or was the last one, and its simulation time, s."""
        if not self._calls:
            return "instantiate", self.time
        k = min(self._mark[0], len(self._calls) - 1)
        return self._calls[k][0], self._times[k]

    def _gone(self) -> Gone:
        """Why the process ended; to be asked when it has closed the channel."""
        function, time = self._current()
        try:
            how = _how(self._process.wait(GRACE))
        except subprocess.TimeoutExpired:
            how = LOST
        self._end()
        return Gone(f"did not return: its process {how}", function, time=time)

    def _end(self) -> None:
        """End the process and all that it has started."""
        if self._channel.closed:
            return
        self._channel.close()
        self._mark.release()
        if not self._busy:  # it has nothing to do, and sees that nobody is there
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE)
        if sys.platform == "win32":
            self._process.kill()
        else:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._reader.join(GRACE)

    # ---- what it prints

    def _read(self) -> None:
        """Log what the FMU prints; read on when that is much, so that it never waits."""
        count = 0
        for count, line in enumerate(_lines(self._process), 1):
            self.printed.append(line)
            if count <= SHOWN:
                log.info("%s: %s", self._name, line)
        if count > SHOWN:
            log.info("%s: ... and %d more lines", self._name, count - SHOWN)


def _start(folder: Path) -> tuple[Any, subprocess.Popen[bytes]]:
    """A channel, and a process at the other end of it."""
    if not sys.executable:
        text = "cannot have a process of its own: this program does not know its Python; run it in-process"
        raise Gone(text, "instantiate")
    ours, theirs = multiprocessing.Pipe()
    handle = theirs.fileno()
    options: dict[str, Any]
    if sys.platform == "win32":
        os.set_handle_inheritable(handle, True)
        passed = subprocess.STARTUPINFO(lpAttributeList={"handle_list": [handle]})
        options = {"startupinfo": passed, "creationflags": subprocess.CREATE_NO_WINDOW}
    else:
        options = {"pass_fds": (handle,), "start_new_session": True}
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", loaded.__file__, str(handle), str(os.getpid())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={**os.environ, **dict.fromkeys(("TMPDIR", "TMP", "TEMP"), str(folder))},
            **options,
        )
    except OSError as error:
        ours.close()
        raise Gone(f"cannot have a process of its own: {error}", "instantiate") from None
    finally:
        theirs.close()
    return ours, process


def _lines(process: subprocess.Popen[bytes]) -> Iterator[str]:
    stream = process.stdout
    assert stream is not None
    with stream:
        while line := stream.readline(WIDTH):
            yield line.decode("utf-8", "backslashreplace").rstrip()


def _how(code: int) -> str:
    """How a process ended."""
    if code < 0:
        try:
            return f"was ended by the signal {signal.Signals(-code).name}"
        except ValueError:
            return f"was ended by the signal {-code}"
    if code == CUT:
        return LOST
    if code in CRASHES:
        return f"crashed: {CRASHES[code]}"
    return f"exited with code {code if code < 256 else hex(code)}"
