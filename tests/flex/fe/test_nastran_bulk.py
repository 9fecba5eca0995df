"""Bulk data: fields, coordinate systems, sets and masses of decks written out in this test."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from flex.fe.nastran_files import need_pynastran, written

from bough import ModelError
from bough.flex.fe.nastran.bulk import read_bulk
from bough.flex.fe.nastran.grids import NastranMesh, nastran_mesh
from bough.flex.numbers import real_number


def mesh(folder: Path, text: str) -> NastranMesh:
    path = written(folder / "a.bdf", text)
    return nastran_mesh(read_bulk(path, "mesh"), path, "mesh")


@pytest.mark.parametrize(
    ("text", "value"),
    [("1.", 1.0), (".5", 0.5), ("-1.5-3", -1.5e-3), ("7.+4", 7e4), ("2.D0", 2.0), ("3.1e-2", 0.031), ("12", 12.0)],
)
def test_reals_are_read_in_every_way_of_writing(text: str, value: float) -> None:
    assert real_number(text) == value


@pytest.mark.parametrize("text", ["", "x", "1.2.3", "1-", "--1", "1.0 2"])
def test_other_texts_are_no_reals(text: str) -> None:
    assert real_number(text) is None


def test_small_large_and_free_fields_say_the_same(tmp_path: Path) -> None:
    read = mesh(
        tmp_path,
        "$ a comment\n"
        "GRID           7              1.     2.5   -3.+1       0\n"
        "GRID*                  8                             1.0             2.5\n"
        "*                -30.0\n"
        "grid,9,,1.,2.5,-30.$ comment\n"
        "GRID*,10,,1.,2.5\n*,-30.\n"
        "GRID\t11\t\t1.\t2.5\t-30.\n",
    )
    assert read.ids.tolist() == [7, 8, 9, 10, 11]
    assert np.array_equal(read.positions, np.tile([1.0, 2.5, -30.0], (5, 1)))


def test_control_sections_includes_and_what_follows_enddata(tmp_path: Path) -> None:
    written(tmp_path / "more.bdf", "GRID,2,,2.,0.,0.\n")
    read = mesh(
        tmp_path,
        "INCLUDE 'dmap.v9'\nSOL 103\nCEND\nSET 4 = 1, 5 THRU 7,\n  20\nSET 5 = ALL\nBEGIN BULK\n"
        "INCLUDE 'more\n.bdf'\nGRID,1,,1.,0.,0.\nENDDATA\nGRID,3,,3.,0.,0.\n",
    )
    assert read.ids.tolist() == [1, 2]
    assert read.sets == {"SET_4": (1, 5, 6, 7, 20), "SET_5": ()}


def test_degrees_of_freedom_of_sets_and_superelements(tmp_path: Path) -> None:
    read = mesh(
        tmp_path,
        "BEGIN SUPER      101\nGRID,3,,0.,0.,0.\nGRID,11,,1.,0.,0.\nSPOINT,900,THRU,902\n"
        "EXTRN         11     135       3  123456     900       0\n             901       0\n"
        "ASET1,126,3,THRU,3\nBSET,11,3\nQSET1          0     900    THRU     902\n",
    )
    assert read.boundary == ((11, 1), (11, 3), (11, 5), *((3, c) for c in range(1, 7)), (900, 0), (901, 0))
    assert read.retained == ((3, 1), (3, 2), (3, 6), (11, 3), (900, 0), (901, 0), (902, 0))
    assert sorted(read.sets["ASET"]) == [3, 11]
    assert len(read.every_dof()) == 15


@pytest.mark.parametrize(
    "card",
    [
        "EXTRN         11  123456    9001    THRU 7483648       0",
        "ASET1     123456      11    THRU 7483648",
        "SPOINT      9001    THRU 7483648",
    ],
)
def test_more_degrees_of_freedom_than_a_matrix_has_are_refused_at_once(tmp_path: Path, card: str) -> None:
    """A wrong THRU took seconds and a gigabyte before it was refused for another reason."""
    with pytest.raises(ModelError, match=rf"(?s)at most 100000 degrees of freedom.*{card.split()[0]} on line 2"):
        mesh(tmp_path, f"GRID,11,,1.,0.,0.\n{card}\n")


@pytest.mark.parametrize("card", ["EXTRN         11     12x", "ASET1        127      11", "ASET          11     1*3"])
def test_components_that_are_none_are_refused(tmp_path: Path, card: str) -> None:
    """They were left out, and the matrix had rows that nobody knew."""
    with pytest.raises(ModelError, match=rf"(?s)components such as 123456.* of {card.split()[0]}.*line 2 of 'a.bdf'"):
        mesh(tmp_path, f"GRID,11,,1.,0.,0.\n{card}\n")


def test_legs_of_rigid_elements_are_sets(tmp_path: Path) -> None:
    read = mesh(
        tmp_path,
        "".join(f"GRID,{k},,{k}.,0.,0.\n" for k in range(1, 30))
        + "RBE2,50,1,123456,2,THRU,6,9,1.2-5\n"
        + "RBE3,51,,20,123456,1.0,123,21,22\n,23,2.0,123456,25\n,UM,21,1\n",
    )
    assert read.sets == {"RBE2_50": (2, 3, 4, 5, 6, 9), "RBE3_51": (21, 22, 23, 25)}
    assert read.dependent == ("RBE2", "RBE3")
    assert read.hubs == {1, 20}


SYSTEMS = (
    "CORD2R,1,,1.,2.,3.,1.,2.,8.\n,6.,2.,3.\n"  # moved only
    "CORD2C,2,1,0.,0.,0.,0.,1.,0.\n,0.,0.,1.\n"  # z along y, x along z
    "CORD2S,3,2,1.,90.,0.,1.,90.,5.\n,2.,90.,0.\n"
    "CORD1R,4,100,101,102,5,100,102,101\n"
    "GRID,100,,0.,0.,1.\nGRID,101,2,1.,30.,2.\nGRID,102,,5.,1.,0.\n"
)


def test_systems_by_hand(tmp_path: Path) -> None:
    """System 2: origin (1, 2, 3), axis along basic y, azimuth from z towards x."""
    read = mesh(tmp_path, SYSTEMS + "GRID,1,2,2.,30.,7.,2\nGRID,2,2,0.,50.,1.,2\n")
    c, s = np.cos(np.pi / 6), 0.5
    where = dict(zip(read.ids.tolist(), range(read.ids.size), strict=True))
    assert read.positions[where[1]] == pytest.approx([1 + 2 * s, 2 + 7, 3 + 2 * c], rel=1e-14)
    radial, around, along = read.axes[where[1]].T
    assert radial == pytest.approx([s, 0, c], abs=1e-15)
    assert around == pytest.approx([c, 0, -s], abs=1e-15)
    assert along == pytest.approx([0, 1, 0], abs=1e-15)
    # On the axis the azimuth counts as zero.
    assert read.axes[where[2]].T[0] == pytest.approx([0, 0, 1], abs=1e-15)


@pytest.mark.parametrize("system", [0, 1, 2, 3, 4, 5])
def test_positions_are_those_of_pynastran(tmp_path: Path, system: int) -> None:
    need_pynastran()
    from bough.flex.fe.nastran.pyn import load, quiet, silent_log

    text = SYSTEMS + f"GRID,1,{system},2.,33.,71.,{system}\nGRID,2,{system},0.7,-120.,200.\n"
    read = mesh(tmp_path, text)
    with quiet():
        deck = load("pyNastran.bdf.bdf", "BDF", "mesh")(log=silent_log())
        deck.read_bdf(str(tmp_path / "a.bdf"), punch=True)
        theirs = np.array([deck.nodes[int(k)].get_position() for k in read.ids])
    assert read.positions == pytest.approx(theirs, rel=1e-12, abs=1e-12)
    assert np.einsum("nij,nik->njk", read.axes, read.axes) == pytest.approx(
        np.tile(np.eye(3), (read.ids.size, 1, 1)), abs=1e-14
    )
    assert np.linalg.det(read.axes) == pytest.approx(np.ones(read.ids.size))


def test_a_blank_field_takes_what_grdset_says_and_a_zero_does_not(tmp_path: Path) -> None:
    read = mesh(tmp_path, SYSTEMS.split("CORD1R")[0] + "GRDSET,,1,,,,2\nGRID,1,,0.,0.,1.\nGRID,2,0,0.,0.,1.,0\n")
    assert read.positions[:2].tolist() == [[1.0, 2.0, 4.0], [0.0, 0.0, 1.0]]
    assert read.axes[0].T[2] == pytest.approx([0.0, 1.0, 0.0])
    assert np.array_equal(read.axes[1], np.eye(3))


def test_axes_of_a_sphere_are_the_slopes_of_its_coordinates(tmp_path: Path) -> None:
    """Columns of the axes: d position / d coordinate, normed, by central differences."""
    h = 1e-4
    point = np.array([2.0, 40.0, 70.0])
    cards = "GRID,1,3,2.,40.,70.,3\n"
    for k in range(3):
        for side, number in ((-h, 10 + k), (h, 20 + k)):
            x = (point + side * np.eye(3)[k]).tolist()
            cards += f"GRID*,{number},3,{x[0]!r},{x[1]!r}\n*,{x[2]!r}\n"
    read = mesh(tmp_path, SYSTEMS + cards)
    place = dict(zip(read.ids.tolist(), read.positions, strict=True))
    slopes = np.column_stack([place[20 + k] - place[10 + k] for k in range(3)])
    assert read.axes[0] == pytest.approx(slopes / np.linalg.norm(slopes, axis=0), abs=1e-7)


def test_concentrated_masses_stand_in_their_own_axes(tmp_path: Path) -> None:
    """Offsets and inertia along the axes of a cylinder at the grid; products of inertia with Nastran's sign."""
    read = mesh(
        tmp_path,
        "CORD2C,2,,0.,0.,0.,0.,0.,1.\n,1.,0.,0.\nGRID,1,,0.,3.,0.\n"
        "CONM2,7,1,2,5.,0.1,0.2,0.3\n,4.,0.5,6.,0.7,0.8,9.\nCONM2,8,1,-1,1.,7.,8.,9.\n",
    )
    lump, placed = read.lumps
    assert lump.mass == 5.0
    # radial is y, azimuthal is -x
    assert lump.position == pytest.approx([-0.2, 3.1, 0.3], rel=1e-14)
    assert lump.inertia == pytest.approx(np.array([[6.0, 0.5, 0.8], [0.5, 4.0, -0.7], [0.8, -0.7, 9.0]]), abs=1e-14)
    assert placed.position.tolist() == [7.0, 8.0, 9.0]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("GRID,1,,x,0.,0.\n", "'X' on line 1"),
        ("GRID,1.5,,0.,0.,0.\n", "'1.5' on line 1"),
        ("GRID,1,9,0.,0.,0.\n", "'9' on line 1"),
        ("CORD2R,1,1,0.,0.,0.,0.,0.,1.\n,1.,0.,0.\nGRID,1,1,0.,0.,0.\n", "'1' on line 1"),
        ("CORD2R,1,,0.,0.,0.,0.,0.,1.\n,0.,0.,2.\nGRID,1,1,0.,0.,0.\n", "such points"),
        ("CORD1R,1,5,6,7\nGRID,1,1,0.,0.,0.\n", "'5' on line 1"),
        ("INCLUDE 'gone.bdf'\nGRID,1,,0.,0.,0.\n", "gone.bdf"),
        ("GRID,1,,0.,0.,0.\n=x,*1,=,*1.,==\n", "'=x' on line 2"),
        ("=,*1,=,*1.,==\n", "'=' on line 1"),
        ("GRID,1,,0.,0.,0.\n=(3)\n", "'=(3)' on line 2"),
        ("GRID,1,,0.,0.,0.\n=,*x,=,*1.,==\n", "'1 and x' on line 2"),
        ("BEGIN BULK\nGRID,1,,0.,0.,0.\nBEGIN SUPER=1\n", "second BEGIN SUPER=1 on line 3"),
        ("CONM2,1,5,,1.\nGRID,1,,0.,0.,0.\n", "'5' on line 1"),
        ("just words\n", "none in 'a.bdf'"),
        ("\x89PNG\r\n", "none in 'a.bdf'"),
        ("", "none in 'a.bdf'"),
    ],
)
def test_what_no_mesh_can_be_made_of_is_refused(tmp_path: Path, text: str, found: str) -> None:
    (tmp_path / "a.bdf").write_bytes(text.encode("latin-1"))
    with pytest.raises(ModelError) as caught:
        nastran_mesh(read_bulk(str(tmp_path / "a.bdf"), "mesh"), str(tmp_path / "a.bdf"), "mesh")
    assert found in caught.value.problems[0].found
