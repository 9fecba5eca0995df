"""The scene of a report is seen whole in windows of any shape, and what belongs to it can be reached."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest
from house.chromium import Page, open_page
from numpy.typing import NDArray

import bough
from bough.report import Animation, Part, Trail, write_page

WINDOWS = [(1400, 900), (1400, 560), (1366, 625), (420, 800)]
"""Width and height, pixels: wide, flat, a laptop's, a telephone's."""
SHAPES = {
    "flat arm": (1.0, 0.9, 0.0),
    "tall crane": (0.6, 0.2, 12.0),
    "boom along y": (0.3, 8.0, 1.0),
    "cube": (2.0, 2.0, 2.0),
}
"""Extents of what moves along x, y and z, m."""
MATRICES = (
    "(() => { const p = document.getElementById('scene')._fullLayout.scene._scene.glplot.cameraParams;"
    " return [p.projection, p.view, p.model].map(m => Array.from(m)); })()"
)


def _scene(extent: tuple[float, float, float]) -> Animation:
    """A line that sweeps a box on one side of the origin, and the paths of its ends."""
    way = np.linspace(0.0, 1.0, 5)[:, None, None] * np.array(extent)
    points = (way * np.array([[0.2], [1.0]]))[None]
    trails = [Trail(name, points[:, :, k]) for k, name in enumerate(("root", "tip"))]
    return Animation(np.arange(5.0), [Part("link", points, [(0, 1)])], trails)


@pytest.fixture(scope="module", params=list(SHAPES))
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    path = tmp_path_factory.mktemp("view") / "run.html"
    t = np.linspace(0.0, 1.0, 5)
    columns = {f"motor{i}.quantity{i}": t * i for i in range(1, 27)}
    write_page(bough.Result(t, columns), path, "view", _scene(SHAPES[request.param]))
    with open_page(path) as opened:
        opened.wait("document.getElementById('scene').dataset.frame === '0'")
        yield opened
        assert opened.errors == []


def _resize(page: Page, width: int, height: int) -> None:
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
    page.wait(
        "(() => { const s = document.getElementById('scene'), c = s.querySelector('canvas');"
        " const [p] = " + MATRICES + ";"
        " return Math.abs(c.clientWidth - s.clientWidth) < 2 && Math.abs(c.clientHeight - s.clientHeight) < 2"
        " && Math.abs(p[5] / p[0] / (s.clientWidth / s.clientHeight) - 1) < 0.02; })()"
    )


def _corners(page: Page) -> NDArray[np.float64]:
    """Corners of the axes' box as plotly's own matrices project them, (8, 2): -1 to 1 is the picture."""
    projection, view, model = (np.array(m).reshape(4, 4).T for m in page.evaluate(MATRICES))
    bounds = page.evaluate("document.getElementById('scene')._fullLayout.scene._scene.glplot.bounds")
    corners = np.stack(np.meshgrid(*np.transpose(bounds), [1.0], indexing="ij"), axis=-1).reshape(8, 4)
    seen = corners @ (projection @ view @ model).T
    assert np.all(seen[:, 3] > 0.0), "in front of the eye"
    return np.asarray(seen[:, :2] / seen[:, 3:])


@pytest.mark.parametrize(("width", "height"), WINDOWS)
def test_box_of_the_scene_fits_the_window_with_a_margin(page: Page, width: int, height: int) -> None:
    _resize(page, width, height)
    end, largest = time.monotonic() + 30.0, 0.0
    while not 0.5 < largest <= 0.95 and time.monotonic() < end:  # the camera follows the window a frame later
        largest = float(abs(_corners(page)).max())
    # At least a twentieth of half the picture is left for ticks, and the box is not lost in it either.
    assert 0.5 < largest <= 0.95
    page.evaluate("document.getElementById('animation').scrollIntoView()")
    box = page.evaluate(
        "(() => { const b = document.getElementById('scene').getBoundingClientRect();"
        " return [b.left, b.top, b.right, Math.min(b.bottom, innerHeight)].map(Math.round); })()"
    )
    image = matplotlib.image.imread(io.BytesIO(page.screenshot()), format="png")[..., :3]
    left, top, right, bottom = box
    whole = image[top:bottom, left:right]
    assert np.any(whole < 0.9), "something is drawn"
    for edge in (whole[:, :2], whole[:, -2:], whole[-2:]):
        assert np.all(edge > 0.9), "axes and titles end before the edge"


@pytest.mark.parametrize(("width", "height"), WINDOWS)
def test_play_can_be_pressed_without_scrolling(page: Page, width: int, height: int) -> None:
    _resize(page, width, height)
    page.evaluate("window.scrollTo(0, 0)")
    bottom = page.evaluate("document.getElementById('scene-play').getBoundingClientRect().bottom")
    assert bottom < height


@pytest.mark.parametrize(("width", "height"), WINDOWS)
def test_nothing_is_wider_than_the_window_and_the_legend_hides_nothing(page: Page, width: int, height: int) -> None:
    _resize(page, width, height)
    page.wait("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.evaluate("(n => n.scrollWidth <= n.clientWidth)(document.querySelector('nav'))")
    assert page.evaluate("document.querySelector('nav').getBoundingClientRect().height") < 60, "26 charts, one line"
    places = page.evaluate(
        "['scene', 'scene-legend'].map(i => { const b = document.getElementById(i).getBoundingClientRect();"
        " return [b.top, b.bottom]; })"
    )
    assert places[1][0] >= places[0][1]


@pytest.mark.parametrize(("width", "height"), WINDOWS)
def test_names_of_curves_leave_the_chart_its_room(page: Page, width: int, height: int) -> None:
    _resize(page, width, height)
    page.wait("(p => p._fullLayout._size.w > 0.65 * p.clientWidth)(document.getElementById('plot0'))", 20.0)


def test_legend_hides_and_shows_a_part_and_tells_paths_apart(page: Page) -> None:
    names = page.evaluate("[...document.querySelectorAll('#scene-legend button')].map(b => b.textContent)")
    assert names == ["link", "path of root", "path of tip"]
    styles = page.evaluate("document.getElementById('scene').data.filter(d => d.name).map(d => d.line)")
    assert len({(line["color"], line["dash"]) for line in styles[1:]}) == 2
    shown = "document.getElementById('scene').data.find(d => d.name === 'link').visible"
    for wanted in ("false", "true"):
        page.evaluate("document.querySelector('#scene-legend button').click()")
        page.wait(f"{shown} === {wanted}")


def test_camera_fits_any_box_from_any_side(page: Page) -> None:
    """The player's placing against plotly's camera as it is documented: perspective, 45 degrees upright, z up."""
    random = np.random.default_rng(5)
    for _ in range(40):
        box = 10.0 ** random.uniform(-1.5, 0.0, 3)
        direction = random.normal(size=3)
        width, height = random.uniform(200, 2000), random.uniform(200, 900)
        arguments = f"{box.tolist()}, {direction.tolist()}, {width}, {height}"
        camera = page.evaluate(f"BoughView.fit({arguments})")
        eye, centre = (np.array([camera[key][a] for a in "xyz"]) for key in ("eye", "center"))
        towards = (eye - centre) / np.linalg.norm(eye - centre)
        assert towards == pytest.approx(direction / np.linalg.norm(direction), abs=1e-9)
        right = np.cross([0.0, 0.0, 1.0], towards)
        right /= np.linalg.norm(right)
        up = np.cross(towards, right)
        corners = np.stack(np.meshgrid(*np.outer(box, [-0.5, 0.5])), axis=-1).reshape(8, 3) - eye
        depth = -corners @ towards
        assert depth.min() > 0.0
        slope = np.tan(np.pi / 8)
        x, y = corners @ right / depth / slope * height / width, corners @ up / depth / slope
        # Pixels that are left on each side: those that the player means to leave, at two opposite sides exactly.
        wide, tall = min(64.0, 0.15 * width), (min(28.0, 0.06 * height), min(60.0, 0.2 * height))
        spare = [(1 - x.max()) * width / 2 - wide, (1 + x.min()) * width / 2 - wide]
        spare += [(1 - y.max()) * height / 2 - tall[0], (1 + y.min()) * height / 2 - tall[1]]
        assert min(spare) > -1e-6
        assert max(spare[:2]) < 1e-6 or max(spare[2:]) < 1e-6, "as near as can be"


LATER = {
    "before it is drawn": "Plotly.newPlot = (...all) => { late(); return draw(...all); };",
    "while it is drawn": "Plotly.newPlot = (...all) => { const drawn = draw(...all); late(); return drawn; };",
    "when it is drawn": "Plotly.newPlot = (...all) => draw(...all).then(late);",
    "when loaded": "addEventListener('load', late);",
    "twice": "Plotly.newPlot = (...all) => { late(); return draw(...all).then(() => size('500px')); };",
}
"""When the scene gets its final size: a window may get its own at any time while the page is read."""
FITS = (
    "(() => { const s = document.getElementById('scene'), c = s.querySelector('canvas'), full = s._fullLayout;"
    " if (!c || !full || !full.scene._scene || !full.scene._scene.getCamera) return false;"
    " const data = JSON.parse(document.getElementById('scene-data').textContent), r = data.layout.scene.aspectratio;"
    " const wanted = BoughView.fit([r.x, r.y, r.z], data.direction, s.clientWidth, s.clientHeight);"
    " const camera = full.scene._scene.getCamera();"
    " return Math.abs(c.clientHeight - s.clientHeight) < 2 && ['eye', 'center'].every(k =>"
    " ['x', 'y', 'z'].every(a => Math.abs(camera[k][a] - wanted[k][a]) < 1e-4)); })()"
)


@pytest.mark.parametrize("later", LATER)
def test_scene_fits_its_final_size_whenever_it_gets_it(later: str, tmp_path: Path) -> None:
    path = tmp_path / "run.html"
    t = np.linspace(0.0, 1.0, 5)
    write_page(bough.Result(t, {"motor.speed": t}), path, "late", _scene(SHAPES["flat arm"]))
    text = path.read_text(encoding="utf-8")
    resize = "const size = (to) => { document.getElementById('scene').style.height = to; }, late = () => size('300px');"
    player = '<script type="application/json" id="scene-data">'
    assert text.count(player) == 1
    script = f"<script>{{ const draw = Plotly.newPlot; {resize} {LATER[later]} }}</script>"
    path.write_text(text.replace(player, script + player), encoding="utf-8")
    height = 500 if later == "twice" else 300
    with open_page(path) as page:
        page.wait(f"document.getElementById('scene').clientHeight === {height}", 20.0)
        page.wait(FITS, 20.0)
        assert page.errors == []


def test_a_fit_while_the_scene_plays_is_not_undone_by_the_next_frame(page: Page) -> None:
    page.evaluate("document.getElementById('scene-play').click()")
    for width, height in WINDOWS:
        page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        page.wait(f"innerHeight === {height}")
        page.wait(FITS, 20.0)
    page.evaluate("document.getElementById('scene-play').click()")
