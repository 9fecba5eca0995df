"""Nastran files written here, byte by byte, from FE models that are known: decks, OUTPUT4, DMIG, OP2."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flex.fe.fem import NU, RHO, E, G
from house.tools import IN_CI
from scipy import linalg, sparse

from bough.flex.fe import FeModel

Dof = tuple[int, int]


def need_pynastran() -> None:
    """Skip without pyNastran on a user's machine, fail in CI."""
    try:
        import pyNastran  # noqa: F401
    except ImportError:
        if IN_CI:
            pytest.fail("pyNastran is not installed, and CI must not skip a test")
        pytest.skip("pyNastran is not installed")


def number(value: float, width: int = 16) -> str:
    """A real as Nastran wants it, with a point, in at most so many columns."""
    for digits in range(17, 0, -1):
        text = f"{value:.{digits}g}"
        mantissa, e, exponent = text.partition("e")
        text = (mantissa if "." in mantissa else mantissa + ".") + (f"{e}{int(exponent):+d}" if e else "")
        if len(text) <= width:
            return text
    raise ValueError(value)


# --- decks --------------------------------------------------------------------------------------------------------


def grids(ids: Sequence[int], positions: np.ndarray, cd: Mapping[int, int] | None = None) -> str:
    """GRID cards in large fields."""
    lines = []
    for k, x in zip(ids, positions, strict=True):
        a, b, c = (f"{number(float(v)):>16}" for v in x)
        lines += [f"GRID*   {k:16d}{'':16}{a}{b}", f"*       {c}{(cd or {}).get(k, 0):16d}"]
    return "\n".join(lines) + "\n"


def frame_deck(model: FeModel, area: float, cd: Mapping[int, int] | None = None, control: str = "") -> str:
    """A deck of CBAR elements from node to node."""
    ids = model.node_ids.tolist()
    bars = "".join(f"CBAR,{k + 1},7,{a},{b},0.3,0.5,0.8\n" for k, (a, b) in enumerate(zip(ids, ids[1:], strict=False)))
    section = f"PBAR,7,9,{number(area, 8)},1.-8,2.-8,3.-8\n"
    material = f"MAT1,9,{number(E, 8)},{number(G, 8)},,{number(RHO, 8)}\n"
    return f"SOL 103\nCEND\n{control}BEGIN BULK\n{bars}{section}{material}{grids(ids, model.positions, cd)}ENDDATA\n"


def block(cells: tuple[int, int, int], size: tuple[float, float, float]) -> tuple[FeModel, str]:
    """A block of trilinear bricks, lumped mass, and its deck; sets ROOT and TIP are the end faces."""
    ticks = [np.linspace(0.0, s, c + 1) for c, s in zip(cells, size, strict=True)]
    x, y, z = np.meshgrid(*ticks, indexing="ij")
    positions = np.column_stack([x.ravel(), y.ravel(), z.ravel()])
    n = len(positions)
    index = np.arange(n).reshape(x.shape)
    K, M = np.zeros((3 * n, 3 * n)), np.zeros(n)
    cards = ""
    for e, (i, j, k) in enumerate(np.ndindex(*cells)):
        lower = [index[i, j, k], index[i + 1, j, k], index[i + 1, j + 1, k], index[i, j + 1, k]]
        corners = np.array(lower + [c + 1 for c in lower])
        at = (3 * corners[:, None] + np.arange(3)).ravel()
        K[np.ix_(at, at)] += brick(positions[corners])
        M[corners] += RHO * np.prod(np.ptp(positions[corners], axis=0)) / 8.0
        c = [int(v) + 1 for v in corners]
        cards += f"CHEXA,{e + 1},3,{c[0]},{c[1]},{c[2]},{c[3]},{c[4]},{c[5]}\n,{c[6]},{c[7]}\n"
    ends = {"ROOT": positions[:, 0] == 0.0, "TIP": positions[:, 0] == size[0]}
    model = FeModel(
        np.arange(1, n + 1),
        positions,
        np.repeat(np.arange(n), 3),
        np.tile(np.arange(3), n),
        sparse.csc_array(K),
        sparse.csc_array(np.diag(np.repeat(M, 3))),
        sets={name: tuple((np.flatnonzero(end) + 1).tolist()) for name, end in ends.items()},
    )
    material = f"PSOLID,3,9\nMAT1,9,{number(E, 8)},,{NU},{number(RHO, 8)}\n"
    return model, f"BEGIN BULK\n{cards}{material}{grids(model.node_ids.tolist(), positions)}ENDDATA\n"


def brick(x: np.ndarray) -> np.ndarray:
    """Stiffness of a trilinear brick with corners x, (8, 3), two Gauss points each way."""
    signs = np.array(
        [(-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1), (-1, -1, 1), (1, -1, 1), (1, 1, 1), (-1, 1, 1)]
    )
    lam, mu = E * NU / ((1 + NU) * (1 - 2 * NU)), E / (2 * (1 + NU))
    C = np.diag([2 * mu] * 3 + [mu] * 3)
    C[:3, :3] += lam
    K = np.zeros((24, 24))
    for xi in signs / np.sqrt(3.0):
        f = 1.0 + signs * xi
        slope = signs * np.column_stack([f[:, 1] * f[:, 2], f[:, 0] * f[:, 2], f[:, 0] * f[:, 1]]) / 8.0
        jacobian = slope.T @ x
        d = np.linalg.solve(jacobian, slope.T)
        B = np.zeros((6, 24))
        for row, (a, b) in enumerate([(0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2)]):
            B[row, a::3] += d[b]
            if a != b:
                B[row, b::3] += d[a]
        K += B.T @ C @ B * np.linalg.det(jacobian)
    return K


# --- OUTPUT4 ------------------------------------------------------------------------------------------------------


def strings(column: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """Runs of non-zeros of a column: first row, counted from 1, and values."""
    filled = np.flatnonzero(column)
    runs = np.split(filled, np.flatnonzero(np.diff(filled) > 1) + 1)
    return [(int(run[0]) + 1, column[run]) for run in runs if run.size]


def op4_text(matrices: Mapping[str, np.ndarray], kind: str = "dense", letter: str = "E") -> str:
    """A formatted file; kind is dense, sparse or bigmat."""
    out = ""
    for name, A in matrices.items():
        rows, columns = A.shape
        out += f"{columns:8d}{-rows if kind == 'bigmat' else rows:8d}{6:8d}{2:8d}{name:<8}1P,3{letter}23.16\n"
        for c in range(columns):
            runs = strings(A[:, c])
            if not runs:
                continue
            if kind == "dense":
                first, last = runs[0][0], runs[-1][0] + runs[-1][1].size - 1
                out += f"{c + 1:8d}{first:8d}{last - first + 1:8d}\n" + reals(A[first - 1 : last, c], letter)
                continue
            head = 2 if kind == "bigmat" else 1
            out += f"{c + 1:8d}{0:8d}{sum(head + 2 * v.size for _, v in runs):8d}\n"
            for row, values in runs:
                length = 2 * values.size + 1
                out += f"{length:8d}{row:8d}\n" if kind == "bigmat" else f"{length * 65536 + row:11d}\n"
                out += reals(values, letter)
        out += f"{columns + 1:8d}{1:8d}{1:8d}\n{1.0:23.16E}\n"
    return out


def reals(values: np.ndarray, letter: str) -> str:
    texts = [f"{v:23.16E}".replace("E", letter) for v in values]
    return "".join("".join(texts[k : k + 3]) + "\n" for k in range(0, len(texts), 3))


def op4_bytes(
    matrices: Mapping[str, np.ndarray], kind: str = "dense", order: str = "<", word: int = 4, real: int = 8
) -> bytes:
    """An unformatted file; word: bytes of an integer; real: of a number."""
    integer = f"{order}i{word}"
    out = b""

    def record(*parts: bytes) -> bytes:
        data = b"".join(parts)
        return struct.pack(order + "i", len(data)) + data + struct.pack(order + "i", len(data))

    def words(*values: int) -> bytes:
        return np.array(values, dtype=integer).tobytes()

    for name, A in matrices.items():
        rows, columns = A.shape
        code = 2 if real > word else 1
        out += record(
            words(columns, -rows if kind == "bigmat" else rows, 6, code), f"{name:<{2 * word}}".encode("ascii")
        )
        for c in range(columns):
            runs = strings(A[:, c])
            if not runs:
                continue
            if kind == "dense":
                first, last = runs[0][0], runs[-1][0] + runs[-1][1].size - 1
                runs = [(first, A[first - 1 : last, c])]
            data, row = b"", 0
            for start, values in runs:
                length = values.size * real // word + 1
                if kind == "dense":
                    row = start
                elif kind == "bigmat":
                    data += words(length, start)
                else:
                    data += words(length * 65536 + start)
                data += values.astype(f"{order}f{real}").tobytes()
            out += record(words(c + 1, row, len(data) // word), data)
        out += record(words(columns + 1, 1, 1), np.ones(1).astype(f"{order}f{real}").tobytes())
    return out


# --- DMIG ---------------------------------------------------------------------------------------------------------


def dmig(name: str, dofs: Sequence[Dof], A: np.ndarray, large: bool = True, form: int = 6) -> str:
    """DMIG cards of a matrix: its lower triangle, or all of it with form 1."""
    out = f"DMIG    {name:<8}{0:8d}{form:8d}{2:8d}{0:8d}\n"
    for j, (gj, cj) in enumerate(dofs):
        rows = [i for i in range(len(dofs)) if A[i, j] != 0.0 and (form == 1 or i >= j)]
        if not rows:
            continue
        if large:
            out += f"DMIG*   {name:<16}{gj:16d}{cj:16d}\n"
            out += "".join(f"*       {dofs[i][0]:16d}{dofs[i][1]:16d}{doubles(A[i, j])}\n" for i in rows)
            continue
        entries = [f"{dofs[i][0]},{dofs[i][1]},{number(A[i, j])}," for i in rows]
        out += f"DMIG,{name},{gj},{cj},,{entries[0]}\n"
        out += "".join("," + ",".join(entries[k : k + 2]) + "\n" for k in range(1, len(entries), 2))
    return out


def doubles(value: float) -> str:
    """A double in 16 columns, as punch files have them."""
    return f"{value:16.9E}".replace("E", "D")


# --- OP2 ----------------------------------------------------------------------------------------------------------


def op2_bytes(ids: Sequence[int], shapes: np.ndarray, squares: np.ndarray, masses: np.ndarray | None = None) -> bytes:
    """An OP2 file of SOL 103 with PARAM,POST,-1: tables LAMA and OUGV1; shapes (n, 6, nm), translations first."""

    def marker(*values: int) -> bytes:
        return b"".join(struct.pack("<3i", 4, value, 4) for value in values)

    def record(data: bytes) -> bytes:
        return marker(len(data) // 4) + struct.pack("<i", len(data)) + data + struct.pack("<i", len(data))

    def table(name: str, head: bytes, parts: Sequence[bytes]) -> bytes:
        out = record(f"{name:<8}".encode()) + marker(-1) + record(struct.pack("<7i", 101, 1, 0, 0, 0, 0, 0))
        out += marker(-2, 1, 0) + record(f"{name:<8}".encode() + head)
        for k, part in enumerate(parts, start=3):
            out += marker(-k, 1, 0) + record(part)
        return out + marker(-3 - len(parts), 1, 0, 0)

    def ident(*values: Any) -> bytes:
        head = b"".join(struct.pack("<f" if isinstance(value, float) else "<i", value) for value in values)
        return (head + bytes(200))[:200] + f"{'MODES':<384}".encode()

    out = marker(3) + struct.pack("<5i", 12, 1, 16, 25, 12) + record(b"NASTRAN FORT TAPE ID CODE - ")
    out += record(b"XXXXXXXX") + marker(-1, 0)
    if masses is not None:
        lines = b""
        for k, (square, mass) in enumerate(zip(squares, masses, strict=True), start=1):
            omega = abs(square) ** 0.5
            lines += struct.pack("<2i5f", k, k, square, omega, omega / 2 / np.pi, mass, mass * square)
        out += table("LAMA", b"", [ident(21, 6, 0, 0, 0, 0, 0, 0, 0, 7), lines])
    parts = []
    for k, square in enumerate(squares):
        cycles = float(abs(square) ** 0.5 / 2 / np.pi)
        parts.append(ident(22, 7, 0, 1, k + 1, float(square), cycles, 0, 1, 8))
        parts.append(b"".join(struct.pack("<2i6f", 10 * g + 2, 1, *shapes[i, :, k]) for i, g in enumerate(ids)))
    return out + table("OUGV1", struct.pack("<5i", 6, 18, 21, 0, 1), parts) + marker(0)


def file_modes(model: FeModel, count: int, held: Sequence[int] = ()) -> tuple[np.ndarray, np.ndarray]:
    """Squared frequencies and shapes (n, 6, count), mass-orthonormal, some nodes (indices) held."""
    free = np.flatnonzero(~np.isin(model.dof_node, held))
    K, M = (A.toarray()[np.ix_(free, free)] for A in (model.K, model.M))
    squares, vectors = linalg.eigh(K, M, subset_by_index=(0, count - 1))
    shapes = np.zeros((model.n, 6, count))
    shapes[model.dof_node[free], model.dof_component[free]] = vectors
    return squares, shapes


def written(path: Path, content: str | bytes) -> str:
    """Write a file; its path."""
    path.write_bytes(content.encode("ascii") if isinstance(content, str) else content)
    return str(path)
