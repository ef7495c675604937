"""The accuracy of every cell under every rule book."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omibench.results.grouped import estimate_groups
from omibench.results.load import JUDGE_RULES
from omibench.stages.analyze.results.result import result

if TYPE_CHECKING:
    import polars as pl

    from omibench.stages.analyze.analysis import Analysis

CELL = ("model", "setting", "rules")
METRICS = {"verdict": "accuracy", "credit": "credit", "ratio": "ratio", "strict": "strict"}
"""The column of `Analysis.item_values` -> the metric that its mean is."""


@result("accuracy", "Accuracy of every cell", source="OMIBench, section 4.1")
def tabulate_accuracy(analysis: Analysis) -> pl.DataFrame:
    """Tabulate the mean verdict over items of every cell under every rule book.

    The judge's is GPTScore (OMIBench, C.2); partial credit, eq. 6's ratio (OMIBench, C.1) and
    strict accuracy (MathReal, evaluation protocol) where a rule book gives them.

    Args:
        analysis: The study's results.

    Returns:
        A row per cell, rule book and metric.
    """
    import polars as pl

    parts = [
        estimate_groups(analysis.item_values, CELL, analysis.confidence, column).with_columns(
            metric=name_metric(metric)
        )
        for column, metric in METRICS.items()
    ]
    return analysis.mark_simulated(pl.concat(parts))


def name_metric(metric: str) -> pl.Expr:
    """Name the metric of rows by their rule book: the judge's accuracy is `gptscore`."""
    import polars as pl

    if metric != "accuracy":
        return pl.lit(metric)
    return (
        pl.when(pl.col("rules").str.split("/").list.first() == JUDGE_RULES)
        .then(pl.lit("gptscore"))
        .otherwise(pl.lit(metric))
    )
