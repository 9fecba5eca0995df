"""Reports: what a run has left, drawn. Knows results only."""

from bough.report.animation import Animation, Part, Trail
from bough.report.charts import Chart, Series, charts
from bough.report.figures import Curve, Panel, draw_panels, new_figure, save_figure
from bough.report.mode_pictures import Section, Sketch, draw_modes
from bough.report.page import render_page, write_page

__all__ = [
    "Animation",
    "Chart",
    "Curve",
    "Panel",
    "Part",
    "Section",
    "Series",
    "Sketch",
    "Trail",
    "charts",
    "draw_modes",
    "draw_panels",
    "new_figure",
    "render_page",
    "save_figure",
    "write_page",
]
