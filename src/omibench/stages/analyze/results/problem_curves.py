"""Accuracy by attributes of problems and responses: year of the exam, length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan
from typing import Any, Final

import polars as pl

from omibench.results.grouped import average_samples, estimate_groups
from omibench.results.load import JUDGE_RULES
from omibench.results.slices import LENGTHS
from omibench.results.statistics.correlation import correlate_by_rank, correlate_values
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.accuracy import CELL, name_metric
from omibench.stages.analyze.results.curve_series import label_cells
from omibench.stages.analyze.results.result import JOINT, result
from omibench.stages.analyze.results.setting_curves import EXAM
from omibench.stages.analyze.results.within_subjects import add_differences

YEAR = "year"
QUESTIONS = "questions"
"""The metric of rows with the number of questions of a year."""


@result(
    "accuracy-by-year",
    "Accuracy and number of questions by year of the exam",
    source='USNCO-V, "Surpassing Human Average: Model Accuracy by Year" and figure 5',
)
def tabulate_years(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate accuracies by the attribute `year` of items, and by `exam` if known.

    With several runs, counts of right answers are averages and not whole numbers, as in the paper.

    Args:
        analysis: The study's results.

    Returns:
        One row per cell, scorer and year, and one per year whose `metric` is `questions` and whose
        `estimate` is their number in the dataset; `year` is the year as a number, `exam` the exam
        (empty if items have none); the columns of `within_subjects.add_differences` compare each
        year with the first. None if items have no year or all the same.
    """
    items = date_items(analysis.items)
    if items is None:
        return None
    by = ["exam", "year"]
    values = analysis.item_values.join(
        items.select("id", *by), on="id", how="inner", maintain_order="left"
    )
    means = estimate_groups(values, [*CELL, *by], analysis.confidence).drop("n_eff")
    estimates = add_differences(analysis, means, values, [*CELL, "exam"], "year")
    marked = analysis.mark_simulated(estimates.with_columns(metric=name_metric("accuracy")))
    accuracies = label_cells(analysis, marked)
    questions = items.group_by(by, maintain_order=True).agg(
        estimate=pl.len().cast(pl.Float64), n=pl.len(), clusters=pl.col("cluster").n_unique()
    )
    counts = questions.with_columns(
        metric=pl.lit(QUESTIONS), simulated=pl.lit(analysis.results.has_synthetic_problems)
    )
    has_exams = items["exam"].n_unique() > 1
    year = pl.col("year").cast(pl.String)
    joint = pl.concat_str("exam", pl.lit(JOINT), year)
    table = pl.concat([accuracies, counts], how="diagonal_relaxed").with_columns(
        slice=pl.lit(EXAM + JOINT + YEAR if has_exams else YEAR), value=joint if has_exams else year
    )
    order = order_scorers(analysis)
    return table.sort("model", "setting", order, "exam", "year", nulls_last=True)


def order_scorers(analysis: Analysis) -> pl.Expr:
    """Return a key that sorts rows by scorer, the leaderboard's first, so that figures draw it.

    Args:
        analysis: The study's results.
    """
    places = {rules: place for place, rules in enumerate(analysis.results.rules)}
    return pl.col("rules").replace_strict(places, default=len(places), return_dtype=pl.Int64)


def date_items(items: pl.DataFrame) -> pl.DataFrame | None:
    """Return the items that have a year, with `year` as a number, `exam`, `subject` and `cluster`;
    None if fewer than two years."""
    if YEAR not in items.columns or items[YEAR].dtype != pl.String:
        return None
    has_exam = EXAM in items.columns and items[EXAM].dtype == pl.String
    exam = pl.col(EXAM).fill_null("") if has_exam else pl.lit("")
    year = pl.col(YEAR).cast(pl.Int64, strict=False)
    dated = items.select("id", "cluster", "subject", exam=exam, year=year).drop_nulls("year")
    return dated.sort("exam", "year") if dated["year"].n_unique() > 1 else None


BINS: Final = 5
"""The number of bins of equal size."""
_FEWEST: Final = 2 * BINS
"""The minimum number of responses of a cell with bins."""
_COEFFICIENTS: Final = {"spearman": correlate_by_rank, "point-biserial": correlate_values}
_WITH_INTERVAL: Final = "spearman"
_SCORED: Final = (*CELL, "id", "cluster", "verdict")


@result("accuracy-by-length", "Accuracy by the length of responses, in bins of each cell")
def tabulate_lengths(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the accuracy of responses by length, separately for each cell.

    Bins split a cell's responses into equal numbers by rank of length; equal lengths share a bin.
    Responses without an answer count as wrong.

    Args:
        analysis: The study's results.

    Returns:
        One row per cell, under the main scorer and the judge, `slice` (the measure of length:
        characters of the visible text, all generated tokens, or reasoning tokens) and bin (1 is the
        shortest): the `shortest`, `longest` and `mean_length` of the bin, and its number of
        `responses`. `n` counts items. The columns of `within_subjects.add_differences` compare each
        bin with the shortest. None if no cell has ten responses.
    """
    lengths = _measure_verdicts(analysis, [analysis.results.main_rules, JUDGE_RULES])
    parts = [
        estimates
        for measure in LENGTHS
        if measure in lengths.columns
        and not (estimates := _estimate_bins(analysis, lengths, measure)).is_empty()
    ]
    if not parts:
        return None
    table = pl.concat(parts).with_columns(metric=name_metric("accuracy"))
    by = ["model", "setting", order_scorers(analysis), "slice", "bin"]
    rows = label_cells(analysis, table).sort(by, maintain_order=True)
    return analysis.mark_simulated(rows)


@result("length-correlations", "Correlation of correctness and length of responses")
def tabulate_correlations(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the correlation of length and verdict within each cell, under the main scorer.

    Args:
        analysis: The study's results.

    Returns:
        One row per cell, `slice` (the measure of length) and metric: `spearman`, and
        `point-biserial`, Pearson's with the verdict as a number; in [-1, 1] with `p`, two-sided.
        Only `spearman` has an interval: for skewed lengths that of `point-biserial` would cover
        its value too rarely. Problems that share a stem are a cluster, and so are the samples of a
        problem. `n` counts items, `responses` their samples. None if they are constant in every
        cell.
    """
    rows: list[dict[str, Any]] = []
    lengths = _measure_verdicts(analysis, [analysis.results.main_rules])
    coded = lengths.with_columns(pl.col("cluster").rank("dense"))
    for keys, part in coded.partition_by(CELL, as_dict=True, maintain_order=True).items():
        for measure in LENGTHS:
            if measure in part.columns:
                facts = dict(zip(CELL, keys, strict=True)) | {"slice": measure}
                measured = part.drop_nulls(measure)
                rows += [facts | row for row in _correlate(measured, measure, analysis.confidence)]
    if not rows:
        return None
    table = pl.DataFrame(rows, infer_schema_length=None)
    return analysis.mark_simulated(label_cells(analysis, table))


def _measure_verdicts(analysis: Analysis, scorers: Sequence[str]) -> pl.DataFrame:
    """Return the counted verdicts of some scorers, with all lengths of their responses."""
    responses = analysis.results.responses
    place = ["model", "setting", "id", "index"]
    measures = [name for name in LENGTHS if name in responses.columns]
    lengths = responses.select(*place, pl.col(measures).cast(pl.Float64))
    verdicts = analysis.results.counting_verdicts.filter(pl.col("rules").is_in(scorers))
    return verdicts.select(*_SCORED, "index").join(lengths, on=place, maintain_order="left")


def _estimate_bins(analysis: Analysis, lengths: pl.DataFrame, measure: str) -> pl.DataFrame:
    """Return the accuracy of each bin of each cell by one measure of length."""
    length, by = pl.col(measure), [*CELL, "bin"]
    rank = (length.rank("average") - 0.5) / pl.len()
    binned = (
        lengths.drop_nulls(measure)
        .filter(pl.len().over(CELL) >= _FEWEST)
        .with_columns(bin=(1 + (rank * BINS).floor()).clip(1, BINS).over(CELL).cast(pl.Int64))
    )
    is_sampled = bool((binned["index"] > 0).any())
    values = average_samples(binned, by) if is_sampled else binned
    ranges = binned.group_by(by).agg(
        shortest=length.min(),
        longest=length.max(),
        mean_length=length.mean(),
        responses=pl.len().cast(pl.Int64),
    )
    means = estimate_groups(values, by, analysis.confidence).drop("n_eff")
    estimates = add_differences(analysis, means, values, CELL, "bin")
    return estimates.join(ranges, on=by, maintain_order="left").with_columns(
        slice=pl.lit(measure), value=pl.col("bin").cast(pl.String)
    )


def _correlate(part: pl.DataFrame, measure: str, confidence: float) -> Iterator[dict[str, Any]]:
    length, verdict = part[measure].to_numpy(), part["verdict"].to_numpy()
    clusters = part["cluster"].to_numpy()
    for metric, correlate in _COEFFICIENTS.items():
        numbers = correlate(length, verdict, clusters, confidence)
        low, high = (numbers.low, numbers.high) if metric == _WITH_INTERVAL else (None, None)
        if not isnan(numbers.value):
            yield {
                "metric": metric, "estimate": numbers.value, "low": low, "high": high,
                "p": numbers.p, "n": part["id"].n_unique(), "clusters": numbers.clusters,
                "responses": numbers.n,
            }  # fmt: skip
