"""Computing time per simulated second at equal accuracy: a chain of flexible beams, bough against Exudyn.

Both integrate the same equations: floating-frame bodies with the same point masses, bending shapes and
stiffness-proportional damping, on spherical joints (which see positions of nodes only, so that no convention on the
attitude of a deformed section enters). The chain starts bent in space, undeformed, turning as a whole about its base.
Gravity is left out: Exudyn's mass-proportional load does not see the deflection of the mass centre, so that with gravity
the two programs would converge to different motions.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

import bough
from benchmarks.beams import Beam, beam, bough_body

BODIES, PER_PLANE = 4, 2
STOP, OUTPUT = 1.0, 0.05  # s
SPIN = np.array([0.0, 2.0, 3.0])  # rad/s, of the whole chain at the start
LEVELS = (1e-3, 1e-4, 1e-5)

Array = NDArray[np.float64]


def attitudes(count: int) -> list[Rotation]:
    """Start attitude of each body against the ground: a chain bent in space."""
    return [Rotation.from_euler("zyx", [0.5 * k, 0.3 - 0.4 * (k % 2), 0.2 * k]) for k in range(count)]


def bough_model(b: Beam, count: int) -> dict[str, Any]:
    """The chain as a bough model."""
    bodies: list[dict[str, Any]] = []
    absolute = attitudes(count)
    for k, r in enumerate(absolute):
        relative = r if k == 0 else absolute[k - 1].inv() * r
        spin = absolute[0].inv().apply(SPIN) if k == 0 else np.zeros(3)
        hinge = {"type": "spherical", "initial": {"Q": relative.as_quat().tolist(), "w": spin.tolist()}}
        parent = {"parent": "ground"} if k == 0 else {"parent": f"b{k - 1}", "at": "tip"}
        bodies.append({"name": f"b{k}", **parent, "hinge": hinge, "nodal": bough_body(b)})
    return {"bough": 1, "name": "chain", "bodies": bodies, "outputs": [f"b{count - 1}.tip"]}


class Exudyn:
    """The chain in Exudyn: ObjectFFRFreducedOrder bodies and spherical joints."""

    def __init__(self, b: Beam, count: int) -> None:
        """Assemble."""
        sys.exudynFast = True  # type: ignore[attr-defined]  # the build without range checks, with AVX2
        import exudyn as exu
        import exudyn.itemInterface as eii
        from exudyn.FEM import FEMinterface, ObjectFFRFreducedOrderInterface
        from scipy.sparse import csr_matrix

        fem = FEMinterface()
        fem.nodes = {"Position": b.positions}
        M = np.repeat(b.masses, 3)
        psi = b.shapes[:, 3:].reshape(M.size, -1)
        fem.modeBasis = {"matrix": psi, "type": "NormalModes"}
        fem.massMatrix = csr_matrix(np.diag(M))
        # Any K whose projection is the modal stiffness: the shapes are mass-orthonormal.
        mp = M[:, None] * psi
        fem.stiffnessMatrix = csr_matrix(mp @ np.diag(b.stiffness) @ mp.T)
        cms = ObjectFFRFreducedOrderInterface(fem)

        self.exu = exu
        self.system = exu.SystemContainer()
        self.mbs = mbs = self.system.AddSystem()
        ground = mbs.AddObject(eii.ObjectGround())
        last = mbs.AddMarker(eii.MarkerBodyPosition(bodyNumber=ground, localPosition=[0, 0, 0]))
        origin = np.zeros(3)
        body = None
        for r in attitudes(count):
            item = cms.AddObjectFFRFreducedOrder(
                mbs,
                positionRef=origin.tolist(),
                rotationMatrixRef=r.as_matrix(),
                initialVelocity=np.cross(SPIN, origin).tolist(),
                initialAngularVelocity=SPIN.tolist(),
                stiffnessProportionalDamping=b.damping,
            )
            body = item["oFFRFreducedOrder"]
            ends = [
                mbs.AddMarker(
                    eii.MarkerSuperElementPosition(bodyNumber=body, meshNodeNumbers=[j], weightingFactors=[1.0])
                )
                for j in (0, len(b.masses) - 1)
            ]
            mbs.AddObject(eii.ObjectJointSpherical(markerNumbers=[last, ends[0]]))
            last = ends[1]
            origin = origin + r.apply(b.positions[-1])
        self.sensor = mbs.AddSensor(
            eii.SensorSuperElement(
                bodyNumber=body,
                meshNodeNumber=len(b.masses) - 1,
                storeInternal=True,
                writeToFile=False,
                outputVariableType=exu.OutputVariableType.Position,
            )
        )
        mbs.Assemble()

    def run(self, steps: int, solver: str, radius: float, dense: bool, newton: str) -> tuple[Array, float]:
        """Tip positions at the output times, and seconds."""
        exu = self.exu
        s = exu.SimulationSettings()
        s.timeIntegration.numberOfSteps = steps
        s.timeIntegration.endTime = STOP
        s.timeIntegration.verboseMode = 0
        s.timeIntegration.generalizedAlpha.spectralRadius = radius
        s.timeIntegration.generalizedAlpha.computeInitialAccelerations = True
        s.timeIntegration.newton.useModifiedNewton = newton != "full"
        s.timeIntegration.newton.modifiedNewtonJacUpdatePerStep = newton == "step"
        s.timeIntegration.newton.relativeTolerance = 1e-8
        s.timeIntegration.newton.absoluteTolerance = 1e-10
        s.solution.file.write = False
        s.solution.sensors.writePeriod = OUTPUT
        s.solution.sensors.active = True
        s.show.statistics = False
        kind = exu.LinearSolverType
        s.linearSolver.solverType = kind.EXUdense if dense else kind.EigenSparse
        began = time.perf_counter()
        done = self.mbs.SolveDynamic(s, solverType=getattr(exu.DynamicSolverType, solver))
        seconds = time.perf_counter() - began
        if done is False:
            raise RuntimeError(f"Exudyn did not converge: {solver}, {steps} steps")
        data = np.asarray(self.mbs.GetSensorStoredData(self.sensor), dtype=np.float64)
        return data[:, 1:4], seconds
