"""The animated report draws and plays in a browser."""

from __future__ import annotations

import base64
import io
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest
from house.chromium import Page, open_page
from report.mechanisms import slider_run
from typer.testing import CliRunner

import bough
from bough.cli import app
from bough.report import Animation, Part, Series, Trail, render_page, write_page
from bough.report.animation import animation_section
from bough.report.palette import COLOURS
from bough.report.scenes import animate

FRAMES = 60


@pytest.fixture(scope="module")
def scene() -> tuple[Animation, bough.Result]:
    system, result = slider_run()
    return animate(system, result, frames=FRAMES, exaggeration=[1.0, 10.0]), result


@pytest.fixture(scope="module")
def page(scene: tuple[Animation, bough.Result], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    path = tmp_path_factory.mktemp("page") / "run.html"
    animation, result = scene
    few = bough.Result(result.t, {name: result[name] for name in ("rail.s", "luff.phi", "boom.eta[1]")})
    write_page(few, path, "slider", animation, [Series("Effort", "N", {"rail": result["rail.f"]})])
    with open_page(path) as opened:
        opened.wait("document.getElementById('scene').dataset.frame === '0'")
        yield opened
        assert opened.errors == []


def _frame(page: Page) -> int:
    return int(page.evaluate("document.getElementById('scene').dataset.frame"))


def _choose(page: Page, control: str, value: int | str, event: str) -> None:
    page.evaluate(
        f"(() => {{ const c = document.getElementById('{control}'); c.value = '{value}';"
        f" c.dispatchEvent(new Event('{event}')); }})()"
    )


def _show(page: Page, frame: int) -> None:
    _choose(page, "scene-time", frame, "input")
    page.wait(f"document.getElementById('scene').dataset.frame === '{frame}'")


def _press_play(page: Page) -> None:
    page.evaluate("document.getElementById('scene-play').click()")


def _tip(page: Page, name: str) -> list[float]:
    """Last point of a body's line, as plotly has it."""
    text = (
        "(() => { const traces = document.getElementById('scene').data;"
        f" const t = traces.find(d => d.name === '{name}' && d.mode === 'lines');"
        " return [t.x.at(-1), t.y.at(-1), t.z.at(-1)]; })()"
    )
    return [float(x) for x in page.evaluate(text)]


def test_scene_shows_every_body_in_its_colour(page: Page) -> None:
    _show(page, 0)
    page.evaluate("document.getElementById('animation').scrollIntoView()")
    # The picture is drawn some time after plotly says so.
    end = time.monotonic() + 30.0
    missing = {"boom", "flag", "drone"}
    while missing and time.monotonic() < end:
        image = matplotlib.image.imread(io.BytesIO(page.screenshot()), format="png")[..., :3]
        centre = image[:, image.shape[1] // 4 :]  # right of the legend
        for i, name in ((1, "boom"), (2, "flag"), (3, "drone")):
            colour = np.array([int(COLOURS[i][k : k + 2], 16) for k in (1, 3, 5)]) / 255
            # Boxes are half transparent and lit: only their hue is the body's.
            near = 0.02 if name != "drone" else 0.25
            if np.sum(np.abs(centre - colour).max(axis=-1) < near) > 30:
                missing.discard(name)
    assert not missing


def test_scene_has_one_scale_on_all_axes(page: Page) -> None:
    ratio = page.evaluate(
        "(() => { const s = document.getElementById('scene')._fullLayout.scene;"
        " return ['x', 'y', 'z'].map(a => (s[a + 'axis'].range[1] - s[a + 'axis'].range[0]) / s.aspectratio[a]); })()"
    )
    assert ratio == pytest.approx([ratio[0]] * 3, rel=1e-9)


def test_slider_shows_the_frame_of_its_time(page: Page, scene: tuple[Animation, bough.Result]) -> None:
    animation, _ = scene
    boom = next(part for part in animation.parts if part.name == "boom")
    size = np.ptp(np.concatenate([p.points.reshape(-1, 3) for p in animation.parts]), axis=0).max()
    for frame in (0, 25, FRAMES - 1):
        _show(page, frame)
        # Numbers in the page are rounded to 1/65535 of the scene.
        assert _tip(page, "boom") == pytest.approx(boom.points[0, frame, -1].tolist(), abs=1.0 * size / 65535)
        shown = page.evaluate("document.getElementById('scene-clock').textContent")
        assert float(shown.removesuffix(" s")) == pytest.approx(animation.times[frame], abs=1e-3)


def test_exaggeration_is_a_choice(page: Page, scene: tuple[Animation, bough.Result]) -> None:
    boom = next(part for part in scene[0].parts if part.name == "boom")
    _show(page, 30)
    _choose(page, "scene-factor", 1, "change")
    wanted = boom.points[1, 30, -1]
    page.wait(
        "Math.abs(document.getElementById('scene').data.find(d => d.name === 'boom').z.at(-1)"
        f" - {float(wanted[2])}) < 1e-3"
    )
    assert _tip(page, "boom") == pytest.approx(wanted.tolist(), abs=1e-3)
    _choose(page, "scene-factor", 0, "change")


def test_play_moves_through_the_frames_and_pause_stops(page: Page) -> None:
    _show(page, 0)
    _choose(page, "scene-speed", "0.1", "change")
    _press_play(page)
    assert page.evaluate("document.getElementById('scene-play').textContent") == "Pause"
    page.wait("Number(document.getElementById('scene').dataset.frame) > 0")
    watched = page.evaluate(
        "new Promise(done => { const clock = document.getElementById('scene-clock'), seen = [];"
        " const note = () => { seen.push([performance.now() / 1000, parseFloat(clock.textContent)]);"
        " if (seen.at(-1)[0] - seen[0][0] < 2.5) setTimeout(note, 50); else done(seen); }; note(); })"
    )
    _press_play(page)
    times, shown = np.array(watched).T
    assert len(set(shown)) >= 2, "it moves"
    # Real time: 0.1 s of motion a second. A slow machine skips frames, but lags by no more than the one it draws.
    assert shown[-1] - shown[0] == pytest.approx(0.1 * (times[-1] - times[0]), abs=0.12)
    frames = (
        "new Promise(done => { let n = 10; const next = () => n-- ? requestAnimationFrame(next) : done(0); next(); })"
    )
    page.evaluate(frames)  # what had begun to be drawn is done
    stopped = page.evaluate("document.getElementById('scene-clock').textContent")
    page.evaluate(frames)
    assert page.evaluate("document.getElementById('scene-clock').textContent") == stopped
    assert page.evaluate("document.getElementById('scene-play').textContent") == "Play"


def test_camera_stays_where_the_user_turns_it_while_playing(page: Page) -> None:
    eye = "(() => { const e = document.getElementById('scene').layout.scene.camera.eye; return [e.x, e.y, e.z]; })()"
    page.evaluate("document.getElementById('animation').scrollIntoView()")
    _show(page, 0)
    before = page.evaluate(eye)
    _choose(page, "scene-speed", "0.05", "change")
    _press_play(page)
    page.wait("Number(document.getElementById('scene').dataset.frame) > 0")
    box = page.evaluate(
        "(() => { const b = document.getElementById('scene').getBoundingClientRect();"
        " return [b.left + b.width / 2, b.top + b.height / 2]; })()"
    )
    page.drag(box[0], box[1], 160.0, 20.0)
    page.wait(f"Math.abs({eye}[0] - {before[0]}) > 0.1")
    for _ in range(2):  # the camera glides on for a moment after the mouse is let go: until the next frame
        frame = _frame(page)
        page.wait(f"Number(document.getElementById('scene').dataset.frame) > {frame}")
    turned, frame = page.evaluate(eye), _frame(page)
    page.wait(f"Number(document.getElementById('scene').dataset.frame) > {frame + 2}")
    _press_play(page)
    assert page.evaluate(eye) == pytest.approx(turned, abs=1e-6)
    live = "(() => { const c = document.getElementById('scene')._fullLayout.scene._scene.getCamera().eye;"
    assert page.evaluate(f"{live} return [c.x, c.y, c.z]; }})()") == pytest.approx(turned, abs=1e-6)


def test_charts_are_drawn_beside_the_scene(page: Page) -> None:
    assert page.evaluate("document.querySelectorAll('.plotly-graph-div .cartesianlayer .trace').length") == 4
    headings = page.evaluate("[...document.querySelectorAll('h2')].map(h => h.firstChild.textContent.trim())")
    assert headings[:2] == ["Motion", "Effort"]


# ---- without a browser


def test_numbers_in_the_page_are_those_of_the_scene() -> None:
    points = np.random.default_rng(1).normal(size=(1, 4, 3, 3))
    text = animation_section(Animation(np.arange(4.0), [Part("x", points, [(0, 1, 2)])]))
    match = re.search(r'id="scene-data">(.*?)</script>', text, re.S)
    assert match
    data = json.loads(match[1])
    levels = np.frombuffer(base64.b64decode(data["sets"][0]), "<u2").reshape(4, 3, 3)
    # Half a level by rounding.
    assert np.abs(data["low"] + levels * np.array(data["step"]) - points[0]).max() <= 0.51 * max(data["step"])


def test_name_of_a_body_cannot_break_the_page() -> None:
    name = "</script><script>alert(1)</script>"
    text = animation_section(Animation(np.arange(2.0), [Part(name, np.zeros((1, 2, 1, 3)), dots=[0])]))
    assert "</script><script>alert" not in text


@pytest.mark.parametrize(
    ("times", "parts", "trails", "message"),
    [
        ([0.0, 0.0], [np.zeros((1, 2, 1, 3))], [], "times that rise"),
        ([], [np.zeros((1, 0, 1, 3))], [], "at least one time"),
        ([0.0, 1.0], [], [], "nothing that moves"),
        ([0.0, 1.0], [np.zeros((1, 3, 1, 3))], [], r"part 'p': expected finite numbers of shape \(1, 2, 1, 3\)"),
        ([0.0, 1.0], [np.full((1, 2, 1, 3), np.nan)], [], "part 'p': expected finite numbers"),
        ([0.0, 1.0], [np.zeros((1, 2, 1, 3))], [np.zeros((1, 2, 1, 3))], r"trail 't': .* shape \(1, 2, 3\)"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(
    times: list[float], parts: list[np.ndarray], trails: list[np.ndarray], message: str
) -> None:
    scene = Animation(np.array(times), [Part("p", p, dots=[0]) for p in parts], [Trail("t", p) for p in trails])
    with pytest.raises(bough.SimulationError, match=message):
        animation_section(scene)


def test_extra_curves_of_another_length_are_refused(scene: tuple[Animation, bough.Result]) -> None:
    _, result = scene
    with pytest.raises(bough.SimulationError, match="Effort, rail: expected 501 values"):
        render_page(result, "x", extra=[Series("Effort", "N", {"rail": np.zeros(3)})])


def test_report_command_adds_the_animation(tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    from small_models import SLIDER

    model.write_text(json.dumps(SLIDER), encoding="utf-8")
    run, target = tmp_path / "run.csv", tmp_path / "run.html"
    assert CliRunner().invoke(app, ["run", str(model), "--stop", "0.2", "-o", str(run)]).exit_code == 0
    arguments = ["report", str(run), "--model", str(model), "--trail", "flag.b", "--exaggerate", "3", "--frames", "20"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    text = target.read_text(encoding="utf-8")
    assert "path of flag.b" in text
    assert '<section id="animation">' in text
    assert len(text) < 6_500_000, "plotly is 4.8 MB of it"
    assert CliRunner().invoke(app, ["report", str(run), "--trail", "flag.b"]).exit_code == 2
    done = CliRunner().invoke(app, [*arguments, "--trail", "flag.z"])
    assert done.exit_code == 1
    assert "flag.z" in done.output


def test_forces_are_drawn_as_lines_between_their_ends() -> None:
    """A strut from the ground to an offset on a body that slides: both ends at every frame."""
    on = {"name": "slide", "type": "prismatic", "axis": [1, 0, 0], "initial": {"s": 1.0, "v": 0.5}}
    frames = [{"position": [0, 0, 0.2]}, {"position": [0, 0.1, 0]}]
    strut = {"type": "spring", "between": ["ground.origin", "cart.origin"], "stiffness": 1.0, "frames": frames}
    cart = {"name": "cart", "parent": "ground", "hinge": on, "rigid": {"mass": 1.0}}
    system = bough.Mechanism({"bough": 1, "name": "drawn", "bodies": [cart], "forces": [strut]})
    run = bough.simulate(system, stop=0.2, step=0.1)
    scene = animate(system, run)
    (part,) = [p for p in scene.parts if p.name == "forces"]
    ends = np.asarray(part.points)[0]
    assert ends[:, 0] == pytest.approx(np.tile([0, 0, 0.2], (3, 1)))
    assert ends[:, 1] == pytest.approx(np.column_stack([run["slide.s"], np.full(3, 0.1), np.zeros(3)]))
