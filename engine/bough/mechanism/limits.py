"""Where the theory of a flexible body ends: limits that a run compares its state with (`engine/kernel/src/watch.c`).

Modes are linear. A body that spins near its first frequency, or is loaded along its axis near its buckling load, bends
wrongly unless geometric stiffening is on; a ruthless one that spins loses its gyroscopic terms; any body is wrong
beyond a tenth of its length. All numbers are of the body alone, with its attach node held.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from bough.flex.body import ROTATION, TRANSLATION, FlexBody
from bough.flex.integrals import clamp
from bough.mechanism.bodies import Array, BodyData

SPIN = 0.3
"""Spin over the first frequency: without stiffening the frequency then errs by 5 %, as the square root of 1 - 0.3^2."""
WHIRL = 0.05
"""Share of a frequency that the gyroscopic terms of a ruthless body, which are left out, may change."""
AXIAL = 0.25
"""Axial load over the buckling load: the bending frequency then errs by 13 %."""
DEFLECTION = 0.1
"""Deflection over the length of the body: a tip in a cross wind then errs by 0.7 % of the length."""
POSITIVE = 0.5
"""Share of the deflection at which the modal inertia is singular along one mode: the hinges' share comes before."""
SLENDER = 0.2
"""Reach of the nodes across an axis, over its length, up to which a body has one."""
WATCHED = 2
"""Points of a body whose displacement is watched."""
NEVER = 1e300


@dataclass(frozen=True, eq=False)
class Limits:
    """Limits of a body, in the user's axes of its attach node.

    Attributes:
        spin: Matrix S, (3, 3): the angular velocity w is too fast without stiffening where w' S w > 1, (s/rad)^2.
        whirl: The same for the gyroscopic terms that a ruthless body leaves out.
        first: First frequency with the attach node held, rad/s.
        axis: Unit vector from the attach node to the far end, or zeros if the body is not slender.
        axial: Load along the axis, of either sign, N.
        buckling: Load at the far end, along the axis, under which the body buckles, N.
        length: Distance of the farthest node from the attach node, m.
        deflection: Displacement of a node against the attach node's frame, m.
        inertia: The same, for the tables of inertia to stay positive, m.
        undamped: Whether the modes are ruthless and undamped, in a model that moves.
        shapes: Displacement of the watched points by eta, (WATCHED, 3, nm).
    """

    spin: Array
    whirl: Array
    first: float
    axis: Array
    axial: float
    buckling: float
    length: float
    deflection: float
    inertia: float
    undamped: bool
    shapes: Array

    def numbers(self) -> tuple[Array, ...]:
        """As the kernel reads them: `bough_limits`."""
        scalars = [self.axial, self.buckling, self.length, self.deflection, self.inertia, float(self.undamped)]
        return (
            _packed(self.spin),
            _packed(self.whirl),
            np.array([self.first]),
            self.axis,
            np.array(scalars),
            self.shapes.transpose(0, 2, 1),
        )


def body_limits(d: BodyData, ruthless: bool, stiffened: bool, held: bool, moves: bool) -> Limits | None:
    """The limits of a body; None for a rigid one.

    Args:
        d: The body as the kernel sees it.
        ruthless: Whether its fidelity is.
        stiffened: Whether geometric stiffening is on.
        held: Whether loops may hold its far end: it buckles between two pins then, not as a flagpole.
        moves: Whether the mechanism has hinges that move: a structure at rest is linear, and ruthless is exact.
    """
    flex = d.flex
    if flex is None or d.nm == 0:
        return None
    places, shapes = _displacements(flex)
    length = float(np.linalg.norm(places, axis=1).max(initial=0.0))
    axis = _axis(places, length)
    first = float(np.sqrt(max(d.stiffness.min(), 0.0)))
    buckling = NEVER if stiffened or not axis.any() else _buckling(flex.stiffness, places @ axis, shapes, axis, held)
    watched = _watched(shapes)
    return Limits(
        spin=np.zeros((3, 3)) if stiffened or first == 0.0 else _spin(axis) / (SPIN * first) ** 2,
        whirl=_whirl(d) if ruthless else np.zeros((3, 3)),
        first=first,
        axis=axis,
        axial=AXIAL * buckling,
        buckling=buckling,
        length=length,
        deflection=DEFLECTION * length if length > 0.0 else NEVER,
        inertia=NEVER if ruthless else _positive(d, watched),
        undamped=ruthless and moves and not d.damping.any(),
        shapes=watched,
    )


def _displacements(flex: FlexBody) -> tuple[Array, Array]:
    """Positions of the nodes from the attach node, m, (n, 3), and their displacement by eta, (n, 3, nm)."""
    places = flex.node_positions - flex.node_positions[flex.attach]
    lam, gam = flex.node_shapes[:, ROTATION], flex.node_shapes[:, TRANSLATION]
    return places, clamp(places, lam, gam, lam[flex.attach], gam[flex.attach])[1]


def _axis(places: Array, length: float) -> Array:
    """From the attach node to the farthest one, if all others lie along the way; zeros if not."""
    if length == 0.0:
        return np.zeros(3)
    far: Array = places[np.argmax(np.linalg.norm(places, axis=1))] / length
    along = places @ far
    across = np.linalg.norm(places - np.outer(along, far), axis=1)
    return far if across.max() <= SLENDER * length and along.min() >= -SLENDER * length else np.zeros(3)


def _watched(shapes: Array) -> Array:
    """The nodes that the modes move most: of the first mode, and of the one that another node follows most."""
    sizes = np.linalg.norm(shapes, axis=1)
    best = [int(j) for j in sizes.argmax(axis=0)]
    chosen = list(dict.fromkeys(best))[:WATCHED]
    return shapes[[*chosen, *[chosen[0]] * (WATCHED - len(chosen))]]


def _spin(axis: Array) -> Array:
    """Spin about the axis itself neither stretches nor presses the body."""
    return np.eye(3) - np.outer(axis, axis)


def _buckling(stiffness: Array, along: Array, shapes: Array, axis: Array, held: bool) -> float:
    """Smallest load at the far end with a second equilibrium, N: K eta = P G eta, G = sum dw dw' / dx of the slopes."""
    order = np.argsort(along)
    x, w = along[order], shapes[order] - np.einsum("i,j,njm->nim", axis, axis, shapes[order])
    keep = np.concatenate([[True], np.diff(x) > 1e-9 * (x[-1] - x[0])])
    x, w = x[keep], w[keep]
    if x.size < 2:
        return NEVER
    steps = np.diff(w, axis=0) / np.sqrt(np.diff(x))[:, None, None]
    G = np.einsum("nim,nik->mk", steps, steps)
    if held:
        chord = (w[-1] - w[0]) / np.sqrt(x[-1] - x[0])
        G -= chord.T @ chord
    try:
        most = float(eigh(G, stiffness, eigvals_only=True)[-1])
    except np.linalg.LinAlgError:  # a mode without stiffness
        return NEVER
    return 1.0 / most if most > 1.0 / NEVER else NEVER


def _whirl(d: BodyData) -> Array:
    """Spin about each axis that would change a frequency by WHIRL, pair by pair of modes.

    With modes of unit mass that a spin W couples by g = sum m (gam_r x gam_s), frequencies x follow from
    (w_r^2 - x^2) (w_s^2 - x^2) = 4 W^2 g^2 x^2: this gives W for x = (1 - WHIRL) w_r of the slower mode.
    """
    if d.flex is None:
        return np.zeros((3, 3))
    F1 = d.flex.integrals.transformed(np.eye(3), d.T).F1
    g = 0.5 * (F1.transpose(1, 0, 2) - F1.transpose(1, 2, 0))
    slow = np.minimum.outer(d.stiffness, d.stiffness)
    fast = np.maximum.outer(d.stiffness, d.stiffness)
    x2 = (1.0 - WHIRL) ** 2 * slow
    room = (slow - x2) * (fast - x2)
    with np.errstate(divide="ignore", invalid="ignore"):
        worst = np.nan_to_num(4.0 * g**2 * x2 / room, nan=0.0, posinf=0.0).max(axis=(1, 2), initial=0.0)
    return np.diag(worst)


def _positive(d: BodyData, watched: Array) -> float:
    """Displacement along one mode at which 1 + xi Z is about to lose its positive pivots, m."""
    if d.integrals is None or not d.rotary:
        return NEVER
    extra = d.stiffening
    Z = d.integrals.Z if extra is None or extra.Z is None else d.integrals.Z + extra.Z
    move = np.linalg.norm(watched @ d.T, axis=1).max(axis=0)
    worst = abs(np.linalg.eigvalsh(0.5 * (Z + Z.transpose(0, 2, 1)))).max(axis=1, initial=0.0)
    limits = [POSITIVE * m / z for m, z in zip(move, worst, strict=True) if z > 0.0 and m > 0.0]
    return min(limits, default=NEVER)


def _packed(S: Array) -> Array:
    return np.array([S[0, 0], S[1, 1], S[2, 2], S[0, 1], S[0, 2], S[1, 2]])
