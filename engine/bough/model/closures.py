"""Types of loops, in the order of the kernel's codes (`engine/kernel/src/constraints/constraints.c`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from bough.model.hinges import HINGES, HingeKind

CLOSURES: dict[str, HingeKind] = {
    **{name: kind for name, kind in HINGES.items() if name != "screw"},
    "rod": HingeKind(),
    "slot": HingeKind(n_axes=1),
    "plane": HingeKind(n_axes=2, normal=True),
    "rolling": HingeKind(n_axes=1),
}
"""What a loop of each type is given: its axes. `free` keeps its code and closes nothing; a screw closes no loop yet."""

CLOSURE_TYPES = tuple(name for name in CLOSURES if name != "free")
AS_DRAWN = tuple(name for name in HINGES if name not in ("free", "screw"))
"""Types whose second frame is parallel to the first at the start position, unless the file gives its attitude."""

if TYPE_CHECKING:
    ClosureType: TypeAlias = str
else:
    ClosureType = Literal[CLOSURE_TYPES]
