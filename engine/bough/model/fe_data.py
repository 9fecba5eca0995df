"""A body from a finite element program, as the rest of bough reads it."""

from __future__ import annotations

from typing import Literal, TypeAlias

from bough.model.beam_data import ModalInitial
from bough.model.damping import ModalDamping
from bough.text.kinds import Frozen

FeFormat: TypeAlias = Literal["npz", "calculix", "abaqus", "nastran", "sid"]
FeBoundary: TypeAlias = Literal["craig-bampton", "cantilever", "free", "file"]
Coupling: TypeAlias = Literal["rigid", "average"]


class FeUnits(Frozen):
    """What one unit of the file is in SI: a millimetre-tonne-second model has length 0.001 and mass 1000."""

    length: float = 1.0
    mass: float = 1.0
    time: float = 1.0

    @property
    def is_si(self) -> bool:
        """Whether nothing has to be converted."""
        return self.length == self.mass == self.time == 1.0


class FeInterface(Frozen):
    """Where a hinge, a load or a sensor sits on an FE body; exactly one of nodes, set and box is given.

    Attributes:
        name: Becomes the name of a node of the body.
        nodes: Numbers of FE nodes.
        set: Name of a node set of the file.
        box: Opposite corners of a box whose nodes are meant, m.
        position: Of the interface point, m; None for the mean of its nodes' positions.
        coupling: 'rigid' (the nodes move as one with the point, RBE2) or 'average' (the point moves as the nodes do
            on average, by least squares, RBE3).
    """

    name: str
    nodes: tuple[int, ...] = ()
    set: str | None = None
    box: tuple[tuple[float, float, float], tuple[float, float, float]] | None = None
    position: tuple[float, float, float] | None = None
    coupling: Coupling = "rigid"


class FeModes(Frozen):
    """Which modes to keep.

    Attributes:
        boundary: 'craig-bampton' (static shapes of the interfaces, and modes with all of them held), 'cantilever'
            (attach interface held), 'free' (free-free, without the rigid motions) or 'file' (the modes that
            the file brings, as they are).
        count: Number of normal modes, lowest first; None for all up to max_frequency.
        max_frequency: Highest frequency of a normal mode, Hz; None for no limit.
    """

    boundary: FeBoundary = "craig-bampton"
    count: int | None = None
    max_frequency: float | None = None


class Fe(Frozen):
    """A flexible body from files of a finite element program. Body frame: the FE model's origin and axes.

    Attributes:
        file: Absolute path of the main file (what it holds depends on the format).
        format: How to read it.
        mesh: Absolute path of the mesh, where nodes and sets are not in the main file; None if not given.
        mass_file: Absolute path of the mass matrix, where it is a file of its own; None if not given.
        matrices: Names of matrices in the file, by 'stiffness', 'mass', 'damping'; empty for the format's usual ones.
        units: Of the files.
        mass: What the body should weigh, kg; None if not given.
        interfaces: In order; they are the nodes of the body.
        attach: Name of the interface that carries the body's own hinge.
        modes: Modes to keep.
        sensors: FE nodes that `outputs` name and that are no interfaces: `n1234` is node 1234.
        damping: Modal damping; without any, the file's damping matrix counts, if it has one.
        initial: Start values of the modal coordinates; empty where none are given.
    """

    file: str
    format: FeFormat
    mesh: str | None = None
    mass_file: str | None = None
    matrices: dict[str, str] = {}
    units: FeUnits = FeUnits()
    mass: float | None = None
    interfaces: tuple[FeInterface, ...]
    attach: str
    modes: FeModes = FeModes()
    sensors: tuple[FeInterface, ...] = ()
    damping: ModalDamping = ModalDamping()
    initial: ModalInitial = ModalInitial(eta=(), eta_dot=())

    @property
    def node_names(self) -> tuple[str, ...]:
        """Names of the interfaces, then of the sensors."""
        return tuple(place.name for place in (*self.interfaces, *self.sensors))
