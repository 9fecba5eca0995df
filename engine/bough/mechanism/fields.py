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
    PARTNER = 100
    """A number of a partner (`bough.partners`); the index says which."""


@dataclass(frozen=True)
class Field:
    """One kind of variable of a mechanism.

    Attributes:
        group: STATE, INPUT, PARAMETER, VALUE (computed) or SETTING (of the solver).
        member: Name of its array in the kernel: in a point of evaluation, among its values, or in the instance.
        type: REAL, INTEGER or BOOLEAN.
        kernel: The kernel's parameter that takes the array as it is; empty if there is none.
    """

    group: str
    member: str
    type: str = "REAL"
    kernel: str = ""


FIELDS: dict[Kind, Field] = {
    Kind.Q: Field("STATE", "q"),
    Kind.U: Field("STATE", "u"),
    Kind.TAU: Field("INPUT", "tau"),
    Kind.MOTION: Field("INPUT", "motion"),
    Kind.LOAD: Field("INPUT", "loads"),
    Kind.GRAVITY: Field("PARAMETER", "gravity", "REAL", "GRAVITY"),
    Kind.DAMPING: Field("PARAMETER", "damping", "REAL", "DAMPING"),
    Kind.STIFFNESS: Field("PARAMETER", "stiffness", "REAL", "STIFFNESS"),
    Kind.REST: Field("PARAMETER", "rest", "REAL", "REST"),
    Kind.ARMATURE: Field("PARAMETER", "armature", "REAL", "ARMATURE"),
    Kind.MODAL_DAMPING: Field("PARAMETER", "modal", "REAL", "MODAL_DAMPING_SCALE"),
    Kind.RIGID: Field("PARAMETER", "rigid"),
    Kind.LOCKED: Field("PARAMETER", "locked", "BOOLEAN"),
    Kind.QDOT: Field("VALUE", "qdot"),
    Kind.UDOT: Field("VALUE", "udot"),
    Kind.FORCE: Field("VALUE", "force"),
    Kind.REACTION: Field("VALUE", "reaction"),
    Kind.POSE: Field("VALUE", "pose"),
    Kind.VELOCITY: Field("VALUE", "velocity"),
    Kind.ACCELERATION: Field("VALUE", "acceleration"),
    Kind.SOLVER_STEP: Field("SETTING", "solver_step"),
    Kind.SOLVER_TOLERANCE: Field("SETTING", "solver_tolerance"),
    Kind.SOLVER_MAX_STEP: Field("SETTING", "solver_max_step"),
    Kind.SOLVER_METHOD: Field("SETTING", "solver_method", "INTEGER"),
}
