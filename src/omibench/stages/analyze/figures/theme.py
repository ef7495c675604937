"""Colours of figures, drawn in the light palette and shown in the page's light or dark one.

Series use Okabe and Ito's colour-blind-safe palette (2008), always paired with a shape. Each colour
of a drawing becomes a CSS variable with that colour as fallback, so the same SVG works in the page
and as a separate file.
"""

from __future__ import annotations

import re
from html import escape
from typing import Any, TypeAlias

import altair as alt

Chart: TypeAlias = alt.Chart | alt.LayerChart | alt.FacetChart

INK, MUTED, GRID = "#1c2430", "#5d6878", "#dfe4ea"
SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#8f7f00", "#7a8594")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
FONT = "Arial, 'Liberation Sans', Helvetica, sans-serif"
"""Faces of equal widths, so that measurements made when drawing hold when shown."""

COLOUR_VARIABLES = {INK: "--ink", MUTED: "--muted", GRID: "--grid"} | {
    colour: f"--series-{number}" for number, colour in enumerate(SERIES, 1)
}
_TAG = re.compile(r'<(?:[^<>"]|"[^"]*")*>')
_COLOUR = re.compile(r'(fill|stroke)="(#[0-9a-fA-F]{3,8}|[a-z]+)"')
_PLAIN = ("none", "transparent")
_NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def colours(count: int) -> list[str]:
    """Return `count` colours, repeating after the eighth (shapes distinguish repeats)."""
    return [SERIES[i % len(SERIES)] for i in range(count)]


def shapes(count: int) -> list[str]:
    """Return `count` shapes, repeating after the seventh."""
    return [SHAPES[i % len(SHAPES)] for i in range(count)]


def config() -> dict[str, Any]:
    """Return Vega-Lite's configuration with every default colour set."""
    text = {"labelColor": INK, "titleColor": MUTED, "labelFontSize": 12, "titleFontSize": 12}
    return {
        "background": "transparent",
        "autosize": {"type": "fit-x", "contains": "padding"},
        "font": FONT,
        "view": {"stroke": None},
        "axis": {
            **text, "gridColor": GRID, "domainColor": GRID, "tickColor": GRID,
            "titleFontWeight": "normal", "labelLimit": 280, "titlePadding": 10, "tickCount": 5,
        },
        "legend": {
            **text, "orient": "bottom", "titleFontWeight": "normal", "symbolSize": 110,
            "labelLimit": 260, "columns": 4, "symbolStrokeWidth": 0, "symbolOpacity": 1,
        },
        "title": {
            "color": INK, "subtitleColor": MUTED, "anchor": "start", "fontSize": 15,
            "subtitleFontSize": 12, "offset": 14, "subtitlePadding": 5, "frame": "group",
        },
        "rule": {"color": INK},
        "text": {"color": INK},
        "point": {"filled": True, "size": 90, "opacity": 1},
    }  # fmt: skip


def render(chart: Chart) -> str:
    """Draw a chart as SVG text in the light palette, without a network or a browser."""
    return render_specification(describe_chart(chart))


def describe_chart(chart: Chart) -> dict[str, Any]:
    """Return the Vega-Lite specification of a chart, with our configuration and its data."""
    specification: dict[str, Any] = _in_xml(chart.properties(config=config()).to_dict())
    return specification


def render_specification(specification: dict[str, Any]) -> str:
    """Draw a Vega-Lite specification of `describe_chart` as SVG text."""
    import vl_convert

    svg: str = vl_convert.vegalite_to_svg(specification)
    return svg


def _in_xml(value: Any) -> Any:
    """Replace characters that XML does not allow: the library would end the process."""
    if isinstance(value, str):
        return _NO_XML.sub("\ufffd", value)
    if isinstance(value, list):
        return [_in_xml(entry) for entry in value]
    if isinstance(value, dict):
        return {_in_xml(key): _in_xml(entry) for key, entry in value.items()}
    return value


def apply_theme(svg: str, label: str) -> str:
    """Replace every colour of a drawing by a CSS variable: `var(--ink, #1c2430)`.

    Args:
        svg: A drawing in the light palette.
        label: Text for screen readers.

    Raises:
        KeyError: A colour is not in the theme, so it would be wrong in dark mode.
    """

    def replace(match: re.Match[str]) -> str:
        attribute, colour = match[1], match[2].lower()
        if colour in _PLAIN:
            return match[0]
        return f'{attribute}="var({COLOUR_VARIABLES[colour]}, {colour})"'

    # Only inside tags: a label may look like an attribute.
    themed = _TAG.sub(lambda tag: _COLOUR.sub(replace, tag[0]), svg)
    return themed.replace("<svg ", f'<svg role="img" aria-label="{escape(label)}" ', 1)
