"""What the rest of bough knows of a flexible body: modal integrals, named nodes and modal matrices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from bough.flex.integrals import ModalIntegrals, Stiffening, modal_integrals, stiffening
from bough.flex.points import ROTATION, TRANSLATION, Array, Points, freeze, require_shapes
from bough.flex.rotary import RotaryInertia, rotary_inertia

__all__ = ["ROTATION", "TRANSLATION", "Array", "FlexBody", "Points"]


@dataclass(frozen=True, eq=False)
class FlexBody:
    """A flexible body before the run: nn named nodes, nm modes.

    Everything is given in the user's body axes, in SI units; positions from the user's body origin. A shape has six
    rows, rotation first, and one column per mode: `u = shape @ eta` is the small motion of a node. The arrays are
    read-only.

    Attributes:
        integrals: Inertia, about the attach node.
        node_names: Names of the nodes that ports, loads and sensors use.
        node_positions: Undeformed positions of the nodes, m, (nn, 3).
        node_shapes: Modal motion of the nodes, rad and m per unit eta, (nn, 6, nm).
        attach: Index of the node that carries the body's own hinge.
        stiffness: Modal stiffness, (nm, nm), symmetric.
        damping: Modal damping, (nm, nm), symmetric.
        frequencies: Of each mode on its own, undamped, under the boundary conditions it was made with,
            rad/s; nan for a shape that moves no mass, (nm,).
        mode_names: One label per mode, such as 'bending_y 1'; empty if the modes have none.
        stiffening: What geometric stiffening needs; None if the body cannot have it.
        points: What the integrals were summed over; None if they came in another way.
        slack: Nodes and directions in which a load would meet flexibility that has no inertia, and so is in no mode:
            `("tip", "turning about x")`.
        smooth: Whether the points stand for sections of a beam: a few of them may turn for all.
    """

    integrals: ModalIntegrals
    node_names: tuple[str, ...]
    node_positions: Array
    node_shapes: Array
    attach: int
    stiffness: Array
    damping: Array
    frequencies: Array
    mode_names: tuple[str, ...] = ()
    stiffening: Stiffening | None = None
    points: Points | None = None
    smooth: bool = False
    slack: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        """Freeze private copies of the arrays, and check that their sizes belong together."""
        freeze(self)
        nn, nm = len(self.node_names), self.frequencies.size
        sizes = {
            "node_positions": (nn, 3),
            "node_shapes": (nn, 6, nm),
            "stiffness": (nm, nm),
            "damping": (nm, nm),
            "frequencies": (nm,),
        }
        require_shapes(self, sizes)
        if self.integrals.nm != nm:
            raise ValueError(f"FlexBody.integrals has {self.integrals.nm} modes, not {nm}")
        if self.stiffening is not None:
            require_shapes(self.stiffening, {"node_bends": (nn, 3, nm, nm)})
        if not 0 <= self.attach < nn:
            raise ValueError(f"FlexBody.attach is {self.attach}, but there are {nn} nodes")

    @cached_property
    def rotary(self) -> RotaryInertia:
        """Who carries the rotary inertia of the points at full fidelity."""
        return self._rotary(False)

    @cached_property
    def stiffened_rotary(self) -> RotaryInertia:
        """The same with geometric stiffening."""
        return self._rotary(True)

    def _rotary(self, stiffened: bool) -> RotaryInertia:
        if self.points is None:
            return RotaryInertia(self.integrals)
        origin = self.node_positions[self.attach]
        return rotary_inertia(self.integrals, self.points, origin, self.smooth, stiffened)

    @classmethod
    def from_points(
        cls,
        points: Points,
        node_names: tuple[str, ...],
        node_positions: Array,
        node_shapes: Array,
        attach: int,
        stiffness: Array,
        damping: Array,
        frequencies: Array,
        mode_names: tuple[str, ...] = (),
        bends: Array | None = None,
        node_bends: Array | None = None,
    ) -> FlexBody:
        """A body whose inertia is that of points; `bends` and `node_bends` as in `stiffening`, or None."""
        origin = node_positions[attach]
        extra = None
        if bends is not None and node_bends is not None:
            extra = stiffening(points, origin, bends, node_bends)
        return cls(
            modal_integrals(points, origin),
            node_names,
            node_positions,
            node_shapes,
            attach,
            stiffness,
            damping,
            frequencies,
            mode_names,
            extra,
            points,
        )

    @property
    def nm(self) -> int:
        """Number of modes."""
        return self.frequencies.size

    @property
    def nn(self) -> int:
        """Number of named nodes."""
        return len(self.node_names)

    @property
    def mass(self) -> float:
        """Total mass, kg."""
        return float(self.integrals.inertia[0])

    @property
    def modal_mass(self) -> Array:
        """Modal mass at zero deflection with the body frame held, (nm, nm): the block Me of eq (23)."""
        return self.integrals.Mff

    def node(self, name: str) -> int:
        """Index of a named node; KeyError if there is none."""
        try:
            return self.node_names.index(name)
        except ValueError:
            raise KeyError(name) from None
