"""The figure of accuracy by number of images, for all models together and each of them.

It includes only settings that show every picture of the whole item.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import altair as alt

from omibench.results.load import Results
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
from omibench.stages.analyze.tables.accuracy import (
    ALL_CELLS,
    ImageScore,
    image_bins,
    in_image_bin,
    pool_cells,
)
from omibench.stages.analyze.words import count_noun, describe_pool, format_level

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


def points(results: Results) -> list[Point]:
    """Return the mean over problems of each model of the figure, by bin."""
    import polars as pl

    problems = (
        pool_cells(results, results.main_rules)
        .group_by("model", "id", "n_images", maintain_order=True)
        .agg(pl.col("verdict").mean())
    )
    return [
        Point(model, images, 100 * float(part["verdict"].sum()) / part.height, part.height)
        for model in models(results)
        for images in image_bins(results)
        if (part := in_image_bin(problems.filter(model=model), images)).height
    ]


def models(results: Results) -> list[str]:
    """Return the models of the figure in the study's order; if too many, those with the highest
    ACC."""
    import polars as pl

    every = _list_pooled_models(results)
    if len(every) <= MOST_MODELS:
        return every
    rows = pool_cells(results, results.main_rules)
    means = dict(rows.group_by("model").agg(pl.col("verdict").mean()).iter_rows())
    return sorted(every, key=lambda model: -means.get(model, 0.0))[:MOST_MODELS]


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


def draw_images(results: Results, rows: Sequence[ImageScore]) -> Chart:
    """Draw accuracy by number of images: pooled models with intervals, and each model's points."""
    bins, model_points = image_bins(results), points(results)
    pooled = {
        s.images: s.acc for s in rows if s.cell == ALL_CELLS and s.rules == results.main_rules
    }
    label = {b: f"{b}|{count_noun(pooled[b].n if b in pooled else 0, 'problem')}" for b in bins}
    names = [model_name(results, model) for model in models(results)]
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
            *_subtitle(results, model_points),
            simulated=results.main_simulated,
        ),
    )


def _subtitle(results: Results, model_points: Sequence[Point]) -> list[str]:
    every = len(_list_pooled_models(results))
    models_drawn = len(models(results))
    whose_points = (
        "each model"
        if models_drawn == every
        else f"the {models_drawn} of {every} models with the highest ACC"
    )
    lines = [
        f"bars: models together, {format_level(results.study.analyze.confidence)} interval; "
        f"points: {whose_points}; {describe_pool(results)}"
    ]
    if any(p.few for p in model_points):
        lines.append(f"pale and not joined: a point over fewer than {MIN_PROBLEMS} problems")
    return lines
