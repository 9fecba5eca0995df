"""Regression kit: keep a run as a reference, make it again through the FMU, tell where and by how much it moved."""

from bough.regression.compare import Comparison, Deviation, Tolerance, compare
from bough.regression.reference import (
    ENDING,
    Recipe,
    Reference,
    about_path,
    read_reference,
    reference_path,
    references_of,
)
from bough.regression.rerun import accept, record, verify
from bough.regression.tell import account, as_json, draw_comparison, headline, table

__all__ = [
    "ENDING",
    "Comparison",
    "Deviation",
    "Recipe",
    "Reference",
    "Tolerance",
    "about_path",
    "accept",
    "account",
    "as_json",
    "compare",
    "draw_comparison",
    "headline",
    "read_reference",
    "record",
    "reference_path",
    "references_of",
    "table",
    "verify",
]
