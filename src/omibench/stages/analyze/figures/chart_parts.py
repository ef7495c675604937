"""Shared parts of figures: titles, colours and shapes, lines with points, rows with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

import altair as alt

from omibench.results.load import JUDGE_RULES, VOTE_MARK
from omibench.stages.analyze.figures.figure import FIGURES
from omibench.stages.analyze.figures.theme import Chart, colours, shapes
from omibench.stages.analyze.formatting import name_rules
from omibench.stages.analyze.sentences import SIMULATED

if TYPE_CHECKING:
    import polars as pl

WIDTH = 960
"""The size of a whole figure with labels, in pixels."""
MOST_COLUMNS = 4
"""Of a legend."""
_LETTER, _SYMBOL = 6.4, 34
"""The average width of a letter in a legend, and of the space next to a name, in pixels."""
MOST_ROWS = 40
"""The maximum number of rows of a figure; the tables contain all."""
Row = dict[str, Any]
MOST_LINES: Final = 16
"""The maximum number of lines of a figure; the highest are drawn, and the table has all."""
ROW_HEIGHT: Final = 24
_LINE_HEIGHT: Final = 320


def describe_heads(drawn: int, total: int) -> str:
    """Describe which rows a figure draws; empty if it draws all.

    Args:
        drawn: Number of rows that fit.
        total: Number of all rows.
    """
    return f"the first {drawn} of {total:,} rows; its table has all" if total > drawn else ""


def embed_data(values: list[dict[str, Any]]) -> alt.InlineData:
    """Return the rows of a chart, inside the chart."""
    return alt.InlineData(values=values)


def list_distinct(rows: Iterable[Mapping[str, Any]], column: str) -> list[Any]:
    """Return the different values of a column, in order of first occurrence."""
    return list(dict.fromkeys(row[column] for row in rows))


def make_title(title: str, *subtitle: str, simulated: bool) -> dict[str, Any]:
    """Return a chart's title with its mark and the lines below it."""
    mark = f"{SIMULATED} · " if simulated else ""
    return {"text": mark + title, "subtitle": list(subtitle)}


def encode_colour(field: str, names: Sequence[str], title: str, room: int = WIDTH) -> alt.Color:
    """Assign a colour to each name, in order; the legend wraps at `room` pixels."""
    scale = alt.Scale(domain=list(names), range=colours(len(names)))
    widest = _SYMBOL + _LETTER * max(map(len, names), default=0)
    columns = max(1, min(MOST_COLUMNS, int(room // widest)))
    return alt.Color(f"{field}:N", scale=scale, title=title, legend=alt.Legend(columns=columns))


def encode_shape(field: str, names: Sequence[str], title: str) -> alt.Shape:
    """Assign a shape to each name, in order."""
    scale = alt.Scale(domain=list(names), range=shapes(len(names)))
    return alt.Shape(f"{field}:N", scale=scale, title=title)


def pick_rules(table: pl.DataFrame) -> str:
    """Select the scorer of a figure: GPTScore if there is a judge, otherwise the first.

    OMIBench's figures 4 to 6 show GPTScore (appendix H). The first scorer is the headline's.

    Args:
        table: At least one row, with `rules`.
    """
    scorers = [b for b in table["rules"].unique(maintain_order=True) if b and VOTE_MARK not in b]
    return JUDGE_RULES if JUDGE_RULES in scorers else next(iter(scorers), "")


def join_names(row: Mapping[str, Any], *fields: str) -> str:
    """Build the name of a line or row from its non-empty fields.

    Args:
        row: A row of a table.
        fields: Columns, in the order of the name.

    Returns:
        A name such as `Apex · images none`.
    """
    return " · ".join(str(row[field]) for field in fields if row.get(field) not in (None, ""))


def mark_mixed(rows: Sequence[Row]) -> list[Row]:
    """Mark the simulated lines, unless all are: then the title is marked.

    Args:
        rows: Rows with `line` and `simulated`.
    """
    is_mixed = not all(row["simulated"] for row in rows)
    return [
        row | {"line": f"{row['line']} · {SIMULATED}"} if is_mixed and row["simulated"] else row
        for row in rows
    ]


def name_lines(rows: Sequence[Row], *fields: str) -> list[Row]:
    """Add the name of each row's `line`: the first field, and those that differ between lines.

    Args:
        rows: Rows of a table.
        fields: Columns that define a line.
    """

    def count(names: Sequence[str]) -> int:
        return len({tuple(row.get(name) for name in names) for row in rows})

    telling = list(fields)
    for field in fields[1:]:
        without = [name for name in telling if name != field]
        if count(without) == count(fields):
            telling = without
    return mark_mixed([{**row, "line": join_names(row, *telling)} for row in rows])


def select_lines(rows: Sequence[Row], most: int = MOST_LINES) -> list[Row]:
    """Select the lines that fit into one figure: all, or the highest on average.

    Args:
        rows: Rows with `line` and `estimate`.
        most: Maximum number of lines.
    """
    values: dict[str, list[float]] = {}
    for row in rows:
        values.setdefault(row["line"], []).append(row["estimate"])
    ranked = sorted(values, key=lambda name: -fmean(values[name]))
    kept = set(ranked[:most])
    return [row for row in rows if row["line"] in kept]


def describe_selection(drawn: Sequence[Row], rows: Sequence[Row]) -> str:
    """Describe the selection of lines; empty if all are drawn.

    Args:
        drawn: Drawn rows.
        rows: All rows.
    """
    lines, every = ({row["line"] for row in part} for part in (drawn, rows))
    if len(lines) == len(every):
        return ""
    return f"the {len(lines)} of {len(every)} lines with the highest mean"


def scale_up(rows: Sequence[Row], *columns: str) -> list[Row]:
    """Convert shares to per cent.

    Args:
        rows: Rows of a table.
        columns: Columns with shares or nulls.
    """
    return [
        row | {name: None if row[name] is None else 100 * row[name] for name in columns}
        for row in rows
    ]


def draw_lines(rows: Sequence[Row], x: alt.X, y: alt.Y) -> Chart:
    """Draw a line with points for each `line`, with intervals as rules.

    Args:
        rows: Rows with `line`, `estimate`, `low` and `high`, in the order of the lines.
        x: Encoding of the horizontal position.
        y: Encoding of `estimate`.
    """
    names = list_distinct(rows, "line")
    base = alt.Chart(embed_data(list(rows))).encode(x=x, color=encode_colour("line", names, ""))
    return alt.layer(
        base.mark_rule(opacity=0.5).encode(y=alt.Y("low:Q", title=""), y2="high:Q"),
        base.mark_line(strokeWidth=1.5).encode(y=y),
        base.mark_point(size=60).encode(y=y, shape=encode_shape("line", names, "")),
    )


def draw_rows(
    rows: Sequence[Row], title: str, colour: str, legend: str = "", scale: alt.Scale | None = None
) -> Chart:
    """Draw one row per name with a point and its interval.

    Args:
        rows: Rows with `line`, `estimate`, `low`, `high` and the column `colour`.
        title: Title of the axis of `estimate`.
        colour: Column shown by colours and shapes.
        legend: Title of the legend.
        scale: Scale of `estimate`; by default one that includes 0.
    """
    names = list_distinct(rows, "line")
    shared = scale or alt.Scale(zero=True)
    low, x = (alt.X(f"{name}:Q", title=title, scale=shared) for name in ("low", "estimate"))
    groups = list(dict.fromkeys(str(row[colour]) for row in rows))
    base = alt.Chart(embed_data(list(rows))).encode(
        y=alt.Y("line:N", sort=names, title=None, axis=alt.Axis(grid=True)),
        yOffset=alt.YOffset(f"{colour}:N", sort=groups),
        color=encode_colour(colour, groups, legend),
    )
    return alt.layer(
        base.mark_rule().encode(x=low, x2="high:Q"),
        base.mark_point(size=60).encode(x=x, shape=encode_shape(colour, groups, legend)),
    )


def head_lines(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of the first names that fit into one figure.

    Args:
        rows: Rows with `line`.
    """
    kept = set(list_distinct(rows, "line")[:MOST_ROWS])
    return [row for row in rows if row["line"] in kept]


def count_lines(rows: Sequence[Row]) -> str:
    """Describe the rows that `head_lines` keeps; empty if it keeps all.

    Args:
        rows: All rows, with `line`.
    """
    return describe_heads(MOST_ROWS, len({row["line"] for row in rows}))


def finish(
    chart: Chart, title: str, *subtitle: str, height: float | dict[str, int], simulated: bool
) -> Chart:
    """Set the size and title of a whole figure.

    Args:
        chart: The chart.
        title: Its title, which is marked if it is simulated.
        subtitle: Lines below the title; empty ones are left out.
        height: Height in pixels, or `{"step": pixels}` of a row.
        simulated: Whether any number depends on a simulation.
    """
    heading = make_title(title, *filter(None, subtitle), simulated=simulated)
    return chart.properties(width=WIDTH, height=height, title=heading)


def finish_lines(chart: Chart, name: str, rows: Sequence[Row], *subtitle: str) -> Chart:
    """Set size and title of a chart of lines; the title is marked if it is simulated.

    Args:
        chart: Chart of lines.
        name: Name of the figure.
        rows: Drawn rows.
        subtitle: Lines below the title.
    """
    return _finish(chart, name, rows, _LINE_HEIGHT, *subtitle)


def finish_rows(chart: Chart, name: str, rows: Sequence[Row], *subtitle: str) -> Chart:
    """Set size and title of a chart of rows; the title is marked if it is simulated.

    Args:
        chart: Chart of rows.
        name: Name of the figure.
        rows: Drawn rows, with `line`.
        subtitle: Lines below the title.
    """
    height = ROW_HEIGHT * len({row["line"] for row in rows})
    return _finish(chart, name, rows, height, *subtitle)


def describe_rules(rules: str) -> str:
    """Return a phrase for the scorer of a figure.

    Args:
        rules: Name of the scorer.
    """
    return f"by {name_rules(rules)}" if rules else ""


def _finish(chart: Chart, name: str, rows: Sequence[Row], height: int, *subtitle: str) -> Chart:
    is_simulated = any(row["simulated"] for row in rows)
    return finish(chart, FIGURES.get(name).title, *subtitle, height=height, simulated=is_simulated)
