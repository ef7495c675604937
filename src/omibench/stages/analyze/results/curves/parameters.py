"""Accuracy against the size of models, and the size beyond which larger ones gain nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from omibench.stages.analyze.results.accuracy import CELL
from omibench.stages.analyze.results.curves.points import estimate_points, frame_cells
from omibench.stages.analyze.results.result import result
from omibench.statistics.log_trend import fit_log_trend
from omibench.statistics.saturation import find_saturation, resample_saturation

if TYPE_CHECKING:
    import polars as pl

    from omibench.params.stage_params import ResultsParams
    from omibench.stages.analyze.analysis import Analysis

SIZES = {"total": "parameters_b", "active": "active_parameters_b"}
"""Which parameters a curve is over -> the column that counts them."""
SATURATION, SLOPE = "saturation", "slope"
_CURVE = ("family", "variant", "setting", "rules")
_FEWEST = 3
"""Sizes below which a family is no curve."""


@result(
    "accuracy-by-parameters",
    "Accuracy by total and activated parameters of the models of a family",
    source="OMIBench, H.2 and figure 5b",
)
def tabulate_parameters(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the models of families with three sizes or more, each setting by itself.

    Args:
        analysis: The study's results.

    Returns:
        A row per cell and rule book: `family` and `variant` as the models' blocks say them,
        `parameters_b` and `active_parameters_b` in billions (the same where all work on each
        token). None where no family has three sizes.
    """
    import polars as pl

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
    "The size beyond which larger models of a family gain less than half a point",
    source="OMIBench, H.2 and figure 5b",
)
def tabulate_saturation(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate saturation points, and what a doubling of the parameters gains.

    Args:
        analysis: The study's results.

    Returns:
        For each curve of `accuracy-by-parameters`, over `parameters` `total` and `active`: a row
        with the metric `saturation`, whose `estimate` is the smallest size in billions beyond which
        every larger model gains less than 0.5 points (null where the curve still rises), with
        `stability`, the share of resamples of the items that find the same; and a row with the
        metric `slope`, the gain in accuracy with each doubling, with `r_squared`. `n` counts the
        items that all models of the curve answered, `models` these. None without such curves.
    """
    import polars as pl

    table = analysis.table("accuracy-by-parameters")
    if table is None:
        return None
    rows = []
    for keys, part in table.group_by(*_CURVE, maintain_order=True):
        curve = dict(zip(_CURVE, keys, strict=True))
        answers = _pivot_answers(analysis, part)
        for name, column in SIZES.items():
            sizes = dict(part.select("model", column).iter_rows())
            if len(set(sizes.values())) >= _FEWEST and len(answers.clusters):
                simulated = bool(part["simulated"].any())
                facts = curve | {"parameters": name, "simulated": simulated}
                rows += [
                    facts | row for row in _describe_curve(answers, sizes, analysis.confidence)
                ]
    return pl.DataFrame(rows, infer_schema_length=None) if rows else None


class _CurveAnswers(NamedTuple):
    """What the models of one curve are worth on the items that all of them answered."""

    models: list[str]
    values: np.ndarray
    """[item, model], each in [0, 1]."""
    clusters: list[str]


def _frame_models(study: ResultsParams) -> pl.DataFrame:
    """The models of families, but for those that were fine-tuned from another."""
    import polars as pl

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


def _pivot_answers(analysis: Analysis, part: pl.DataFrame) -> _CurveAnswers:
    import polars as pl

    keys = part.select(*CELL)
    values = analysis.item_values.join(keys, on=list(CELL), how="semi")
    wide = values.pivot("model", index=["id", "cluster"], values="verdict").drop_nulls()
    models = [name for name in part["model"].to_list() if name in wide.columns]
    return _CurveAnswers(
        models, wide.select(models).cast(pl.Float64).to_numpy(), wide["cluster"].to_list()
    )


def _describe_curve(
    answers: _CurveAnswers, sizes: dict[str, float], confidence: float
) -> Iterator[dict[str, Any]]:
    places = [sizes[model] for model in answers.models]
    means = answers.values.mean(axis=0)
    scores: dict[float, float] = {}
    for place, mean in zip(places, means.tolist(), strict=True):
        scores[place] = max(mean, scores.get(place, 0.0))
    size = find_saturation(scores)
    shared = {
        "n": len(answers.clusters),
        "clusters": len(set(answers.clusters)),
        "models": len(answers.models),
    }
    yield shared | {
        "metric": SATURATION,
        "estimate": size,
        "score": None if size is None else scores[size],
        "best": max(scores.values()),
        "stability": resample_saturation(places, answers.values, answers.clusters, size),
    }
    trend = fit_log_trend(places, answers.values, answers.clusters, confidence)
    if trend:
        slope = trend.slope
        numbers = {"estimate": slope.mean, "low": slope.lo, "high": slope.hi}
        yield shared | {"metric": SLOPE, **numbers, "r_squared": trend.r_squared}
