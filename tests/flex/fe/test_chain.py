"""The chain of examples/fe_bracket: gmsh, CalculiX and scikit-fem, import, mechanism; solids solved elsewhere."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from house.tools import IN_CI, ROOT, require_tool
from house.validators import assert_valid

import bough
from bough.flex import FlexBody, flex_body


@pytest.fixture(scope="module")
def example() -> ModuleType:
    try:
        import gmsh  # noqa: F401
    except (ImportError, OSError) as error:
        if IN_CI:
            pytest.fail(f"gmsh does not load ({error}), and CI must not skip a test")
        pytest.skip(f"gmsh does not load: {error}")
    spec = importlib.util.spec_from_file_location("fe_bracket_run", ROOT / "examples" / "fe_bracket" / "run.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["fe_bracket_run"] = module
    spec.loader.exec_module(module)
    return module


SIZE = 22.0


def arm(path: Path, **keys: object) -> FlexBody:
    """The arm of a model file, some keys of its entry changed."""
    body = bough.load(path).bodies[0]
    assert body.fe is not None
    return flex_body(body.model_copy(update={"fe": body.fe.model_copy(update=keys)}))


@pytest.fixture(scope="module")
def by_calculix(example: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    require_tool("ccx")
    return example.make(tmp_path_factory.mktemp("ccx"), SIZE, with_calculix=True)


@pytest.fixture(scope="module")
def by_scikit_fem(example: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return example.make(tmp_path_factory.mktemp("skfem"), SIZE, with_calculix=False)


def test_calculix_and_scikit_fem_give_the_same_body(by_calculix: Path, by_scikit_fem: Path) -> None:
    """Stiffness alike; CalculiX integrates the mass of a tetrahedron with fewer points, which moves little."""
    one, other = arm(by_calculix), arm(by_scikit_fem)
    np.testing.assert_allclose(other.integrals.inertia, one.integrals.inertia, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(other.frequencies[:4], one.frequencies[:4], rtol=1e-4)
    static = [body.node_shapes[1] @ np.diag(body.frequencies**-2) @ body.node_shapes[1].T for body in (one, other)]
    np.testing.assert_allclose(static[0], static[1], atol=1e-4 * np.abs(static[0]).max())


def test_frequencies_are_those_that_calculix_finds(example: ModuleType, by_calculix: Path, tmp_path: Path) -> None:
    """CalculiX's own eigenvalues of the arm clamped in its hub, seven digits in its .dat file."""
    step = "*BOUNDARY\nHUB, 1, 3\n*STEP\n*FREQUENCY\n6\n*END STEP"
    example.write_input(tmp_path / "own.inp", example.mesh(SIZE), step)
    example.calculix(tmp_path, "own")
    lines = re.findall(
        r"^ +\d+ +(\S+E\S+) +(\S+E\S+) +(\S+E\S+) +\S+$", (tmp_path / "own.dat").read_text(), re.MULTILINE
    )
    expected = np.array([float(hertz) for _, _, hertz in lines[:6]])
    body = bough.load(by_calculix).bodies[0]
    assert body.fe is not None
    hub, eye = body.fe.interfaces
    modes = body.fe.modes.model_copy(update={"boundary": "cantilever", "count": 6})
    free_eye = eye.model_copy(update={"coupling": "average"})
    found = arm(by_calculix, interfaces=(hub, free_eye), modes=modes).frequencies / (2.0 * np.pi)
    np.testing.assert_allclose(found, expected, rtol=3e-7)


def test_wrong_units_are_told_by_the_mass(by_scikit_fem: Path) -> None:
    """A millimetre-tonne file taken for SI."""
    path = by_scikit_fem.parent / "si.yaml"
    path.write_text(by_scikit_fem.read_text().replace("      units: {length: 0.001, mass: 1000}\n", ""))
    with pytest.raises(bough.ModelError, match=r"length: 0\.001, mass: 1000"):
        bough.load(path)


@pytest.mark.parametrize("runtime", ["native", "source"])
@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_validators_find_nothing(by_scikit_fem: Path, tmp_path: Path, fmi: str, runtime: str) -> None:
    assert_valid(bough.build_fmu(by_scikit_fem, tmp_path / "arm.fmu", fmi=fmi, runtime=runtime))


def test_the_arm_runs(example: ModuleType, by_scikit_fem: Path) -> None:
    """It turns by what a rigid arm would, and bends by the static deflection of its inertia."""
    result = example.simulate(by_scikit_fem.parent)
    body = arm(by_scikit_fem)
    Jzz = body.integrals.inertia[6] + 0.002 + 0.4 * 0.3**2 + 1e-4
    # Half a period of torque, no friction: w = T A / (pi J); friction takes some percent.
    peak = result["motor.w"].max()
    assert peak == pytest.approx(0.2 * 10.0 / (np.pi * Jzz), rel=0.05)
    assert 0.02 < np.abs(example.sway(result)).max() < 0.1


def test_stress_stiffness_of_a_solid_beam(example: ModuleType, tmp_path: Path) -> None:
    """A bar of tetrahedra: the Southwell coefficient of its spin, and its buckling load, by its own stresses."""
    import gmsh
    from flex.fe.fem import document, entry, imported

    from bough.flex.fe.fe_body import read_fe
    from bough.flex.fe.npz import write_npz
    from bough.flex.fe.stress import solids, with_stress_stiffness

    length, width, height = 200.0, 6.0, 10.0
    gmsh.initialize(interruptible=False)
    gmsh.option.setNumber("General.Terminal", 0)
    gmsh.model.occ.addBox(0, -width / 2, -height / 2, length, width, height)
    gmsh.model.occ.synchronize()
    for name, value in (("MeshSizeMax", 7.0), ("SecondOrderLinear", 1)):
        gmsh.option.setNumber(f"Mesh.{name}", value)
    gmsh.model.mesh.generate(3)
    gmsh.model.mesh.setOrder(2)
    numbers, places, _ = gmsh.model.mesh.getNodes()
    elements = gmsh.model.mesh.getElementsByType(11)[1].reshape(-1, 10).astype(int)[:, [0, 1, 2, 3, 4, 5, 6, 7, 9, 8]]
    gmsh.finalize()
    positions = places.reshape(-1, 3)
    ends = {"ROOT": positions[:, 0] < 1e-6, "TIP": positions[:, 0] > length - 1e-6}
    sets = {name: numbers[there].astype(int) for name, there in ends.items()}
    write_npz(tmp_path / "bar.npz", example.scikit_fem(example.Mesh(numbers.astype(int), positions, elements, sets)))
    centred = {"root": {"set": "ROOT", "position": [0, 0, 0]}, "tip": {"set": "TIP", "position": [0.2, 0, 0]}}
    fe = entry(tmp_path / "bar.npz", units={"length": 1e-3, "mass": 1e3}, interfaces=centred)
    checked = bough.load(document(fe)).bodies[0].fe
    assert checked is not None
    bar = with_stress_stiffness(read_fe(checked), checked, [solids(elements, 1e6 * example.E, example.NU)])
    modes = {"boundary": "cantilever", "count": 8}
    body = imported(entry(tmp_path / "stiffened.npz", bar, interfaces=centred, modes=modes))
    assert body.stiffening is not None
    # The first mode bends along y: out of the plane of a spin about y. 1.193 for a slender beam; this one is 33 to 1.
    assert body.stiffening.N1[0][1, 0] == pytest.approx(1.193, abs=0.01)
    assert body.stiffening.N1[0][1, 0] == pytest.approx(body.stiffening.N1[0][2, 0], rel=1e-2)
    pull = -body.stiffening.node_bends[1, 0]
    critical = 1.0 / np.linalg.eigvals(np.linalg.solve(body.stiffness, pull)).real.max()
    EI = 1e6 * example.E * 1e-12 * height * width**3 / 12.0
    assert critical == pytest.approx(np.pi**2 * EI / (4.0 * 0.2**2), rel=0.02)
