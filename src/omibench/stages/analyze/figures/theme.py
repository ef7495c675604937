"""Colours of figures, drawn in the light palette and shown in the page's light or dark one.

Series use Okabe and Ito's colour-blind-safe palette (2008), always paired with a shape. Each colour
of a drawing becomes a CSS variable of the page. An interactive figure has hover with the numbers,
and a legend that selects a series: its specification is compiled to Vega when the report is
written, so a page needs only Vega's runtime. Its expressions are interpreted, never evaluated.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Mapping
from html import escape
from typing import Any, Final, TypeAlias

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
_UNUSED = re.compile(
    r' (?:(?:aria-[a-z]+|role|pointer-events|xmlns:xlink|version)="[^"]*"|opacity="1"'
    rf'|class="(?:mark|background|foreground)[^"]*"|font-family="{FONT}")'
)
_FRAME = re.compile(r'<path class="(?:back|fore)ground"(?![^<>]* (?:fill|stroke)=)[^<>]*/>')
_NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
PALE: Final = 0.12
"""The opacity of unselected series."""
_LEGEND: Final = "legend"


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
            "titleFontWeight": "normal", "labelLimit": 420, "titlePadding": 10, "tickCount": 5,
        },
        "legend": {
            **text, "orient": "bottom", "titleFontWeight": "normal", "symbolSize": 110,
            "labelLimit": 640, "columns": 4, "symbolStrokeWidth": 0, "symbolOpacity": 1,
        },
        "title": {
            "color": INK, "subtitleColor": MUTED, "anchor": "start", "fontSize": 15,
            "subtitleFontSize": 12, "offset": 14, "subtitlePadding": 5, "frame": "group",
        },
        "mark": {"color": SERIES[0]},
        "range": {"category": [*SERIES]},
        "rule": {"color": INK},
        "text": {"color": INK},
        "point": {"filled": True, "size": 90, "opacity": 1},
    }  # fmt: skip


def render(chart: Chart) -> str:
    """Draw a chart as SVG text in the light palette, without a network or a browser."""
    return render_specification(describe_chart(chart))


def describe_chart(chart: Chart) -> dict[str, Any]:
    """Return the Vega-Lite specification of a chart, with our configuration and its data."""
    specification: dict[str, Any] = _map_texts(
        chart.properties(config=config()).to_dict(),
        # Characters that XML does not allow would make the library end the process.
        lambda text: _NO_XML.sub("\ufffd", text),
    )
    return specification


def render_specification(specification: dict[str, Any]) -> str:
    """Draw a Vega-Lite specification of `describe_chart` as SVG text."""
    import vl_convert

    svg: str = vl_convert.vegalite_to_svg(specification)
    return svg


def _map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Change every text of a specification."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_map_texts(entry, change) for entry in value]
    if isinstance(value, dict):
        return {change(key): _map_texts(entry, change) for key, entry in value.items()}
    return value


def apply_theme(svg: str, label: str, *, other_colours: bool = False) -> str:
    """Replace every colour of a drawing by a CSS variable, and remove what a page does not need.

    To readers a drawing is one picture with one label, so the labels of its marks go; its font is
    that of the page's style sheet.

    Args:
        svg: A drawing in the light palette.
        label: Text for screen readers.
        other_colours: Whether colours outside the theme stay as they are, in light and dark mode.

    Raises:
        KeyError: A colour is not in the theme, and `other_colours` is false.
    """

    def replace(match: re.Match[str]) -> str:
        attribute, colour = match[1], match[2].lower()
        if colour in _PLAIN or (other_colours and colour not in COLOUR_VARIABLES):
            return match[0]
        return f'{attribute}="var({COLOUR_VARIABLES[colour]})"'

    # Only inside tags: a label may look like an attribute.
    themed = _TAG.sub(
        lambda tag: _UNUSED.sub("", _COLOUR.sub(replace, _FRAME.sub("", tag[0]))), svg
    )
    return themed.replace("<svg ", f'<svg role="img" aria-label="{escape(label)}" ', 1)


def compile_interactive(specification: Mapping[str, Any]) -> dict[str, Any]:
    """Compile a Vega-Lite specification to Vega, with hover, a selectable legend and the page's
    colours.

    Args:
        specification: Output of `theme.describe_chart`.
    """
    import vl_convert

    wanted = copy.deepcopy(dict(specification))
    units = list(_list_units(wanted))
    for unit in units:
        mark = unit["mark"]
        options = {"type": mark} if isinstance(mark, str) else mark
        unit["mark"] = options | {"tooltip": {"content": "data"}}
    if "layer" in wanted or "mark" in wanted:
        _pick_by_legend(units)
    themed: dict[str, Any] = _map_texts(vl_convert.vegalite_to_vega(wanted), _replace_colour)
    return themed


def _list_units(specification: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the single views of a specification, out of layers, facets and concatenations."""
    if "mark" in specification:
        yield specification
    for key in ("layer", "hconcat", "vconcat", "concat"):
        for part in specification.get(key, []):
            yield from _list_units(part)
    if isinstance(specification.get("spec"), dict):
        yield from _list_units(specification["spec"])


def _pick_by_legend(units: list[dict[str, Any]]) -> None:
    """Make the legend of colours select series in every layer coloured by the same field."""
    coloured = [unit for unit in units if _find_series(unit)]
    if not coloured:
        return
    field = _find_series(coloured[0])
    coloured[0]["params"] = [
        *coloured[0].get("params", []),
        {"name": _LEGEND, "select": {"type": "point", "fields": [field]}, "bind": "legend"},
    ]
    for unit in coloured:
        if _find_series(unit) == field and "opacity" not in unit["encoding"]:
            opacity = unit["mark"].pop("opacity", 1)
            condition = {"param": _LEGEND, "value": opacity}
            unit["encoding"]["opacity"] = {"condition": condition, "value": PALE}


def _find_series(unit: Mapping[str, Any]) -> str | None:
    """Return the field of the legend of colours, if any."""
    colour = unit.get("encoding", {}).get("color", {})
    has_legend = "field" in colour and colour.get("legend", {}) is not None
    return str(colour["field"]) if has_legend else None


def _replace_colour(text: str) -> str:
    """Replace a colour by a variable of the page, for light and dark mode."""
    variable = COLOUR_VARIABLES.get(text.lower())
    return f"var({variable})" if variable else text
