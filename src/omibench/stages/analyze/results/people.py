"""People as respondents: their accuracy, and the accuracy of models on the same problems."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import polars as pl

from omibench.errors import ParamsError
from omibench.results.slices import fill_measures
from omibench.results.statistics.agreement import (
    Unit,
    count_ratings,
    estimate_agreement,
    estimate_nominal,
    make_ac1,
)
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.people import (
    BY_PROBLEMS,
    EVERYBODY,
    FAMILIARISATION,
    MAJORITY,
    MODEL,
    SCORED,
    add_kinds,
    compare_with_people,
    estimate_people,
    find_subset,
    read_respondents,
    tabulate_seconds,
)
from omibench.stages.analyze.results.accuracy import CELL, METRICS, estimate_metrics, name_metric
from omibench.stages.analyze.results.result import result
from omibench.stages.analyze.results.slices import slice_items

_VOTERS = 3
"""Minimum number of people for a majority: two can differ."""
_LOG = logging.getLogger("omibench")


@result("people", "People and models on the same problems", source="OMIBench, appendix K, table 8")
def tabulate_people(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the accuracy of people and models on the problems given to people.

    People's answers (`analyze.people`) are scored by the scorers of the study, without calls to a
    model. `kind` is `person`, `group`, `everybody` or `model`, and `respondent` the name. All rows
    are over the same problems, overall and by slice. Metric `difference` is a cell minus a group
    (`baseline`) over the same problems, `median seconds` the time of an answer. The kind `majority`
    is the median verdict on each problem with answers of three people or more, a ceiling for
    models. Metrics `agreement` (share of pairs of people) and `ac1` (Gwet's) are of verdicts on the
    same problem. Without a file of answers, the table has only models' rows on the problems of
    `analyze.people_subset`.

    Args:
        analysis: The study's results.

    Returns:
        The rows; `n` counts answers of people and items of models, `problems` the problems. None if
        the study has neither people's answers nor a subset.

    Raises:
        MissingInputError: The file is missing.
        PluginError: A plug-in's scorer failed.
    """
    respondents = read_respondents(analysis)
    if respondents is None or not respondents.problems:
        return None
    labels = slice_items(analysis).filter(pl.col("id").is_in(respondents.problems))
    values = analysis.item_values.filter(pl.col("id").is_in(respondents.problems))
    parts = [_estimate_models(analysis, values, labels)]
    if not respondents.verdicts.is_empty():
        single = fill_measures(respondents.verdicts).with_columns(
            simulated=pl.col("simulated") | analysis.results.has_synthetic_problems
        )
        verdicts = pl.concat([add_kinds(single), _find_majority(single)], how="diagonal")
        parts = [_estimate_respondents(analysis, verdicts, labels), *parts]
        parts.append(_compare(analysis, values, verdicts))
        parts.append(pl.DataFrame(_measure_agreement(single, analysis.confidence)))
    clusters = dict(analysis.items.select("id", "cluster").iter_rows())
    seconds = tabulate_seconds(respondents.answers, clusters, analysis.confidence)
    if seconds is not None:
        parts.append(seconds)
    return _sort_rows(pl.concat(parts, how="diagonal_relaxed"), labels)


@result("people-subset", "Problems given to people", source="OMIBench, appendix K")
def tabulate_subset(analysis: Analysis) -> pl.DataFrame | None:
    """List the problems that `analyze.people_subset` draws, in the order of the draw.

    Args:
        analysis: The study's results.

    Returns:
        One row per problem: `problem`, `use` (`scored` or `familiarisation`), its stratum as
        `slice` and `value`; None if the study draws none, or cannot (with a warning). The estimate
        is empty.
    """
    subset = analysis.study.analyze.people_subset
    try:
        draw = find_subset(analysis)
    except ParamsError as error:
        _LOG.warning("%s; the report omits it", error)
        return None
    if draw is None or subset is None:
        return None
    uses = {FAMILIARISATION: draw.familiarisation, SCORED: draw.scored}
    rows = [(id, use) for use, ids in uses.items() for id in ids]
    labels = analysis.items.select("id", value=pl.col(subset.by).cast(pl.String))
    frame = pl.DataFrame(rows, schema={"problem": pl.String, "use": pl.String}, orient="row")
    return frame.join(
        labels, left_on="problem", right_on="id", how="left", maintain_order="left"
    ).with_columns(
        slice=pl.lit(subset.by),
        metric=pl.lit("use"),
        simulated=pl.lit(analysis.results.has_synthetic_problems),
    )


def _sort_rows(rows: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    """Sort the slices of each respondent or cell in the order of `labels`."""
    slices = labels.select("slice", "value").unique(maintain_order=True).with_row_index("_slice")
    owner = ["kind", "respondent", "model", "setting", "rules", "metric"]
    numbered = rows.join(slices, on=["slice", "value"], how="left", maintain_order="left")
    first = pl.col("_row").min().over(owner)
    return (
        numbered.with_row_index("_row")
        .sort(first, "_slice", maintain_order=True)
        .drop("_row", "_slice")
    )


def _estimate_respondents(
    analysis: Analysis, verdicts: pl.DataFrame, labels: pl.DataFrame
) -> pl.DataFrame:
    rows_by_slice = verdicts.join(labels, on="id", maintain_order="left")
    return pl.concat(
        estimate_people(rows_by_slice, analysis.confidence, column).with_columns(
            metric=name_metric(metric)
        )
        for column, metric in METRICS.items()
        if rows_by_slice[column].null_count() < rows_by_slice.height
    )


def _find_majority(verdicts: pl.DataFrame) -> pl.DataFrame:
    """Return the median verdict on each problem that enough people answered."""
    votes = verdicts.group_by("rules", "id", maintain_order=True).agg(
        pl.col("cluster").first(),
        pl.col("simulated").any(),
        pl.col(list(METRICS)).median(),
        voters=pl.col("person").n_unique(),
    )
    return votes.filter(pl.col("voters") >= _VOTERS).select(
        pl.exclude("voters"),
        *(pl.lit(MAJORITY).alias(name) for name in ("person", "kind", "respondent")),
    )


def _measure_agreement(verdicts: pl.DataFrame, confidence: float) -> Iterator[dict[str, Any]]:
    """Return the agreement of people's verdicts by each scorer, where two answered a problem."""
    for (rules,), part in verdicts.group_by("rules", maintain_order=True):
        units = [
            Unit(rows["cluster"][0], dict(rows.select("person", "verdict").iter_rows()))
            for _, rows in part.group_by("id", maintain_order=True)
        ]
        ratings = count_ratings(units)
        if not ratings.n_clusters:
            continue
        pairs = estimate_agreement(ratings, confidence)
        chance = estimate_nominal(make_ac1(ratings), ratings.n_clusters, pairs)
        for metric, (value, low, high) in {"agreement": pairs[:3], "ac1": chance}.items():
            yield {
                "rules": rules, "kind": EVERYBODY, "respondent": "", "metric": metric,
                "estimate": value, "low": low, "high": high, "n": len(ratings.clusters),
                "clusters": ratings.n_clusters, "problems": len(ratings.clusters),
                "people": part["person"].n_unique(), "slice": "", "value": "",
                "variance": BY_PROBLEMS, "simulated": bool(part["simulated"].any()),
            }  # fmt: skip


def _estimate_models(
    analysis: Analysis, values: pl.DataFrame, labels: pl.DataFrame
) -> pl.DataFrame:
    """Return the accuracy of each cell under each scorer on the same problems."""
    rows_by_slice = values.join(labels, on="id", maintain_order="left")
    parts = estimate_metrics(analysis, rows_by_slice, [*CELL, "slice", "value"])
    return analysis.mark_simulated(pl.concat(parts).drop("n_eff")).with_columns(
        kind=pl.lit(MODEL), respondent="model", problems="n", variance=pl.lit(BY_PROBLEMS)
    )


def _compare(analysis: Analysis, values: pl.DataFrame, verdicts: pl.DataFrame) -> pl.DataFrame:
    rows = compare_with_people(values, verdicts, analysis.confidence)
    if rows.is_empty():
        return rows
    simulated = bool(verdicts["simulated"].any())
    return analysis.mark_simulated(rows).with_columns(
        pl.col("simulated") | simulated, metric=pl.lit("difference")
    )
