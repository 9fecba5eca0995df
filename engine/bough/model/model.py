"""A checked model: what the rest of bough reads, with defaults filled in and directions of unit length."""

from __future__ import annotations

import html
from typing import Literal, TypeAlias

from bough.model.beam_data import Beam, Cut, ModalInitial
from bough.model.closures import ClosureType
from bough.model.drives import Friction, Gear, Limits
from bough.model.fe_data import Fe
from bough.model.file_forces import ContactLaw, ForceType, OnlyWay
from bough.model.hinges import HINGES, Drive, HingeKind, HingeType
from bough.text.kinds import Frozen

Vector3 = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
Fidelity: TypeAlias = Literal["full", "ruthless"]
Inertia = tuple[float, float, float, float, float, float]
Matrix = tuple[tuple[float, ...], ...]


class Hinge(Frozen):
    """The connection of a body to its parent's node.

    Attributes:
        name: Name that its variables begin with.
        type: One of `bough.model.HINGES`.
        axes: Unit vectors in the inboard frame: one for revolute, prismatic, cylindrical and screw, two for
            universal (the second in the frame turned by the first) and planar (orthonormal), else none.
        own: Numbers of the keys that only its type has, in the order of `HingeKind.own`: the pitch of a screw.
        position: Of the inboard frame on the parent's node, m, in the node's axes.
        quaternion: Attitude of the inboard frame on the node, (x, y, z, w), of unit length.
        damping: One per DOF, translations first; N.s/m or N.m.s/rad.
        stiffness: One per DOF; N/m or N.m/rad.
        rest: Coordinate at which the spring is slack, one per DOF; m or rad.
        armature: Inertia added to each DOF's diagonal; kg or kg.m^2.
        drive: 'torque' (force given), 'motion' (acceleration given) or 'locked' (held).
        initial_q: Start positions, in the order of the hinge's coordinates; m, rad, or unit quaternion.
        initial_u: Start speeds, one per DOF; m/s or rad/s.
        written: Which DOFs' start positions the file writes, one per DOF; empty: none.
        written_speeds: The same of start speeds.
        friction: One per DOF, None where there is none; empty: on no DOF.
        limits: The same of limits.
        gear: The rotor that drives it; None: its force is given at the hinge.
        drives: Of a rotor's own hinge, the hinge that it drives; else empty.
    """

    name: str
    type: HingeType
    axes: tuple[Vector3, ...]
    own: tuple[float, ...] = ()
    position: Vector3
    quaternion: Quaternion
    damping: tuple[float, ...]
    stiffness: tuple[float, ...]
    rest: tuple[float, ...]
    armature: tuple[float, ...]
    drive: Drive
    initial_q: tuple[float, ...]
    initial_u: tuple[float, ...]
    written: tuple[bool, ...] = ()
    written_speeds: tuple[bool, ...] = ()
    friction: tuple[Friction | None, ...] = ()
    limits: tuple[Limits | None, ...] = ()
    gear: Gear | None = None
    drives: str = ""

    @property
    def kind(self) -> HingeKind:
        """Numbers of translations and rotations."""
        return HINGES[self.type]


class RigidNode(Frozen):
    """A named frame on a rigid body: position in m and attitude (x, y, z, w), in body axes."""

    position: Vector3
    quaternion: Quaternion


class Wheel(Frozen):
    """A part inside a rigid body that spins for ever: unit axis in body axes, constant momentum in N.m.s."""

    axis: Vector3
    momentum: float


class Rigid(Frozen):
    """A rigid body.

    Attributes:
        mass: kg.
        com: Mass centre from the body's origin, m, body axes.
        inertia: Ixx Iyy Izz Ixy Ixz Iyz about the mass centre, kg.m^2; entries of the matrix, body axes.
        nodes: Named frames; 'origin' is always there.
        wheels: Embedded spinning parts.
        tunable: Whether mass, com and inertia can be changed while running.
    """

    mass: float
    com: Vector3
    inertia: Inertia
    nodes: dict[str, RigidNode]
    wheels: tuple[Wheel, ...]
    tunable: bool


class NodalNode(Frozen):
    """A node of a nodal body.

    Attributes:
        name: Of the node.
        position: Undeformed, m, body axes.
        mass: kg.
        com: Mass centre from the node, m, body axes.
        inertia: About the mass centre, kg.m^2.
    """

    name: str
    position: Vector3
    mass: float
    com: Vector3 = (0.0, 0.0, 0.0)
    inertia: Inertia


class Nodal(Frozen):
    """A flexible body by its nodes and mode shapes.

    Attributes:
        attach: Name of the node that carries the body's own hinge.
        nodes: In the order of the mode shapes.
        modes: [mode][node][6]: rotation (rad) and translation (m) of the node per unit of the mode.
        stiffness: Modal stiffness, full and symmetric.
        damping: Ratio per mode; None if not given.
        damping_matrix: Modal damping, full and symmetric; None if not given.
        clamped: Whether the shapes were checked to be zero at the attach node.
        initial: Start values of the modal coordinates.
    """

    attach: str
    nodes: tuple[NodalNode, ...]
    modes: tuple[tuple[Inertia, ...], ...]
    stiffness: Matrix
    damping: tuple[float, ...] | None
    damping_matrix: Matrix | None
    clamped: bool
    initial: ModalInitial


class Body(Frozen):
    """One body of the tree: exactly one of `rigid`, `beam`, `nodal` and `fe` is there.

    Attributes:
        name: Its own; but for pieces of a cut beam (`label`) the name that its variables begin with.
        parent: 'ground' or the name of an earlier body.
        at: Node of the parent that carries the hinge.
        hinge: How it hangs on the parent.
        fidelity: Of a flexible body; None: as the model.
        rigid: Data of a rigid body.
        beam: Data of a straight beam.
        nodal: Data of a flexible body by nodes and modes.
        fe: Data of a flexible body from a finite element program.
        cut: Which piece of a beam it is that was cut into bodies; None for any other body.
        spin: Of a wheel with dynamics, which is a body of its own on a revolute hinge: inertia about its axis, kg.m^2.
        modes_kept: Number of modes, where only the eigenproblem or a file can tell; see `bough.flex.counted`.
    """

    name: str
    parent: str
    at: str
    hinge: Hinge
    fidelity: Fidelity | None = None
    rigid: Rigid | None = None
    beam: Beam | None = None
    nodal: Nodal | None = None
    fe: Fe | None = None
    cut: Cut | None = None
    spin: float | None = None
    modes_kept: int | None = None

    @property
    def label(self) -> str:
        """What users call it: its name, or that of the beam of which it is a piece."""
        return self.name if self.cut is None else self.cut.of

    def address(self, node: str) -> str:
        """A node as users call it: `<body>.<node>`."""
        return f"{self.label}.{node}"

    @property
    def whole(self) -> Body:
        """The body as the model file has it: itself, or the beam of which it is the first piece, in one."""
        return self if self.cut is None else self.model_copy(update={"beam": self.cut.whole, "cut": None})

    @property
    def node_names(self) -> tuple[str, ...]:
        """Nodes that hinges, loads and sensors can use."""
        if self.rigid is not None:
            return tuple(self.rigid.nodes)
        if self.beam is not None:
            return self.beam.node_names
        if self.fe is not None:
            return self.fe.node_names
        return () if self.nodal is None else tuple(node.name for node in self.nodal.nodes)

    @property
    def kind(self) -> str:
        """Which of its kinds the body is, by its key in the model file."""
        return next(key for key in ("rigid", "beam", "nodal", "fe") if getattr(self, key) is not None)

    @property
    def modal_initial(self) -> ModalInitial | None:
        """Start values of the modal coordinates; None for a rigid body."""
        flexible = self.beam or self.nodal or self.fe
        return None if flexible is None else flexible.initial

    @property
    def knows_mode_count(self) -> bool:
        """Whether `mode_count` can be told: always, but for modes chosen by frequency or read from a file."""
        if self.modes_kept is not None or self.rigid is not None or self.nodal is not None:
            return True
        return self.beam is not None and self.beam.modes.total is not None

    @property
    def mode_count(self) -> int:
        """Number of modal coordinates; 0 for a rigid body."""
        if self.modes_kept is not None:
            return self.modes_kept
        if self.nodal is not None:
            return len(self.nodal.modes)
        count = 0 if self.beam is None else self.beam.modes.total
        if count is None or self.fe is not None:
            raise ValueError(f"the modes of body {self.name!r} are not counted yet: see bough.flex.counted")
        return count


class End(Frozen):
    """One end of what joins two nodes: a frame on a node.

    Attributes:
        body: 'ground' or the name of a body.
        node: Its node.
        position: Of the frame on the node, m, node axes.
        quaternion: Attitude of the frame on the node, (x, y, z, w).
        turned: Whether the file gives the attitude.
    """

    body: str
    node: str
    position: Vector3 = (0.0, 0.0, 0.0)
    quaternion: Quaternion = (0.0, 0.0, 0.0, 1.0)
    turned: bool = False


class Loop(Frozen):
    """A closure between two frames: the second moves against the first as its type allows.

    Attributes:
        name: Name that its variables begin with.
        type: One of `bough.model.closures.CLOSURE_TYPES`.
        ends: First and second frame.
        axes: Unit vectors in the first frame, as for hinges.
        value: Length of a rod (None: as drawn) or radius of a rolling disc, m; else None.
    """

    name: str
    type: ClosureType
    ends: tuple[End, End]
    axes: tuple[Vector3, ...]
    value: float | None


class Coupling(Frozen):
    """A linear relation of coordinates: sum of factor times coordinate = offset.

    Attributes:
        name: Name that its variables begin with.
        terms: Coordinate (`motor.phi`) and factor of each.
        offset: rad or m.
    """

    name: str
    terms: tuple[tuple[str, float], ...]
    offset: float


class Force(Frozen):
    """A force between two frames on nodes; positive pushes them apart.

    Attributes:
        name: Name that its variables begin with.
        type: 'spring', 'actuator', 'bushing' or 'contact'.
        ends: First and second frame.
        stiffness: N/m; of a contact N/m^exponent.
        damping: N.s/m; of a Hunt-Crossley contact N.s/m^(exponent + 1).
        stiffness_table: Points of elongation (m) and the force that pulls back (N), in place of the stiffness.
        damping_table: Points of speed (m/s) and the force that resists (N).
        stiffness_matrix: Of a bushing, 6 x 6, rotation first, axes of the first frame.
        damping_matrix: Likewise.
        length: Free length of a spring, m; None: as drawn.
        only: Whether a spring acts one way only.
        normal: Of the plane that a sphere touches, in the second frame.
        radius: Of the sphere on the first node, and of that on the second if it is no plane, m.
        exponent: Power of a contact's depth.
        law: How a contact damps.
        friction: Coefficient of friction of a contact.
        slip: Slip at which friction has 71 % of its force, m/s.
    """

    name: str
    type: ForceType
    ends: tuple[End, End]
    stiffness: float = 0.0
    damping: float = 0.0
    stiffness_table: tuple[tuple[float, float], ...] = ()
    damping_table: tuple[tuple[float, float], ...] = ()
    stiffness_matrix: Matrix = ()
    damping_matrix: Matrix = ()
    length: float | None = None
    only: OnlyWay | None = None
    normal: Vector3 = (0.0, 0.0, 1.0)
    radius: tuple[float, ...] = ()
    exponent: float = 1.0
    law: ContactLaw = "linear"
    friction: float = 0.0
    slip: float = 1e-3


class PointGravity(Frozen):
    """The field of a point mass: mu in m^3/s^2, where it is in m, inertial frame."""

    mu: float
    center: Vector3


class Model(Frozen):
    """A mechanism: bodies in a tree, each after its parent.

    Attributes:
        name: The FMU's model name, an identifier.
        gravity: m/s^2, inertial frame.
        fidelity: 'full' (every term) or 'ruthless' (deformation-dependent parts of the inertia dropped), of bodies that
            do not choose themselves.
        geometric_stiffening: Whether motion stiffens the modes.
        bodies: Parents before children.
        inputs: Loads: `<body>.<node>.force`, `.torque`, `.local_force`, `.local_torque`, `<body>.modal_force`
        outputs: Node sensors, `<body>.<node>`.
        local: Those that tell what gyro and accelerometer read, in node axes.
        deflections: Those that tell how modes move and turn the node.
        field: Gravity of a point mass; None: there is `gravity` alone.
        loops: Closures between two nodes.
        couplings: Linear relations of coordinates.
        forces: Springs, actuators, bushings and contacts between two nodes.
    """

    name: str
    gravity: Vector3
    fidelity: Fidelity
    geometric_stiffening: bool
    bodies: tuple[Body, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    loops: tuple[Loop, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    forces: tuple[Force, ...] = ()
    local: tuple[str, ...] = ()
    deflections: tuple[str, ...] = ()
    field: PointGravity | None = None

    def _repr_html_(self) -> str:
        """What a notebook shows: the bodies and how they hang together."""
        cells = [
            (
                body.label,
                body.kind,
                f"{body.parent}.{body.at}",
                f"{body.hinge.name}: {body.hinge.type}",
                str(sum(piece.mode_count for piece in self.pieces(body.name)) or ""),
            )
            for body in self.whole_bodies
        ]
        rows = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in cells)
        titles = "".join(f"<th>{title}</th>" for title in ("body", "kind", "on", "hinge", "modes"))
        gravity = ", ".join(f"{g:g}" for g in self.gravity)
        if self.field is not None:
            gravity += f"] m/s², point mass of mu [{self.field.mu:g}"
        chosen = any(body.fidelity not in (None, self.fidelity) for body in self.bodies)
        fidelity = f"{self.fidelity} where bodies do not choose" if chosen else self.fidelity
        head = f"<b>{html.escape(self.name)}</b>: fidelity {fidelity}, gravity [{gravity}] m/s²"
        return f"<div>{head}</div>\n<table><tr>{titles}</tr>{rows}</table>"

    def ruthless(self, body: Body) -> bool:
        """Whether a body drops what depends on its deformation, by its own choice or by the model's."""
        return (body.fidelity or self.fidelity) == "ruthless"

    @property
    def whole_bodies(self) -> tuple[Body, ...]:
        """Bodies as the model file has them: a beam that was cut is one of them, whole."""
        label = {body.name: body.label for body in self.bodies}
        first = (body.whole for body in self.bodies if body.cut is None or body.cut.number == 0)
        return tuple(
            body
            if label.get(body.parent, body.parent) == body.parent
            else body.model_copy(update={"parent": label[body.parent]})
            for body in first
        )

    def pieces(self, name: str) -> tuple[Body, ...]:
        """The bodies that a body of the model file is made of."""
        return tuple(body for body in self.bodies if body.label == name)

    def node_keys(self) -> dict[str, tuple[str, str]]:
        """Every node as users call it, with the body that has it and its name there.

        Where a beam is cut, the node belongs to the inboard piece, and is the root of the next as well.
        """
        keys: dict[str, tuple[str, str]] = {}
        for body in self.bodies:
            for node in body.node_names:
                keys.setdefault(body.address(node), (body.name, node))
        return keys
