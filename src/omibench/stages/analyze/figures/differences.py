"""Differences between settings or models by paired tests, and the ranks that follow from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import altair as alt
import polars as pl

from omibench.results.load import JUDGE_RULES
from omibench.stages.analyze.figures.chart_parts import (
    MOST_ROWS,
    count_lines,
    describe_heads,
    describe_rules,
    draw_rows,
    embed_data,
    encode_colour,
    encode_shape,
    finish,
    finish_rows,
    head_lines,
    list_distinct,
    name_lines,
    pick_rules,
    scale_up,
)
from omibench.stages.analyze.figures.figure import figure
from omibench.stages.analyze.figures.findings import count_differences, count_open_ranks
from omibench.stages.analyze.figures.theme import INK, MUTED, SERIES, Chart
from omibench.stages.analyze.formatting import name_rules
from omibench.stages.analyze.results.baselines import DIFFERENCE
from omibench.stages.analyze.sentences import SIMULATED

MOST_BASELINES = 4
MOST_PARTS = 4
"""The number of values of a slice shown next to each other."""
STEP = 22
NAMES = alt.Axis(labelLimit=420)
PALE = 0.4
"""The opacity of a difference that is not significant."""
_PALE_NOTE = "pale: not significant by Holm over this family"
_MEASURES = ("accuracy", "gptscore")
_SIDES = {"baseline_score": "instruct", "score": "thinking"}


def select_differences(table: pl.DataFrame, kind: str) -> list[dict[str, Any]]:
    """Select the differences of one kind, by the first scorer and measure, for one slice.

    Args:
        table: A table of `comparisons.differences.compare_slices`.
        kind: `model` or `setting`.

    Returns:
        Rows with the numbers in points (`points`, `left`, `right`, `acc`, `base`) and the columns
        `part` (the value of the slice), `pair` (the comparison) and `name`.
    """
    rows = table.filter(pl.col("metric") == DIFFERENCE, pl.col("kind") == kind)
    if rows.is_empty():
        return []
    rows = rows.filter(pl.col("rules") == rows["rules"][0], pl.col("measure") == rows["measure"][0])
    part = rows.filter(pl.col("slice") == _pick_slice(rows))
    several = part[kind].n_unique() > 1
    is_mixed = part["simulated"].n_unique() > 1
    described_rows = []
    for row in part.to_dicts():
        pair = f"{row[kind]} vs {row['baseline']}"
        other = row["setting"] if kind == "model" else row["model"]
        mark = SIMULATED if is_mixed and row["simulated"] else ""
        names = [other, mark, row[kind] if several else "", row["value"]]
        described_rows.append(
            scale_row(row)
            | {"pair": pair, "part": row["value"] or "all items", "name": join_parts(names)}
        )
    return described_rows


def scale_row(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of differences with its numbers in points."""
    columns = {
        "points": "estimate", "left": "low", "right": "high",
        "acc": "score", "base": "baseline_score",
    }  # fmt: skip
    return row | {name: 100 * row[column] for name, column in columns.items()}


def mark_model(row: dict[str, Any], rows: Sequence[dict[str, Any]]) -> str:
    """Return the model of a row, marked if it is simulated and other rows are not.

    If all are simulated, the title of the figure is marked.
    """
    is_mixed = not all(other["simulated"] for other in rows)
    return f"{row['model']} · {SIMULATED}" if row["simulated"] and is_mixed else str(row["model"])


def name_baselines(rows: list[dict[str, Any]]) -> str:
    """Return a subtitle with the baselines: 'against direct', 'against a or b'."""
    baselines = list_distinct(rows, "baseline")
    names = " or ".join(baselines[:MOST_BASELINES])
    return f"against {names}" + " and others" * (len(baselines) > MOST_BASELINES)


def join_parts(names: Iterable[str]) -> str:
    """Return the non-empty parts of a row's name."""
    return " · ".join(filter(None, names))


def keep_largest(rows: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], str]:
    """Return the rows that fit into one figure, in order, with a subtitle on the selection.

    Args:
        rows: Output of `select_differences`.
    """
    if len(rows) <= MOST_ROWS:
        return rows, ""
    largest = sorted(rows, key=lambda row: -abs(row["points"]))[:MOST_ROWS]
    return [
        row for row in rows if row in largest
    ], f"the {MOST_ROWS} largest of {len(rows):,} differences; its table has all"


def _pick_slice(rows: pl.DataFrame) -> str:
    """Return the first slice by one attribute with two to four values; "" for all items."""
    counts = rows.group_by("slice", maintain_order=True).agg(pl.col("value").n_unique())
    return next((name for name, n in counts.iter_rows() if name and 2 <= n <= MOST_PARTS), "")


@figure(
    "dumbbell", "baselines", "Accuracy with and without a setting's change",
    source="USNCO-V, figure 3", finding=count_differences,
)  # fmt: skip
def draw_dumbbell(table: pl.DataFrame) -> Chart | None:
    """Draw the baseline's accuracy as a cross and the setting's as a circle, joined by a line.

    Args:
        table: The result `baselines`.

    Returns:
        The chart; None if no setting has a baseline.
    """
    rows, selection = keep_largest(select_differences(table, "setting"))
    if not rows:
        return None
    base = alt.Chart(embed_data(rows)).encode(y=alt.Y("name:N", sort=None, title=None, axis=NAMES))
    parts = list_distinct(rows, "part")
    colour = encode_colour("part", parts, rows[0]["slice"])
    scale = alt.Scale(domain=[0, 100])
    lines = base.mark_rule(strokeWidth=2, opacity=0.55).encode(
        x=alt.X("base:Q", title="Accuracy, %", scale=scale), x2="acc:Q", color=colour
    )
    # A rotated cross is the x of the figure that this one follows.
    starts = base.mark_point(shape="cross", angle=45).encode(
        x=alt.X("base:Q", scale=scale), color=colour
    )
    ends = base.mark_point(shape="circle").encode(x=alt.X("acc:Q", scale=scale), color=colour)
    note = "cross: baseline, circle: setting; over the same problems"
    return _finish(alt.layer(lines, starts, ends), rows, _name_pairs(rows), note, selection)


def _name_pairs(rows: list[dict[str, Any]]) -> str:
    """Return the title of a dumbbell: the pair if it is the only one."""
    pairs = {row["pair"] for row in rows}
    return f"Accuracy: {pairs.pop()}" if len(pairs) == 1 else "Accuracy of settings and baselines"


@figure(
    "deltas", "baselines", "Differences to baselines",
    source="EMMA, figure 7; OMIBench, figures 3c, 4 and 6", finding=count_differences,
)  # fmt: skip
def draw_deltas(table: pl.DataFrame) -> Chart | None:
    """Draw each difference to a setting's baseline, or to a model's if no setting has one.

    Args:
        table: The result `baselines`.

    Returns:
        The chart; None without differences.
    """
    rows = select_differences(table, "setting") or select_differences(table, "model")
    return _draw_points(rows, "Difference to the baseline, points", "Differences to baselines")


@figure(
    "real-clean", "real-clean", "Clean minus real pictures of the same problems",
    source="MathReal, table 8", finding=count_differences,
)  # fmt: skip
def draw_pictures(table: pl.DataFrame) -> Chart | None:
    """Draw each cell's accuracy on clean pictures minus that on real ones, loose and strict.

    Args:
        table: The result `real-clean`.

    Returns:
        The chart; None without differences.
    """
    whole = table.filter(pl.col("slice") == "", pl.col("rules") == table["rules"][0])
    measures = whole["measure"].n_unique()
    differences = whole.sort("model", "setting", maintain_order=True).to_dicts()
    rows = [
        scale_row(row)
        | {
            "part": row["measure"],
            "name": join_parts(
                [
                    mark_model(row, differences),
                    row["setting"],
                    row["measure"] if measures > 1 else "",
                ]
            ),
        }
        for row in differences
    ]
    return _draw_points(rows, "Clean minus real, points", "Clean and real pictures")


def _draw_points(rows: list[dict[str, Any]], axis: str, title: str) -> Chart | None:
    rows, selection = keep_largest(rows)
    if not rows:
        return None
    parts = list_distinct(rows, "part")
    base = alt.Chart(embed_data(rows)).encode(
        y=alt.Y("name:N", sort=None, title=None, axis=NAMES),
        color=encode_colour("part", parts, rows[0]["slice"]),
        opacity=alt.condition("datum.significant", alt.value(1), alt.value(PALE)),
    )
    x = alt.X("points:Q", title=axis)
    zero = alt.Chart(embed_data([{"zero": 0}])).mark_rule(color=INK).encode(x="zero:Q")
    whiskers = base.mark_rule(strokeWidth=2.5).encode(x=alt.X("left:Q", title=axis), x2="right:Q")
    points = base.mark_point().encode(x=x)
    return _finish(alt.layer(zero, whiskers, points), rows, title, _PALE_NOTE, selection)


def _finish(chart: Chart, rows: list[dict[str, Any]], title: str, *notes: str) -> Chart:
    measures = " and ".join(dict.fromkeys(row["measure"] for row in rows))
    measure = f"{measures} by {rows[0]['rules']}, {name_baselines(rows)}"
    simulated = any(row["simulated"] for row in rows)
    return finish(chart, title, measure, *notes, height={"step": STEP}, simulated=simulated)


@figure("ranks", "ranks", "Ranges of ranks from paired tests", finding=count_open_ranks)
def draw_ranks(table: pl.DataFrame) -> Chart | None:
    """Draw each cell's rank by accuracy, and the range that the tests allow.

    Args:
        table: The result `ranks`.

    Returns:
        The chart, by the first scorer; None for fewer than three cells, for which the table
        suffices.
    """
    ranked = table.filter(rules=table["rules"][0])
    rows = ranked.head(MOST_ROWS).to_dicts()
    if len(rows) < 3:
        return None
    settings = {row["setting"] for row in rows}
    is_mixed = not all(row["simulated"] for row in rows)
    data = [
        {
            "name": " · ".join([
                row["model"],
                *([row["setting"]] if len(settings) > 1 else []),
                *([SIMULATED] if is_mixed and row["simulated"] else []),
            ]),
            "rank": row["estimate"],
            "best": row["low"],
            "worst": row["high"],
        }
        for row in rows
    ]  # fmt: skip
    base = alt.Chart(embed_data(data)).encode(y=alt.Y("name:N", sort=None, title=None))
    scale = alt.Scale(domain=[0.5, rows[0]["cells"] + 0.5], nice=False)
    title = "Rank (1 is the highest accuracy)"
    axis = alt.Axis(tickMinStep=1, format="d")
    ranges = base.mark_rule(strokeWidth=6, opacity=0.4, color=SERIES[0]).encode(
        x=alt.X("best:Q", title=title, scale=scale, axis=axis), x2="worst:Q"
    )
    points = base.mark_point(color=SERIES[0]).encode(
        x=alt.X("rank:Q", title=title, scale=scale, axis=axis)
    )
    under = f" under {settings.pop()}" if len(settings) == 1 else ""
    return finish(
        alt.layer(ranges, points),
        f"Ranks{under}",
        f"by {rows[0]['rules']}; point: rank by accuracy, bar: ranks allowed by Holm's tests over "
        f"all {rows[0]['family']:,} pairs",
        describe_heads(MOST_ROWS, ranked.height),
        height={"step": STEP},
        simulated=any(row["simulated"] for row in rows),
    )


@figure(
    "prompt-differences",
    "prompt-differences",
    "Effect of changing the prompt",
    source="OMIBench, figure 4a and b",
    finding=lambda table: count_differences(table.filter(rules=pick_rules(table))),
)
def draw_prompts(table: pl.DataFrame) -> Chart | None:
    """Draw one row per model and prompt: its accuracy minus that under the reference prompt.

    Args:
        table: The result `prompt-differences`.
    """
    rules = pick_rules(table)
    part = table.filter(table["measure"].is_in(_MEASURES), rules=rules, slice="")
    rows = scale_up(part.to_dicts(), "estimate", "low", "high")
    named = name_lines(rows, "label")
    data = head_lines(named)
    if not data:
        return None
    references = sorted({row["baseline_prompt"] for row in data})
    measure = name_rules(rules) if rules == JUDGE_RULES else "Accuracy"
    title = f"{measure} minus that under {', '.join(references)}, points"
    chart = draw_rows(data, title, "prompt", "Prompt")
    return finish_rows(chart, "prompt-differences", data, describe_rules(rules), count_lines(named))


@figure(
    "thinking-gains",
    "thinking-gains",
    "Thinking and instruct models of the same size",
    source="OMIBench, figure 4c and table 4",
    finding=lambda table: count_differences(table.filter(rules=pick_rules(table))),
)
def draw_variants(table: pl.DataFrame) -> Chart | None:
    """Draw one row per pair and setting: the accuracy of both models, joined by a line.

    Args:
        table: The result `thinking-gains`.
    """
    rules = pick_rules(table)
    part = table.filter(table["measure"].is_in(_MEASURES), rules=rules, slice="")
    rows = scale_up(part.to_dicts(), *_SIDES)
    named = name_lines(rows, "label", "setting")
    data = head_lines(named)
    if not data:
        return None
    points = [
        {"line": row["line"], "estimate": row[column], "model": side}
        for row in data
        for column, side in _SIDES.items()
    ]
    names = list_distinct(data, "line")
    y = alt.Y("line:N", sort=names, title=None, axis=alt.Axis(grid=True, labelLimit=360))
    x = alt.X("estimate:Q", title="Accuracy, %")
    sides = list(_SIDES.values())
    colour, shape = encode_colour("model", sides, ""), encode_shape("model", sides, "")
    chart = alt.layer(
        alt.Chart(embed_data(data))
        .mark_rule(color=MUTED)
        .encode(y=y, x=alt.X("baseline_score:Q", title="Accuracy, %"), x2="score:Q"),
        alt.Chart(embed_data(points))
        .mark_point(size=70)
        .encode(y=y, x=x, color=colour, shape=shape),
    )
    return finish_rows(chart, "thinking-gains", data, describe_rules(rules), count_lines(named))
