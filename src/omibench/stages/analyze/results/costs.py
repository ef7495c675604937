"""The cost of a cell's accuracy: dollars, tokens and waiting time."""

from __future__ import annotations

from typing import Final

import polars as pl

from omibench.results.grouped import estimate_groups
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.accuracy import CELL, name_metric
from omibench.stages.analyze.results.curve_series import frame_cells
from omibench.stages.analyze.results.result import result

_KEYS: Final = ("model", "setting")
_UNASKED: Final = "provider_error"
"""The outcome of a response that never arrived, which costs nothing."""
SUMS: Final = {
    "dollars": "cost_usd",
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "reasoning_tokens": "reasoning_tokens",
    "seconds": "latency_s",
}
"""The columns of the table and the response columns that are summed over a problem's samples."""


@result("accuracy-by-cost", "Accuracy and cost of every cell")
def tabulate_costs(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the accuracy of every cell under the main scorer with the cost per problem.

    The cost of a problem includes all samples and the requests before them (captions, readings,
    turns), but not judges and reward models. Each cell is priced as if it were run alone, although
    the store shares equal requests between settings.

    Args:
        analysis: The study's results.

    Returns:
        One row per cell: its accuracy with interval, the number of `responses`, means over problems
        (`dollars`, `input_tokens`, `output_tokens`, `reasoning_tokens`, and `seconds` of waiting;
        null if a response does not report them), `total_dollars`, and `dollars_per_right`, the cost
        per right answer. None if no response reports tokens or dollars.
    """
    results = analysis.results
    values = analysis.item_values.filter(rules=results.main_rules)
    spent = _sum_costs(results.responses)
    if spent.select(pl.col(list(SUMS)).is_null().all()).row(0) == (True,) * len(SUMS):
        return None
    accuracy = estimate_groups(values, CELL, analysis.confidence).drop("n_eff")
    labels = frame_cells(analysis).select(*_KEYS, "label", "setting_label")
    joined = (
        accuracy.with_columns(metric=name_metric("accuracy"))
        .join(labels, on=_KEYS, maintain_order="left")
        .join(spent, on=_KEYS, maintain_order="left")
    )
    right = pl.col("estimate") * pl.col("n")
    priced = joined.with_columns(
        dollars_per_right=pl.when(right > 0).then(pl.col("total_dollars") / right)
    )
    return analysis.mark_simulated(priced)


def _sum_costs(responses: pl.DataFrame) -> pl.DataFrame:
    """Return the means over the problems of each cell; null if a response does not report a
    value."""
    columns = {
        name: pl.col(column) if column in responses.columns else pl.lit(None, dtype=pl.Float64)
        for name, column in SUMS.items()
    }
    came = pl.col("outcome") != _UNASKED
    totals = [
        pl.when((value.is_null() & came).any()).then(None).otherwise(value.sum()).alias(name)
        for name, value in columns.items()
    ]
    problems = pl.col("id").n_unique()
    sums = responses.group_by(_KEYS, maintain_order=True).agg(
        *totals, responses=pl.len(), problems=problems
    )
    return sums.with_columns(
        *(pl.col(name) / pl.col("problems") for name in SUMS), total_dollars=pl.col("dollars")
    ).drop("problems")
