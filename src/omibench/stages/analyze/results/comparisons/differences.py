"""Paired differences of declared comparisons, by measure and slice, with their tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from omibench.results.grouped import compare_pairs
from omibench.results.load import JUDGE_RULES, VOTE_MARK

if TYPE_CHECKING:
    import polars as pl

    from omibench.stages.analyze.analysis import Analysis

DIFFERENCE = "difference"
MEASURES: Mapping[str, str] = {"verdict": "accuracy", "strict": "strict", "credit": "credit"}
"""The name of the mean of each column of `Analysis.item_values`."""
CELL = ("model", "setting", "rules")


def keep_scorers(values: pl.DataFrame) -> pl.DataFrame:
    """Drop the verdicts of single judges of a panel, which are part of the panel's."""
    import polars as pl

    return values.filter(~pl.col("rules").str.contains(VOTE_MARK, literal=True))


def compare_slices(
    analysis: Analysis, pairs: pl.DataFrame, labels: pl.DataFrame, kind: str
) -> Iterator[pl.DataFrame]:
    """Compare two cells, or two kinds of items of one cell, in each slice by each measure.

    The comparisons of one scorer, measure and slice (with all values of the slice) are one family:
    p values are adjusted over them by Holm.

    Args:
        analysis: The study's results.
        pairs: One row per item that both answered: `CELL`, `baseline`, `id`, `cluster`, a column
            for each measure, and the baseline's value in the column with the suffix `_base`.
        labels: Rows of `id`, `slice` and `value` that assign items to slices.
        kind: Compared column: `model`, `setting` or `picture`.

    Yields:
        One table per scorer, measure and slice: `CELL`, `baseline`, `kind`, `slice`, `value`,
        `measure`, `metric` (`difference`), `estimate`, `low`, `high`, `score`, `baseline_score`
        (means over the same items), `relative` (difference over baseline score; null if that is 0),
        `n`, `clusters`, `p`, `p_holm`, `family` (the number of tests in the adjustment),
        `significant` (by Holm at 1 - confidence) and `detectable` (see
        `results.grouped.compare_pairs`; null if the difference is significant).
    """
    import polars as pl

    names = ["model", "setting", "baseline"]
    # Grouping by integers instead of strings halves the time.
    comparisons = pairs.select(names).unique(maintain_order=True).with_row_index("comparison")
    coded_pairs = pairs.join(comparisons, on=names, maintain_order="left").with_columns(
        pl.col("cluster").cast(pl.Categorical).to_physical()
    )
    keys = ["comparison", "value"]
    significant = (
        (pl.col("p_holm") < 1 - analysis.confidence).fill_null(value=False).alias("significant")
    )
    scorers = [rules for rules in analysis.results.rules if VOTE_MARK not in rules]
    for rules in scorers:
        of_book = coded_pairs.filter(pl.col("rules") == rules)
        for column, measure in MEASURES.items():
            columns = (column, f"{column}_base")
            values = of_book.select("comparison", "id", "cluster", *columns).drop_nulls()
            if values.is_empty():
                continue
            for (name,), part in labels.group_by("slice", maintain_order=True):
                part_labels = part.select("id", pl.col("value").cast(pl.Categorical))
                joined = values.join(part_labels, on="id", maintain_order="left")
                if joined.is_empty():
                    continue
                table = compare_pairs(joined, keys, analysis.confidence, columns)
                yield table.join(comparisons, on="comparison", maintain_order="left").select(
                    *names,
                    pl.lit(name).alias("slice"),
                    pl.col("value").cast(pl.String),
                    "estimate", "low", "high",
                    pl.col("first").alias("score"),
                    pl.col("second").alias("baseline_score"),
                    pl.when(pl.col("second") > 0)
                    .then(pl.col("estimate") / pl.col("second"))
                    .alias("relative"),
                    "n", "clusters", "p", "p_holm",
                    pl.col("p").count().cast(pl.Int64).alias("family"),
                    significant,
                    pl.when(~significant).then("detectable"),
                    rules=pl.lit(rules),
                    measure=pl.lit(name_measure(rules, measure)),
                    metric=pl.lit(DIFFERENCE),
                    kind=pl.lit(kind),
                )  # fmt: skip


def name_measure(rules: str, measure: str) -> str:
    """Return the name of a measure's mean under a scorer: the judge's accuracy is GPTScore."""
    return "gptscore" if rules == JUDGE_RULES and measure == "accuracy" else measure
