"""The arm on its motors: three FMUs, coupled and run."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import cumulative_trapezoid

from bough.coupling import couple, run
from bough.demo.arm import JOINTS, LINKS, tip_deflection
from bough.errors import SimulationError
from bough.files import write_bytes
from bough.flex import flex_body, load
from bough.mechanism.mechanism import Mechanism
from bough.run.result import Result

Array: TypeAlias = NDArray[np.float64]

SYSTEM, MODEL_SYSTEM = (Path(str(files("bough.demo").joinpath(f"arm_drive{end}.yaml"))) for end in ("", "_model"))
"""The system files: arm, motor, and a controller of each joint by itself or one with a model of the arm inside."""
PACKAGE, MODEL_PACKAGE = "arm_drive.ssp", "arm_drive_model.ssp"
PARTS = ("arm.fmu", "motor.fmu", "controller.fmu")
MOVE = (0.2, 2.2)
"""When the reference begins to move and comes to rest, s."""


@dataclass(frozen=True, eq=False)
class DriveRun:
    """A run of the driven arm and what the pictures need besides.

    Attributes:
        system: The arm alone, with the armature of its motors.
        whole: Every variable of the three FMUs, `component.variable`.
        result: The arm's variables by their own names.
        plan: Reference angles, rad, by joint.
        deflection: Sideways motion of each link's tip against its root, m, by link.
        energy: Kinetic, gravitational, elastic and spring energy, J, (n, 4).
        work: Done by the motors since the start, J, (n,).
        loss: Energy that joints and links have dissipated since the start, J, (n,).
    """

    system: Mechanism
    whole: Result
    result: Result
    plan: dict[str, Array]
    deflection: dict[str, Array]
    energy: Array
    work: Array
    loss: Array

    plan_name = "reference"
    move = MOVE

    @property
    def balance_error(self) -> float:
        """Largest gap between energy gained and work minus loss, J: what the coupling lets slip."""
        gained = self.energy.sum(axis=1) - self.energy[0].sum()
        return float(abs(gained - (self.work - self.loss)).max())

    @property
    def vibration(self) -> float:
        """How far the payload still moves from side to side after the move, m."""
        late = self.result.t >= self.move[1]
        r = np.column_stack([self.result[f"payload.origin.r[{i}]"][late] for i in (1, 2, 3)])
        return float(np.ptp(r, axis=0).max())

    @property
    def miss(self) -> Array:
        """Distance of the payload from where it is to come to rest, m, (n,)."""
        goal = np.zeros(len(self.system.q_names))
        for joint in JOINTS:
            goal[self.system.q_names.index(f"{joint}.phi")] = self.plan[joint][-1]
        there = self.system.pose(goal, "payload.origin")[0]
        r = np.column_stack([self.result[f"payload.origin.r[{i}]"] for i in (1, 2, 3)])
        away: Array = np.linalg.norm(r - there, axis=1)
        return away


def pack_drive(folder: Path, platforms: str = "all") -> None:
    """Build the FMUs in a folder with the model and both system files, and pack each system as SSP."""
    couple(folder / "system.yaml", folder / PACKAGE, platforms=platforms)
    couple(folder / "system_model.yaml", folder / MODEL_PACKAGE, platforms=platforms)
    with zipfile.ZipFile(folder / PACKAGE) as archive:
        for part in PARTS:
            write_bytes(folder / part, archive.read(f"resources/{part}"))


def run_drive(
    package: Path,
    model: Path,
    progress: Callable[[float], None] | None = None,
    warn: Callable[[str], None] | None = None,
) -> DriveRun:
    """Run the package.

    Args:
        package: The SSP file.
        model: The model file of the arm in it.
        progress: Called now and then with the fraction done.
        warn: Called with each warning; None: Python's `warnings`.

    Raises:
        SimulationError: A component failed.
    """
    whole = run(package, progress=progress, warn=warn)
    return account(_with_armature(model, whole), whole)


def account(system: Mechanism, whole: Result) -> DriveRun:
    """The run of the arm inside a run of the system, with its energy account."""
    own = {name[4:]: name for name in whole.names if name.startswith("arm.")}
    units = {short: whole.units[name] for short, name in own.items()}
    result = Result(whole.t, {short: whole[name] for short, name in own.items()}, units, "two_link_arm", {})
    missing = [name for name in [*system.q_names, *system.u_names] if name not in result]
    if missing:
        raise SimulationError(f"the run lacks {missing[0]!r} of the arm")
    q = np.column_stack([result[name] for name in system.q_names])
    u = np.column_stack([result[name] for name in system.u_names])
    plan = {joint: whole[f"controller.phi_ref[{i}]"] for i, joint in enumerate(JOINTS, 1)}
    # The motors go first (Gauss-Seidel): a torque is held over the step that ends where it is listed.
    work = np.zeros(len(result))
    for joint in JOINTS:
        turned = np.diff(result[f"{joint}.phi"])
        work[1:] += np.cumsum(result[f"{joint}.tau"][1:] * turned)
    loss = cumulative_trapezoid(_lost(system, u), result.t, initial=0)
    deflection = {link: tip_deflection(system, result, link) for link in LINKS}
    return DriveRun(system, whole, result, plan, deflection, system.energy_parts(q, u), work, loss)


def _with_armature(model: Path, whole: Result) -> Mechanism:
    """The arm with the rotors of its motors, which the coupling put into its hinges."""
    given = load(model)
    armature = {joint: float(whole[f"motor.armature[{i}]"][0]) for i, joint in enumerate(JOINTS, 1)}
    bodies = tuple(
        body.model_copy(update={"hinge": body.hinge.model_copy(update={"armature": (armature[body.hinge.name],)})})
        if body.hinge.name in armature
        else body
        for body in given.bodies
    )
    return Mechanism(given.model_copy(update={"bodies": bodies}))


def _lost(system: Mechanism, u: Array) -> Array:
    """Power that dampers take, W."""
    lost = np.zeros(len(u))
    j = 0
    for body in system.model.bodies:
        nu, nm = body.hinge.kind.nu, body.mode_count
        lost += (u[:, j : j + nu] ** 2) @ np.array(body.hinge.damping)
        j += nu
        if nm:
            rate = u[:, j : j + nm]
            lost += np.einsum("ti,ij,tj->t", rate, flex_body(body).damping, rate)
            j += nm
    return lost
