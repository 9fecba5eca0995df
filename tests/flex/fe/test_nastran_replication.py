"""Replicated cards of Nastran: the deck is the same as the one written out."""

from __future__ import annotations

from pathlib import Path

import pytest

from bough.flex.fe.nastran.bulk import read_bulk

SHORT = {
    "free": "GRID,1,,0.,0.5,0.,,123\n=,*(1),=,*(0.25),==\n=(3)\nGRID,9,,7.,7.,7.\n",
    "bare": "GRID,1,,0.,0.5,0.,,123\n=,*1,=,*.25,=,=,=,=\n=3\nGRID,9,,7.,7.,7.\n",
    "small": "GRID    1               0.      0.5     0.              123\n"
    "=       *(1)    =       *(0.25) ==\n"
    "=(3)\n"
    "GRID,9,,7.,7.,7.\n",
}
LONG = "".join(f"GRID,{k + 1},,{0.25 * k!r},0.5,0.,,123\n" for k in range(5)) + "GRID,9,,7.,7.,7.\n"


def numbers(path: Path, text: str) -> list[tuple[int, float, float, str]]:
    path.write_text(text)
    return [(c.integer(0), c.real(2), c.real(3), c.text(6)) for c in read_bulk(str(path), "mesh").of("GRID")]


@pytest.mark.parametrize("way", SHORT)
def test_replicated_grids_are_those_written_out(tmp_path: Path, way: str) -> None:
    assert numbers(tmp_path / "a.bdf", SHORT[way]) == numbers(tmp_path / "b.bdf", LONG)


def test_a_field_that_is_given_takes_its_place(tmp_path: Path) -> None:
    text = "GRID,1,,0.,0.5,0.,,123\n=,2,=,4.,==\n"
    assert numbers(tmp_path / "a.bdf", text)[1] == (2, 4.0, 0.5, "123")


def test_replicated_elements_are_passed_over_as_elements_are(tmp_path: Path) -> None:
    path = tmp_path / "a.bdf"
    path.write_text("CBAR,1,1,1,2,0.,0.,1.\n=,*1,=,*1,*1,==\n=(7)\nGRID,1,,0.,0.,0.\n")
    bulk = read_bulk(str(path), "mesh")
    assert len(bulk.of("GRID")) == 1
    assert bulk.elements == {"CBAR"}
