"""Bodies from Nastran: matrices, decks, modes."""
