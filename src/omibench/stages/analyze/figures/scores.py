"""The scores of every cell: accuracy, by number of images, by scorer, and missing answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import altair as alt
import polars as pl

from omibench.results.load import JUDGE_RULES, PUBLISHED_RULES, ROBUST_RULES, VOTE_MARK
from omibench.results.slices import sort_values
from omibench.schemas.verdict import FAILURES
from omibench.stages.analyze.figures.chart_parts import (
    MOST_ROWS,
    WIDTH,
    embed_data,
    encode_colour,
    encode_shape,
    finish,
    list_distinct,
)
from omibench.stages.analyze.figures.figure import figure
from omibench.stages.analyze.figures.heat_maps import LETTER, MOST_OPAQUE, NAME_ROOM
from omibench.stages.analyze.figures.theme import INK, MUTED, SERIES, Chart
from omibench.stages.analyze.formatting import (
    count_noun,
    name_outcome,
    name_pool,
    name_rules,
    name_scorer,
)
from omibench.stages.analyze.sentences import SIMULATED, find_cell

if TYPE_CHECKING:
    from omibench.params.setting import Cell

Row = dict[str, Any]
MOST_SERIES: Final = len(SERIES)
"""The number of settings that colours can distinguish; with more, a figure is a heat map."""
MOST_MODELS: Final = 16
"""The maximum number of models by number of images; larger studies show the best, the table all."""
MIN_PROBLEMS: Final = 10
"""Points over fewer problems are pale and not joined by lines, since they are too uncertain."""
_APART: Final = "\u241f"
"""Separates the parts of a row's name; only the first is shown."""
_NAMES: Final = 300
"""The maximum width of model names left of a chart, in pixels."""
_MAP_STEP: Final = 24
"""The height of a row of a heat map, in pixels."""


@figure("accuracy", "accuracy", "Accuracy by model and setting")
def draw_accuracy(table: pl.DataFrame) -> Chart:
    """Draw accuracy with intervals: one row per model, one colour and shape per setting.

    If most models have few of the settings, each cell has its own row instead, with the model's
    name in the first one. A study with too many cells or settings gets a heat map.

    Args:
        table: The result `accuracy`; its first scorer is drawn.
    """
    rules = table["rules"][0]
    rows = _mark_models(_select_totals(table)).filter(rules=rules).to_dicts()
    title, described = "Accuracy by model and setting", f"by {name_scorer(rules)}"
    simulated = any(row["simulated"] for row in rows)
    cells = [find_cell(row) for row in rows]
    if _needs_map(cells):
        shares = {find_cell(row): 100 * row["estimate"] for row in rows}
        subtitle = f"per cent, {described}; intervals are in the table"
        return _draw_map(shares, title, subtitle, simulated=simulated)
    models, settings = (list(dict.fromkeys(names)) for names in zip(*cells, strict=True))
    data = [
        {
            "model": model,
            "row": _APART.join(["" if i else model, model, str(i)]),
            "setting": row["setting"],
            **_scale_row(row),
        }
        for model in models
        for i, row in enumerate(row for row in rows if row["model"] == model)
    ]
    named = alt.Axis(labelExpr=f"split(datum.label, '{_APART}')[0]", ticks=False, labelPadding=8)
    base = alt.Chart(embed_data(data)).encode(
        color=encode_colour("setting", settings, "Setting", WIDTH - _NAMES),
    )
    is_sparse = 2 * len(rows) < len(models) * len(settings)
    base = (
        base.encode(y=alt.Y("row:N", sort=None, title=None, axis=named))
        if is_sparse
        else base.encode(
            y=alt.Y("model:N", sort=None, title=None),
            yOffset=alt.YOffset("setting:N", sort=settings),
        )
    )
    marks = base.mark_point().encode(
        x=alt.X("acc:Q", title="Accuracy, %", scale=alt.Scale(domain=[0, 100])),
        shape=encode_shape("setting", settings, "Setting"),
    )
    whiskers = base.mark_rule(strokeWidth=2.5, opacity=0.55).encode(x="lo:Q", x2="hi:Q")
    layers, subtitle = alt.layer(whiskers, marks), f"{described}; lines are intervals"
    return finish(layers, title, subtitle, height={"step": 19}, simulated=simulated)


class ImagePoint(NamedTuple):
    """One model in one bin of image counts, over the pooled settings; `acc` in per cent."""

    model: str
    images: str
    acc: float
    n: int

    @property
    def few(self) -> bool:
        """Whether the point has too few problems to be joined to others."""
        return self.n < MIN_PROBLEMS


def join_points(
    points: Sequence[ImagePoint], bins: Sequence[str]
) -> list[tuple[ImagePoint, ImagePoint]]:
    """Return the pairs of a model's neighbouring points that a line joins.

    Args:
        points: The points of all models.
        bins: The bins of image counts, in order.
    """
    by_bin = {(p.model, p.images): p for p in points if not p.few}
    return [
        (by_bin[model, first], by_bin[model, second])
        for model in dict.fromkeys(p.model for p in points)
        for first, second in pairwise(bins)
        if (model, first) in by_bin and (model, second) in by_bin
    ]


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
    pooled = {row["value"]: row for row in first.filter(model="", setting="").to_dicts()}
    by_model = first.filter(first["model"] != "", setting="").to_dicts()
    every = list_distinct(by_model, "model")
    drawn = _pick_models(by_model)
    if len(bins) < 2:
        return None
    found = {(row["model"], row["value"]): row for row in by_model}
    points = [
        ImagePoint(model, images, 100 * row["estimate"], row["n"])
        for model in drawn
        for images in bins
        if (row := found.get((model, images)))
    ]
    counts = {name: pooled[name]["n"] if name in pooled else 0 for name in bins}
    labels = {name: f"{name}|{count_noun(counts[name], 'problem')}" for name in bins}
    cells = first.filter(first["setting"] != "")
    settings = cells.filter(cells["pooled"])["setting"].unique(maintain_order=True).to_list()
    whose = (
        "each model"
        if len(drawn) == len(every)
        else f"the {len(drawn)} of {len(every)} models with the highest ACC"
    )
    subtitle = [
        f"bars: models together, with their interval; points: {whose}; "
        f"{name_pool(settings, is_all=bool(cells['pooled'].all()))}"
    ]
    if any(point.few for point in points):
        subtitle.append(f"pale and not joined: a point over fewer than {MIN_PROBLEMS} problems")
    simulated = bool(first["simulated"].any())
    chart = _layer_images(points, pooled, labels)
    title = "Accuracy by number of images"
    return finish(chart, title, *subtitle, height=300, simulated=simulated)


def _pick_models(rows: Sequence[Row]) -> list[str]:
    """Return the models in order; if too many, those with the highest accuracy."""
    sums: dict[str, list[float]] = {}
    for row in rows:
        right, n = sums.setdefault(row["model"], [0.0, 0])
        sums[row["model"]] = [right + row["estimate"] * row["n"], n + row["n"]]
    if len(sums) <= MOST_MODELS:
        return list(sums)
    return sorted(sums, key=lambda model: -sums[model][0] / sums[model][1])[:MOST_MODELS]


def _layer_images(
    points: Sequence[ImagePoint], pooled: Mapping[str, Row], labels: Mapping[str, str]
) -> Chart:
    """Draw bars of all models together and points of each, by the label of their bin."""
    names = list(dict.fromkeys(point.model for point in points))
    x = alt.X(
        "bin:O",
        sort=list(labels.values()),
        title="Images in the problem",
        axis=alt.Axis(labelExpr="split(datum.label, '|')", labelAngle=0),
    )
    y = alt.Y("acc:Q", title="Accuracy, %", scale=alt.Scale(domain=[0, 100]))
    colour, shape = encode_colour("model", names, "Model"), encode_shape("model", names, "Model")

    def place(point: ImagePoint, line: int = 0) -> Row:
        return {**point._asdict(), "bin": labels[point.images], "line": line,
                "opacity": 0.4 if point.few else 1.0}  # fmt: skip

    pairs = enumerate(join_points(points, list(labels)))
    lines = [place(point, number) for number, pair in pairs for point in pair]
    every = alt.Chart(
        embed_data([{"bin": labels[name], **_scale_row(row)} for name, row in pooled.items()])
    )
    return alt.layer(
        every.mark_bar(width=64, color=MUTED, opacity=0.22).encode(x=x, y="lo:Q", y2="hi:Q"),
        every.mark_tick(width=64, thickness=3, color=INK).encode(x=x, y="acc:Q"),
        alt.Chart(embed_data(lines))
        .mark_line(strokeWidth=1.5, opacity=0.75)
        .encode(x=x, y=y, color=colour, detail="line:N"),
        alt.Chart(embed_data([place(point) for point in points]))
        .encode(x=x, y=y, color=colour, shape=shape)
        .mark_point(size=70)
        .encode(opacity=alt.Opacity("opacity:Q", scale=None)),
    )


@figure("rules", "accuracy", "Scorers and judge on the same responses")
def draw_rules(table: pl.DataFrame) -> Chart | None:
    """Draw the same responses under every scorer and the judge, one row per cell.

    A study with too many cells shows those with the largest differences.

    Args:
        table: The result `accuracy`; single judges of a panel are only in the table.

    Returns:
        The chart; None with a single scorer.
    """
    totals = _mark_models(_select_totals(table)).to_dicts()
    rows = [row for row in totals if VOTE_MARK not in row["rules"]]
    labels = _name_scorers(rows)
    if len(labels) < 2:
        return None
    cells = list(dict.fromkeys(map(find_cell, rows)))
    selection = f"the {MOST_ROWS} of {len(cells)} cells of which they differ most"
    names, drawn = list(labels.values()), _select_disputed(rows)
    data = [
        {
            "cell": " · ".join(find_cell(row)),
            "rules": labels[row["rules"]],
            "acc": 100 * row["estimate"],
        }
        for row in rows
        if find_cell(row) in drawn
    ]
    base = alt.Chart(embed_data(data)).encode(
        y=alt.Y("cell:N", sort=None, title=None, axis=alt.Axis(grid=True)),
        yOffset=alt.YOffset("rules:N", sort=names),
    )
    marks = base.mark_point(size=60).encode(
        x=alt.X("acc:Q", title="Right, %", scale=alt.Scale(domain=[0, 100])),
        color=encode_colour("rules", names, "Scored by"),
        shape=encode_shape("rules", names, "Scored by"),
    )
    return finish(
        alt.layer(marks),
        "Scorers and judge on the same responses",
        selection if len(cells) > MOST_ROWS else "one row per cell",
        height={"step": 8},
        simulated=any(row["simulated"] for row in rows),
    )


def _name_scorers(rows: Iterable[Row]) -> dict[str, str]:
    """Return the name of each scorer: 'robust', 'GPTScore · SIMULATED judge'.

    The judge is marked if its results are simulated and those of scorers are not.
    """
    marks: dict[str, bool] = {}
    for row in rows:
        marks[row["rules"]] = marks.get(row["rules"], False) or row["simulated"]
    is_mixed = not all(marks.values())
    judge = f" · {SIMULATED} judge" if is_mixed and marks.get(JUDGE_RULES) else ""
    return {rules: name_rules(rules) + (judge if rules == JUDGE_RULES else "") for rules in marks}


def _select_disputed(rows: Iterable[Row]) -> set[Cell]:
    """Return the cells with the largest distance between their totals, as many as a figure fits."""
    means: dict[Cell, list[float]] = {}
    for row in rows:
        means.setdefault(find_cell(row), []).append(row["estimate"])
    ranked = sorted(means, key=lambda cell: min(means[cell]) - max(means[cell]))
    return set(ranked[:MOST_ROWS])


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
    rows = _mark_models(table).filter(rules=rules).to_dicts()
    failures = [row for row in rows if row["value"] in FAILURES]
    if not failures:
        return None
    cells = list(dict.fromkeys(map(find_cell, rows)))
    simulated = any(row["simulated"] for row in rows)
    if _needs_map(cells):
        shares = dict.fromkeys(cells, 0.0)
        for row in failures:
            shares[find_cell(row)] += 100 * row["count"] / row["n"]
        subtitle = (
            f"per cent of each cell's, by {name_scorer(rules)}; outcomes are in the counts below"
        )
        title = "Responses without a scorable answer"
        return _draw_map(shares, title, subtitle, simulated=simulated)
    outcomes = [key for key in FAILURES if any(row["value"] == key for row in failures)]
    data = [
        {
            "cell": " · ".join(find_cell(row)),
            "outcome": name_outcome(row["value"]),
            "order": outcomes.index(row["value"]),
            "share": 100 * row["count"] / row["n"],
            "count": str(row["count"]),
        }
        for row in failures
    ]
    names = [" · ".join(cell) for cell in cells]
    base = alt.Chart(embed_data(data)).encode(
        y=alt.Y("cell:N", sort=names, scale=alt.Scale(domain=names), title=None),
        x=alt.X("share:Q", stack="zero", title="Responses without a scorable answer, %"),
        order=alt.Order("order:Q"),
    )
    colour = encode_colour("outcome", [name_outcome(key) for key in outcomes], "Outcome")
    bars = base.mark_bar(height=14).encode(color=colour)
    title, by = "Failures by outcome", f"by {name_scorer(rules)}"
    return finish(alt.layer(bars), title, by, height={"step": 22}, simulated=simulated)


def _needs_map(cells: Sequence[Cell]) -> bool:
    """Return whether there are too many cells for a row or a symbol each."""
    return len(cells) > MOST_ROWS or len({cell.setting for cell in cells}) > MOST_SERIES


def _draw_map(shares: Mapping[Cell, float], *title: str, simulated: bool) -> Chart:
    """Draw a heat map with one row per model and one column per setting.

    Args:
        shares: Number of each cell, in per cent; rows and columns follow its order.
        title: The chart's title, and the lines below it.
        simulated: Whether any number depends on a simulation.
    """
    models, columns = (list(dict.fromkeys(names)) for names in zip(*shares, strict=True))
    highest = max(shares.values(), default=0) or 1.0
    data = [
        {**cell._asdict(), "share": share, "strength": MOST_OPAQUE * share / highest}
        for cell, share in shares.items()
    ]
    room = (WIDTH - NAME_ROOM) / len(columns)
    # Rotate names that do not fit side by side.
    angle = 0 if LETTER * max(map(len, columns)) < room else -40
    base = alt.Chart(embed_data(data)).encode(
        x=alt.X(
            "setting:N",
            sort=None,
            scale=alt.Scale(domain=columns),
            title=None,
            axis=alt.Axis(labelAngle=angle, orient="top"),
        ),
        y=alt.Y("model:N", sort=None, scale=alt.Scale(domain=models), title=None),
    )
    squares = base.mark_rect(color=SERIES[0]).encode(
        opacity=alt.Opacity("strength:Q", scale=None, legend=None)
    )
    text = base.mark_text(color=INK).encode(text=alt.Text("share:Q", format=".0f"))
    chart = alt.layer(squares, text)
    return finish(chart, *title, height={"step": _MAP_STEP}, simulated=simulated)


def _select_totals(table: pl.DataFrame) -> pl.DataFrame:
    """Return the accuracies of cells, without credit and other measures."""
    return table.filter(table["metric"].is_in(["accuracy", "gptscore"]))


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


def _scale_row(row: Row) -> dict[str, float]:
    """Return the columns `acc`, `lo` and `hi` of a chart, in per cent."""
    return {"acc": 100 * row["estimate"], "lo": 100 * row["low"], "hi": 100 * row["high"]}
