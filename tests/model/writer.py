"""Writes plain data as YAML, one key per line, and remembers on which line each key path went."""

from __future__ import annotations

from typing import Any

Path = tuple[str | int, ...]


def write_yaml(data: dict[str, Any]) -> tuple[str, dict[Path, int]]:
    """The text and the line (from 1) of every mapping key and list item."""
    lines: list[str] = []
    where: dict[Path, int] = {}
    _block(data, (), 0, lines, where)
    return "\n".join(lines) + "\n", where


def _block(value: Any, path: Path, indent: int, lines: list[str], where: dict[Path, int]) -> None:
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in entries:
        here = (*path, key)
        head = f"{key}:" if isinstance(value, dict) else "-"
        where[here] = len(lines) + 1
        if _is_block(item):
            lines.append(" " * indent + head)
            # An item of a list begins where its content begins, on the next line.
            where[here] += not isinstance(value, dict)
            _block(item, here, indent + 2, lines, where)
        else:
            lines.append(f"{' ' * indent}{head} {_flow(item, here, len(lines) + 1, where)}")


def _is_block(value: Any) -> bool:
    return (
        isinstance(value, dict) and bool(value) or isinstance(value, list) and any(isinstance(x, dict) for x in value)
    )


def _flow(value: Any, path: Path, line: int, where: dict[Path, int]) -> str:
    if isinstance(value, dict):
        return "{}"
    if isinstance(value, list):
        where.update({(*path, i): line for i in range(len(value))})
        return "[" + ", ".join(_flow(x, (*path, i), line, where) for i, x in enumerate(value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    return {"nan": ".nan", "inf": ".inf", "-inf": "-.inf"}.get(str(value), str(value))


def key_path(path: Path) -> str:
    """`bodies[1].hinge.axis`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


def numbers(value: Any) -> Any:
    """Plain data with `1e-4`, which the library under the test's own reader takes for text, as a number."""
    if isinstance(value, dict):
        return {key: numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [numbers(item) for item in value]
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value
