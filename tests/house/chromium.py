"""A page in headless Chromium, looked at through the DevTools protocol over a pair of pipes.

Nothing beyond the standard library: messages are JSON texts that end with a zero byte, on descriptors 3 and 4 of the
browser. The page's errors are collected from its first line on.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from house.tools import IN_CI

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",  # does not start as root otherwise; the page is our own file
    "--use-angle=swiftshader",  # WebGL in software: test machines have no graphics card
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    "--hide-scrollbars",
    "--window-size=1200,900",
    "--remote-debugging-pipe",
)
PATIENCE = 90.0
"""Seconds before a browser that does not answer fails the test: software WebGL on a busy machine is slow."""


def find_chromium() -> str:
    """Path of a browser. Without one the test skips on a user's machine and fails in CI."""
    for name in NAMES:
        path = shutil.which(name)
        if path is not None:
            return path
    reason = f"no browser is installed; looked for {', '.join(NAMES)}"
    if IN_CI:
        pytest.fail(f"{reason}, and CI must not skip a test")
    pytest.skip(reason)


@contextlib.contextmanager
def open_page(path: Path) -> Iterator[Page]:
    """Open a file in a browser of its own; the browser ends with the block."""
    program = find_chromium()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        to_read, write = _pipe()
        read, to_write = _pipe()
        arguments = [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        quiet = os.open(os.devnull, os.O_RDWR)
        actions = [(os.POSIX_SPAWN_DUP2, quiet, n) for n in (0, 1, 2)]
        actions += [(os.POSIX_SPAWN_DUP2, to_read, 3), (os.POSIX_SPAWN_DUP2, to_write, 4)]
        environment = {**os.environ, "HOME": profile, "XDG_CONFIG_HOME": profile, "XDG_CACHE_HOME": profile}
        # A group of its own, so that all processes of the browser can be ended.
        browser = os.posix_spawn(program, arguments, environment, file_actions=actions, setpgroup=0)
        for descriptor in (to_read, to_write, quiet):
            os.close(descriptor)
        try:
            page = Page(read, write)
            page.open(path)
            yield page
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(browser, signal.SIGKILL)
            os.waitpid(browser, 0)
            os.close(read)
            os.close(write)


def _pipe() -> tuple[int, int]:
    """A pipe whose ends are above 9: they must not be in the way of 3 and 4."""
    ends = os.pipe()
    high = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
    for end in ends:
        os.close(end)
    return high[0], high[1]


class Page:
    """One page: evaluate, wait, click, drag, look.

    Attributes:
        errors: Console messages of the levels error and warning, and exceptions, of the page.
    """

    def __init__(self, read: int, write: int) -> None:
        self.errors: list[str] = []
        self._read, self._write, self._buffer, self._last, self._session = read, write, b"", 0, ""

    def open(self, path: Path) -> None:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Page"):
            self.call(f"{domain}.enable")
        self.call("Page.navigate", url=path.resolve().as_uri())
        self.wait("document.readyState === 'complete' && location.protocol === 'file:'")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE
        while True:
            answer = self._receive(end, method)
            if answer.get("id") == self._last:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return dict(answer["result"])
            self._note(answer)

    def _receive(self, end: float, waiting_for: str) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0.0, end - time.monotonic()))
            piece = os.read(self._read, 1 << 20) if ready else b""
            assert piece, f"the browser {'has ended' if ready else 'does not answer'}; waiting for {waiting_for}"
            self._buffer += piece
        text, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(text))

    def _note(self, event: dict[str, Any]) -> None:
        method, data = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = data["exceptionDetails"]
            self.errors.append(str(details.get("exception", {}).get("description") or details["text"]))
        elif method == "Runtime.consoleAPICalled" and data["type"] in ("error", "warning", "assert"):
            self.errors.append(" ".join(str(a.get("value", a.get("description"))) for a in data["args"]))
        elif method == "Log.entryAdded" and data["entry"]["level"] == "error":
            self.errors.append(str(data["entry"]["text"]))

    def evaluate(self, expression: str) -> Any:
        """Value of a JavaScript expression; promises are waited for."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, f"{expression}: {result['exceptionDetails']}"
        return result["result"].get("value")

    def wait(self, condition: str, seconds: float = PATIENCE) -> None:
        """Wait until a condition holds."""
        end = time.monotonic() + seconds
        while not self.evaluate(condition):
            assert time.monotonic() < end, f"after {seconds} s still not: {condition}; errors: {self.errors}"
            time.sleep(0.05)

    def drag(self, x: float, y: float, dx: float, dy: float, steps: int = 8) -> None:
        """Press the mouse button at a place in the window, move, let go; pixels."""
        mouse = {"button": "left", "clickCount": 1}
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        self.call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, buttons=1, **mouse)
        for i in range(1, steps + 1):
            at = {"x": x + dx * i / steps, "y": y + dy * i / steps}
            self.call("Input.dispatchMouseEvent", type="mouseMoved", buttons=1, **at)
        self.call("Input.dispatchMouseEvent", type="mouseReleased", x=x + dx, y=y + dy, **mouse)

    def screenshot(self) -> bytes:
        """The window as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
