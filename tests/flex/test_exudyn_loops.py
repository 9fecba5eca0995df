"""A slider-crank and a four-bar whose coupler bends, side by side with Exudyn, and with more and more modes.

The coupler is the strip of test_exudyn.py. A crank, 0.3 m, moves its root; its tip hangs on a slider or on a rocker of
0.6 m. In bough the tip is closed by a loop, with multipliers from sweeps; Exudyn has redundant coordinates and a joint
everywhere.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flex.fe.fem import entry, solid
from flex.test_exudyn import BETA, LENGTH, STEP, exu, solve  # noqa: F401
from scipy.sparse import csr_matrix

import bough
from bough.flex.fe import FeModel
from bough.flex.fe.node_shapes import all_shapes

STOP, SPEED = 0.6, 6.0
CRANK, ROCKER = 0.3, 0.6
AXIS = [0, 1, 0]
MASS, INERTIA = 0.8, 0.02  # of crank, rocker and slider: kg, kg.m2 about all axes


def rigid(com: list[float], end: list[float]) -> dict[str, Any]:
    return {
        "mass": MASS,
        "com": com,
        "inertia": [INERTIA, INERTIA, INERTIA, 0, 0, 0],
        "nodes": {"end": {"position": end}},
    }


def mechanism(kind: str, fe: dict[str, Any]) -> bough.Model:
    """Crank and rocker stand upright at the start, the coupler lies along x and moves along it."""
    pin = {"type": "revolute", "axis": AXIS, "frame": {"position": [0, 0, -CRANK]}, "initial": {"phi": 0, "w": SPEED}}
    if kind == "slider":
        hinge = {"name": "last", "type": "prismatic", "axis": [1, 0, 0], "frame": {"position": [LENGTH, 0, 0]}}
        last = {"hinge": hinge, "rigid": rigid([0, 0, 0], [0, 0, 0])}
    else:
        hinge = {"name": "last", "type": "revolute", "axis": AXIS, "frame": {"position": [LENGTH, 0, -ROCKER]}}
        last = {"hinge": hinge, "rigid": rigid([0, 0, ROCKER / 2], [0, 0, ROCKER])}
    return bough.load(
        {
            "bough": 1,
            "name": kind,
            "bodies": [
                {"name": "crank", "parent": "ground", "hinge": pin, "rigid": rigid([0, 0, CRANK / 2], [0, 0, CRANK])},
                {"name": "arm", "parent": "crank", "at": "end", "hinge": {"type": "spherical"}, "fe": fe},
                {"name": "last", "parent": "ground", **last, "hinge": hinge | {"name": "last_hinge"}},
            ],
            "loops": [{"name": "pin", "type": "spherical", "between": ["arm.tip", "last.end"]}],
            "outputs": ["arm.tip", "crank.end"],
        }
    )


def coupler(folder: Path, modes: int) -> tuple[FeModel, dict[str, Any], np.ndarray]:
    """The mesh, its `fe:` entry with so many modes, and translations of all FE nodes, (n, 3, modes)."""
    mesh = solid((8, 1, 1), (LENGTH, 0.04, 0.004))
    fe = entry(folder / "strip.npz", mesh, modes={"boundary": "cantilever", "count": modes}, attach="root")
    fe["damping"] = {"rayleigh": [0.0, BETA]}
    body = bough.load(
        {
            "bough": 1,
            "name": "one",
            "bodies": [{"name": "arm", "parent": "ground", "hinge": {"type": "fixed"}, "fe": fe}],
        }
    ).bodies[0]
    assert body.fe is not None
    return mesh, fe, all_shapes(body.fe)[1][:, 3:]


def by_bough(model: bough.Model, rtol: float = 1e-9) -> np.ndarray:
    """Paths of crank pin and coupler's tip, (n, 6), m."""
    run = bough.simulate(model, STOP, step=STEP, rtol=rtol)
    return np.column_stack([run[f"{node}.r[{i}]"] for node in ("crank.end", "arm.tip") for i in (1, 2, 3)])


def by_exudyn(exu: Any, kind: str, mesh: FeModel, shapes: np.ndarray, steps: int) -> np.ndarray:  # noqa: F811
    """The same."""
    eii: Any = importlib.import_module("exudyn.itemInterface")
    fem_module: Any = importlib.import_module("exudyn.FEM")
    inertia: Any = importlib.import_module("exudyn.rigidBodyUtilities").RigidBodyInertia
    fem = fem_module.FEMinterface()
    fem.nodes = {"Position": mesh.positions}
    fem.massMatrix, fem.stiffnessMatrix = csr_matrix(mesh.M), csr_matrix(mesh.K)
    fem.modeBasis = {"matrix": shapes.reshape(-1, shapes.shape[-1]), "type": "NormalModes"}
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    ground = mbs.AddObject(eii.ObjectGround())
    speed = CRANK * SPEED  # of all of the coupler
    flexible = fem_module.ObjectFFRFreducedOrderInterface(fem).AddObjectFFRFreducedOrder(
        mbs, initialVelocity=[speed, 0, 0], stiffnessProportionalDamping=BETA
    )["oFFRFreducedOrder"]

    def part(at: list[float], velocity: float, turns: float) -> int:
        return mbs.CreateRigidBody(
            inertia=inertia(MASS, INERTIA * np.eye(3)),
            referencePosition=at,
            initialVelocity=[velocity, 0, 0],
            initialAngularVelocity=[0, turns, 0],
            returnDict=False,
        )

    crank = part([0, 0, -CRANK / 2], speed / 2, SPEED)
    mbs.CreateRevoluteJoint(itemNumbers=[ground, crank], position=[0, 0, -CRANK], axis=AXIS, useGlobalFrame=True)
    if kind == "slider":
        last, end = part([LENGTH, 0, 0], speed, 0.0), [0, 0, 0]
        mbs.CreatePrismaticJoint(
            itemNumbers=[ground, last], position=[LENGTH, 0, 0], axis=[1, 0, 0], useGlobalFrame=True
        )
    else:
        last, end = part([LENGTH, 0, -ROCKER / 2], speed / 2, speed / ROCKER), [0, 0, ROCKER / 2]
        mbs.CreateRevoluteJoint(
            itemNumbers=[ground, last], position=[LENGTH, 0, -ROCKER], axis=AXIS, useGlobalFrame=True
        )
    for body, at, x in ((crank, [0, 0, CRANK / 2], 0.0), (last, end, LENGTH)):
        node = int(np.argmin(np.linalg.norm(mesh.positions - [x, 0, 0], axis=1)))
        marker = eii.MarkerSuperElementPosition(bodyNumber=flexible, meshNodeNumbers=[node], weightingFactors=[1.0])
        first = mbs.AddMarker(eii.MarkerBodyPosition(bodyNumber=body, localPosition=at))
        mbs.AddObject(eii.ObjectJointSpherical(markerNumbers=[first, mbs.AddMarker(marker)]))
    sensors = [
        mbs.AddSensor(
            eii.SensorBody(
                bodyNumber=body,
                localPosition=at,
                storeInternal=True,
                writeToFile=False,
                outputVariableType=exu.OutputVariableType.Position,
            )
        )
        for body, at in ((crank, [0, 0, CRANK / 2]), (last, end))
    ]
    solve(exu, mbs, steps, STOP)
    return np.hstack([np.asarray(mbs.GetSensorStoredData(sensor))[:, 1:] for sensor in sensors])


@pytest.mark.parametrize("kind", ["slider", "four_bar"])
def test_a_loop_with_a_flexible_coupler_moves_as_in_exudyn(exu: Any, kind: str, tmp_path: Path) -> None:  # noqa: F811
    mesh, fe, shapes = coupler(tmp_path, 4)
    own = by_bough(mechanism(kind, fe))
    coarse, fine = (by_exudyn(exu, kind, mesh, shapes, n) for n in (600, 1200))
    assert np.ptp(own[:, 0]) > 1.7 * CRANK  # most of a turn
    # Exudyn's steps are of second order: errors of 1.1e-5 m and 2.8e-6 m, 4e-8 m without their leading part.
    assert np.abs(own - coarse).max() == pytest.approx(4.0 * np.abs(own - fine).max(), rel=0.05)
    assert np.abs(own - (4.0 * fine - coarse) / 3.0).max() < 2e-7 * LENGTH


@pytest.mark.parametrize("kind", ["slider", "four_bar"])
def test_a_flexible_coupler_converges_with_its_modes(kind: str, tmp_path: Path) -> None:
    paths = [by_bough(mechanism(kind, coupler(tmp_path, n)[1]), 1e-7) for n in (1, 2, 4, 6)]
    one, two, four = (np.abs(path - paths[-1]).max() for path in paths[:-1])
    # Measured 9e-3 m, 4e-4 m and 1e-4 m: modes that are clamped at a root that turns come near slowly.
    assert one > 5.0 * two and two > 2.0 * four
    assert four < 2e-4 * LENGTH
