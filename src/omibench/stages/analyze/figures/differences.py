"""Differences between settings or models by paired tests, and the ranks that follow from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import polars as pl

from omibench.stages.analyze.figures.charts import (
    MOST_ROWS,
    Row,
    describe_rules,
    draw_intervals,
    draw_rows,
    draw_squares,
    encode_colour,
    encode_names,
    encode_shape,
    finish,
    finish_rows,
    fits_columns,
    head_lines,
    join_names,
    keep_values,
    list_distinct,
    make_chart,
    mark_mixed,
    name_accuracy,
    name_lines,
    per_cent,
    pick_rules,
    scale_up,
)
from omibench.stages.analyze.figures.figure import figure
from omibench.stages.analyze.figures.findings import (
    count_differences,
    count_open_ranks,
    describe_cutoffs,
    describe_fresh,
)
from omibench.stages.analyze.figures.theme import INK, MUTED, SERIES, Chart
from omibench.stages.analyze.formatting import NO_VALUE, format_points
from omibench.stages.analyze.results.baselines import DIFFERENCE, NOISE, PRESENT

MOST_BASELINES = 4
MOST_PARTS = 4
"""The number of values of a slice shown next to each other."""
MOST_DIFFERENCES = 400
"""Differences that a figure shows, in the study's order: the largest ones alone exaggerate."""
MOST_SQUARES = 1200
"""The maximum number of squares of a heat map; its table has all."""
PALE = 0.4
"""The opacity of a difference that is not significant."""
FALL, RISE = SERIES[0], SERIES[1]
"""Blue for a decrease and orange for an increase, by magnitude (USNCO-V, figure 6)."""
_NUMBERS = ("estimate", "low", "high", "score", "baseline_score")
_MEASURES = ("accuracy", "gptscore")
_SIDES = {"baseline_score": "instruct", "score": "thinking"}
_AROUND = {"before": "exams before the cut-off", "after": "exams after it"}
_PUBLIC = {"before": "public problems", "after": "fresh problems"}


def _select_differences(table: pl.DataFrame, kind: str) -> list[Row]:
    """Select the differences of one kind, by the first scorer and measure, for one slice.

    Args:
        table: A table of `results.baselines.compare_slices`.
        kind: `model` or `setting`.

    Returns:
        Rows with numbers in points, `part` (the value of the slice) and `name`; their other column
        is marked if only some are simulated.
    """
    rows = table.filter(pl.col("metric") == DIFFERENCE, pl.col("kind") == kind)
    if rows.is_empty():
        return []
    rows = rows.filter(pl.col("rules") == rows["rules"][0], pl.col("measure") == rows["measure"][0])
    part = rows.filter(pl.col("slice") == _pick_slice(rows))
    name, other = [kind] * (part[kind].n_unique() > 1), "model" if kind == "setting" else "setting"
    return [
        row
        | {"part": row["value"] or "all problems", "name": join_names(row, other, *name, "value")}
        for row in mark_mixed(scale_up(part.to_dicts(), *_NUMBERS), other)
    ]


def _pick_slice(rows: pl.DataFrame) -> str:
    """Return the first slice by one attribute with two to four values; "" for all items."""
    counts = rows.group_by("slice", maintain_order=True).agg(pl.col("value").n_unique())
    return next((name for name, n in counts.iter_rows() if name and 2 <= n <= MOST_PARTS), "")


def _describe(rows: Sequence[Row]) -> str:
    """Return the measure, scorer and baselines: 'accuracy by robust, against direct'."""
    measures, baselines = (list_distinct(rows, name) for name in ("measure", "baseline"))
    more = " and others" * (len(baselines) > MOST_BASELINES)
    names = " or ".join(baselines[:MOST_BASELINES])
    return f"{' and '.join(measures)} by {rows[0]['rules']}, against {names}{more}"


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
    rows, selection = head_lines(_select_differences(table, "setting"), "name", MOST_DIFFERENCES)
    if not rows:
        return None
    base = make_chart(rows).encode(
        y=encode_names("name"),
        color=encode_colour("part", list_distinct(rows, "part"), rows[0]["slice"]),
    )
    start, end = (alt.X(f"{name}:Q", **per_cent()) for name in ("baseline_score", "score"))
    chart = alt.layer(
        base.mark_rule(strokeWidth=2, opacity=0.55).encode(x=start, x2="score:Q"),
        # A rotated cross is the x of the figure that this one follows.
        base.mark_point(shape="cross", angle=45).encode(x=start),
        base.mark_point(shape="circle").encode(x=end),
    )
    pairs = [*{f"{row['setting']} vs {row['baseline']}" for row in rows}]
    title = "Accuracy of settings and baselines" if pairs[1:] else f"Accuracy: {pairs[0]}"
    note = "cross: baseline, circle: setting; over the same problems"
    return finish(chart, title, _describe(rows), note, selection, of=rows)


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
    rows = _select_differences(table, "setting") or _select_differences(table, "model")
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
    whole = table.filter(slice="", rules=table["rules"][0])
    names = ["model", "setting", *(["measure"] if whole["measure"].n_unique() > 1 else [])]
    ordered = whole.sort("model", "setting", maintain_order=True).to_dicts()
    rows = [
        row | {"part": row["measure"], "name": join_names(row, *names)}
        for row in mark_mixed(scale_up(ordered), "model")
    ]
    return _draw_points(rows, "Clean minus real, points", "Clean and real pictures")


def _draw_points(rows: list[Row], axis: str, title: str) -> Chart | None:
    rows, selection = head_lines(rows, "name", MOST_DIFFERENCES)
    if not rows:
        return None
    base = make_chart(rows).encode(
        y=encode_names("name"),
        color=encode_colour("part", list_distinct(rows, "part"), rows[0]["slice"]),
        opacity=alt.condition("datum.significant", alt.value(1), alt.value(PALE)),
    )
    zero = make_chart([{"zero": 0}]).mark_rule(color=INK).encode(x="zero:Q")
    chart = alt.layer(zero, *draw_intervals(base, {"title": axis}, {"strokeWidth": 2.5}))
    note = "pale: not significant by Holm over this family"
    return finish(chart, title, _describe(rows), note, selection, of=rows)


@figure(
    "drops", "baselines", "Changes of accuracy by setting", source="USNCO-V, figure 6",
    finding=count_differences,
)  # fmt: skip
def draw_drops(table: pl.DataFrame) -> Chart | None:
    """Draw the difference of each setting to its baseline, in points and per cent of the baseline.

    Args:
        table: The result `baselines`.

    Returns:
        The chart; None if fewer than two settings have a baseline.
    """
    differences = _select_differences(table, "setting")
    columns = len(list_distinct(differences, "setting"))
    if columns < 2:
        return None
    texts = [
        f"{format_points(row['estimate'] / 100)} ({_format_relative(row['relative'])})"
        for row in differences
    ]
    unit = "points, and per cent of the baseline"
    if not fits_columns(texts, columns):
        texts = [format_points(row["estimate"] / 100) for row in differences]
        unit = "points"
    rows = [
        row | {"column": row["setting"], "row": join_names(row, "model", "value"), "text": text}
        for row, text in zip(differences, texts, strict=True)
    ]
    measure, _, baselines = _describe(rows).partition(", ")
    return _draw_map(rows, "Difference to the baseline", f"{measure}, {unit}; {baselines}")


@figure(
    "real-clean-noise", "real-clean", "Clean minus real pictures by condition of the photograph",
    source="MathReal, section Real Image vs. Clean Image",
)  # fmt: skip
def draw_conditions(table: pl.DataFrame) -> Chart | None:
    """Draw the gain of clean pictures by condition of the photograph.

    Args:
        table: The result `real-clean`.

    Returns:
        The chart; None if no condition is known.
    """
    conditions = table.filter(table["slice"].str.starts_with(f"{NOISE}: "), value=PRESENT)
    if conditions.is_empty():
        return None
    rules, measure = conditions["rules"][0], conditions["measure"][0]
    first = conditions.filter(rules=rules, measure=measure).to_dicts()
    rows = [
        row
        | {
            "column": row["slice"].removeprefix(f"{NOISE}: "),
            "row": f"{row['model']} · {row['setting']}",
            "text": f"{format_points(row['estimate'] / 100)} (n = {row['n']})",
        }
        for row in mark_mixed(scale_up(first), "model")
    ]
    title = "Clean minus real pictures if a condition is present"
    return _draw_map(rows, title, f"{measure} by {rules}, points")


def _draw_map(rows: list[Row], title: str, note: str) -> Chart:
    """Draw a heat map of differences by `row` and `column`, as far as they fit."""
    most = max(MOST_ROWS, MOST_SQUARES // len(list_distinct(rows, "column")))
    drawn, selection = head_lines(rows, "row", most)
    squares = [keep_values(row, "row", "column", "text", "n", "significant") for row in drawn]
    colour = alt.condition("datum.estimate < 0", alt.value(FALL), alt.value(RISE))
    chart = draw_squares(squares, colour)
    signs = f"{note}; blue: decrease, orange: increase"
    return finish(chart, title, signs, selection, of=drawn, step=26)


def _format_relative(share: float | None) -> str:
    return NO_VALUE if share is None else f"{format_points(share, 0)} %"


@figure("ranks", "ranks", "Ranges of ranks from paired tests", finding=count_open_ranks)
def draw_ranks(table: pl.DataFrame) -> Chart | None:
    """Draw each cell's rank by accuracy, and the range that the tests allow.

    Args:
        table: The result `ranks`.

    Returns:
        The chart, by the first scorer; None for fewer than three cells, for which the table
        suffices.
    """
    ranked = table.filter(rules=table["rules"][0]).to_dicts()
    if len(ranked) < 3:
        return None
    settings = list_distinct(ranked[:MOST_ROWS], "setting")
    names = ("model", "setting") if len(settings) > 1 else ("model",)
    cells = [{**row, "name": join_names(row, *names), "cell": n} for n, row in enumerate(ranked)]
    rows, selection = head_lines(cells, "cell")
    data = [keep_values(row, "name") for row in mark_mixed(rows, "name")]
    base = make_chart(data).encode(y=encode_names("name"))
    x = {
        "title": "Rank (1 is the highest accuracy)",
        "scale": alt.Scale(domain=[0.5, rows[0]["cells"] + 0.5], nice=False),
        "axis": alt.Axis(tickMinStep=1, format="d"),
    }
    rule = {"strokeWidth": 6, "opacity": 0.4, "color": SERIES[0]}
    chart = alt.layer(*draw_intervals(base, x, rule, {"color": SERIES[0]}))
    return finish(
        chart,
        f"Ranks under {settings[0]}" if len(settings) == 1 else "Ranks",
        f"by {rows[0]['rules']}; point: rank by accuracy, bar: ranks allowed by Holm's tests over "
        f"all {rows[0]['family']:,} pairs",
        selection,
        of=rows,
    )


def _count_first_scorer(table: pl.DataFrame) -> str | None:
    return count_differences(table.filter(rules=pick_rules(table)))


@figure(
    "prompt-differences",
    "prompt-differences",
    "Effect of changing the prompt",
    source="OMIBench, figure 4a and b",
    finding=_count_first_scorer,
)
def draw_prompts(table: pl.DataFrame) -> Chart | None:
    """Draw one row per model and prompt: its accuracy minus that under the reference prompt.

    Args:
        table: The result `prompt-differences`.
    """
    rules, data, selection = _select_comparisons(table, "label")
    if not data:
        return None
    references = sorted(list_distinct(data, "baseline_prompt"))
    axis = f"{name_accuracy(rules)} minus that under {', '.join(references)}, points"
    chart = draw_rows(data, axis, "prompt", "Prompt")
    title = "Effect of changing the prompt"
    return finish_rows(chart, title, data, describe_rules(rules), selection)


@figure(
    "thinking-gains",
    "thinking-gains",
    "Thinking and instruct models of the same size",
    source="OMIBench, figure 4c and table 4",
    finding=_count_first_scorer,
)
def draw_variants(table: pl.DataFrame) -> Chart | None:
    """Draw one row per pair and setting: the accuracy of both models, joined by a line.

    Args:
        table: The result `thinking-gains`.
    """
    rules, data, selection = _select_comparisons(table, "label", "setting")
    if not data:
        return None
    chart = _join_sides(data, _SIDES, "estimate", f"{name_accuracy(rules)}, %")
    title = "Thinking and instruct models of the same size"
    return finish_rows(chart, title, data, describe_rules(rules), selection)


@figure(
    "cutoffs",
    "cutoffs",
    "Accuracy before and after the cut-off of each model",
    finding=describe_cutoffs,
)
def draw_cutoffs(table: pl.DataFrame) -> Chart | None:
    """Draw one row per cell: its accuracy on older and on newer exams, joined by a line.

    Args:
        table: The result `cutoffs`.

    Returns:
        The chart; None if no cell has enough problems on both sides.
    """
    note = "before minus after in points, over all problems with a year; newer ones may be harder"
    title = "Accuracy before and after the cut-off of each model"
    return _draw_sides(table, _AROUND, title, note, "cutoff")


@figure("fresh", "fresh", "Accuracy on public and fresh problems", finding=describe_fresh)
def draw_fresh(table: pl.DataFrame) -> Chart | None:
    """Draw one row per cell: its accuracy on public and on fresh problems, joined by a line.

    Args:
        table: The result `fresh`.

    Returns:
        The chart; None if no cell has enough problems on both sides.
    """
    title = "Accuracy on public and fresh problems"
    return _draw_sides(table, _PUBLIC, title, "public minus fresh in points, over all problems")


def _draw_sides(
    table: pl.DataFrame, sides: Mapping[str, str], title: str, note: str, detail: str = ""
) -> Chart | None:
    """Draw `before` and `after` of each cell; the column `detail` follows its name."""
    rules = pick_rules(table)
    compared = table.filter(pl.col("before").is_not_null(), rules=rules).to_dicts()
    named = name_lines(scale_up(compared, *sides, "raw"), "label", "setting_label")
    lines = [f"{row['line']} ({row[detail]})" if detail else row["line"] for row in named]
    data, selection = head_lines(
        [row | {"line": line} for row, line in zip(named, lines, strict=True)]
    )
    if not data:
        return None
    chart = _join_sides(data, sides, "raw")
    return finish_rows(chart, title, data, describe_rules(rules), note, selection)


def _join_sides(
    data: Sequence[Row], sides: Mapping[str, str], difference: str, axis: str = "Accuracy, %"
) -> Chart:
    """Draw two accuracies of each `line`, joined by a rule with their difference beside it.

    Args:
        data: The rows, in per cent.
        sides: Names of the columns of the accuracies.
        difference: Column of the difference.
        axis: Title of the axis.
    """
    points = [
        {"line": row["line"], "estimate": row[column], "side": side}
        for row in data
        for column, side in sides.items()
    ]
    names, (start, end) = list(sides.values()), sides
    labels = [
        {"line": row["line"], "end": max(row[start], row[end]),
         "text": format_points(row[difference] / 100)}
        for row in data
    ]  # fmt: skip

    def place(rows: Sequence[Row], column: str) -> alt.Chart:
        y = encode_names("line", list_distinct(data, "line"), grid=True)
        return make_chart(rows).encode(y=y, x=alt.X(f"{column}:Q", title=axis))

    return alt.layer(
        place(data, start).mark_rule(color=MUTED).encode(x2=f"{end}:Q"),
        place(points, "estimate")
        .mark_point(size=70)
        .encode(color=encode_colour("side", names, ""), shape=encode_shape("side", names, "")),
        place(labels, "end").mark_text(align="left", dx=8, color=INK).encode(text="text:N"),
    )


def _select_comparisons(table: pl.DataFrame, *lines: str) -> tuple[str, list[Row], str]:
    """Return the scorer, and the differences of accuracy over all items that fit into a figure."""
    rules = pick_rules(table)
    part = table.filter(table["measure"].is_in(_MEASURES), rules=rules, slice="")
    return rules, *head_lines(name_lines(scale_up(part.to_dicts(), *_NUMBERS), *lines))
