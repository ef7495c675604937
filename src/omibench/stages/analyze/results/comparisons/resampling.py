"""The paired cluster bootstrap of comparisons, on request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omibench.stages.analyze.results.comparisons.differences import CELL, MEASURES, name_measure
from omibench.statistics.paired import bootstrap_difference

if TYPE_CHECKING:
    import polars as pl

KEYS = (*CELL, "baseline", "kind", "measure", "slice")
BOUNDS = ("bootstrap_low", "bootstrap_high", "bootstrap_p")


def bootstrap_comparisons(
    pairs: pl.DataFrame, kind: str, confidence: float, resamples: int
) -> pl.DataFrame:
    """Resample the clusters of each comparison over all items.

    Args:
        pairs: The input of `differences.compare_slices`.
        kind: Compared column: `model` or `setting`.
        confidence: The two-sided level of the interval, in (0, 1).
        resamples: Number of draws per comparison.

    Returns:
        One row per comparison and measure: `KEYS` and `BOUNDS`, percentile bounds of the difference
        and its p (`statistics.paired.bootstrap_difference`, seed 0).
    """
    import polars as pl

    rows: list[tuple[object, ...]] = []
    for column, measure in MEASURES.items():
        filled_pairs = pairs.drop_nulls([column, f"{column}_base"])
        for (*cell, rules, baseline), part in filled_pairs.group_by(
            *CELL, "baseline", maintain_order=True
        ):
            result = bootstrap_difference(
                (part[column] - part[f"{column}_base"]).to_list(),
                part["cluster"].to_list(),
                confidence,
                resamples=resamples,
            )
            name = name_measure(str(rules), measure)
            bounds = (result.low, result.high, result.p)
            rows.append((*cell, rules, baseline, kind, name, "", *bounds))
    schema = dict.fromkeys(KEYS, pl.String()) | dict.fromkeys(BOUNDS, pl.Float64())
    return pl.DataFrame(rows, schema=schema, orient="row")
