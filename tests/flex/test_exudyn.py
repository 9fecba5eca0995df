"""A falling flexible pendulum side by side with Exudyn's reduced floating-frame body.

The body is a solid FE mesh that bough imports and reduces. Exudyn gets the mesh, its matrices and the mode shapes,
makes its own constants of them, and integrates its own equations: redundant coordinates, Euler parameters, index-2
trapezoidal steps.
"""

from __future__ import annotations

import contextlib
import importlib
import io
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from flex.fe.fem import document, entry, solid
from house.tools import IN_CI
from scipy.sparse import csr_matrix

import bough
from bough.flex import flex_body
from bough.flex.fe import FeModel
from bough.flex.fe.node_shapes import all_shapes

LENGTH, STOP, STEP = 1.0, 2.0, 0.01
GRAVITY = [0.0, 0.0, -9.81]
BETA = 2e-3
"""Damping over stiffness, s: 4 % in the first mode, so that the fast ones die out."""
MODES = 5


@pytest.fixture(scope="module")
def exu() -> Any:
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return importlib.import_module("exudyn")
    except ImportError as error:
        if IN_CI:
            pytest.fail(f"exudyn does not load ({error}), and CI must not skip a test")
        pytest.skip(f"exudyn is not installed: {error}")


@dataclass(frozen=True)
class Pendulum:
    """A strip, 1 m by 40 mm by 4 mm, that bends with 3.3 Hz when its root is held.

    Attributes:
        mesh: The FE model.
        fe: The `fe:` entry.
        shapes: Translations of all FE nodes, (n, 3, modes).
    """

    mesh: FeModel
    fe: dict[str, Any]
    shapes: np.ndarray

    def model(self, hinge: dict[str, Any]) -> bough.Model:
        return bough.load(document(self.fe, **hinge) | {"gravity": GRAVITY, "outputs": ["arm.tip"]})


@pytest.fixture(scope="module")
def pendulum(tmp_path_factory: pytest.TempPathFactory) -> Pendulum:
    mesh = solid((8, 1, 1), (LENGTH, 0.04, 0.004))
    modes = {"boundary": "cantilever", "count": MODES}
    fe = entry(tmp_path_factory.mktemp("fe") / "strip.npz", mesh, modes=modes, attach="root")
    fe["damping"] = {"rayleigh": [0.0, BETA]}
    body = bough.load(document(fe)).bodies[0]
    assert body.fe is not None
    _, shapes, _ = all_shapes(body.fe)
    return Pendulum(mesh, fe, shapes[:, 3:])


def solve(exu: Any, mbs: Any, steps: int, stop: float) -> None:
    """Run what has been put together, a row of the sensors each STEP."""
    mbs.Assemble()
    settings = exu.SimulationSettings()
    integration = settings.timeIntegration
    integration.numberOfSteps, integration.endTime, integration.verboseMode = steps, stop, 0
    integration.generalizedAlpha.computeInitialAccelerations = True
    integration.newton.useModifiedNewton = True
    integration.newton.relativeTolerance, integration.newton.absoluteTolerance = 1e-10, 1e-12
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = STEP
    settings.linearSolver.solverType = exu.LinearSolverType.EXUdense
    with contextlib.redirect_stdout(io.StringIO()):
        assert mbs.SolveDynamic(settings, solverType=exu.DynamicSolverType.TrapezoidalIndex2) is not False


def by_exudyn(exu: Any, pendulum: Pendulum, spin: np.ndarray, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Path of the tip, (n, 3), and its deflection in the body's axes, (n, 3), m."""
    eii: Any = importlib.import_module("exudyn.itemInterface")
    fem_module: Any = importlib.import_module("exudyn.FEM")
    mesh = pendulum.mesh
    fem = fem_module.FEMinterface()
    fem.nodes = {"Position": mesh.positions}
    fem.massMatrix, fem.stiffnessMatrix = csr_matrix(mesh.M), csr_matrix(mesh.K)
    fem.modeBasis = {"matrix": pendulum.shapes.reshape(-1, MODES), "type": "NormalModes"}
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    ground = mbs.AddObject(eii.ObjectGround())
    body = fem_module.ObjectFFRFreducedOrderInterface(fem).AddObjectFFRFreducedOrder(
        mbs, initialAngularVelocity=spin.tolist(), stiffnessProportionalDamping=BETA
    )["oFFRFreducedOrder"]
    root, tip = (int(np.argmin(np.linalg.norm(mesh.positions - [x, 0, 0], axis=1))) for x in (0.0, LENGTH))
    fixed = mbs.AddMarker(eii.MarkerBodyPosition(bodyNumber=ground, localPosition=[0, 0, 0]))
    marker = eii.MarkerSuperElementPosition(bodyNumber=body, meshNodeNumbers=[root], weightingFactors=[1.0])
    mbs.AddObject(eii.ObjectJointSpherical(markerNumbers=[fixed, mbs.AddMarker(marker)]))
    # Gravity acts on the mesh nodes: Exudyn's load in proportion to mass turns the body as if it were not deflected.
    weights = np.asarray(mesh.M.sum(axis=1)).ravel()[::3]
    centre = eii.MarkerSuperElementPosition(
        bodyNumber=body, meshNodeNumbers=list(range(len(weights))), weightingFactors=(weights / weights.sum()).tolist()
    )
    mbs.AddLoad(
        eii.LoadForceVector(markerNumber=mbs.AddMarker(centre), loadVector=(weights.sum() * np.array(GRAVITY)).tolist())
    )
    kinds = exu.OutputVariableType
    sensors = [
        mbs.AddSensor(
            eii.SensorSuperElement(
                bodyNumber=body, meshNodeNumber=tip, storeInternal=True, writeToFile=False, outputVariableType=kind
            )
        )
        for kind in (kinds.Position, kinds.DisplacementLocal)
    ]
    solve(exu, mbs, steps, STOP)
    path, deflection = (np.asarray(mbs.GetSensorStoredData(sensor)) for sensor in sensors)
    np.testing.assert_allclose(path[:, 0], np.linspace(0.0, STOP, round(STOP / STEP) + 1), atol=1e-9)
    return path[:, 1:], deflection[:, 1:]


def by_bough(model: bough.Model) -> tuple[np.ndarray, np.ndarray]:
    """The same."""
    run = bough.simulate(model, STOP, step=STEP, rtol=1e-10)
    body = flex_body(model.bodies[0])
    eta = np.column_stack([run[f"arm.eta[{i}]"] for i in range(1, MODES + 1)])
    path = np.column_stack([run[f"arm.tip.r[{i}]"] for i in (1, 2, 3)])
    return path, eta @ body.node_shapes[body.node("tip"), 3:].T


@pytest.mark.parametrize(
    ("hinge", "spin"),
    [
        ({"name": "pivot", "type": "revolute", "axis": [0, 1, 0]}, [0.0, 0.0, 0.0]),
        ({"name": "pivot", "type": "spherical", "initial": {"w": [1.0, -1.0, 3.0]}}, [1.0, -1.0, 3.0]),
    ],
    ids=["in a plane", "in space"],
)
def test_a_falling_pendulum_moves_as_in_exudyn(
    exu: Any, pendulum: Pendulum, hinge: dict[str, Any], spin: list[float]
) -> None:
    path, deflection = by_bough(pendulum.model(hinge))
    assert np.ptp(path[:, 0]) > 1.9 * LENGTH  # from one side to the other
    assert np.abs(deflection).max() > 5e-3 * LENGTH
    (coarse, coarse_bent), (fine, bent) = (by_exudyn(exu, pendulum, np.array(spin), n) for n in (1000, 2000))
    assert np.linalg.norm(path - fine, axis=1).max() < 1e-4 * LENGTH
    # Steps of second order without their leading error: measured 5e-8.
    assert np.linalg.norm(path - (4.0 * fine - coarse) / 3.0, axis=1).max() < 2e-7 * LENGTH
    assert np.abs(deflection - (4.0 * bent - coarse_bent) / 3.0).max() < 1e-4 * np.abs(deflection).max()
