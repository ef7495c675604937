"""The charts that figures are made of: points with intervals, curves, stacked bars, heat maps.

Rows of a chart have `estimate`, and `low` and `high` where it has an interval, as in the tables.
Each function returns a chart without size and title, which `finish` adds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, Final

import altair as alt
import polars as pl

from omibench.results.load import JUDGE_RULES, VOTE_MARK
from omibench.stages.analyze.figures.theme import INK, SERIES, Chart, colours, shapes
from omibench.stages.analyze.formatting import name_rules
from omibench.stages.analyze.results.result import ESTIMATE
from omibench.stages.analyze.sentences import SIMULATED

Row = dict[str, Any]
Drawn = tuple[list[Row], str]
"""The rows that fit into a figure, and a phrase on their selection; empty if all are drawn."""
WIDTH: Final = 960
"""The size of a whole figure with labels, in pixels."""
MOST_COLUMNS: Final = 4
"""Of a legend."""
MOST_ROWS: Final = 40
"""The maximum number of rows of a figure; the tables contain all."""
MOST_LINES: Final = 16
"""The maximum number of lines of a figure; the highest are drawn, and the table has all."""
ROW_HEIGHT: Final = 24
MOST_OPAQUE: Final = 0.75
"""The opacity of the largest number of a heat map, so that the text on it stays readable."""
_LETTER, _SYMBOL = 6.4, 34
"""The average width of a letter in a legend, and of the space next to a name, in pixels."""
LINE_HEIGHT: Final = 320
"""The height of a chart of lines, in pixels."""
LEADS: Final = "leads"
"""A column of tables for figures: whether a row belongs to the leading cell of the headline."""
_LAST_NAME = 90
"""The room right of a heat map for the end of its last column's name, in pixels."""
_NAME_ROOM, _COLUMN_LETTER = 280, 7
"""The usual width of row names, and of a letter of a heat map, in pixels."""


def make_chart(rows: Iterable[Mapping[str, Any]]) -> alt.Chart:
    """Return a chart with its rows inside."""
    kept = ({name: value for name, value in row.items() if name != LEADS} for row in rows)
    return alt.Chart(alt.InlineData(values=list(kept)))


def per_cent(title: str = "Accuracy, %") -> Row:
    """Return title and scale of the position of a share in per cent."""
    return {"title": title, "scale": alt.Scale(domain=[0, 100])}


def list_distinct(rows: Iterable[Mapping[str, Any]], column: str) -> list[Any]:
    """Return the different values of a column, in order of first occurrence."""
    return list(dict.fromkeys(row[column] for row in rows))


def encode_names(field: str, names: Sequence[str] | None = None, **axis: Any) -> alt.Y:
    """Encode the names of rows, in the order of the data or of `names`; `axis` has options."""
    more: Row = {"axis": alt.Axis(**axis)} if axis else {}
    if names is not None:
        more["scale"] = alt.Scale(domain=list(names))
    return alt.Y(f"{field}:N", sort=names, title=None, **more)


def encode_colour(
    field: str, names: Sequence[str], title: str, room: int = WIDTH - _NAME_ROOM
) -> alt.Color:
    """Assign a colour to each name, in order; the legend wraps at `room` pixels."""
    scale = alt.Scale(domain=list(names), range=colours(len(names)))
    widest = _SYMBOL + _LETTER * max(map(len, names), default=0)
    columns = max(1, min(MOST_COLUMNS, int(room // widest)))
    return alt.Color(f"{field}:N", scale=scale, title=title, legend=alt.Legend(columns=columns))


def encode_shape(field: str, names: Sequence[str], title: str) -> alt.Shape:
    """Assign a shape to each name, in order."""
    scale = alt.Scale(domain=list(names), range=shapes(len(names)))
    return alt.Shape(f"{field}:N", scale=scale, title=title)


# The rows of a figure: their scorer, names, units and selection.


def pick_rules(table: pl.DataFrame) -> str:
    """Select the scorer of a figure: the first, which is the leaderboard's in a report, or the
    judge if there is no other."""
    names: list[str] = table["rules"].unique(maintain_order=True).to_list()
    scorers = [rules for rules in names if rules and VOTE_MARK not in rules]
    return next((rules for rules in scorers if rules != JUDGE_RULES), (scorers or [""])[0])


def describe_rules(rules: str) -> str:
    """Return a phrase for the scorer of a figure; empty for none."""
    return f"by {name_rules(rules)}" if rules else ""


def name_accuracy(rules: str) -> str:
    """Return the name of the mean verdict by a scorer: that of a judge is GPTScore."""
    return name_rules(rules) if rules == JUDGE_RULES else "Accuracy"


def join_names(row: Mapping[str, Any], *fields: str) -> str:
    """Build the name of a line or row from its non-empty fields: `Apex · images none`."""
    return " · ".join(str(row[field]) for field in fields if row.get(field) not in (None, ""))


def mark_mixed(rows: Sequence[Row], field: str = "line") -> list[Row]:
    """Mark the names of simulated rows, unless all are simulated: then the title is marked."""
    is_mixed = not all(row["simulated"] for row in rows)
    return [
        row | {field: f"{row[field]} · {SIMULATED}"} if is_mixed and row["simulated"] else row
        for row in rows
    ]


def name_lines(rows: Sequence[Row], *fields: str) -> list[Row]:
    """Add the name of each row's `line`: the first field, and those that differ between lines."""

    def count(names: Sequence[str]) -> int:
        return len({tuple(row.get(name) for name in names) for row in rows})

    telling = list(fields)
    for field in fields[1:]:
        without = [name for name in telling if name != field]
        if count(without) == count(fields):
            telling = without
    return mark_mixed([{**row, "line": join_names(row, *telling)} for row in rows])


def scale_up(rows: Iterable[Row], *columns: str) -> list[Row]:
    """Convert shares to per cent, by default those of the estimate and its interval."""
    return [
        row
        | {
            name: None if row[name] is None else 100 * row[name]
            for name in columns or ESTIMATE
            if name in row
        }
        for row in rows
    ]


def keep_values(row: Mapping[str, Any], *columns: str) -> Row:
    """Return the numbers of a row with some more columns, for display and tooltip."""
    return {name: row[name] for name in (*columns, *ESTIMATE)}


def select_lines(rows: Sequence[Row], most: int = MOST_LINES) -> Drawn:
    """Select the lines that fit into one figure: all, or those of the headline's leader and the
    highest by mean weighted by `n`."""
    values: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        values.setdefault(row["line"], []).append((row["estimate"], row.get("n") or 1))
    means = {name: fmean(*zip(*points, strict=True)) for name, points in values.items()}
    leading = {row["line"] for row in rows if row.get(LEADS)}
    ranked = sorted(values, key=lambda name: (name not in leading, -means[name]))
    kept = {*ranked[:most]}
    note = f"the {most} of {len(values)} lines with the highest mean" if len(values) > most else ""
    if note and kept != {*sorted(values, key=lambda name: -means[name])[:most]}:
        note += ", and the leader's"
    return [row for row in rows if row["line"] in kept], note


def head_lines(rows: Sequence[Row], field: str = "line", most: int = MOST_ROWS) -> Drawn:
    """Select the rows of the first names that fit into one figure."""
    names = list_distinct(rows, field)
    kept, total = {*names[:most]}, len(names)
    note = f"the first {most} of {total:,} rows; its table has all" if total > most else ""
    return [row for row in rows if row[field] in kept], note


# Charts, and their size and title.


def draw_intervals(
    base: alt.Chart,
    x: Mapping[str, Any],
    rule: Mapping[str, Any] | None = None,
    point: Mapping[str, Any] | None = None,
    **encoding: Any,
) -> tuple[alt.Chart, alt.Chart]:
    """Draw a rule from `low` to `high` and a point at `estimate`, horizontally.

    Args:
        base: Chart with its rows, and their vertical position and colour.
        x: Options of the horizontal position: title, scale, axis.
        rule: Options of the rules.
        point: Options of the points.
        encoding: Further encodings of the points.

    Returns:
        The layers of rules and points.
    """
    low, estimate = (alt.X(f"{name}:Q", **x) for name in ("low", "estimate"))
    return (
        base.mark_rule(**rule or {}).encode(x=low, x2="high:Q"),
        base.mark_point(**point or {}).encode(x=estimate, **encoding),
    )


def draw_rows(
    rows: Sequence[Row], title: str, colour: str, legend: str = "", scale: alt.Scale | None = None
) -> Chart:
    """Draw one row per `line` with a point and its interval for each value of `colour`.

    Args:
        rows: Rows with `line` and the column `colour`.
        title: Title of the axis of `estimate`.
        colour: Column shown by colours and shapes.
        legend: Title of the legend.
        scale: Scale of `estimate`; by default one that includes 0, with a line there.
    """
    groups = list(dict.fromkeys(str(row[colour]) for row in rows))
    base = make_chart(rows).encode(
        y=encode_names("line", grid=True),
        yOffset=alt.YOffset(f"{colour}:N", sort=groups),
        color=encode_colour(colour, groups, legend),
    )
    shape = encode_shape(colour, groups, legend)
    x = {"title": title, "scale": scale or alt.Scale(zero=True)}
    marks = draw_intervals(base, x, point={"size": 60}, shape=shape)
    if scale is not None and not any(row["estimate"] < 0 for row in rows):
        return alt.layer(*marks)
    return alt.layer(make_chart([{"zero": 0}]).mark_rule(color=INK).encode(x="zero:Q"), *marks)


def stack_bars(  # noqa: PLR0913 (what differs between figures is a keyword)
    rows: Iterable[Row],
    parts: Sequence[str],
    title: str,
    legend: str,
    names: Sequence[str] | None = None,
    *,
    x: Mapping[str, Any] | None = None,
) -> Chart:
    """Draw one horizontal bar per `line`, stacked by `part`.

    Args:
        rows: Rows with `line`, `part` and `estimate`.
        parts: The parts in order.
        title: Title of the axis of `estimate`.
        legend: Title of the legend.
        names: Names of the lines, if some have no row.
        x: Further options of the horizontal position.
    """
    data = [row | {"order": parts.index(row["part"])} for row in rows]
    bars = make_chart(data).encode(
        y=encode_names("line", names),
        x=alt.X("estimate:Q", stack="zero", **{"title": title, **(x or {})}),
        order=alt.Order("order:Q"),
        color=encode_colour("part", parts, legend),
    )
    return alt.layer(bars.mark_bar(height=14))


def fits_columns(texts: Iterable[str], columns: int) -> bool:
    """Return whether texts fit side by side into the columns of a heat map."""
    return _COLUMN_LETTER * max(map(len, texts)) < (WIDTH - _NAME_ROOM) / columns


def draw_squares(rows: Sequence[Row], colour: Any = SERIES[0]) -> Chart:
    """Draw a heat map: one square per `row` and `column`, the larger its `estimate` the stronger.

    Args:
        rows: Rows with `row`, `column`, `text` and `estimate`.
        colour: A colour, or a condition on the row.
    """
    columns = list_distinct(rows, "column")
    largest = max((abs(row["estimate"]) for row in rows), default=0) or 1.0
    data = [row | {"strength": MOST_OPAQUE * abs(row["estimate"]) / largest} for row in rows]
    fit = fits_columns(columns, len(columns))  # others are rotated
    axis = alt.Axis(labelAngle=0 if fit else -30, orient="top")
    base = make_chart(data).encode(
        x=alt.X("column:N", sort=None, title=None, axis=axis), y=encode_names("row")
    )
    squares = base.mark_rect().encode(
        color=alt.value(colour) if isinstance(colour, str) else colour,
        opacity=alt.Opacity("strength:Q", scale=None, legend=None),
    )
    room = {} if fit else {"padding": {"left": 5, "top": 5, "right": _LAST_NAME, "bottom": 5}}
    text = base.mark_text(color=INK).encode(text="text:N")
    return alt.layer(squares, text).properties(**room)


def draw_panels(  # noqa: PLR0913 (what differs between figures is a keyword)
    layers: Chart,
    panels: Sequence[str],
    title: str,
    subtitle: str,
    *,
    size: tuple[int, int],
    of: pl.DataFrame,
    **scales: Any,
) -> alt.FacetChart:
    """Draw a whole figure with one panel for each value of `panel`, two in a row.

    Args:
        layers: Chart of one panel.
        panels: The values in order.
        title: Title of the figure.
        subtitle: Line below it.
        size: Width and height of a panel, in pixels.
        of: The drawn rows.
        scales: Scales of a panel of its own: `x="independent"`.
    """
    header = alt.Header(labelColor=INK, labelFontSize=12)
    facet = alt.Facet("panel:N", title=None, sort=list(panels), header=header)
    chart: alt.FacetChart = (
        layers.properties(width=size[0], height=size[1])
        .facet(facet=facet, columns=2)
        .resolve_scale(**scales)
        .properties(
            autosize=alt.AutoSizeParams(type="pad"), title=make_title(title, subtitle, of=of)
        )
    )
    return chart


def make_title(title: str, *subtitle: str, of: pl.DataFrame | Iterable[Row]) -> Row:
    """Return the title, marked if any row is simulated, and the non-empty lines below it."""
    marks = of["simulated"] if isinstance(of, pl.DataFrame) else (row["simulated"] for row in of)
    mark = f"{SIMULATED} · " if any(marks) else ""
    return {"text": mark + title, "subtitle": list(filter(None, subtitle))}


def finish(
    chart: Chart,
    title: str,
    *subtitle: str,
    of: pl.DataFrame | Iterable[Row],
    height: float | None = None,
    step: int = 22,
) -> Chart:
    """Set the size and title of a whole figure.

    Args:
        chart: The chart.
        title: Its title, which is marked if any row is simulated.
        subtitle: Lines below the title; empty ones are left out.
        of: The drawn rows.
        height: Height in pixels.
        step: Height of a row, without `height`.
    """
    size: Any = {"step": step} if height is None else height
    return chart.properties(width=WIDTH, height=size, title=make_title(title, *subtitle, of=of))


def finish_lines(chart: Chart, title: str, rows: Sequence[Row], *subtitle: str) -> Chart:
    """Set size and title of a chart of lines."""
    return finish(chart, title, *subtitle, of=rows, height=LINE_HEIGHT)


def finish_rows(chart: Chart, title: str, rows: Sequence[Row], *subtitle: str) -> Chart:
    """Set size and title of a chart with a row per `line`."""
    return finish(
        chart, title, *subtitle, of=rows, height=ROW_HEIGHT * len(list_distinct(rows, "line"))
    )
