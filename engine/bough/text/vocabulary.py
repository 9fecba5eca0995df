"""What a kind of file adds to the words of a message: other names of its keys, and cures of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from bough.text.unit_words import without_unit


@dataclass(frozen=True)
class Vocabulary:
    """The words of one kind of file.

    Attributes:
        synonyms: By key, what people call it who come from other programs: words between blanks.
        elsewhere: By unknown key, the cure if it belongs into another place than the file.
        cures: By key path, the cure of a value that is out of bounds.
        directions: Keys that take a direction, of which people write the letter.
    """

    synonyms: Mapping[str, str] = field(default_factory=dict)
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    cures: Mapping[str, str] = field(default_factory=dict)
    directions: frozenset[str] = frozenset()

    def meant(self, key: str, known: Iterable[str]) -> str | None:
        """The key among the known ones that another program calls so, if there is one."""
        bare = without_unit(key)
        for name in known:
            if bare == name.lower() or bare in self.synonyms.get(name, "").split():
                return name
        return None

    def moved(self, key: str) -> str | None:
        """The cure for a key that belongs elsewhere, if it does."""
        return self.elsewhere.get(without_unit(key))
