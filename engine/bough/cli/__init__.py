"""The command `bough`."""

from bough.cli.app import app, main

__all__ = ["app", "main"]
