"""Interactive figures: hover with the numbers, and a legend that selects a series.

The specification is compiled to Vega when the report is written, so a page needs only Vega's
runtime. Its expressions are interpreted, never evaluated.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any, Final

from omibench.stages.analyze.figures.theme import COLOUR_VARIABLES

PALE: Final = 0.12
"""The opacity of unselected series."""
_LEGEND: Final = "legend"


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
        unit["mark"] = _make_mark(unit["mark"]) | {"tooltip": {"content": "data"}}
    if "layer" in wanted or "mark" in wanted:
        _pick_by_legend(units)
    vega: dict[str, Any] = vl_convert.vegalite_to_vega(wanted)
    themed: dict[str, Any] = _theme(vega)
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


def _make_mark(mark: str | dict[str, Any]) -> dict[str, Any]:
    return {"type": mark} if isinstance(mark, str) else dict(mark)


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
            shown = unit["mark"].pop("opacity", 1)
            condition = {"param": _LEGEND, "value": shown}
            unit["encoding"]["opacity"] = {"condition": condition, "value": PALE}


def _find_series(unit: Mapping[str, Any]) -> str | None:
    """Return the field of the legend of colours, if any."""
    colour = unit.get("encoding", {}).get("color", {})
    has_legend = "field" in colour and colour.get("legend", {}) is not None
    return str(colour["field"]) if has_legend else None


def _theme(value: Any) -> Any:
    """Replace each colour by a variable of the page, for light and dark mode."""
    if isinstance(value, str):
        variable = COLOUR_VARIABLES.get(value.lower())
        return f"var({variable}, {value})" if variable else value
    if isinstance(value, list):
        return [_theme(item) for item in value]
    if isinstance(value, dict):
        return {key: _theme(item) for key, item in value.items()}
    return value
