"""Names at the ends of lines, in place of a legend, where a figure has few lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from textwrap import TextWrapper
from typing import Any, Final, NamedTuple

import altair as alt

from omibench.stages.analyze.figures.charts import (
    LINE_HEIGHT,
    Row,
    encode_colour,
    encode_shape,
    list_distinct,
    make_chart,
)
from omibench.stages.analyze.figures.theme import INK, Chart

MOST_LABELS: Final = 6
"""More lines have a legend, since their names would not fit beside each other's ends."""
_LETTERS, _TEXT_HEIGHT = 22, 14
"""The length of a line of a name, and its height in pixels."""
_LETTER: Final = 5.5
"""The average width of a letter of a point's name, in pixels."""


class LineMarks(NamedTuple):
    """The encodings of the marks of lines: colour and shape by `line`."""

    colour: alt.Color
    shape: alt.Shape


def encode_lines(names: Sequence[str], title: str = "", field: str = "line") -> LineMarks:
    """Assign a colour and a shape to each line, with a legend if they are too many for labels.

    Args:
        names: Names of the lines, in order.
        title: Title of the legend.
        field: Column of the names.
    """
    colour, shape = encode_colour(field, names, title), encode_shape(field, names, title)
    if len(names) <= MOST_LABELS:
        colour["legend"] = shape["legend"] = None
    return LineMarks(colour, shape)


def label_lines(  # noqa: PLR0913 (what differs between figures is a keyword)
    chart: Chart, rows: Sequence[Row], x: alt.X, marks: LineMarks, *, field: str = "line",
    height: float = LINE_HEIGHT, scale: Mapping[str, Any] | None = None,
) -> Chart:  # fmt: skip
    """Write the name of each line right of the chart, level with its end but apart from others.

    Args:
        chart: The chart of the lines.
        rows: Rows with the name of their line and `estimate`, in the order of each line.
        x: Encoding of the horizontal position.
        marks: Output of `encode_lines`.
        field: Column of the names.
        height: Height of the chart, in pixels.
        scale: Options of the vertical scale: its `domain`, or `zero`.

    Returns:
        The chart with its labels; as it is if it has a legend.
    """
    ends = {row[field]: row for row in rows if row["estimate"] is not None}
    if not ends or len(list_distinct(rows, field)) > MOST_LABELS:
        return chart
    low, high = _find_range(rows, scale or {})
    texts = {name: wrap_name(name) for name in ends}
    unit = (high - low) / height or 1.0
    places = spread(
        {name: row["estimate"] for name, row in ends.items()},
        {name: unit * _TEXT_HEIGHT * (1.4 + text.count("\n")) for name, text in texts.items()},
        low, high,
    )  # fmt: skip
    data = [
        {field: name, _find_field(x): row[_find_field(x)], "estimate": row["estimate"],
         "place": places[name], "text": texts[name]}
        for name, row in ends.items()
    ]  # fmt: skip
    edge, y = alt.value("width"), alt.Y("place:Q", title="")
    base = make_chart(data).encode(color=marks.colour)
    return alt.layer(
        chart,
        base.mark_rule(strokeWidth=1, opacity=0.5).encode(
            x=x, y=alt.Y("estimate:Q", title=""), x2=alt.value("width"), y2="place:Q"
        ),
        base.mark_point(size=50, xOffset=8).encode(x=edge, y=y, shape=marks.shape),
        base.mark_text(align="left", dx=18, lineBreak="\n", lineHeight=_TEXT_HEIGHT).encode(
            x=edge, y=y, text="text:N", color=alt.value(INK)
        ),
    )


def place_names(
    points: Sequence[tuple[float, float]],
    names: Sequence[str],
    size: tuple[float, float],
    *,
    centred: bool = False,
) -> list[str]:
    """Return the names of points, empty where one would cover another.

    Args:
        points: The positions, in the order in which their names take room.
        names: The name of each point, right of it.
        size: Width and height between the outermost points, in pixels.
        centred: Whether the names are in the middle above the points.
    """
    units = [
        (max(values) - min(values)) / max(pixels, 1.0) or 1.0
        for values, pixels in zip(zip(*points, strict=True), size, strict=True)
    ]
    taken: list[tuple[float, float, float]] = []
    kept = []
    for (x, y), name in zip(points, names, strict=True):
        width = _LETTER * len(name)
        left, middle = x / units[0] - (width / 2 if centred else 0), y / units[1]
        is_free = all(
            abs(middle - other) >= _TEXT_HEIGHT or left >= end or start >= left + width
            for start, end, other in taken
        )
        if is_free:
            taken.append((left, left + width, middle))
        kept.append(name if is_free else "")
    return kept


def wrap_name(name: str) -> str:
    """Break a name between its parts, and at spaces where a part is long."""
    at_spaces = TextWrapper(_LETTERS, break_long_words=False, break_on_hyphens=False)
    return "\n".join(at_spaces.fill(" ".join(part.split())) for part in name.split(" · "))


def spread(
    wanted: Mapping[str, float], sizes: Mapping[str, float], low: float, high: float
) -> dict[str, float]:
    """Move labels apart, up or down, so that none overlaps another and all stay in the range.

    Args:
        wanted: Where the middle of each label would be best.
        sizes: The height of each.
        low: The lower end of the range.
        high: The upper end.

    Returns:
        Where the middle of each is; in order of `wanted`.
    """
    order = sorted(wanted, key=lambda name: wanted[name])
    places = dict(wanted)
    for first, second in pairwise(order):
        gap = (sizes[first] + sizes[second]) / 2
        places[second] = max(places[second], places[first] + gap)
    places[order[-1]] = min(places[order[-1]], max(high, low))
    for second, first in pairwise(reversed(order)):
        gap = (sizes[first] + sizes[second]) / 2
        places[first] = min(places[first], places[second] - gap)
    return places


def _find_range(rows: Sequence[Row], scale: Mapping[str, Any]) -> tuple[float, float]:
    """Return the ends of the vertical axis, about as Vega chooses them."""
    if "domain" in scale:
        return scale["domain"][0], scale["domain"][1]
    values = [row[name] for row in rows for name in ("estimate", "low", "high")
              if row.get(name) is not None]  # fmt: skip
    return (min(values) if scale.get("zero") is False else min(0, *values)), max(values)


def _find_field(x: alt.X) -> str:
    return str(x["shorthand"]).partition(":")[0]
