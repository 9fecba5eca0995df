"""Condensed mass, transfer matrices, doubling: against articulated bodies, closures, and a sparse assembly."""

from __future__ import annotations

import re
import time
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse
from house.tools import ROOT
from scipy.sparse.linalg import splu
from small_models import beam, body, hinge, model

from bough import Mechanism
from bough.errors import ArgumentError
from bough.mechanism.transfer import (
    Bay,
    End,
    Link,
    bay,
    chain_links,
    chain_motion,
    repeated,
    ring_motion,
    transfer_matrix,
    transfer_power,
)

STATED = 4
"""Bodies up to which plain products of transfer matrices keep 1e-8, as docs/transfer-matrices.md says."""
STATIC = {"boundary": "craig-bampton", "count": 0}
STRIP = {"area": 1e-4, "Iy": 2e-9, "Iz": 1e-9, "J": 2e-9}


def chain(n: int, turn: float = 0.1, base: str = "free", gravity: float = -3.0) -> Mechanism:
    """Equal beams with their six static modes, each turned against the one before."""
    tilted = {"quaternion": [0, 0, float(np.sin(turn / 2)), float(np.cos(turn / 2))]}
    bodies: list[dict[str, Any]] = []
    for i in range(n):
        joint = hinge(base, "base") if i == 0 else {"type": "fixed", "frame": tilted}
        bodies.append(body(f"b{i}", f"b{i - 1}.tip" if i else "ground", joint, beam=beam(1.0, STATIC, STRIP)))
    return Mechanism(model("chain", *bodies, gravity=[0, 0, gravity], inputs=[f"b{n - 1}.tip.force"]))


def lively(system: Mechanism) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    q, _ = system.initial_state()
    modal = [c.index for c in system.q_table if c.modal]
    q[modal] = 1e-3 * rng.normal(size=len(modal))
    return q, 0.1 * rng.normal(size=system.nu)


def nodes(n: int) -> list[str]:
    return ["b0.root", *(f"b{i}.tip" for i in range(n))]


def error(n: int, method: Any) -> float:
    """Of the accelerations of all interfaces under a force at the end, over the largest, against articulated bodies."""
    system = chain(n)
    q, u = lively(system)
    force = np.array([0.3, -0.2, 0.5])
    udot = system.forward_dynamics(q, u, np.zeros(system.nu), loads={f"b{n - 1}.tip.force": force})
    _, _, expected = system.node_motion(q, u, udot, nodes(n))
    end = End(wrench=np.concatenate([np.zeros(3), force]))
    found = chain_motion(chain_links(system, q, u, f"b{n - 1}.tip"), End(), end, method)
    assert expected is not None
    return float(abs(found.accelerations - expected).max() / abs(expected).max())


@pytest.mark.parametrize("n", [1, 3, STATED])
def test_condensed_transfer_and_articulated_accelerations_agree_within_the_stated_length(n: int) -> None:
    assert error(n, "condensed") < 1e-11
    assert error(n, "transfer") < 1e-8


def test_plain_products_lose_their_digits_beyond_it_and_the_riccati_form_does_not() -> None:
    """Four more bodies and less than four digits are left; the condensed mass has twelve digits after forty."""
    assert error(2 * STATED, "transfer") > 1e-4
    assert error(40, "condensed") < 1e-11


def test_held_ends_transmit_the_reactions_of_the_mechanism() -> None:
    """A cantilever: force at the first interface against the reaction of its fixed hinge, and at rest the weight."""
    system = chain(4, base="fixed")
    q, _ = system.initial_state()
    u = np.zeros(system.nu)
    found = chain_motion(chain_links(system, q, u, "b3.tip"), End(acceleration=np.zeros(6)), End())
    reaction = system.hybrid_dynamics(q, u, np.zeros(system.nu)).reactions[0]
    assert np.allclose(found.forces[0], reaction, rtol=0, atol=1e-10 * abs(reaction).max())
    both = chain_motion(
        chain_links(system, q, u, "b3.tip"), End(acceleration=np.zeros(6)), End(acceleration=np.zeros(6))
    )
    weight = 4 * 2700 * 1e-4 * 3.0
    by_transfer = chain_motion(
        chain_links(system, q, u, "b3.tip"), End(acceleration=np.zeros(6)), End(acceleration=np.zeros(6)), "transfer"
    )
    assert np.allclose(both.forces, by_transfer.forces, rtol=0, atol=1e-8 * weight)


@pytest.mark.parametrize(("n", "dense"), [(4, 1e-11), (12, 1e-9)])
def test_ring_by_transfer_matrices_is_the_ring_by_closure(n: int, dense: float) -> None:
    """A ring of beams that spins and falls: no constraint in one, six Lagrange multipliers in the other.

    A product of twelve transfer matrices has no digit left: twelve show that none is formed. `dense` is what the dense
    equations with multipliers keep of their digits; both forms agree with each other to more.
    """
    system = chain(n, turn=2 * np.pi / n)
    q, u = system.initial_state()
    u[3:6] = [0.3, -0.2, 0.5]
    last = f"b{n - 1}.tip"
    links = chain_links(system, q, u, last)
    cyclic, condensed = ring_motion(links, "transfer"), ring_motion(links)
    relative = system.node_jacobian(q, last) - system.node_jacobian(q, "b0.root")
    rate = system.node_jacobian_rate(q, u, last) - system.node_jacobian_rate(q, u, "b0.root")
    M, c = system.mass_matrix(q), system.inverse_dynamics(q, u, np.zeros(system.nu))
    K = np.block([[M, relative.T], [relative, np.zeros((6, 6))]])
    udot = np.linalg.solve(K, np.concatenate([-c, -rate @ u]))[: system.nu]
    _, _, expected = system.node_motion(q, u, udot, nodes(n))
    assert expected is not None
    assert abs(condensed.accelerations - expected).max() < dense * abs(expected).max()
    assert abs(cyclic.accelerations - expected).max() < dense * abs(expected).max()
    assert abs(cyclic.accelerations - condensed.accelerations).max() < 1e-10 * abs(expected).max()
    assert np.allclose(condensed.forces[0], condensed.forces[-1], rtol=0, atol=1e-10 * abs(condensed.forces).max())


def test_powers_by_squaring_are_products() -> None:
    system = chain(1)
    q, u = lively(system)
    (link,) = chain_links(system, q, u, "b0.tip")
    T, t = transfer_matrix(link)
    power, shift = transfer_power(link, 5)
    product, sum_ = np.eye(12), np.zeros(12)
    for _ in range(5):
        product, sum_ = T @ product, T @ sum_ + t
    assert np.allclose(power, product, rtol=1e-9, atol=1e-9 * abs(product).max())
    assert np.allclose(shift, sum_, rtol=1e-9, atol=1e-9 * abs(sum_).max())


def test_transfer_matrix_is_symplectic() -> None:
    """T' W T = W with W = [[0, 1], [-1, 0]], since M is symmetric: eigenvalues come in pairs x, 1/x."""
    system = chain(1)
    q, u = lively(system)
    T, _ = transfer_matrix(chain_links(system, q, u, "b0.tip")[0])
    W = np.block([[np.zeros((6, 6)), np.eye(6)], [-np.eye(6), np.zeros((6, 6))]])
    assert abs(T.T @ W @ T - W).max() < 1e-9 * abs(T).max()


def test_doubling_is_one_chain_after_the_other() -> None:
    system = chain(1)
    q, u = lively(system)
    (link,) = chain_links(system, q, u, "b0.tip")
    whole = repeated(link, 13)
    step = chain_motion([link] * 13, End(wrench=np.ones(6)), End())
    once = chain_motion([whole], End(wrench=np.ones(6)), End())
    assert np.allclose(
        step.accelerations[[0, -1]], once.accelerations, rtol=0, atol=1e-12 * abs(step.accelerations).max()
    )


# ---- booms


@pytest.fixture(scope="module")
def one_bay() -> Bay:
    single = model("bay", body("bay", "ground", hinge("free", "h"), beam=beam(1.0, STATIC, STRIP, damping=0.0)))
    return bay(single, "bay", "tip")


def assembled(one: Bay, bays: int, omega: float, loss: float) -> np.ndarray:
    """Tip response of a cantilever boom from the assembled matrix of all its interfaces, by a sparse factorization."""
    Z = one.link(omega, loss).mass[0]
    size = 6 * (bays + 1)
    first = 6 * np.arange(bays)[:, None, None]
    rows = np.broadcast_to(first + np.arange(12)[:, None], (bays, 12, 12))
    columns = np.broadcast_to(first + np.arange(12)[None, :], (bays, 12, 12))
    values = np.broadcast_to(Z, (bays, 12, 12))
    whole = sparse.csc_matrix((values.ravel(), (rows.ravel(), columns.ravel())), shape=(size, size))[6:, 6:]
    force = np.zeros((size - 6, 6), dtype=complex)
    force[-6:] = np.eye(6)
    return np.asarray(splu(whole.tocsc()).solve(force)[-6:])


@pytest.mark.parametrize("bays", [1, 7, 300, 10_000])
def test_boom_of_equal_bays_answers_as_the_assembled_one(one_bay: Bay, bays: int) -> None:
    """Well above its first frequencies, with losses; the assembled matrix of 10,000 bays is itself good to 1e-8."""
    for omega in (3.0, 40.0):
        found = one_bay.tip_response(bays, omega, 0.02)[0]
        expected = assembled(one_bay, bays, omega, 0.02)
        assert abs(found - expected).max() < 1e-8 * abs(expected).max()


def test_static_boom_is_a_cantilever(one_bay: Bay) -> None:
    """L^3 / 3EI and L / GJ of a hundred bays at rest: the frequency is zero."""
    G = one_bay.tip_response(100, 0.0)[0].real
    E, nu = 7e9, 0.33
    assert G[5, 5] == pytest.approx(100.0**3 / (3 * E * 2e-9), rel=1e-6)
    assert G[4, 4] == pytest.approx(100.0**3 / (3 * E * 1e-9), rel=1e-6)
    assert G[0, 0] == pytest.approx(100.0 / (E / (2 * (1 + nu)) * 2e-9), rel=1e-6)


def test_ten_thousand_bays_take_less_than_a_millisecond_for_each_frequency(one_bay: Bay) -> None:
    """The best of several, so that a busy machine does not decide."""
    omega = np.geomspace(1.0, 100.0, 200)
    best = np.inf
    for _ in range(5):
        begin = time.perf_counter()
        one_bay.tip_response(10_000, omega, 0.02)
        best = min(best, time.perf_counter() - begin)
    assert best / omega.size < 1e-3


# ---- what is no chain


def test_tree_and_wrong_modes_are_refused_with_the_cure() -> None:
    hinged = model(
        "hinged",
        body("a", "ground", hinge("free", "h"), beam=beam(1.0, STATIC, STRIP)),
        body("b", "a.tip", hinge("revolute", "r", [0, 0, 1]), beam=beam(1.0, STATIC, STRIP)),
    )
    system = Mechanism(hinged)
    with pytest.raises(ArgumentError, match=r"body 'b': expected a fixed hinge"):
        chain_links(system, *system.initial_state(), "b.tip")
    few = Mechanism(model("few", body("a", "ground", hinge("free", "h"), beam=beam(1.0, {"bending_y": 2}, STRIP))))
    with pytest.raises(ArgumentError, match=r"has 2 modes: a two-interface body has six"):
        chain_links(few, *few.initial_state(), "a.tip")


def test_ends_that_do_not_feel_each_other_have_no_transfer_matrix() -> None:
    with pytest.raises(Exception, match="M_ab is singular"):
        transfer_matrix(Link(np.eye(12), np.zeros(12)))


def test_page_on_transfer_matrices_runs() -> None:
    left: dict[str, object] = {}
    text = (ROOT / "docs" / "transfer-matrices.md").read_text(encoding="utf-8")
    for program in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S):
        exec(program, left)
