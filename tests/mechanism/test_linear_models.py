"""Linear models against simulated motion, closed forms, python-control and SciPy; files; reduction and its bound."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from examples.make_golden import script
from house.tools import ROOT
from scipy.io import loadmat
from scipy.linalg import expm
from scipy.spatial.transform import Rotation
from small_models import ARM, FLYER, body, hinge, model, rigid
from typer.testing import CliRunner

import bough
from bough import Mechanism, StateSpace
from bough.cli import app
from bough.errors import ArgumentError
from bough.mechanism.linear_files import save_family
from bough.mechanism.operating_point import linear_model
from bough.mechanism.reduction import reduce


@pytest.fixture(scope="module")
def msat() -> ModuleType:
    return script("msat_beam")


@pytest.fixture(scope="module")
def arm() -> StateSpace:
    system = Mechanism(ARM)
    q, _ = bough.equilibrium(system)
    return linear_model(
        system, q, inputs=["shoulder.tau", "lower.tip.force"], outputs=["hand.tool.r", "shoulder.a"]
    ).model


# ---- against motion


def flow(
    system: Mechanism, q: np.ndarray, u: np.ndarray, tau: np.ndarray, dx: np.ndarray, t: float
) -> list[np.ndarray]:
    """State after t seconds from one that is moved by dx along the speeds and in them."""
    n = system.nu
    inputs = {v.name: tau[v.index] for v in system.variables if v.kind == "tau" and v.causality == "input"}
    start = (_moved(system, q, dx[:n]), u + dx[n:])
    run = bough.simulate(system.model, stop=t, step=t, inputs=inputs, method="rk4", solver_step=t / 512, initial=start)
    return [np.array([run[name][-1] for name in names]) for names in (system.q_names, system.u_names)]


def column(system: Mechanism, q: np.ndarray, u: np.ndarray, tau: np.ndarray, j: int, t: float) -> np.ndarray:
    """How the state after t seconds answers to entry j of the state before, by central differences of two runs."""
    e = np.zeros(2 * system.nu)
    e[j] = size = 1e-6
    plus, minus = (flow(system, q, u, tau, dx, t) for dx in (e, -e))
    return np.concatenate([_between(system, minus[0], plus[0]), plus[1] - minus[1]]) / (2 * size)


def test_linear_motion_equals_finite_differences_of_simulated_motion() -> None:
    """exp(A t) of the settled arm after 20 ms, six times the time of its fastest mode; differences are good to 1e-7."""
    system = Mechanism(ARM)
    q, _ = bough.equilibrium(system)
    still = np.zeros(system.nu)
    tau = system.inverse_dynamics(q, still, still)
    found = expm(system.linearize(q, still, tau, minimal=True).A * 0.02)
    for j in range(2 * system.nu):
        simulated = column(system, q, still, tau, j, 0.02)
        assert abs(simulated - found[:, j]).max() < 1e-6 * max(1.0, float(abs(found[:, j]).max())), j


def test_linear_motion_about_turning_hinges_equals_finite_differences() -> None:
    """The flyer turns, so A changes: (Phi(h) - 1)/h = A + O(h) from two short times; quaternions move with it."""
    system = Mechanism(FLYER)
    q, u = system.initial_state()
    tau = np.zeros(system.nu)
    found = system.linearize(q, u, tau, minimal=True).A
    for j in range(2 * system.nu):
        unit = np.eye(2 * system.nu)[j]
        rates = [(column(system, q, u, tau, j, h) - unit) / h for h in (1e-3, 5e-4)]
        extrapolated = 2 * rates[1] - rates[0]
        assert abs(extrapolated - found[:, j]).max() < 1e-3 * max(1.0, float(abs(found[:, j]).max())), j


def _moved(system: Mechanism, q: np.ndarray, x: np.ndarray) -> np.ndarray:
    out = q + system.position_rates(q, x)
    for c in system.q_table:
        if c.kind == "quaternion" and c.number == 1:
            out[c.index : c.index + 4] /= np.linalg.norm(out[c.index : c.index + 4])
    return out


def _between(system: Mechanism, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Small motion from a to b in the directions of the speeds: a quaternion's by its own multiplication."""
    out = np.zeros(system.nu)
    for c in system.u_table:
        same = [p.index for p in system.q_table if (p.owner, p.kind, p.number) == (c.owner, c.kind, c.number)]
        if same:
            out[c.index] = b[same[0]] - a[same[0]]
        else:
            at = next(p.index for p in system.q_table if p.owner == c.owner and p.kind == "quaternion")
            turn = Rotation.from_quat(a[at : at + 4]).inv() * Rotation.from_quat(b[at : at + 4])
            out[c.index] = turn.as_rotvec()[c.number - 1]
    return out


def test_step_response_equals_a_small_simulated_step() -> None:
    """Half a second after a small torque begins at the settled arm; what is left is of second order in it."""
    system = Mechanism(ARM)
    q, _ = bough.equilibrium(system)
    held = linear_model(system, q, inputs=["shoulder.tau"], outputs=["hand.tool.r[3]", "shoulder.phi"])
    hold = {v.name: held.holding[v.index] for v in system.variables if v.kind == "tau" and v.causality == "input"}
    times = np.linspace(0.0, 0.5, 51)
    linear = held.model.to_scipy().to_discrete(times[1])
    x = np.zeros(len(held.model.states))
    expected = [np.zeros(2)]
    for _ in times[1:]:
        x = linear.A @ x + linear.B[:, 0]
        expected.append(linear.C @ x)
    start = (q, np.zeros(system.nu))
    for size, left in ((1e-3, 2e-3), (1e-4, 2e-4)):
        moved = hold | {"shoulder.tau": hold["shoulder.tau"] + size}
        run = bough.simulate(system.model, stop=0.5, step=times[1], inputs=moved, initial=start, rtol=1e-11)
        y = np.column_stack([run[name] - run[name][0] for name in held.model.outputs])
        assert abs(y / size - expected).max() < left * abs(np.array(expected)).max()


# ---- against closed forms


def exact_beam(msat: ModuleType, w: float) -> tuple[float, float]:
    """Tip and hub response of the undamped beam to a torque, rad/s and m, rad per N.m, from (9) and its four ends."""
    length, EI = msat.LENGTH, msat.STIFFNESS**2 * msat.RHO
    k = np.sqrt(w / msat.STIFFNESS)
    a = k * length
    value = np.array([np.sinh(a), np.cosh(a), np.sin(a), np.cos(a)])
    third = k**3 * np.array([np.cosh(a), np.sinh(a), -np.cos(a), np.sin(a)])
    rows = [
        [0, 1, 0, 1],
        [0, k**2, 0, -(k**2)],
        k**2 * np.array([np.sinh(a), np.cosh(a), -np.sin(a), -np.cos(a)]),
        EI * third + msat.XI * msat.RHO * length * w**2 * value,
    ]
    c = np.linalg.solve(rows, [0, -1 / EI, 0, 0])
    return float(c @ value), float(c @ [k, 0, k, 0])


@pytest.mark.parametrize(("modes", "outputs"), [(("pinned", 16), 1), (("cantilever", 16), 2)])
def test_bode_of_the_msat_beam_is_the_exact_one_up_to_its_fifth_mode(
    msat: ModuleType, modes: tuple[str, int], outputs: int
) -> None:
    """0.1 % of the response, or of what is beside it where a zero is near; pinned modes lack the hub's static part."""
    system = Mechanism(msat.model(*modes, zeta=0.0))
    linear = linear_model(system, inputs=["motor.tau"], outputs=["boom.tip.r[2]", "motor.phi"]).model
    resonances = msat.frequencies(msat.roots(5))
    omega = np.geomspace(0.1, 135.0, 300)
    omega = omega[np.all(abs(omega[:, None] / resonances - 1) > 0.01, axis=1)]
    expected = np.array([exact_beam(msat, w) for w in omega])[:, :outputs]
    found = linear.response(omega)[:, :outputs, 0]
    # Around a zero what counts is the size of the neighbourhood: half a decade.
    size = np.array([abs(expected[abs(np.log(omega / w)) < 0.25]).max(axis=0) for w in omega])
    assert abs(found.imag).max() == 0.0
    assert (abs(found.real - expected) / size).max() < 1e-3


def two_masses(k: float) -> StateSpace:
    pair = model(
        "pair",
        body("a", "ground", hinge("prismatic", "slide", [1, 0, 0]), rigid=rigid(2.0, (1, 1, 1))),
        body("b", "a", hinge("prismatic", "spring", [1, 0, 0], stiffness=k), rigid=rigid(3.0, (1, 1, 1))),
        outputs=["b.origin"],
    )
    return linear_model(Mechanism(pair), inputs=["slide.f"], outputs=["b.origin.r[1]", "spring.s"]).model


def test_stiff_response_holds_from_slow_to_100000_rad_per_second() -> None:
    """x_b = k F / (s^2 (m1 m2 s^2 + k (m1 + m2))), spring = -m2 s^2 / k x_b; six decades below resonance."""
    k, m1, m2 = 1e10, 2.0, 3.0
    omega = np.geomspace(1e-2, 1e5, 200)
    found = two_masses(k).response(omega)[:, :, 0]
    s2 = -(omega**2)
    x_b = k / (s2 * (m1 * m2 * s2 + k * (m1 + m2)))
    assert (abs(found[:, 0] / x_b - 1)).max() < 1e-9
    assert (abs(found[:, 1] / (-m2 * s2 / k * x_b) - 1)).max() < 1e-9


def test_rigid_poles_are_exactly_zero_and_zeros_are_found() -> None:
    """Two masses: 0, 0 and sqrt(k/mu); collocated position has its zero where b alone would swing, sqrt(k/m2)."""
    k = 1e10
    linear = two_masses(k)
    poles = linear.poles()
    assert np.array_equal(poles[:2], [0, 0])
    assert abs(poles[3] / (1j * np.sqrt(k * (1 / 2 + 1 / 3))) - 1) < 1e-12
    assert not linear.zeros("b.origin.r[1]", "slide.f").size
    pair = Mechanism(
        model(
            "pair",
            body("a", "ground", hinge("prismatic", "slide", [1, 0, 0]), rigid=rigid(2.0, (1, 1, 1))),
            body(
                "b",
                "a",
                hinge("prismatic", "spring", [1, 0, 0], stiffness=k, damping=600.0),
                rigid=rigid(3.0, (1, 1, 1)),
            ),
        )
    )
    zeros = linear_model(pair).model.zeros("slide.s", "slide.f")
    expected = np.roots([3.0, 600.0, k])
    assert np.allclose(sorted(zeros, key=np.imag), sorted(expected, key=np.imag), rtol=1e-9)


# ---- structure


def test_minimal_model_of_a_free_flyer_has_two_states_for_each_speed() -> None:
    system = Mechanism(FLYER)
    q, u = system.initial_state()
    found = system.linearize(q, u, np.zeros(system.nu), minimal=True)
    assert len(found.states) == 2 * system.nu and "flight.phi[3]" in found.states
    full = system.linearize(q, u, np.zeros(system.nu))
    assert full.states == (*system.q_names, *system.u_names)


def test_locked_hinge_leaves_no_state() -> None:
    locked = model(
        "l", body("a", "ground", hinge("revolute", "h", [0, 0, 1], drive="locked"), rigid=rigid(1, (1, 1, 1)))
    )
    assert linear_model(Mechanism(locked)).model.states == ()


def test_unknown_input_is_told_with_the_one_that_was_meant() -> None:
    with pytest.raises(ArgumentError, match=r"inputs: there is no 'sholder.tau'.*shoulder.tau"):
        linear_model(Mechanism(ARM), inputs=["sholder.tau"])


def test_unsettled_modes_are_told() -> None:
    assert "settle" in linear_model(Mechanism(ARM)).note
    system = Mechanism(ARM)
    assert linear_model(system, bough.equilibrium(system)[0]).note == ""


def test_control_and_scipy_get_the_same_model(arm: StateSpace) -> None:
    control = pytest.importorskip("control")
    theirs = arm.to_control()
    assert theirs.input_labels == [name.replace(".", "_") for name in arm.inputs]
    assert theirs.state_labels[:2] == ["shoulder_phi", "upper_eta[1]"]
    omega = np.array([0.3, 2.0, 20.0])
    response = control.frequency_response(theirs, omega).frdata.transpose(2, 0, 1)
    assert np.allclose(arm.response(omega), response, rtol=1e-7, atol=1e-9 * abs(response).max())
    scipy = arm.to_scipy()
    assert np.array_equal(scipy.A, arm.A) and np.array_equal(scipy.D, arm.D)


# ---- reduction


@pytest.mark.parametrize("method", ["balanced", "modal"])
@pytest.mark.parametrize("states", [2, 4, 8])
def test_error_of_a_reduced_model_is_below_its_bound(arm: StateSpace, method: Any, states: int) -> None:
    small = reduce(arm, states, method)
    omega = np.geomspace(1e-3, 1e5, 500)
    errors = np.linalg.norm(arm.response(omega) - small.model.response(omega), 2, axis=(1, 2))
    assert small.model.A.shape[0] <= states + 1
    assert 0.02 * small.bound < errors.max() < small.bound


def test_band_of_a_modal_model_has_a_smaller_bound_that_holds(arm: StateSpace) -> None:
    small, everywhere = reduce(arm, 8, "modal", up_to=5.0), reduce(arm, 8, "modal")
    omega = np.linspace(0.0, 5.0, 300)
    errors = np.linalg.norm(arm.response(omega) - small.model.response(omega), 2, axis=(1, 2))
    assert errors.max() < small.bound < 0.1 * everywhere.bound


def test_reduced_model_keeps_rigid_modes_exactly() -> None:
    """A free flyer: twenty states of rigid motion; far below the flexible modes nothing is lost."""
    system = Mechanism(FLYER)
    q, _ = system.initial_state()
    full = linear_model(system, q, inputs=["root.tau", "flight.f"], outputs=["boom.tip.r", "hub.origin.Q"]).model
    for method in ("balanced", "modal"):
        small = reduce(full, 2, method)  # type: ignore[arg-type]
        assert small.rigid == 20
        assert np.sum(abs(np.linalg.eigvals(small.model.A)) < 1e-12) == 20
        omega = np.array([1e-4, 1e-2])
        a, b = full.response(omega), small.model.response(omega)
        assert (abs(a - b).max(axis=(1, 2)) / abs(a).max(axis=(1, 2))).max() < 1e-5


def test_damper_on_a_rigid_mode_stays_with_it() -> None:
    """A damped free hinge couples its speed to the modes; its integrator is split off without loss at low frequency."""
    system = Mechanism(script("msat_beam").model("pinned", 6, zeta=0.02))
    model_ = system.model
    bodies = tuple(
        b.model_copy(update={"hinge": b.hinge.model_copy(update={"damping": (3.0,)})}) for b in model_.bodies
    )
    full = linear_model(
        Mechanism(model_.model_copy(update={"bodies": bodies})), outputs=["motor.phi", "boom.tip.r[2]"]
    ).model
    small = reduce(full, 5)
    omega = np.geomspace(1e-4, 1e3, 300)
    errors = np.linalg.norm(full.response(omega) - small.model.response(omega), 2, axis=(1, 2))
    assert small.rigid == 1 and errors.max() < small.bound * (1 + 1e-9)


def test_undamped_motion_is_refused_with_its_frequency(msat: ModuleType) -> None:
    full = linear_model(Mechanism(msat.model("pinned", 4, zeta=0.0)), outputs=["boom.tip.r[2]"]).model
    with pytest.raises(bough.SimulationError, match=r"at 5\.28.* rad/s is not.*damping"):
        reduce(full, 2)
    assert reduce(full, 4, "modal", up_to=30.0).bound > 0


# ---- files and commands


def test_files_read_back_the_same(arm: StateSpace, tmp_path: Path) -> None:
    arm.save(tmp_path / "a.npz")
    arm.save(tmp_path / "a.json")
    arm.save(tmp_path / "a.mat")
    arm.save(tmp_path / "a.m")
    npz, mat = np.load(tmp_path / "a.npz"), loadmat(tmp_path / "a.mat")
    text = json.loads((tmp_path / "a.json").read_text())
    for key in "ABCD":
        for found in (npz[key], mat[key], np.array(text[key])):
            assert np.array_equal(found, getattr(arm, key))
    assert [str(cell[0][0]) for cell in mat["inputs"]] == list(arm.inputs) == text["inputs"] == npz["inputs"].tolist()
    lines = (tmp_path / "a.m").read_text()
    (matrix,) = re.findall(r"^A = \[(.*?)\];", lines, re.M | re.S)
    assert np.array_equal(np.array([[float(x) for x in row.split()] for row in matrix.split(";")]), arm.A)


def test_family_has_a_model_for_every_place(tmp_path: Path) -> None:
    path = tmp_path / "arm.yaml"
    path.write_text(json.dumps(ARM))
    out = tmp_path / "family.mat"
    done = CliRunner().invoke(
        app,
        [
            "linearize",
            str(path),
            "-o",
            str(out),
            "--settle",
            "--grid",
            "shoulder.phi=-0.5:0.5:3",
            "--grid",
            "grip.s=0,0.01",
        ],
    )
    assert done.exit_code == 0, done.output
    mat = loadmat(out)
    assert mat["A"].shape == (18, 18, 6) and mat["grid"].tolist()[1] == [-0.5, 0.01]
    system = Mechanism(ARM)
    q, _ = system.initial_state()
    q[system.q_names.index("shoulder.phi")], q[system.q_names.index("grip.s")] = 0.5, 0.0
    alone = linear_model(system, bough.equilibrium(system, q=q)[0]).model
    assert np.allclose(mat["A"][:, :, 4], alone.A, rtol=1e-12, atol=1e-12)


def test_models_that_differ_make_no_family(arm: StateSpace, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="same states"):
        save_family([arm, arm.select(inputs=["shoulder.tau"])], tmp_path / "x.npz", [{}, {}])


@pytest.mark.parametrize("name", ["x.txt", "2nd-model.m"])
def test_other_endings_are_refused_before_the_work(name: str, tmp_path: Path) -> None:
    path = tmp_path / "arm.yaml"
    path.write_text(json.dumps(ARM))
    done = CliRunner().invoke(app, ["linearize", str(path), "-o", str(tmp_path / name)])
    assert done.exit_code == 2 and not (tmp_path / name).exists()


@pytest.mark.parametrize("ending", ["png", "svg", "pdf", "csv"])
def test_bode_writes_pictures_and_numbers(ending: str, tmp_path: Path, arm: StateSpace) -> None:
    path, out = tmp_path / "arm.yaml", tmp_path / f"bode.{ending}"
    path.write_text(json.dumps(ARM))
    arguments = [
        "bode",
        str(path),
        "--from",
        "shoulder.tau",
        "--to",
        "hand.tool.r[3]",
        "--to",
        "shoulder.a",
        "--settle",
    ]
    done = CliRunner().invoke(app, [*arguments, "-o", str(out)])
    assert done.exit_code == 0, done.output
    assert "poles" in done.output and "zeros of hand.tool.r[3] / shoulder.tau" in done.output
    assert out.stat().st_size > 1000
    if ending == "csv":
        rows = np.genfromtxt(out, delimiter=",", skip_header=1)
        expected = arm.select(["shoulder.tau"], ["hand.tool.r[3]"]).response(rows[:, 0])[:, 0, 0]
        assert np.allclose(rows[:, 1], abs(expected), rtol=1e-12)


def test_page_on_linear_models_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (arm_yaml,) = re.findall(r"^```yaml\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    (tmp_path / "arm.yaml").write_text(arm_yaml, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    left: dict[str, object] = {}
    for program in re.findall(
        r"^```python\n(.*?)^```", (ROOT / "docs/linear-models.md").read_text("utf-8"), re.M | re.S
    ):
        exec(program, left)
