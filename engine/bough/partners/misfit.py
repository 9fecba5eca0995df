"""What does not fit in a partner: a system file points at its line, a command says it in a sentence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bough.errors import BuildError

FITTING = "write what is expected"
"""The cure where `expected` says it all."""


@dataclass(frozen=True)
class Misfit:
    """One thing that is wrong.

    Attributes:
        key: Where: the name of a parameter or an option; or `axes`, `model`.
        found: What is there, in words that name it.
        expected: What may be there.
        cure: What to do.
    """

    key: str
    found: str
    expected: str
    cure: str = FITTING

    def __str__(self) -> str:
        """A sentence; a cure that only says it again is left out."""
        return f"{self.found}; expected {self.expected}{'' if self.cure == FITTING else f'; {self.cure}'}"


class PartnerError(BuildError):
    """A partner cannot be built as it is described.

    Attributes:
        kind: Of the partner.
        misfits: Everything that is wrong, at least one.
    """

    def __init__(self, kind: str, misfits: Misfit | Iterable[Misfit]) -> None:
        """Take what is wrong."""
        self.kind = kind
        self.misfits = (misfits,) if isinstance(misfits, Misfit) else tuple(misfits)
        super().__init__("\n".join(f"{kind}: {misfit}" for misfit in self.misfits))

    def __reduce__(self) -> tuple[type[PartnerError], tuple[str, tuple[Misfit, ...]]]:
        """Pickle by its parts, so that the error survives the way back from a worker process."""
        return type(self), (self.kind, self.misfits)
