"""A drawing as the report shows it: in the page's colours, and with what makes it interactive."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from markupsafe import Markup

from omibench.stages.analyze.charts.theme import apply_theme
from omibench.web.templates import embed_json


class PageFigure(NamedTuple):
    """A drawing inside a page; `data` is empty where it does not answer the pointer."""

    svg: Markup
    takeaway: str
    data: Markup


def prepare_figure(
    svg: str, takeaway: str, specification: Mapping[str, Any] | None = None
) -> PageFigure:
    """A drawing for a page.

    Args:
        svg: The drawing in the light palette, made by our own library with all text of others
            escaped.
        takeaway: What it shows, in words.
        specification: Its Vega-Lite specification.
    """
    from omibench.stages.analyze.charts.interactive import compile_interactive

    drawn = Markup(apply_theme(svg, takeaway))  # noqa: S704  # escaped by the library that drew it
    data = embed_json(compile_interactive(specification)) if specification else Markup()
    return PageFigure(drawn, takeaway, data)
