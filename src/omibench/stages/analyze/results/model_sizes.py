"""Accuracy against the size of models, and the size beyond which it no longer grows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import polars as pl

from omibench.results.statistics.regression import (
    find_saturation,
    fit_log_trend,
    resample_saturation,
)
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.accuracy import CELL
from omibench.stages.analyze.results.curve_series import estimate_points, frame_cells
from omibench.stages.analyze.results.result import frame_rows, result, write_estimate

if TYPE_CHECKING:  # results do not depend on the other blocks of a study
    from omibench.params.study import Study

SIZES = {"total": "parameters_b", "active": "active_parameters_b"}
"""The column that counts the parameters of each kind of curve."""
SATURATION, SLOPE = "saturation", "slope"
_CURVE = ("family", "variant", "setting", "rules")
_FEWEST = 3
"""The minimum number of sizes of a family's curve."""


@result(
    "accuracy-by-parameters",
    "Accuracy by total and activated parameters of the models of a family",
    source="OMIBench, H.2 and figure 5b",
)
def tabulate_parameters(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the models of families with three sizes or more, separately for each setting.

    Args:
        analysis: The study's results.

    Returns:
        One row per cell and scorer: `family` and `variant` from the models' blocks, `parameters_b`
        and `active_parameters_b` in billions (equal for dense models). None if no family has three
        sizes.
    """
    models = _frame_models(analysis.results.study)
    cells = frame_cells(analysis).drop("simulated", "setting_label")
    points = cells.join(models, on="model", maintain_order="left").filter(
        pl.col("parameters_b").n_unique().over("family", "variant", "setting") >= _FEWEST
    )
    if points.is_empty():
        return None
    ordered = points.sort("family", "variant", "setting", "parameters_b", maintain_order=True)
    return estimate_points(analysis, ordered, analysis.item_values)


@result(
    "saturation",
    "Size beyond which larger models of a family gain less than half a point",
    source="OMIBench, H.2 and figure 5b",
)
def tabulate_saturation(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate saturation points, and the gain from doubling the parameters.

    Args:
        analysis: The study's results.

    Returns:
        For each curve of `accuracy-by-parameters`, over `parameters` `total` and `active`: a row
        with the metric `saturation`, whose `estimate` is the smallest size in billions beyond which
        every larger model gains less than 0.5 points (null if the curve still rises), and whose
        `stability` is the share of resamples of the items with the same result; and a row with the
        metric `slope`, the gain in accuracy per doubling, with `r_squared`. `n` is the number of
        items that all models of the curve answered, `models` the number of models. None without
        such curves.
    """
    table = analysis.table("accuracy-by-parameters")
    if table is None:
        return None
    rows = []
    for keys, part in table.group_by(*_CURVE, maintain_order=True):
        curve = dict(zip(_CURVE, keys, strict=True))
        values = analysis.item_values.join(part.select(CELL), on=CELL, how="semi")
        answers = values.pivot("model", index=["id", "cluster"], values="verdict").drop_nulls()
        for name, column in SIZES.items():
            sizes = dict(part.select("model", column).iter_rows())
            if len(set(sizes.values())) >= _FEWEST and answers.height:
                simulated = bool(part["simulated"].any())
                facts = curve | {"parameters": name, "simulated": simulated}
                rows += [
                    facts | row for row in _describe_curve(answers, sizes, analysis.confidence)
                ]
    return frame_rows(rows)


def _frame_models(study: Study) -> pl.DataFrame:
    """Return the models of families, without those fine-tuned from another model."""
    rows = [
        (
            name,
            model.family,
            model.variant or "",
            model.parameters_b,
            model.active_parameters_b or model.parameters_b,
        )
        for name, model in study.models.items()
        if model.family and model.parameters_b and not model.base
    ]
    text = dict.fromkeys(("model", "family", "variant"), pl.String)
    schema = {**text, **dict.fromkeys(SIZES.values(), pl.Float64)}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _describe_curve(
    answers: pl.DataFrame, sizes: dict[str, float], confidence: float
) -> Iterator[dict[str, Any]]:
    """Describe a curve by the values of its models, as columns, on the items all answered."""
    models = [model for model in sizes if model in answers.columns]
    places, clusters = [sizes[model] for model in models], answers["cluster"].to_list()
    values = answers.select(models).cast(pl.Float64).to_numpy()
    scores: dict[float, float] = {}
    for place, mean in zip(places, values.mean(axis=0).tolist(), strict=True):
        scores[place] = max(mean, scores.get(place, 0.0))
    size = find_saturation(scores)
    shared = {"n": len(clusters), "clusters": len(set(clusters)), "models": len(models)}
    yield shared | {
        "metric": SATURATION,
        "estimate": size,
        "score": None if size is None else scores[size],
        "best": max(scores.values()),
        "stability": resample_saturation(places, values, clusters, size),
    }
    trend = fit_log_trend(places, values, clusters, confidence)
    if trend:
        numbers = write_estimate(trend.slope)
        yield shared | {"metric": SLOPE, **numbers, "r_squared": trend.r_squared}
