"""The figure of accuracy by number of images, for all models together and each of them.

It includes only settings that show every picture of the whole item.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import altair as alt

from omibench.results.load import Results
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.charts.marks import (
    WIDTH,
    embed_data,
    encode_colour,
    encode_shape,
    make_title,
    model_name,
    per_cent,
)
from omibench.stages.analyze.charts.theme import INK, MUTED, Chart
from omibench.stages.analyze.results.accuracy import list_image_bins
from omibench.stages.analyze.words import count_noun, describe_pool, format_level

if TYPE_CHECKING:
    import polars as pl

MOST_MODELS = 16
"""The maximum number of models in the figure; larger studies show the best, the table all."""
MIN_PROBLEMS = 10
"""Points over fewer problems are pale and not joined by lines, since they are too uncertain."""


class Point(NamedTuple):
    """One model in one bin of image counts, over the pooled settings; `acc` in per cent."""

    model: str
    images: str
    acc: float
    n: int

    @property
    def few(self) -> bool:
        """Whether the point has too few problems to be joined to others."""
        return self.n < MIN_PROBLEMS


def points(analysis: Analysis) -> list[Point]:
    """Return the accuracy of each model of the figure, by bin."""
    drawn = models(analysis)
    rows = _select_models(analysis).iter_rows(named=True)
    found = {(row["model"], row["value"]): row for row in rows}
    return [
        Point(model, images, 100 * row["estimate"], row["n"])
        for model in drawn
        for images in list_image_bins(analysis)
        if (row := found.get((model, images)))
    ]


def models(analysis: Analysis) -> list[str]:
    """Return the models of the figure in the study's order; if too many, those with the highest
    ACC."""
    every = _list_pooled_models(analysis.results)
    if len(every) <= MOST_MODELS:
        return every
    rows = _select_models(analysis)
    sums = rows.select("model", "n", right=rows["estimate"] * rows["n"]).group_by("model").sum()
    means = dict(sums.select("model", sums["right"] / sums["n"]).iter_rows())
    return sorted(every, key=lambda model: -means.get(model, 0.0))[:MOST_MODELS]


def _select_models(analysis: Analysis) -> pl.DataFrame:
    """Return the rows of each model over the pooled settings, under the main scorer."""
    table = analysis.rows("accuracy-by-images").filter(
        setting="", rules=analysis.results.main_rules
    )
    return table.filter(table["model"] != "")


def _list_pooled_models(results: Results) -> list[str]:
    settings = results.pooled_settings
    return list(dict.fromkeys(c.model for c in results.study.cells if c.setting in settings))


def join_points(model_points: Sequence[Point], bins: Sequence[str]) -> list[tuple[Point, Point]]:
    """Return the pairs of a model's neighbouring points that a line joins."""
    points_by_bin = {(p.model, p.images): p for p in model_points if not p.few}
    return [
        (points_by_bin[model, first], points_by_bin[model, second])
        for model in dict.fromkeys(p.model for p in model_points)
        for first, second in pairwise(bins)
        if (model, first) in points_by_bin and (model, second) in points_by_bin
    ]


def draw_images(analysis: Analysis) -> Chart:
    """Draw accuracy by number of images: pooled models with intervals, and each model's points."""
    results = analysis.results
    bins, model_points = list_image_bins(analysis), points(analysis)
    together = analysis.rows("accuracy-by-images").filter(model="", rules=results.main_rules)
    pooled = {row["value"]: row for row in together.iter_rows(named=True)}
    counts = {b: pooled[b]["n"] if b in pooled else 0 for b in bins}
    label = {b: f"{b}|{count_noun(counts[b], 'problem')}" for b in bins}
    names = [model_name(results, model) for model in models(analysis)]
    x = alt.X(
        "bin:O",
        sort=list(label.values()),
        title="Images in the problem",
        axis=alt.Axis(labelExpr="split(datum.label, '|')", labelAngle=0),
    )
    y = alt.Y("acc:Q", title="Accuracy, %", scale=alt.Scale(domain=[0, 100]))
    colour, shape = encode_colour("model", names, "Model"), encode_shape("model", names, "Model")

    def row(point: Point, line: int = 0) -> dict[str, Any]:
        name = model_name(results, point.model)
        return {**point._asdict(), "model": name, "bin": label[point.images], "line": line,
                "opacity": 0.4 if point.few else 1.0}  # fmt: skip

    lines = [row(p, n) for n, pair in enumerate(join_points(model_points, bins)) for p in pair]
    every = alt.Chart(embed_data([{"bin": label[b], **per_cent(pooled[b])} for b in pooled]))
    points_chart = alt.Chart(embed_data([row(p) for p in model_points])).encode(
        x=x, y=y, color=colour, shape=shape
    )
    return alt.layer(
        every.mark_bar(width=64, color=MUTED, opacity=0.22).encode(x=x, y="lo:Q", y2="hi:Q"),
        every.mark_tick(width=64, thickness=3, color=INK).encode(x=x, y="acc:Q"),
        alt.Chart(embed_data(lines))
        .mark_line(strokeWidth=1.5, opacity=0.75)
        .encode(x=x, y=y, color=colour, detail="line:N"),
        points_chart.mark_point(size=70).encode(opacity=alt.Opacity("opacity:Q", scale=None)),
    ).properties(
        width=WIDTH,
        height=300,
        title=make_title(
            "Accuracy by number of images",
            *_subtitle(analysis, model_points),
            simulated=results.main_simulated,
        ),
    )


def _subtitle(analysis: Analysis, model_points: Sequence[Point]) -> list[str]:
    results = analysis.results
    every = len(_list_pooled_models(results))
    models_drawn = len(models(analysis))
    whose_points = (
        "each model"
        if models_drawn == every
        else f"the {models_drawn} of {every} models with the highest ACC"
    )
    lines = [
        f"bars: models together, {format_level(analysis.confidence)} interval; "
        f"points: {whose_points}; {describe_pool(results)}"
    ]
    if any(p.few for p in model_points):
        lines.append(f"pale and not joined: a point over fewer than {MIN_PROBLEMS} problems")
    return lines
