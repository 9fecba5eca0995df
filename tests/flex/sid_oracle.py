"""A SID body by itself, in plain numpy from the numbers in the text: shares no code with bough.

Wallrapp's equations of motion, with the terms that follow from T = 1/2 V' M(q) V and for which SID has no table: second
order of J (its second derivatives are those that M1 of Oe states), and forces quadratic in qd from M1 of Ct, Cr, Me.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass
class Table:
    """M0 (nrow, ncol) and M1 (nrow, nq, ncol)."""

    M0: Array
    M1: Array

    def at(self, q: Array) -> Array:
        value: Array = self.M0 + np.einsum("l,ilj->ij", q, self.M1)
        return value

    def rate(self, qd: Array) -> Array:
        value: Array = np.einsum("l,ilj->ij", qd, self.M1)
        return value


def tilde(x: Array) -> Array:
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def read_table(lines: list[str]) -> Table:
    text = "\n".join(lines)
    size = {
        key: int(re.search(rf"^\s*{key}\s*=\s*(\d+)", text, re.M)[1]) for key in ("nrow", "ncol", "nq", "structure")
    }
    M0 = np.zeros((size["nrow"], size["ncol"]))
    if size["structure"] == 4:
        M0 = np.eye(size["nrow"])
    M1 = np.zeros((size["nrow"], size["nq"], size["ncol"]))
    for i, j, x in re.findall(r"m0\(\s*(\d+),\s*(\d+)\)\s*=\s*(\S+)", text):
        M0[int(i) - 1, int(j) - 1] = float(x.replace("D", "E"))
    for i, j, k, x in re.findall(r"m1\(\s*(\d+),\s*(\d+),\s*(\d+)\)\s*=\s*(\S+)", text):
        M1[int(i) - 1, int(j) - 1, int(k) - 1] = float(x.replace("D", "E"))
    return Table(M0, M1)


class SidOracle:
    """Mass matrix and forces of the text of a SID_FEM file."""

    def __init__(self, text: str) -> None:
        lines = text.splitlines()
        self.mass = float(re.search(r"^\s*mass\s*=\s*(\S+)", text, re.M)[1].replace("D", "E"))
        self.tables: dict[str, Table] = {}
        begin = next(i for i, line in enumerate(lines) if line.strip() == "end frame")
        for i in range(begin + 1, len(lines)):
            name = lines[i].strip()
            if re.fullmatch(r"mdCM|J|Ct|Cr|Me|Gr|Ge|Oe|Ke|De", name):
                end = next(k for k in range(i, len(lines)) if lines[k].strip() == f"end {name}")
                self.tables[name] = read_table(lines[i:end])
        self.n = self.tables["Me"].M0.shape[0]

    def columns(self, name: str, q: Array) -> Array:
        """Gr or Ge by component and mode, (nrow, 3, n): modes count fastest."""
        value = self.tables[name].at(q)
        return value.reshape(value.shape[0], 3, self.n)

    def inertia(self, q: Array) -> Array:
        """J to second order, (3, 3): the file's first order, and -sum q_k q_l M1[k, l] of Oe on omega's products."""
        xx, yy, zz, xy, xz, yz = self.tables["J"].at(q)[:, 0]
        first = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        c = np.einsum("k,l,kli->i", q, q, self.tables["Oe"].M1)
        second = np.array([[c[0], c[3] / 2, c[5] / 2], [c[3] / 2, c[1], c[4] / 2], [c[5] / 2, c[4] / 2, c[2]]])
        return first - second

    def first_moment(self, q: Array) -> Array:
        """Sum of m l, with the second-order motion that M1 of Ct states."""
        moment: Array = self.tables["mdCM"].at(q)[:, 0] + 0.5 * np.einsum("k,l,kli->i", q, q, self.tables["Ct"].M1)
        return moment

    def energy(self, q: Array, qd: Array, omega: Array, v: Array) -> float:
        """Kinetic energy: velocities of the body reference frame in its axes."""
        Ct, Cr, Me = (self.tables[name].at(q) for name in ("Ct", "Cr", "Me"))
        own = self.mass * v @ v + omega @ self.inertia(q) @ omega + qd @ Me @ qd
        return float(0.5 * own + v @ Ct.T @ qd + omega @ Cr.T @ qd + v @ np.cross(omega, self.first_moment(q)))

    def forces(
        self, q: Array, qd: Array, qdd: Array, omega: Array, alpha: Array, a: Array
    ) -> tuple[Array, Array, Array]:
        """Force and torque on the frame's origin, and modal forces without Ke and De, that these motions take."""
        t = self.tables
        Ct, Cr, Me = (t[name].at(q) for name in ("Ct", "Cr", "Me"))
        md, J = self.first_moment(q), self.inertia(q)
        Gr = np.einsum("icl,l->ic", self.columns("Gr", q), qd)
        Ge = np.einsum("kcl,l->kc", self.columns("Ge", q), qd)
        x, y, z = omega
        w2 = np.array([x * x, y * y, z * z, x * y, y * z, x * z])
        force = self.mass * a + tilde(md).T @ alpha + Ct.T @ qdd
        force += 2 * np.cross(omega, Ct.T @ qd) + np.cross(omega, np.cross(omega, md)) + t["Ct"].rate(qd).T @ qd
        torque = tilde(md) @ a + J @ alpha + Cr.T @ qdd + Gr @ omega + np.cross(omega, J @ omega)
        torque += t["Cr"].rate(qd).T @ qd
        modal = Ct @ a + Cr @ alpha + Me @ qdd + Ge @ omega + t["Oe"].at(q) @ w2
        modal += t["Me"].rate(qd) @ qd - 0.5 * np.einsum("k,klj,j->l", qd, t["Me"].M1, qd)
        return force, torque, modal
