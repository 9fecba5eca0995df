"""The flexible chain in Exudyn: reduced floating-frame bodies on spherical joints."""

from __future__ import annotations

import contextlib
import importlib
import io
import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from benchmarks.beams import Beam, attitudes

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Setting:
    """How Exudyn integrates.

    Attributes:
        solver: GeneralizedAlpha (spectral radius 0.9, index 3) or TrapezoidalIndex2.
        update: Jacobian anew in each "step", or only on bad convergence, "late".
        tolerance: Relative tolerance of Newton's method; 1e-8 is Exudyn's own.
    """

    solver: str
    update: str
    tolerance: float


class ExudynChain:
    """The chain, assembled once and run with many settings."""

    def __init__(self, b: Beam, count: int, spin: Array, stop: float, output: float) -> None:
        """Assemble.

        Args:
            b: The body.
            count: Number of bodies.
            spin: Angular velocity of the whole chain at the start, rad/s.
            stop: End of a run, s.
            output: Distance of the times at which the tip is recorded, s.
        """
        sys.exudynFast = True  # type: ignore[attr-defined]  # the build without range checks, with AVX2
        with contextlib.redirect_stdout(io.StringIO()):
            exu: Any = importlib.import_module("exudyn")
            eii: Any = importlib.import_module("exudyn.itemInterface")

        self.exu, self.stop, self.output = exu, stop, output
        self.container = exu.SystemContainer()
        self.mbs = mbs = self.container.AddSystem()
        ground = mbs.AddObject(eii.ObjectGround())
        last = mbs.AddMarker(eii.MarkerBodyPosition(bodyNumber=ground, localPosition=[0, 0, 0]))
        reduced, tip, origin, body = _reduced(b), len(b.masses) - 1, np.zeros(3), None
        for r in attitudes(count):
            body = reduced.AddObjectFFRFreducedOrder(
                mbs,
                positionRef=origin.tolist(),
                rotationMatrixRef=r.as_matrix(),
                initialVelocity=np.cross(spin, origin).tolist(),
                initialAngularVelocity=spin.tolist(),
                stiffnessProportionalDamping=b.damping,
            )["oFFRFreducedOrder"]
            root_marker, tip_marker = (
                mbs.AddMarker(
                    eii.MarkerSuperElementPosition(bodyNumber=body, meshNodeNumbers=[j], weightingFactors=[1.0])
                )
                for j in (0, tip)
            )
            mbs.AddObject(eii.ObjectJointSpherical(markerNumbers=[last, root_marker]))
            last, origin = tip_marker, origin + r.apply(b.positions[-1])
        position = exu.OutputVariableType.Position
        self.sensor = mbs.AddSensor(
            eii.SensorSuperElement(
                bodyNumber=body, meshNodeNumber=tip, storeInternal=True, writeToFile=False, outputVariableType=position
            )
        )
        mbs.Assemble()

    def run(self, steps: int, setting: Setting, dense: bool = False) -> tuple[Array, float]:
        """Tip positions at the output times, m, and the seconds it took.

        Raises:
            RuntimeError: Newton's method did not converge.
        """
        exu = self.exu
        s = exu.SimulationSettings()
        integration = s.timeIntegration
        integration.numberOfSteps, integration.endTime, integration.verboseMode = steps, self.stop, 0
        integration.generalizedAlpha.spectralRadius = 0.9
        integration.generalizedAlpha.computeInitialAccelerations = True
        integration.newton.useModifiedNewton = True
        integration.newton.modifiedNewtonJacUpdatePerStep = setting.update == "step"
        integration.newton.relativeTolerance = setting.tolerance
        integration.newton.absoluteTolerance = 1e-2 * setting.tolerance
        s.solution.file.write = False
        s.solution.sensors.writePeriod = self.output
        kinds = exu.LinearSolverType
        s.linearSolver.solverType = kinds.EXUdense if dense else kinds.EigenSparse
        solver = getattr(exu.DynamicSolverType, setting.solver)
        with contextlib.redirect_stdout(io.StringIO()):
            began = time.perf_counter()
            done = self.mbs.SolveDynamic(s, solverType=solver)
            seconds = time.perf_counter() - began
        if done is False:
            raise RuntimeError(f"Exudyn did not converge: {setting}, {steps} steps")
        data = np.asarray(self.mbs.GetSensorStoredData(self.sensor), dtype=np.float64)
        expected = np.linspace(0.0, self.stop, round(self.stop / self.output) + 1)
        if data.shape[0] != expected.size or np.abs(data[:, 0] - expected).max() > 1e-9:
            raise RuntimeError(f"Exudyn recorded at other times: {setting}, {steps} steps")
        return data[:, 1:4], seconds


def _reduced(b: Beam) -> Any:
    """Exudyn's constants of a reduced body, from its mesh, mass, stiffness and shapes."""
    module: Any = importlib.import_module("exudyn.FEM")
    fem = module.FEMinterface()
    fem.nodes = {"Position": b.positions}
    M = np.repeat(b.masses, 3)
    shapes = b.shapes[:, 3:].reshape(M.size, -1)
    fem.modeBasis = {"matrix": shapes, "type": "NormalModes"}
    fem.massMatrix = csr_matrix(np.diag(M))
    # Any K whose projection is the modal stiffness: the shapes are mass-orthonormal.
    weighted = M[:, None] * shapes
    fem.stiffnessMatrix = csr_matrix(weighted @ np.diag(b.stiffness) @ weighted.T)
    return module.ObjectFFRFreducedOrderInterface(fem)
