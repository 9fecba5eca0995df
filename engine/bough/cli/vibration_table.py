"""`bough modes`: the vibrations of a whole mechanism as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bough.errors import ArgumentError
from bough.mechanism.equilibrium import equilibrium, force_left
from bough.mechanism.mechanism import Mechanism
from bough.mechanism.vibration import Vibration, Vibrations, position_at
from bough.report.sketches import mode_words
from bough.text.ranges import named_numbers

Array: TypeAlias = NDArray[np.float64]

BALANCED = 1e-9
"""Force, N.m, N or J per unit of a mode, that is round-off."""
NUMBERS = ("frequency, Hz", "damping, %")


def position(system: Mechanism, settings: Sequence[str], settle: bool = False) -> Array:
    """The position that `--at` and `--settle` choose, (nq,).

    Raises:
        typer.BadParameter: There is no such coordinate, it is not a number, or a quaternion has no length.
        SimulationError: Flexible bodies find no equilibrium.
    """
    known = ", ".join(system.q_names[:12]) + (", ..." if system.nq > 12 else "")
    try:
        q = position_at(system, named_numbers(settings, f"NAME=NUMBER with one of {known}"))
    except ArgumentError as error:
        raise typer.BadParameter(str(error).removeprefix("at: "), param_hint="--at") from None
    return equilibrium(system, q=q)[0] if settle else q


def imbalance_note(system: Mechanism, found: Vibrations, about: str, settled: bool) -> str | None:
    """What a user should know of a position that is no equilibrium: which force is missing, and the cure."""
    name, force = found.imbalance
    index = system.u_names.index(name)
    modal = system.u_table[index].modal
    if abs(force) <= BALANCED or (modal and settled):
        return None
    held = force_left(system, index, force)
    cure = "--settle bends the bodies by their load first" if modal else "--at chooses another position"
    told = f"{about} is not an equilibrium: holding it takes {held}"
    return f"note: {told}. The modes are those of the held mechanism; {cure}"


def as_json(found: Vibrations) -> dict[str, Any]:
    """The vibrations, ready for JSON."""
    modes = [
        {"kind": m.kind, "frequency": m.frequency, "damping": m.damping, "moves": dict(m.moves)} for m in found.modes
    ]
    name, force = found.imbalance
    return {"modes": modes, "unsprung": found.unsprung, "free": found.free, "imbalance": {"at": name, "force": force}}


def print_vibrations(name: str, found: Vibrations, out: Console, about: str = "the start position") -> None:
    """The vibrations as a table."""
    head = f"{name}: small motions about {about}{_rest(about)}{_unsprung(found)}"
    out.print(head, markup=False)
    rows = [(str(i), *mode_words(mode), _moves(mode, found)) for i, mode in enumerate(found.modes, 1)]
    names = max((len(word) for row in rows for word in row[4].split()), default=0)
    room = out.width - names - len(f"{len(rows)}") - sum(map(len, NUMBERS)) - 3 * (len(NUMBERS) + 3) - 1
    kinds = max((len(row[3]) for row in rows), default=0)
    if room < len("vibration"):
        _print_lines(rows, out)
        return
    table = Table(header_style="bold")
    for title in ("#", *NUMBERS):
        table.add_column(title, justify="right", no_wrap=True)
    # Names may not be broken: where there is no room for both, the kind of motion is wrapped.
    table.add_column("kind", width=min(kinds, room) if rows else None)
    table.add_column("what moves (share of kinetic energy)", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    out.print(table)


def _rest(about: str) -> str:
    return "" if "spins at" in about else ", at rest"


def _unsprung(found: Vibrations) -> str:
    """How many motions nothing brings back, and which of them the table does not list."""
    count, free = found.unsprung, found.free
    if not count:
        return ""
    text = f"; {count} motion{'s' if count > 1 else ''} without stiffness"
    if not free:
        return text
    who = f"{free} of them" if free < count else "they" if count > 1 else "it"
    move, be = ("moves", "is") if free == 1 else ("move", "are")
    return f"{text}: {who} {move} freely, at 0 Hz, and {be} not listed"


def _print_lines(rows: Sequence[tuple[str, str, str, str, str]], out: Console) -> None:
    """What the table says, where names are too long for one."""
    for number, hertz, damping, kind, moves in rows:
        told = [f"{hertz} Hz" if hertz else "", f"damping {damping} %" if damping else "", kind]
        out.print(f"{number}: {', '.join(filter(None, told))}\n   {moves}", markup=False, soft_wrap=True)


def _moves(mode: Vibration, found: Vibrations) -> str:
    """Speeds with their shares; modes of bodies with what they are called."""
    called = {name: f"{name} ({word})" for name, word in found.mode_names.items()}
    return ", ".join(f"{called.get(name, name)} {100 * share:.0f} %" for name, share in mode.moves)
