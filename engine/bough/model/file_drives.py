"""`friction:`, `limits:` and `gear:` of a hinge as written."""

from __future__ import annotations

from pydantic import Field

from bough.text.kinds import FileModel, NonNegative, NonNegativeOrList, Number, NumberOrList, Positive

_PER_DOF = "or a list of one per degree of freedom, translations first"


class FrictionFile(FileModel):
    """Dry friction in a hinge; its viscous part is the hinge's `damping`."""

    coulomb: NonNegativeOrList = Field(description=f"a number, 0 or more: friction in motion, N.m or N, {_PER_DOF}")
    static: NonNegativeOrList | None = Field(
        None, description=f"a number, not less than `coulomb`: friction at rest, N.m or N, {_PER_DOF}"
    )
    stribeck: NonNegativeOrList = Field(
        0.0, description=f"a number, 0 or more: speed over which static friction fades, rad/s or m/s, {_PER_DOF}"
    )


class LimitsFile(FileModel):
    """Stops at one or both ends of a hinge's way."""

    lower: NumberOrList | None = Field(None, description=f"a number: least coordinate, rad or m, {_PER_DOF}")
    upper: NumberOrList | None = Field(None, description=f"a number: greatest coordinate, rad or m, {_PER_DOF}")
    stiffness: Positive | None = Field(
        None, description="a number, more than 0: stiffness of a stop that gives, N.m/rad or N/m"
    )
    damping: NonNegative | None = Field(
        None, description="a number, 0 or more: damping of a stop that gives, N.m.s/rad or N.s/m"
    )
    restitution: float | None = Field(
        None, ge=0.0, le=1.0, description="a number from 0 to 1: speed after over speed before hitting a rigid stop"
    )
    latch: bool = Field(False, description="true or false: whether the hinge stays at the stop that it hits")


class GearFile(FileModel):
    """A rotor that drives the hinge through a gear."""

    ratio: Number = Field(description="a number, not 0: rotor angle over hinge coordinate, 1 or rad/m")
    inertia: Positive = Field(description="a number, more than 0: inertia of the rotor about its axis, kg.m^2")
    stiffness: Positive | None = Field(
        None, description="a number, more than 0: stiffness of the shaft at the hinge, N.m/rad or N/m; none: rigid"
    )
    damping: NonNegative = Field(
        0.0, description="a number, 0 or more: damping of the shaft at the hinge, N.m.s/rad or N.s/m"
    )
    backlash: NonNegative = Field(0.0, description="a number, 0 or more: play at the hinge, flank to flank, rad or m")
    friction: FrictionFile | None = Field(None, description="a mapping: {coulomb, static, stribeck}, rotor's side")
