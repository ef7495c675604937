"""Accuracy against the length of responses, within each cell."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import TYPE_CHECKING, Any, Final

from omibench.results.grouped import estimate_groups
from omibench.results.slices import LENGTHS
from omibench.stages.analyze.results.accuracy import CELL, name_metric
from omibench.stages.analyze.results.curves.points import frame_cells
from omibench.stages.analyze.results.result import result
from omibench.statistics.clustered_correlation import correlate_by_rank, correlate_values

if TYPE_CHECKING:
    import polars as pl

    from omibench.stages.analyze.analysis import Analysis

BINS: Final = 5
"""Bins of equally many responses."""
_FEWEST: Final = 2 * BINS
"""Responses of a cell below which there are no bins."""
_COEFFICIENTS: Final = {"spearman": correlate_by_rank, "point-biserial": correlate_values}
_SCORED: Final = (*CELL, "id", "cluster", "verdict")


@result("accuracy-by-length", "Accuracy by the length of responses, in bins of each cell")
def tabulate_lengths(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the accuracy of short and long responses, each cell by itself.

    Bins hold equally many responses of one cell, by their rank in length; equal lengths share a
    bin. Responses without an answer count as wrong, as everywhere: a long one may be cut off.

    Args:
        analysis: The study's results.

    Returns:
        A row per cell, rule book, `slice` (the measure of length: characters of the visible text,
        all tokens that were generated, or those that were thought) and bin (1 is the shortest):
        `shortest` and `longest` of the bin and their `mean_length`, and how many `responses` it
        holds. `n` counts items. None where no cell has ten responses.
    """
    import polars as pl

    parts = []
    for measure in LENGTHS:
        lengths = _measure_verdicts(analysis, measure)
        rank = (pl.col("length").rank("average") - 0.5) / pl.len()
        binned = lengths.filter(pl.len().over(CELL) >= _FEWEST).with_columns(
            bin=(1 + (rank * BINS).floor()).clip(1, BINS).over(CELL).cast(pl.Int64)
        )
        if binned.is_empty():
            continue
        by = [*CELL, "bin"]
        values = binned.group_by(*by, "id", maintain_order=True).agg(
            pl.col("verdict").mean(), pl.col("cluster").first()
        )
        ranges = binned.group_by(by).agg(
            pl.col("length").min().alias("shortest"),
            pl.col("length").max().alias("longest"),
            pl.col("length").mean().alias("mean_length"),
            pl.len().cast(pl.Int64).alias("responses"),
        )
        estimates = estimate_groups(values, by, analysis.confidence).drop("n_eff")
        parts.append(
            estimates.join(ranges, on=by, maintain_order="left").with_columns(
                slice=pl.lit(measure), value=pl.col("bin").cast(pl.String)
            )
        )
    if not parts:
        return None
    table = pl.concat(parts).with_columns(metric=name_metric("accuracy"))
    labels = frame_cells(analysis).select("model", "setting", "label", "setting_label")
    joined = table.join(labels, on=["model", "setting"], maintain_order="left")
    return analysis.mark_simulated(joined.sort(*CELL, "slice", "bin", maintain_order=True))


@result("length-correlations", "How far being right goes with the length of responses")
def tabulate_correlations(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the correlation of length and verdict within each cell, under the main rules.

    Args:
        analysis: The study's results.

    Returns:
        A row per cell, `slice` (the measure of length) and metric: `spearman`, and
        `point-biserial`, Pearson's with the verdict as a number; in [-1, 1] with `p`, two-sided.
        Problems that share a stem are a cluster, and so are the samples of a problem. `n` counts
        items, `responses` their samples. None where in no cell both vary.
    """
    import polars as pl

    main_rules = analysis.results.main_rules
    rows: list[dict[str, Any]] = []
    for measure in LENGTHS:
        lengths = _measure_verdicts(analysis, measure).filter(rules=main_rules)
        coded = lengths.with_columns(pl.col("cluster").rank("dense"))
        for keys, part in coded.partition_by(CELL, as_dict=True, maintain_order=True).items():
            facts = dict(zip(CELL, keys, strict=True)) | {"slice": measure}
            rows += [facts | row for row in _correlate(part, analysis.confidence)]
    if not rows:
        return None
    labels = frame_cells(analysis).select("model", "setting", "label", "setting_label")
    table = pl.DataFrame(rows, infer_schema_length=None)
    joined = table.join(labels, on=["model", "setting"], maintain_order="left")
    return analysis.mark_simulated(joined)


def _measure_verdicts(analysis: Analysis, measure: str) -> pl.DataFrame:
    """The verdicts that count, with the length of their response; those without one are absent."""
    import polars as pl

    responses, length = analysis.results.responses, pl.col(measure).cast(pl.Float64)
    place = ["model", "setting", "id", "index"]
    lengths = responses.select(*place, length.alias("length")).drop_nulls()
    verdicts = analysis.results.counting_verdicts.select(*_SCORED, "index")
    return verdicts.join(lengths, on=place, maintain_order="left").drop("index")


def _correlate(part: pl.DataFrame, confidence: float) -> Iterator[dict[str, Any]]:
    length, verdict = part["length"].to_numpy(), part["verdict"].to_numpy()
    clusters = part["cluster"].to_numpy()
    for metric, correlate in (
        ("spearman", correlate_by_rank),
        ("point-biserial", correlate_values),
    ):
        numbers = correlate(length, verdict, clusters, confidence)
        if not isnan(numbers.value):
            yield {
                "metric": metric, "estimate": numbers.value, "low": numbers.low,
                "high": numbers.high, "p": numbers.p, "n": part["id"].n_unique(),
                "clusters": numbers.clusters, "responses": numbers.n,
            }  # fmt: skip
