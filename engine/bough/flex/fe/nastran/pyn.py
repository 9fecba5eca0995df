"""The package pyNastran, for element masses and OP2 files: imported when needed, kept quiet, its failures in words."""

from __future__ import annotations

import contextlib
import importlib
import io
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from bough.errors import ModelError
from bough.files import open_file
from bough.flex.fe.problem import name_of, refuse

_GONE = {"in1d": "isin"}
"""Names of NumPy that pyNastran 1.4 takes when it is imported, and what took their place in NumPy 2."""


def load(module: str, name: str, key: str) -> Any:
    """A class of pyNastran; ModelError if pyNastran is not installed.

    Args:
        module: Such as `pyNastran.bdf.bdf`.
        name: Of the class.
        key: Key of `fe:` that asks for it, for messages.
    """
    lent = {old: getattr(np, new) for old, new in _GONE.items() if not hasattr(np, old)}
    for old, value in lent.items():
        setattr(np, old, value)
    try:
        with quiet():
            return getattr(importlib.import_module(module), name)
    except ImportError as error:
        found = f"none ({error})"
        cure = (
            'install it: pip install "bough[nastran]"; next to NumPy 2, which pyNastran 1.4 does not declare: '
            "pip install --no-deps pyNastran cpylog"
        )
        refuse(key, "the package pyNastran, which reads this kind of file", found, cure)
    except AttributeError as error:
        found = f"one that does not go with NumPy {np.__version__} ({error})"
        refuse(key, "a pyNastran that goes with this NumPy", found, "install another version of either")
    finally:
        for old in lent:
            delattr(np, old)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Without the warnings and the text that pyNastran gives on its way."""
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def reading(path: str, key: str, expected: str, cure: str) -> Iterator[None]:
    """Turn whatever pyNastran raises about a file into a ModelError."""
    try:
        open_file(path).close()  # pyNastran would wait for a named pipe
    except OSError as error:
        refuse(key, "a file that can be read", f"{name_of(path)}: {error.strerror}", "check the path")
    try:
        with quiet():
            yield
    except ModelError:
        raise
    # pyNastran raises almost anything on files that are damaged, assertions and struct errors among them.
    except Exception as error:
        said = " ".join(str(error).split())[:120]
        refuse(key, expected, f"{name_of(path)}, at which pyNastran fails ({type(error).__name__}: {said})", cure)


def silent_log() -> Any:
    """A logger that drops everything."""
    return load("cpylog", "SimpleLogger", "file")(level="critical", log_func=lambda *_: None)
