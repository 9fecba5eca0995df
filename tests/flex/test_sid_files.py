"""SID_FEM files as other programs write them are read; wrong ones are refused with line and cure."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bough import model
from bough.errors import ModelError, Problem
from bough.flex import FlexBody
from bough.flex.nodal import nodal_body
from bough.flex.sid.sid import load_sid, read_sid, write_sid

M = np.array([0.7, 0.5, 0.9])
L = np.array([[0.0, 0.0, 0.0], [1.0, 0.2, 0.0], [1.5, -0.3, 0.4]])
PHI = np.array([[[0, 0, 0], [0.3, 1.0, -0.2], [0.1, 0.4, 0.9]], [[0, 0, 0], [0.5, -0.6, 0.8], [-0.7, 0.2, 0.3]]])
"""Mode, point, axis."""
K = np.array([[50.0, 2.0], [2.0, 70.0]])


def expected() -> FlexBody:
    """The three masses as a nodal body."""
    nodes = [
        {"name": f"n{10 * i}", "position": l0.tolist(), "mass": m}
        for i, (l0, m) in enumerate(zip(L, M, strict=True), 1)
    ]
    modes = [[[0, 0, 0, *point] for point in mode] for mode in PHI.tolist()]
    nodal = {"attach": "n10", "nodes": nodes, "modes": modes, "stiffness": K.tolist(), "damping_matrix": [0.1, 0.2]}
    body = {"name": "b", "parent": "ground", "hinge": {"type": "fixed"}, "nodal": nodal}
    data = model.load({"bough": 1, "name": "m", "bodies": [body]}).bodies[0].nodal
    assert data is not None
    return nodal_body(data)


def block(
    name: str, M0: object, M1: object = None, structure: int = 3, kept: Callable[[int, int], bool] | None = None
) -> list[str]:
    """A Taylor object as a program that knows nothing of ours would print it; M1 is (row, mode, column)."""
    zero = np.asarray(M0, dtype=float)
    order = 0 if M1 is None else 1
    lines = [name, f"order = {order}", f"nrow = {zero.shape[0]}", f"ncol = {zero.shape[1]}", "nq = 2", "nqn = 0"]
    lines.append(f"structure = {structure}")
    for (i, j), x in np.ndenumerate(zero):
        if kept is None or kept(i, j):
            lines.append(f"m0({i + 1:2d},{j + 1:2d})    = {x:.17g}")
    if M1 is not None:
        for (i, k, j), x in np.ndenumerate(np.asarray(M1, dtype=float)):
            lines.append(f"m1({i + 1:2d},{k + 1:2d},{j + 1:2d}) = {x:.17g}")
    return [*lines, f"end {name}"]


def handmade() -> list[str]:
    """The three masses by the definitions of the standard: sums over the points, nothing of ours in between."""
    lines = [
        "3 2 :No. nodes, No. modes: three masses",
        "part",
        "new modal",
        "refmod",
        f"mass = {M.sum()}",
        "nelastq = 2",
    ]
    lines += ["ielastq(1) = first", "ielastq(2) = second", "end refmod", "frame"]
    for p, number in enumerate((10, 20, 30)):
        phi = PHI[:, p].T
        lines += [f"new node = {number}", "rframe = body ref", *block("origin", L[p][:, None], phi[:, :, None])]
        lines += [*block("phi", phi), *block("psi", np.zeros((3, 2)), structure=0, kept=lambda i, j: False)]
        lines += [*block("AP", np.eye(3), structure=4, kept=lambda i, j: False), "end node"]
    lines.append("end frame")
    J = sum(m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(M, L, strict=True))
    J1 = np.zeros((3, 2, 3))
    Oe, Oe1 = np.zeros((2, 6)), np.zeros((2, 2, 6))
    for m, x, p in zip(M, L, PHI.transpose(1, 0, 2), strict=True):
        for k in range(2):
            J1[:, k] += m * (2 * (x @ p[k]) * np.eye(3) - np.outer(x, p[k]) - np.outer(p[k], x))
            Oe[k] += m * spun(p[k], x)
            for s in range(2):
                Oe1[k, s] += m * spun(p[k], p[s])
    Ct = np.einsum("p,kpi->ki", M, PHI)
    Cr = np.einsum("p,kpi->ki", M, np.cross(L[None], PHI))
    Cr1 = np.einsum("p,klpi->kli", M, np.cross(PHI[None], PHI[:, None]))
    lines += block("mdCM", (M @ L)[:, None], Ct.T[:, :, None])
    # A symmetric matrix by its lower half.
    lines += block("J", J, J1, structure=2, kept=lambda i, j: j <= i)
    lines += [*block("Ct", Ct), *block("Cr", Cr, Cr1)]
    lines += block("Me", np.einsum("p,kpi,lpi->kl", M, PHI, PHI), structure=2)
    lines += [*block("Oe", Oe, Oe1), *block("Ke", K, structure=2)]
    lines += block("De", np.diag([0.1, 0.2]), structure=1, kept=lambda i, j: i == j)
    return [*lines, "end modal", "end part"]


def spun(p: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Coefficients of p.(omega x (omega x l)) on xx yy zz xy yz xz: p_i l_j omega_i omega_j less omega^2 p.l."""
    S = 0.5 * (np.outer(p, x) + np.outer(x, p)) - p @ x * np.eye(3)
    return np.array([S[0, 0], S[1, 1], S[2, 2], 2 * S[0, 1], 2 * S[1, 2], 2 * S[0, 2]])


def same(found: FlexBody, other: FlexBody) -> None:
    for name in ("inertia", "F0", "Mff", "N0", "N1", "F1", "Z"):
        np.testing.assert_allclose(getattr(found.integrals, name), getattr(other.integrals, name), atol=1e-14)
    for name in ("node_positions", "node_shapes", "stiffness", "damping", "frequencies"):
        np.testing.assert_allclose(getattr(found, name), getattr(other, name), rtol=1e-14, atol=1e-14)
    assert (found.node_names, found.attach) == (other.node_names, other.attach)


def read(lines: list[str], tmp_path: Path) -> FlexBody:
    path = tmp_path / "body.sid"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_sid(path)


def test_definitions_of_the_standard_give_the_integrals_of_the_points(tmp_path: Path) -> None:
    body = read(handmade(), tmp_path)
    same(body, expected())
    assert body.mode_names == ("first", "second")
    assert body.integrals.rotary is False


def swap_modes(line: str) -> str:
    return re.sub(r"m1\((\s*\d+),(\s*\d+),(\s*\d+)\)", r"m1(\1,\3,\2)", line)


def fortran(line: str) -> str:
    return re.sub(r"= (-?)(\d+\.\d+)$", lambda m: f"={m[1]}{float(m[2]):.16E}".replace("E", "D"), line)


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: [line.upper() for line in lines],
        lambda lines: [f"\t  {line}   \r" for line in lines],
        lambda lines: [fortran(line) for line in lines],
        lambda lines: [extra for line in lines for extra in (line, "", "# a comment", "! another")],
        # FEMBeam2SID and others: (row, column, mode).
        lambda lines: [swap_modes(line) for line in lines],
        lambda lines: lines[1:],
        lambda lines: ["3 nodes, 2 modes, generated by a script", *lines[1:]],
        lambda lines: [re.sub(r"^(end )?(K|D)e$", r"\1\2", line) for line in lines],
        lambda lines: [line for line in lines if not line.startswith(("nqn", "structure = 3"))],
        lambda lines: ["new frame" if line == "frame" else line for line in lines],
        lambda lines: [line.replace("m0(", "m0 (").replace("= ", "=") for line in lines],
    ],
    ids=["case", "spaces", "exponents", "comments", "mode_last", "no_head", "words", "names", "keys", "frame", "tight"],
)
def test_ways_of_writing_the_same(change: Callable[[list[str]], list[str]], tmp_path: Path) -> None:
    same(read(change(handmade()), tmp_path), expected())


def without(lines: list[str], name: str) -> list[str]:
    begin, end = lines.index(name), lines.index(f"end {name}")
    return lines[:begin] + lines[end + 1 :]


def test_oe_columns_in_our_order_are_recognized_by_J(tmp_path: Path) -> None:
    lines = handmade()
    begin, end = lines.index("Oe"), lines.index("end Oe")
    trade = {" 5)": " 6)", " 6)": " 5)"}
    lines[begin:end] = [re.sub(r" [56]\)", lambda m: trade[m[0]], line) for line in lines[begin:end]]
    same(read(lines, tmp_path), expected())


def test_centrifugal_terms_follow_from_J_where_Oe_is_missing(tmp_path: Path) -> None:
    found, full = read(without(handmade(), "Oe"), tmp_path).integrals, expected().integrals
    np.testing.assert_allclose(found.N0, full.N0, atol=1e-14)
    assert not found.N1.any()


def test_optional_blocks_may_be_missing(tmp_path: Path) -> None:
    body = read(without(handmade(), "De"), tmp_path)
    np.testing.assert_array_equal(body.damping, np.zeros((2, 2)))
    np.testing.assert_allclose(body.integrals.N1, expected().integrals.N1, atol=1e-14)


def test_products_put_into_one_entry_of_a_pair_are_shared(tmp_path: Path) -> None:
    """As some programs do: M1 of Oe stays the same in what it does to a pair, and becomes symmetric."""
    lines = handmade()
    entry = re.compile(r"m1\( (\d), (\d), 4\) = (.*)")
    at = {(m[1], m[2]): i for i, line in enumerate(lines) if i > lines.index("Oe") and (m := entry.match(line))}
    upper = lines[at["1", "2"]]
    lines[at["1", "2"]] = re.sub("= .*", f"= {2 * float(upper.split('=')[1]):.17g}", upper)
    lines[at["2", "1"]] = re.sub("= .*", "= 0.0", lines[at["2", "1"]])
    same(read(lines, tmp_path), expected())


def test_three_digit_exponents_without_a_letter_are_numbers(tmp_path: Path) -> None:
    lines = handmade()
    i = next(i for i, line in enumerate(lines) if line.startswith("m0( 1, 1)    = 0"))
    lines[i] = "m0( 1, 1) = 1.25-120"
    assert read(lines, tmp_path).node_positions[0, 0] == 1.25e-120


def refusal(lines: list[str], tmp_path: Path) -> Problem:
    with pytest.raises(ModelError) as caught:
        read(lines, tmp_path)
    (problem,) = caught.value.problems
    assert problem.file == str(tmp_path / "body.sid")
    assert problem.cure
    return problem


@pytest.mark.parametrize("share", [0.02, 0.2, 0.5, 0.8, 0.99])
def test_a_file_that_is_cut_off_is_refused(share: float, tmp_path: Path) -> None:
    lines = handmade()
    kept = lines[: int(share * len(lines))]
    problem = refusal(kept, tmp_path)
    if share > 0.1:
        assert "cut off" in problem.cure
        assert problem.line == len(kept)
        assert re.search(r"`end \w+`, which closes line \d+", problem.expected)


def set_line(old: str, new: str, after: str = "") -> Callable[[list[str]], tuple[list[str], int]]:
    """Replace the first line that is `old` behind the line `after`."""

    def change(lines: list[str]) -> tuple[list[str], int]:
        begin = lines.index(after) if after else 0
        i = next(k for k in range(begin, len(lines)) if lines[k].startswith(old))
        return [*lines[:i], new, *lines[i + 1 :]], i + 1

    return change


WRONG = {
    "mass": (set_line("mass = 2.1", "mass = -2.1"), "refmod.mass", "above 0", "-2.1"),
    "no mass": (set_line("mass = 2.1", "mass ="), "refmod.mass", "above 0", "mass ="),
    "nan": (set_line("m0( 1, 1)", "m0( 1, 1) = NaN", "Me"), "Me", "number", "NaN"),
    "word": (set_line("m0( 1, 1)", "m0( 1, 1) = x", "Me"), "Me", "number", "x"),
    "index": (set_line("m0( 1, 1)", "m0( 3, 1) = 1", "Me"), "Me", "from 1 to 2 and 2", "m0(3, 1)"),
    "mode": (set_line("m1( 1, 1, 1)", "m1( 1, 9, 1) = 1", "Cr"), "Cr", "from 1 to 2, 2 and 3", "m1(1, 9, 1)"),
    "third order": (set_line("m1( 1, 1, 1)", "mn( 1, 1, 1) = 1", "Cr"), "Cr", "order 0 and 1", "mn("),
    "order": (set_line("order = 1", "order = 2", "Cr"), "Cr.order", "from 0 to 1", "order = 2"),
    "structure": (set_line("structure = 2", "structure = 7", "Me"), "Me.structure", "from 0 to 4", "= 7"),
    "rows": (set_line("nrow = 2", "nrow = 3", "Ct"), "Ct.nrow", "nrow = 2 (nelastq is 2)", "nrow = 3"),
    "modes of a block": (set_line("nq = 2", "nq = 5", "Cr"), "Cr.nq", "nq = 2 (nelastq is 2)", "nq = 5"),
    "head, nodes": (set_line("3 2 :", "4 2 :No. nodes"), "", "4 nodes", "3 nodes"),
    "head, modes": (set_line("3 2 :", "3 5 :No. nodes"), "", "5 modes", "2 modes"),
    "nelastq": (set_line("nelastq = 2", "nelastq = 1"), "refmod", "1 modes", "ielastq(2)"),
    "wrong end": (set_line("end Ct", "end Cr"), "Ct", "`end Ct`, which closes line", "`end Cr`"),
    "key": (set_line("order = 0", "ordr = 0", "Ct"), "Ct", "order, nrow", "`ordr = 0`"),
    "second node": (set_line("new node = 20", "new node = 10"), "frame.node", "once", "node 10 again"),
    "node": (set_line("new node = 20", "new node = top"), "frame.node", "whole number", "top"),
    "rframe": (set_line("rframe = body ref", "rframe = node 3"), "rframe", "body ref", "node 3"),
    "off the diagonal": (set_line("m0( 2, 2)", "m0( 1, 2) = 3", "De"), "De", "diagonal", "m0(1, 2)"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_lines_are_refused_where_they_are(name: str, tmp_path: Path) -> None:
    change, key, expected_text, found = WRONG[name]
    lines, number = change(handmade())
    problem = refusal(lines, tmp_path)
    assert problem.key == key
    assert expected_text in problem.expected
    assert found in problem.found
    if name != "nelastq":
        assert problem.line == number


@pytest.mark.parametrize("name", ["mdCM", "J", "Ct", "Cr", "Me", "Ke"])
def test_required_blocks_are_asked_for(name: str, tmp_path: Path) -> None:
    problem = refusal(without(handmade(), name), tmp_path)
    assert (problem.key, problem.found) == (name, "none")


CONTRADICTIONS = {
    "J that is not symmetric": (set_line("structure = 2", "structure = 3", "J"), "J", "symmetric"),
    "J too small": (set_line("m0( 3, 3)", "m0( 3, 3) = 0.1", "J"), "J", "mass centre"),
    "negative modal mass": (set_line("m0( 1, 1)", "m0( 1, 1) = -1", "Me"), "Me", "positive eigenvalues"),
    "Me that is not symmetric": (set_line("m0( 1, 2)", "m0( 1, 2) = 0.7", "Me"), "Me", "symmetric"),
    "negative stiffness": (set_line("m0( 1, 1)", "m0( 1, 1) = -50", "Ke"), "Ke", "negative"),
    "negative damping": (set_line("m0( 1, 1)", "m0( 1, 1) = -1", "De"), "De", "energy"),
    "Ct against mdCM": (set_line("m0( 1, 1)", "m0( 1, 1) = -0.3", "Ct"), "Ct", "M1 of mdCM"),
    "Oe against J": (set_line("m0( 1, 1)", "m0( 1, 1) = 5", "Oe"), "Oe", "M1 of J"),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_tables_that_contradict_each_other_are_refused(name: str, tmp_path: Path) -> None:
    change, key, text = CONTRADICTIONS[name]
    lines, _ = change(handmade())
    problem = refusal(lines, tmp_path)
    assert problem.key == key
    assert text in problem.expected
    assert problem.line == lines.index(str(key)) + 1


def test_momentum_that_the_modal_mass_cannot_have_is_refused(tmp_path: Path) -> None:
    """Cauchy-Schwarz: (sum m phi)^2 is at most m times sum m phi^2. Lumped Ct beside a consistent Me breaks it."""
    lines = handmade()
    begin = lines.index("Me")
    for i in range(begin, lines.index("end Me")):
        if lines[i].startswith("m0"):
            key, value = lines[i].split("=")
            lines[i] = f"{key}= {0.2 * float(value):.17g}"
    problem = refusal(lines, tmp_path)
    assert problem.key == "Ct"
    assert "mass matrix" in problem.expected


def test_motion_of_a_node_is_stated_once(tmp_path: Path) -> None:
    lines = handmade()
    begin = lines.index("phi", lines.index("new node = 20"))
    i = next(k for k in range(begin, len(lines)) if lines[k].startswith("m0( 2, 1)"))
    problem = refusal([*lines[:i], "m0( 2, 1) = 5", *lines[i + 1 :]], tmp_path)
    assert (problem.key, problem.line) == ("phi", begin + 1)


def test_preload_is_refused(tmp_path: Path) -> None:
    lines = handmade()
    at = lines.index("Ke")
    lines[at:at] = block("ksigma", [[1.0], [0.0]])
    assert refusal(lines, tmp_path).key == "ksigma"


@pytest.mark.parametrize(
    "content", [b"", b"\x00\xff\xfe binary", b"bough: 1\nname: m\n", b"part", b"part\nnew modal\n"]
)
def test_other_files_are_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.sid").write_bytes(content)
    with pytest.raises(ModelError):
        load_sid(tmp_path / "x.sid")
    with pytest.raises(ModelError, match="No such file"):
        load_sid(tmp_path / "y.sid")


def test_no_mutation_ends_in_anything_but_a_refusal(tmp_path: Path) -> None:
    """Lines dropped, doubled, traded, cut: a ModelError or a body, never another exception."""
    write_sid(expected(), tmp_path / "whole.sid")
    whole = (tmp_path / "whole.sid").read_text().splitlines()
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(300):
        lines = list(whole)
        i, j = rng.integers(len(lines), size=2)
        how = rng.integers(4)
        if how == 0:
            del lines[i]
        elif how == 1:
            lines.insert(j, lines[i])
        elif how == 2:
            lines[i], lines[j] = lines[j], lines[i]
        else:
            lines[i] = lines[i][: rng.integers(len(lines[i]) + 1)]
        try:
            read(lines, tmp_path)
        except ModelError:
            refused += 1
    assert refused > 150
