"""Estimate many groups of verdicts in a few queries.

A group is a cell under a scorer, overall or for one value of an attribute of items.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from omibench.results.grouped import average_samples, estimate_groups
from omibench.results.optional_measures import OPTIONAL_MEASURES, fill_measure
from omibench.statistics.intervals import Estimate

if TYPE_CHECKING:
    import polars as pl

CELL = ("model", "setting", "rules")
Place = tuple[Any, ...]
"""Model, setting, scorer, and the value of the attribute if any."""


class Failures(NamedTuple):
    """The number of responses without an answer, and the accuracy with them as wrong and as
    right."""

    failed: int
    as_wrong: float
    as_right: float


class GroupScore(NamedTuple):
    """The estimates of one group.

    `responses` counts samples, `acc.n` items. `failures` is None if it is unknown which responses
    have no answer; `credit`, `ratio` and `strict` are None if no verdict has such a value.
    """

    acc: Estimate
    responses: int
    failures: Failures | None
    credit: float | None
    ratio: float | None
    strict: Estimate | None


def score_groups(
    verdicts: pl.DataFrame, attribute: str | None, confidence: float
) -> dict[Place, GroupScore]:
    """Estimate accuracy, bounds, partial credit, ratio and strict accuracy of each group.

    An item's value is the mean over its samples. The verdict replaces a missing `credit` or
    `ratio`; a response without a strict value is wrong (MathReal, evaluation protocol).

    Args:
        verdicts: Rows of `CELL`, `id`, `cluster`, `verdict`, `credit`, `ratio`, `strict`, `failed`
            and the attribute.
        attribute: Column that is constant over the verdicts on an item; None for whole cells.
        confidence: The two-sided level of intervals, in (0, 1).
    """
    import polars as pl

    by = [*CELL, *([attribute] if attribute else [])]
    verdict, failed = pl.col("verdict"), pl.col("failed")
    counts = verdicts.group_by(by, maintain_order=True).agg(
        pl.len().alias("responses"),
        failed.sum().alias("failed"),
        failed.null_count().alias("unknown"),
        *(pl.col(name).count().alias(f"has_{name}") for name in OPTIONAL_MEASURES),
    )
    filled = verdicts.select(
        *by,
        "id",
        "cluster",
        "verdict",
        pl.max_horizontal(verdict, failed.cast(pl.Float64)).alias("right"),
        *(fill_measure(measure) for measure in OPTIONAL_MEASURES),
    )
    values = average_samples(filled, by, ("verdict", "right", *OPTIONAL_MEASURES))
    means = values.group_by(by, maintain_order=True).agg(
        pl.col("verdict", "right", "credit", "ratio").mean()
    )
    facts = counts.join(means, on=by, maintain_order="left", nulls_equal=True)
    accuracies = index_estimates(values, by, confidence)
    stricts = (
        index_estimates(values, by, confidence, "strict") if counts["has_strict"].sum() else {}
    )
    return {
        (place := tuple(row[name] for name in by)): GroupScore(
            acc=accuracies[place],
            responses=row["responses"],
            failures=(
                None
                if row["unknown"]
                else Failures(int(row["failed"]), row["verdict"], row["right"])
            ),
            credit=row["credit"] if row["has_credit"] else None,
            ratio=row["ratio"] if row["has_ratio"] else None,
            strict=stricts[place] if row["has_strict"] else None,
        )
        for row in facts.iter_rows(named=True)
    }


def index_estimates(
    values: pl.DataFrame, by: Sequence[str], confidence: float, column: str = "verdict"
) -> dict[Place, Estimate]:
    """Estimate the mean of each group, by the values of `by`.

    Args:
        values: Input as for `estimate_groups`.
        by: Columns that define groups.
        confidence: The two-sided level of intervals, in (0, 1).
        column: Column of the values.
    """
    rows = estimate_groups(values, by, confidence, column)
    numbers = rows.select("estimate", "low", "high", "n", "n_eff").rows()
    return {
        place: Estimate(*row) for place, row in zip(rows.select(by).rows(), numbers, strict=True)
    }
