"""Scores of models on this and other benchmarks, and their correlations."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

import polars as pl

from omibench.papers.tables import match_models
from omibench.results.grouped import estimate_groups
from omibench.results.statistics.correlation import COEFFICIENTS, FEWEST, Correlation, correlate
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.accuracy import name_metric
from omibench.stages.analyze.results.result import frame_rows, result, write_estimate
from omibench.stages.analyze.user_files import EXTERNAL_SCORES_KEY as KEY
from omibench.stages.analyze.user_files import read_external_scores, read_or_warn

NAMED = 5
"""The number of models that a warning lists."""
_LOG = logging.getLogger("omibench")


@result(
    "model-scores",
    "Scores of models here and on other benchmarks",
    source="OMIBench, figures 3a and 3d",
)
def tabulate_model_scores(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate one value per model and series, for this study and other benchmarks.

    Ours are accuracies and GPTScore under the reference setting (`analyze.reference_setting`);
    others come from `analyze.external_scores`, on the scale of that file.

    Args:
        analysis: The study's results.

    Returns:
        Rows with `series` (benchmark, metric and scorer), `benchmark` and `source`; `model` is the
        study's name of a matching model, otherwise the name in the file. None if there is only one
        series.

    Raises:
        MissingInputError: The file is missing.
    """
    rows = pl.concat([_score_models(analysis), _read_others(analysis)], how="diagonal_relaxed")
    return rows if rows["series"].n_unique() > 1 else None


@result(
    "correlations",
    "Correlations over models, here and with other benchmarks",
    source="OMIBench, appendix J and figures 3a, 3d",
)
def tabulate_correlations(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the correlation of each pair of series of `model-scores` over their common models.

    Args:
        analysis: The study's results.

    Returns:
        One row per pair of series (`first`, `second`) and coefficient (`metric`: pearson, spearman,
        kendall), in [-1, 1]: `low` and `high` by Fisher's transformation, `resampled_low` and
        `resampled_high` by bootstrap over models, two-sided `p`, `n` models, `most_influential`
        (the model whose removal changes it most) with the coefficient `without` it, and the range
        over all single removals. None if no two series share three models.

    Raises:
        MissingInputError: The file of other scores is missing.
        MissingExtraError: scipy is not installed.
    """
    # `analysis.table` has six digits, and the last one of a correlation would depend on rounding.
    table = tabulate_model_scores(analysis)
    if table is None:
        return None
    series: dict[str, dict[str, float]] = {}
    for name, model, value in table.select("series", "model", "estimate").iter_rows():
        series.setdefault(name, {})[model] = value
    simulated = set(table.filter("simulated")["series"])
    rows = [
        row | {"simulated": not simulated.isdisjoint((row["first"], row["second"]))}
        for pair in combinations(series.items(), 2)
        for row in _correlate_pair(*pair, confidence=analysis.confidence)
    ]
    return frame_rows(rows)


def _correlate_pair(
    first: tuple[str, Mapping[str, float]],
    second: tuple[str, Mapping[str, float]],
    confidence: float,
) -> Iterable[dict[str, Any]]:
    models = [model for model in first[1] if model in second[1]]
    if len(models) < FEWEST:
        return
    values = [[scores[model] for model in models] for scores in (first[1], second[1])]
    for coefficient in COEFFICIENTS:
        correlation = correlate(values[0], values[1], coefficient, confidence)
        yield {"first": first[0], "second": second[0], **_describe(correlation, models)}


def _describe(correlation: Correlation, models: list[str]) -> dict[str, Any]:
    influence = correlation.influence
    return {
        "metric": correlation.coefficient,
        **write_estimate((correlation.value, *correlation.interval)),
        "n": correlation.n,
        "clusters": correlation.n,
        "p": correlation.p,
        "resampled_low": correlation.resampled.lo,
        "resampled_high": correlation.resampled.hi,
        "most_influential": models[influence.place]
        if influence.without == influence.without
        else None,
        "without": influence.without,
        "lowest_without_one": influence.lowest,
        "highest_without_one": influence.highest,
    }


def _score_models(analysis: Analysis) -> pl.DataFrame:
    """Return accuracy and GPTScore of each model under the reference setting."""
    family = analysis.results.family
    first = analysis.results.study.infer.settings[0]
    cells = family.cells if family.settings else [c for c in family.cells if c.setting == first]
    family_cells = pl.DataFrame(cells, ["model", "setting"], orient="row")
    values = analysis.item_values.filter(pl.col("rules").is_in(analysis.results.rules)).join(
        family_cells, on=["model", "setting"], how="semi", maintain_order="left"
    )
    estimates = estimate_groups(values, ["model", "setting", "rules"], analysis.confidence)
    dataset = analysis.results.manifest.name
    scores = estimates.drop("n_eff").with_columns(
        metric=name_metric("accuracy"), benchmark=pl.lit(dataset), source=pl.lit("measured")
    )
    names = pl.when(pl.col("metric") == "accuracy").then(
        pl.format("{}: accuracy ({})", pl.lit(dataset), pl.col("rules"))
    )
    series = names.otherwise(pl.format("{}: GPTScore", pl.lit(dataset)))
    return analysis.mark_simulated(scores.with_columns(series=series))


def _read_others(analysis: Analysis) -> pl.DataFrame:
    path = analysis.study.analyze.external_scores
    labels = {
        cell.model: analysis.results.label(cell.model) for cell in analysis.results.study.cells
    }
    scores = (read_or_warn(lambda: read_external_scores(path)) if path else None) or []
    models = match_models((row.model for row in scores), labels)
    other_names = [name for name, model in models.items() if model is None]
    if other_names:
        ending = ", ..." if other_names[NAMED:] else ""
        examples = ", ".join(map(repr, other_names[:NAMED])) + ending
        _LOG.warning(
            "%s: %d of %d models of %s match no name or label of this study: %s",
            KEY, len(other_names), len(models), path, examples,
        )  # fmt: skip
    rows = [
        {
            "model": models[row.model] or row.model,
            "metric": row.metric,
            "benchmark": row.benchmark,
            "series": f"{row.benchmark}: {row.metric}",
            "estimate": row.value,
            "source": row.source,
            "simulated": row.simulated,
        }
        for row in scores
    ]
    words = dict.fromkeys(("model", "metric", "benchmark", "series", "source"), pl.String)
    schema = {**words, "estimate": pl.Float64, "simulated": pl.Boolean}
    return pl.DataFrame(rows, schema=schema)
