"""OUTPUT4 files in all their forms, written by this test, and damaged ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from flex.fe.nastran_files import need_pynastran, op4_bytes, op4_text, written

from bough import ModelError
from bough.flex.fe.nastran.op4 import read_op4


def sample() -> dict[str, np.ndarray]:
    """Matrices with empty columns, long and short strings, a row that touches its neighbour, and a single number."""
    rng = np.random.default_rng(4)
    A = rng.standard_normal((9, 7)) * 10.0 ** rng.integers(-12, 12, (9, 7))
    A[rng.random(A.shape) < 0.5] = 0.0
    A[:, 3] = 0.0
    A[0, 4] = A[8, 4] = -1.0 / 3.0
    return {"KAA": A, "M": np.array([[-2.5]]), "BAAX": np.diag([1.0, 2.0, 0.0, 4.0])}


@pytest.mark.parametrize("kind", ["dense", "sparse", "bigmat"])
@pytest.mark.parametrize("letter", ["E", "D"])
def test_formatted_matrices_read_back_to_the_last_bit(tmp_path: Path, kind: str, letter: str) -> None:
    read = read_op4(written(tmp_path / "a.op4", op4_text(sample(), kind, letter)), "file")
    assert list(read) == ["KAA", "M", "BAAX"]
    for name, A in sample().items():
        assert np.array_equal(read[name].toarray(), A)


@pytest.mark.parametrize("kind", ["dense", "sparse", "bigmat"])
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(("word", "real"), [(4, 8), (8, 8), (4, 4)])
def test_unformatted_matrices_read_back_to_the_last_bit(
    tmp_path: Path, kind: str, order: str, word: int, real: int
) -> None:
    read = read_op4(written(tmp_path / "a.op4", op4_bytes(sample(), kind, order, word, real)), "file")
    assert list(read) == ["KAA", "M", "BAAX"]
    for name, A in sample().items():
        kept = A.astype(f"f{real}").astype(np.float64)
        assert np.array_equal(read[name].toarray(), kept)


def test_what_pynastran_writes_is_read(tmp_path: Path) -> None:
    """Formatted only: pyNastran 1.4 fails to write unformatted matrices."""
    need_pynastran()
    from bough.flex.fe.nastran.pyn import load, quiet

    with quiet():
        op4 = load("pyNastran.op4.op4", "OP4", "file")()
        matrices = {name: (2, A) for name, A in sample().items()}
        op4.write_op4(str(tmp_path / "a.op4"), matrices, list(matrices), precision="double", is_binary=False)
    read = read_op4(str(tmp_path / "a.op4"), "file")
    for name, A in sample().items():
        assert read[name].toarray() == pytest.approx(A, rel=1e-14, abs=0.0)


def test_touching_numbers_and_a_header_without_format(tmp_path: Path) -> None:
    """I8 fields that leave no blank, and the format that Nastran means when it writes none, 5E16.9."""
    text = "       1       2       2       1A       \n       1       1       2\n-1.000000000E-10-2.000000000E+10\n"
    read = read_op4(written(tmp_path / "a.op4", text + "       2       1       1\n 1.000000000E+00\n"), "file")
    assert np.array_equal(read["A"].toarray(), [[-1e-10], [-2e10]])


@pytest.mark.parametrize("binary", [True, False])
def test_a_file_cut_anywhere_is_refused(tmp_path: Path, binary: bool) -> None:
    whole = op4_bytes({"KAA": np.eye(4)}, "bigmat") if binary else op4_text({"KAA": np.eye(4)}, "bigmat").encode()
    # The last line of a formatted file tells nothing; without its line feed it is whole.
    for size in range(0, len(whole) - (1 if binary else 25)):
        (tmp_path / "a.op4").write_bytes(whole[:size])
        with pytest.raises(ModelError, match="whole OUTPUT4 file") as caught:
            read_op4(str(tmp_path / "a.op4"), "file")
        assert "write it again" in caught.value.problems[0].cure


@pytest.mark.parametrize(
    "content",
    [b"\x89PNG\r\n\x1a\n" + bytes(60), b"$ a deck\nGRID,1,,0.,0.,0.\n" * 4, bytes(100), b"\x18\0\0\0" + b"\xff" * 60],
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.op4").write_bytes(content)
    with pytest.raises(ModelError, match="OUTPUT4"):
        read_op4(str(tmp_path / "a.op4"), "file")
