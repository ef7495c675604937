"""The accuracy of each cell under each scorer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omibench.results.grouped import estimate_groups
from omibench.results.slices import MEANS as METRICS
from omibench.results.slices import name_metric
from omibench.stages.analyze.results.result import result

if TYPE_CHECKING:
    import polars as pl

    from omibench.stages.analyze.analysis import Analysis

__all__ = ["CELL", "METRICS", "name_metric", "tabulate_accuracy"]

CELL = ("model", "setting", "rules")


@result("accuracy", "Accuracy of every cell", source="OMIBench, section 4.1")
def tabulate_accuracy(analysis: Analysis) -> pl.DataFrame:
    """Tabulate the mean verdict over items of every cell under every scorer.

    The judge's is GPTScore (OMIBench, C.2); partial credit, eq. 6's ratio (OMIBench, C.1) and
    strict accuracy (MathReal, evaluation protocol) are included for scorers that define them.

    Args:
        analysis: The study's results.

    Returns:
        One row per cell, scorer and metric.
    """
    import polars as pl

    parts = [
        estimate_groups(analysis.item_values, CELL, analysis.confidence, column).with_columns(
            metric=name_metric(metric)
        )
        for column, metric in METRICS.items()
    ]
    return analysis.mark_simulated(pl.concat(parts))
