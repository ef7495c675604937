"""The scores of every cell: accuracy, by number of images, by scorer, and missing answers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import altair as alt
import polars as pl

from omibench.results.load import JUDGE_RULES, PUBLISHED_RULES, ROBUST_RULES, VOTE_MARK
from omibench.results.slices import sort_values
from omibench.schemas.verdict import FAILURES
from omibench.stages.analyze.figures.charts import (
    MOST_ROWS,
    WIDTH,
    Row,
    draw_intervals,
    draw_squares,
    encode_colour,
    encode_names,
    encode_shape,
    finish,
    join_names,
    keep_values,
    list_distinct,
    make_chart,
    per_cent,
    scale_up,
    stack_bars,
)
from omibench.stages.analyze.figures.figure import figure
from omibench.stages.analyze.figures.labels import encode_lines, label_lines
from omibench.stages.analyze.figures.theme import INK, MUTED, SERIES, Chart
from omibench.stages.analyze.formatting import (
    format_decimals,
    name_outcome,
    name_pool,
    name_rules,
    name_scorer,
)
from omibench.stages.analyze.results.accuracy import MIN_PROBLEMS
from omibench.stages.analyze.sentences import SIMULATED

MOST_SERIES: Final = len(SERIES)
"""The number of settings that colours can distinguish; with more, a figure is a heat map."""
IMAGES_HEIGHT: Final = 300
"""The height of the figure by number of images, in pixels."""
MOST_MODELS: Final = 16
"""The maximum number of models by number of images; larger studies show the best, the table all."""
WHISKER: Final = {"strokeWidth": 2.5, "opacity": 0.55}
_APART: Final = "\u241f"
"""Separates the parts of a row's name; only the first is shown."""
_NAMES: Final = 300
"""The maximum width of model names left of a chart, in pixels."""


@figure("accuracy", "accuracy", "Accuracy by model and setting")
def draw_accuracy(table: pl.DataFrame) -> Chart:
    """Draw accuracy with intervals: one row per model, one colour and shape per setting.

    If most models have few of the settings, each cell has its own row instead, with the model's
    name in the first one. A study with too many cells or settings gets a heat map.

    Args:
        table: The result `accuracy`; its first scorer is drawn.
    """
    rules = table["rules"][0]
    rows = [row for row in _list_totals(table) if row["rules"] == rules]
    title, by = "Accuracy by model and setting", f"by {name_scorer(rules)}"
    if _needs_map(rows):
        return _draw_map(rows, title, f"per cent, {by}; intervals are in the table")
    models, settings = (list_distinct(rows, name) for name in ("model", "setting"))
    data = [
        keep_values(row, "model", "setting")
        | {"row": _APART.join(["" if i else model, model, str(i)])}
        for model in models
        for i, row in enumerate(row for row in rows if row["model"] == model)
    ]
    base = make_chart(data).encode(
        color=encode_colour("setting", settings, "Setting", WIDTH - _NAMES)
    )
    if 2 * len(rows) < len(models) * len(settings):
        first = f"split(datum.label, '{_APART}')[0]"
        base = base.encode(y=encode_names("row", labelExpr=first, ticks=False, labelPadding=8))
    else:
        base = base.encode(y=encode_names("model"), yOffset=alt.YOffset("setting:N", sort=settings))
    shape = encode_shape("setting", settings, "Setting")
    chart = alt.layer(*draw_intervals(base, per_cent(), WHISKER, shape=shape))
    return finish(chart, title, f"{by}; lines are intervals", of=rows, step=19)


@figure("images", "accuracy-by-images", "Accuracy by number of images")
def draw_images(table: pl.DataFrame) -> Chart | None:
    """Draw accuracy by number of images: pooled models with intervals, and each model's points.

    It includes only settings that show every picture of the whole item.

    Args:
        table: The result `accuracy-by-images`; its first scorer is drawn.

    Returns:
        The chart; None if all problems have the same number of images.
    """
    first = _mark_models(table).filter(rules=table["rules"][0])
    bins = sort_values(first["value"])
    if len(bins) < 2:
        return None
    pooled = {row["value"]: row for row in scale_up(first.filter(model="", setting="").to_dicts())}
    by_model = scale_up(first.filter(first["model"] != "", setting="").to_dicts())
    models = list_distinct(by_model, "model")
    drawn = _pick_models(by_model)
    labels = {name: f"{name}|n = {pooled[name]['n'] if name in pooled else 0:,}" for name in bins}
    cells = first.filter(first["setting"] != "")
    settings = cells.filter(cells["pooled"])["setting"].unique(maintain_order=True).to_list()
    whose = (
        "each model"
        if len(drawn) == len(models)
        else f"the {len(drawn)} of {len(models)} models with the highest ACC"
    )
    few = any(row["n"] < MIN_PROBLEMS for row in by_model if row["model"] in drawn)
    points = {
        (row["model"], row["value"]): keep_values(row, "model", "n")
        | {
            "images": row["value"],
            "bin": labels[row["value"]],
            "opacity": 0.4 if row["n"] < MIN_PROBLEMS else 1.0,
        }
        for row in by_model
    }
    return finish(
        _layer_images(
            [[points.get((model, name)) for name in bins] for model in drawn],
            [keep_values(row) | {"bin": labels[name]} for name, row in pooled.items()],
            list(labels.values()),
        ),
        "Accuracy by number of images",
        f"bars: models together, with their interval; points: {whose}; "
        f"{name_pool(settings, is_all=bool(cells['pooled'].all()))}",
        f"pale and not joined: a point over fewer than {MIN_PROBLEMS} problems" if few else "",
        of=first,
        height=IMAGES_HEIGHT,
    )


def _pick_models(rows: Sequence[Row]) -> list[str]:
    """Return the models in order; if too many, those with the highest accuracy."""
    models = list_distinct(rows, "model")
    if len(models) <= MOST_MODELS:
        return models
    sums = {model: [0.0, 0] for model in models}
    for row in rows:
        sums[row["model"]][0] += row["estimate"] * row["n"]
        sums[row["model"]][1] += row["n"]
    return sorted(models, key=lambda model: -sums[model][0] / sums[model][1])[:MOST_MODELS]


def _layer_images(
    curves: Sequence[Sequence[Row | None]], pooled: Sequence[Row], bins: Sequence[str]
) -> Chart:
    """Draw bars of all models together and the points of each; a line joins neighbours.

    Args:
        curves: By model its point in each bin.
        pooled: The rows of all models together.
        bins: Labels of the bins.
    """
    points = [point for curve in curves for point in curve if point]
    pairs = [
        (first, second)
        for curve in curves
        for first, second in pairwise(curve)
        if first and second and min(first["n"], second["n"]) >= MIN_PROBLEMS
    ]
    lines = [point | {"place": place} for place, pair in enumerate(pairs) for point in pair]
    axis = alt.Axis(labelExpr="split(datum.label, '|')", labelAngle=0)
    x = alt.X("bin:O", sort=list(bins), title="Images in the problem (n: problems)", axis=axis)
    y = alt.Y("estimate:Q", **per_cent())
    marks = encode_lines(list_distinct(points, "model"), "Model", "model")
    every, band = make_chart(pooled).encode(x=x), alt.RelativeBandSize(band=0.4)
    chart = alt.layer(
        every.mark_bar(width=band, color=MUTED, opacity=0.22).encode(y="low:Q", y2="high:Q"),
        every.mark_tick(width=band, thickness=3, color=INK).encode(y="estimate:Q"),
        make_chart(lines)
        .mark_line(strokeWidth=1.5, opacity=0.75)
        .encode(x=x, y=y, color=marks.colour, detail="place:N"),
        make_chart(points)
        .mark_point(size=70)
        .encode(
            x=x,
            y=y,
            color=marks.colour,
            shape=marks.shape,
            opacity=alt.Opacity("opacity:Q", scale=None),
        ),
    )
    return label_lines(
        chart, points, x, marks, field="model", height=IMAGES_HEIGHT, scale={"domain": [0, 100]}
    )


@figure("rules", "accuracy", "Scorers and judge on the same responses")
def draw_rules(table: pl.DataFrame) -> Chart | None:
    """Draw the same responses under every scorer and the judge, one row per cell.

    A study with too many cells for rows gets a heat map of the largest difference of each cell.

    Args:
        table: The result `accuracy`; single judges of a panel are only in the table.

    Returns:
        The chart; None with a single scorer.
    """
    rows = [row for row in _list_totals(table) if VOTE_MARK not in row["rules"]]
    labels = _name_scorers(rows)
    if len(labels) < 2:
        return None
    title = "Scorers and judge on the same responses"
    if _needs_map(rows):
        subtitle = "largest difference between two scorers in each cell, points"
        return _draw_map(_find_spreads(rows), title, subtitle)
    data = [
        {"cell": row["line"], "rules": labels[row["rules"]], "estimate": row["estimate"]}
        for row in rows
    ]
    names = list(labels.values())
    marks = (
        make_chart(data)
        .mark_point(size=60)
        .encode(
            y=encode_names("cell", grid=True),
            yOffset=alt.YOffset("rules:N", sort=names),
            x=alt.X("estimate:Q", **per_cent("Right, %")),
            color=encode_colour("rules", names, "Scored by"),
            shape=encode_shape("rules", names, "Scored by"),
        )
    )
    return finish(alt.layer(marks), title, "one row per cell", of=rows, step=8)


def _find_spreads(rows: Sequence[Row]) -> list[Row]:
    """Return a row per cell: its largest estimate minus its smallest."""
    estimate = pl.col("estimate")
    cells = pl.DataFrame(rows, infer_schema_length=None).group_by("line", maintain_order=True)
    spreads = cells.agg(
        pl.col("model", "setting").first(), pl.col("simulated").any(),
        estimate=estimate.max() - estimate.min(),
    )  # fmt: skip
    return spreads.to_dicts()


def _name_scorers(rows: Sequence[Row]) -> dict[str, str]:
    """Return the name of each scorer: 'robust', 'GPTScore · SIMULATED judge'.

    The judge is marked if its results are simulated and those of scorers are not.
    """
    marks = {
        rules: any(row["simulated"] for row in rows if row["rules"] == rules)
        for rules in list_distinct(rows, "rules")
    }
    is_mixed = not all(marks.values())
    judge = f" · {SIMULATED} judge" if is_mixed and marks.get(JUDGE_RULES) else ""
    return {rules: name_rules(rules) + (judge if rules == JUDGE_RULES else "") for rules in marks}


@figure("failures", "outcomes", "Responses without an answer by outcome")
def draw_failures(table: pl.DataFrame) -> Chart | None:
    """Draw the share of each cell's responses without a scorable answer, by outcome.

    A study with too many cells for bars gets a heat map of all outcomes together.

    Args:
        table: The result `outcomes`. Its first scorer is drawn; if that has published verdicts,
            which do not show missing answers, the scorer `robust`.

    Returns:
        The chart; None if every response has an answer, or nothing shows which have none.
    """
    rules = ROBUST_RULES if table["rules"][0] == PUBLISHED_RULES else table["rules"][0]
    rows = _name_cells(_mark_models(table).filter(rules=rules))
    failures = [
        row | {"estimate": 100 * row["count"] / row["n"]}
        for row in rows
        if row["value"] in FAILURES
    ]
    if not failures:
        return None
    by, title = f"by {name_scorer(rules)}", "Responses without a scorable answer"
    if _needs_map(rows):
        sums = {row["line"]: row | {"estimate": 0.0} for row in rows}
        for row in failures:
            sums[row["line"]]["estimate"] += row["estimate"]
        subtitle = f"per cent of each cell's, {by}; outcomes are in the counts below"
        return _draw_map(list(sums.values()), title, subtitle)
    outcomes = [key for key in FAILURES if any(row["value"] == key for row in failures)]
    data = [
        {"line": row["line"], "part": name_outcome(row["value"]), "estimate": row["estimate"],
         "count": str(row["count"])}
        for row in failures
    ]  # fmt: skip
    parts, names = [name_outcome(key) for key in outcomes], list_distinct(rows, "line")
    chart = stack_bars(data, parts, f"{title}, %", "Outcome", names)
    return finish(chart, "Failures by outcome", by, of=rows)


def _needs_map(rows: Sequence[Row]) -> bool:
    """Return whether there are too many cells for a row or a symbol each."""
    cells, settings = (len(list_distinct(rows, name)) for name in ("line", "setting"))
    return cells > MOST_ROWS or settings > MOST_SERIES


def _draw_map(rows: Sequence[Row], *title: str) -> Chart:
    """Draw a heat map with one row per model and one column per setting."""
    squares = [
        {"row": row["model"], "column": row["setting"], "estimate": row["estimate"],
         "text": format_decimals(row["estimate"], 0)}
        for row in rows
    ]  # fmt: skip
    return finish(draw_squares(squares), *title, of=rows, step=24)


def _list_totals(table: pl.DataFrame) -> list[Row]:
    """Return the accuracies of cells in per cent, without credit and other measures."""
    is_accuracy = pl.col("metric").is_in(["accuracy", "gptscore"])
    return scale_up(_name_cells(_mark_models(table.filter(is_accuracy))))


def _name_cells(table: pl.DataFrame) -> list[Row]:
    """Return the rows with the name of their cell as `line`."""
    return [row | {"line": join_names(row, "model", "setting")} for row in table.to_dicts()]


def _mark_models(table: pl.DataFrame) -> pl.DataFrame:
    """Mark the names of simulated models: 'Apex · SIMULATED'.

    A cell is simulated if it is under every scorer, so a simulated judge does not count. If all
    are, the title of the figure is marked instead.
    """
    by_cell = table.filter(pl.col("setting") != "").group_by("model", "setting")
    cells = by_cell.agg(pl.col("simulated").all())
    if cells["simulated"].all():
        return table
    models = cells.filter(pl.col("simulated"))["model"].unique()
    names = {model: f"{model} · {SIMULATED}" for model in models}
    return table.with_columns(pl.col("model").replace(names))
