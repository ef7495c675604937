"""A drawing on the report's page, in the page's colours and with its interactive data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from markupsafe import Markup

from omibench.stages.analyze.charts.theme import apply_theme
from omibench.web.templates import embed_json


class PageFigure(NamedTuple):
    """A drawing on a page; `data` is empty if it is not interactive."""

    svg: Markup
    takeaway: str
    data: Markup


def prepare_figure(
    svg: str, takeaway: str, specification: Mapping[str, Any] | None = None
) -> PageFigure:
    """Prepare a drawing for a page.

    Args:
        svg: Drawing in the light palette, made by our library with all external text escaped.
        takeaway: Description of what the drawing shows.
        specification: Its Vega-Lite specification.
    """
    from omibench.stages.analyze.charts.interactive import compile_interactive

    drawn = Markup(apply_theme(svg, takeaway))  # noqa: S704  # escaped by the library that drew it
    data = embed_json(compile_interactive(specification)) if specification else Markup()
    return PageFigure(drawn, takeaway, data)
