"""What acts in a hinge beyond spring and damper, checked: friction, limits, a geared rotor."""

from __future__ import annotations

import math
from typing import Literal

from bough.text.kinds import Frozen

StopKind = Literal["gives", "rigid", "latch"]


class Friction(Frozen):
    """Dry friction of one DOF.

    At rest it holds up to `static`; in motion it is `coulomb + (static - coulomb) exp(-(w/stribeck)^2)`.

    Attributes:
        coulomb: In motion, N.m or N.
        static: At rest, N.m or N; not less.
        stribeck: Speed over which the difference fades, rad/s or m/s; 0: it is gone with the first motion.
    """

    coulomb: float
    static: float
    stribeck: float


class Limits(Frozen):
    """Stops of one DOF.

    Attributes:
        lower: Least coordinate, rad or m; -inf for none.
        upper: Greatest coordinate, rad or m; inf for none.
        kind: 'gives' (spring and damper that never pull), 'rigid' (restitution) or 'latch' (stays where it hits).
        stiffness: Of a stop that gives, N.m/rad or N/m.
        damping: Of a stop that gives, N.m.s/rad or N.s/m.
        restitution: Of a rigid stop, 0 to 1.
    """

    lower: float = -math.inf
    upper: float = math.inf
    kind: StopKind
    stiffness: float = 0.0
    damping: float = 0.0
    restitution: float = 0.0


class Gear(Frozen):
    """A rotor and the shaft between it and the hinge.

    Attributes:
        ratio: Rotor angle over hinge coordinate; 1 or rad/m.
        inertia: Of the rotor about its axis, kg.m^2.
        stiffness: Of the shaft at the hinge, N.m/rad or N/m; None: the gear is rigid.
        damping: Of the shaft at the hinge, N.m.s/rad or N.s/m.
        backlash: Play at the hinge, flank to flank, rad or m.
        friction: On the rotor's side; None: none.
    """

    ratio: float
    inertia: float
    stiffness: float | None
    damping: float
    backlash: float
    friction: Friction | None
