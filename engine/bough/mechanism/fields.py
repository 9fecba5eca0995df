"""Kinds of variables, made by `build/make_fields.py` from `fields.def` of the kernel: change them there."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Kind(IntEnum):
    """Where an instance finds a variable's number; the values are part of the resource's format."""

    TIME = 0
    Q = 1
    U = 2
    QDOT = 3
    UDOT = 4
    TAU = 5
    MOTION = 6
    LOAD = 7
    FORCE = 8
    POSE = 9
    VELOCITY = 10
    ACCELERATION = 11
    REACTION = 12
    CLOSURE = 13
    COUPLING = 14
    WRITTEN = 15
    GRAVITY = 20
    DAMPING = 21
    STIFFNESS = 22
    REST = 23
    ARMATURE = 24
    MODAL_DAMPING = 25
    LOCKED = 26
    RIGID = 27
    SOLVER_METHOD = 30
    SOLVER_STEP = 31
    SOLVER_TOLERANCE = 32
    SOLVER_MAX_STEP = 33
    ELEMENT = 40
    LOCAL = 41
    DEFLECTION = 42
    FRICTION = 60
    STICKING = 61
    CONTACT = 62
    INDICATOR = 63
    PARTNER = 100
    """A number of a partner (`bough.partners`); the index says which."""


@dataclass(frozen=True)
class Field:
    """One kind of variable of a mechanism.

    Attributes:
        group: STATE, INPUT, PARAMETER, VALUE (computed) or SETTING (of the solver).
        member: Name of its array in the kernel: in a point of evaluation, among its values, or in the instance.
        count: How many numbers there are, as the list says it: `n->nu` is one for each degree of freedom.
        type: REAL, INTEGER, BOOLEAN or ENUMERATION.
    """

    group: str
    member: str
    count: str = "1"
    type: str = "REAL"


FIELDS: dict[Kind, Field] = {
    Kind.Q: Field("STATE", "q", "n->nq"),
    Kind.U: Field("STATE", "u", "n->nu"),
    Kind.TAU: Field("INPUT", "tau", "n->nu"),
    Kind.MOTION: Field("INPUT", "motion", "n->nu"),
    Kind.LOAD: Field("INPUT", "loads", "6 * n->loads"),
    Kind.GRAVITY: Field("PARAMETER", "gravity", "3"),
    Kind.DAMPING: Field("PARAMETER", "damping", "n->nu"),
    Kind.STIFFNESS: Field("PARAMETER", "stiffness", "n->nu"),
    Kind.REST: Field("PARAMETER", "rest", "n->nu"),
    Kind.ARMATURE: Field("PARAMETER", "armature", "n->nu"),
    Kind.MODAL_DAMPING: Field("PARAMETER", "modal", "n->bodies"),
    Kind.RIGID: Field("PARAMETER", "rigid", "10 * n->bodies"),
    Kind.WRITTEN: Field("PARAMETER", "written", "n->rows > 0 ? n->nq + n->nu : 0", "BOOLEAN"),
    Kind.LOCKED: Field("PARAMETER", "locked", "n->bodies", "BOOLEAN"),
    Kind.QDOT: Field("VALUE", "qdot", "n->nq"),
    Kind.UDOT: Field("VALUE", "udot", "n->nu"),
    Kind.FORCE: Field("VALUE", "force", "n->nu"),
    Kind.REACTION: Field("VALUE", "reaction", "6 * n->bodies"),
    Kind.CLOSURE: Field("VALUE", "closure", "6 * n->loops"),
    Kind.COUPLING: Field("VALUE", "coupling", "n->couplings"),
    Kind.ELEMENT: Field("VALUE", "element", "n->element_values"),
    Kind.FRICTION: Field("VALUE", "friction", "n->drives"),
    Kind.STICKING: Field("VALUE", "sticking", "n->drives", "BOOLEAN"),
    Kind.CONTACT: Field("VALUE", "contact", "n->drives", "INTEGER"),
    Kind.INDICATOR: Field("VALUE", "indicator", "n->indicators"),
    Kind.POSE: Field("VALUE", "pose", "7 * sensors"),
    Kind.VELOCITY: Field("VALUE", "velocity", "6 * sensors"),
    Kind.ACCELERATION: Field("VALUE", "acceleration", "6 * sensors"),
    Kind.LOCAL: Field("VALUE", "local", "9 * sensors"),
    Kind.DEFLECTION: Field("VALUE", "deflection", "6 * sensors"),
    Kind.SOLVER_STEP: Field("SETTING", "solver_step"),
    Kind.SOLVER_TOLERANCE: Field("SETTING", "solver_tolerance"),
    Kind.SOLVER_MAX_STEP: Field("SETTING", "solver_max_step"),
    Kind.SOLVER_METHOD: Field("SETTING", "solver_method", "1", "ENUMERATION"),
}
