"""How the command speaks: tables and answers on stdout, progress and messages on stderr, never a traceback."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import json
import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import Any, ParamSpec, TextIO, TypeVar

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from typer.core import TyperGroup

from bough.errors import BoughError, BoughWarning, ModelError, choices
from bough.files.interrupts import SIGNALS, noted

P = ParamSpec("P")
R = TypeVar("R")

FAILED = 1
"""Exit code: the model or the run failed."""
PIPE_WIDTH = 160
"""Columns of a table that goes into a file or a pipe."""


class Commands(TyperGroup):
    """The commands, as a person sees them: wrong use is told in plain words, and flags look like flags."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Find the command; one that does not exist is answered with one that looks like it, or with all."""
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            ctx.fail(f"There is no command {args[0]!r}{choices(args[0], list(self.commands))}")
        return super().resolve_command(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        """Options of `bough` itself."""
        _unmark_flags(self, ctx)
        return super().get_params(ctx)

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = _plain(error)
            raise


def _unmark_flags(command: Any, ctx: Any) -> None:
    """Show flags without a type: `--json <bool>` would look as if it took a value."""
    for option in [*command.params, command.get_help_option(ctx)]:
        if getattr(option, "is_flag", False):
            option.metavar = ""
    for below in getattr(command, "commands", {}).values():
        _unmark_flags(below, ctx)


def _plain(error: typer.BadParameter) -> str:
    """A wrong value in words of ours where typer hands on those of its checker."""
    check: Any = error.__cause__
    if not hasattr(check, "errors"):
        return error.message
    first = check.errors()[0]
    found, bounds = first["input"], first.get("ctx", {})
    if first["type"] in ("float_parsing", "int_parsing"):
        return f"expected a {'number' if first['type'] == 'float_parsing' else 'whole number'}, found {found!r}"
    if "ge" in bounds or "le" in bounds:
        limit = f"{bounds['ge']} or more" if "ge" in bounds else f"{bounds['le']} or less"
        return f"expected {limit}, found {found!r}"
    return error.message.removeprefix("Value error, ")


def console() -> Console:
    """Console of stdout; wide where no terminal sets the width."""
    return Console(width=None if sys.stdout.isatty() else PIPE_WIDTH, highlight=False, soft_wrap=False)


_carries_data = contextvars.ContextVar("carries_data", default=False)
"""Whether this command has given stdout to data: the rest of what it says goes to stderr."""


def say(message: str) -> None:
    """What was done, in a line: on stdout, or on stderr where stdout carries data for a program."""
    sys.stdout.flush()  # what stdout carries is either out by now, or the command fails
    typer.echo(_printable(message), err=_carries_data.get())


def data_stream() -> TextIO:
    """Stdout, for data that a program reads."""
    _carries_data.set(True)
    return sys.stdout


def answer(data: Any) -> None:
    """JSON on stdout, for a program."""
    data_stream()
    typer.echo(json.dumps(data, indent=2))


def complain(message: str) -> None:
    """A message on stderr; where that is gone, as with a terminal that was closed, there is nobody to tell."""
    with contextlib.suppress(OSError):
        typer.echo(_printable(message), err=True)


def problems(error: BoughError) -> dict[str, Any]:
    """An error as `answer` tells it to a program."""
    found = error.problems if isinstance(error, ModelError) else ()
    fields = ("file", "line", "key", "expected", "found", "cure")
    rows = [{field: getattr(problem, field) for field in fields} for problem in found]
    return {"ok": False, "error": str(error), "problems": rows}


def guarded(command: Callable[P, R]) -> Callable[P, R]:
    """Turn what a command raises into one message and exit code 1."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        _carries_data.set(False)
        try:
            result = command(*args, **kwargs)
            sys.stdout.flush()
            return result
        except BoughError as error:
            complain(str(error))
        except BrokenPipeError:
            # Whoever read stdout has seen enough: no failure of ours.
            silence_stdout()
            raise typer.Exit from None
        except KeyboardInterrupt:
            complain("interrupted")
        except MemoryError:
            complain("out of memory: choose a longer --step or a shorter --stop, or a smaller model")
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            complain(f"{where}{error.strerror or error}")
        except (typer.Exit, typer.BadParameter, typer.Abort):
            raise
        except Exception as error:
            _defect(error)
        raise typer.Exit(FAILED)

    return run


_stopped = threading.Event()
"""Whether a signal has asked the command to end."""


def answer_signals() -> None:
    """Answer what ends a process as Ctrl-C is answered: with a message, and with what is done kept."""

    def stop(*_: Any) -> None:
        _stopped.set()
        raise KeyboardInterrupt

    for number in SIGNALS:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):  # nohup stays nohup
            signal.signal(number, stop)


def uninterrupted() -> contextlib.AbstractContextManager[None]:
    """Write to the end what a run has computed: the first signal is answered by a message, the next one gives up."""
    return noted(lambda: complain("writing the rows; interrupt again to give them up"))


@contextlib.contextmanager
def told_warnings() -> Iterator[None]:
    """Warnings of runs become lines on stderr."""
    with warnings.catch_warnings():
        others = warnings.showwarning
        warnings.simplefilter("always", BoughWarning)

        def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if issubclass(category, BoughWarning):
                complain(f"warning: {message}")
            else:
                others(message, category, *where, **more)

        warnings.showwarning = show
        yield


def silence_stdout() -> None:
    """Send what is still to be written nowhere: nobody reads stdout any more."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def progress_bar(title: str) -> Iterator[Callable[[float], None] | None]:
    """A bar on stderr if that is a terminal; the function takes the fraction done.

    An interrupt that a destructor has swallowed is raised again by the function.
    """

    def go_on(_: float) -> None:
        if _stopped.is_set():
            raise KeyboardInterrupt

    if not sys.stderr.isatty():
        yield go_on
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=1.0)

        def update(fraction: float) -> None:
            go_on(fraction)
            bar.update(task, completed=fraction)

        yield update


def _defect(error: Exception) -> None:
    """A mistake of ours: say so in a line; BOUGH_TRACEBACK=1 shows where, for a report."""
    complain(f"a defect in bough, please report it: {type(error).__name__}: {error}")
    if os.environ.get("BOUGH_TRACEBACK") == "1":
        complain("".join(traceback.format_exception(error)))


def _printable(message: str) -> str:
    """The message without stray bytes of file names that no encoding can write."""
    return message.encode("utf-8", "backslashreplace").decode("utf-8")
