"""Differences between kinds of problems within subjects, since subjects differ in difficulty."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

import polars as pl

from omibench.results.statistics.paired import adjusted_difference
from omibench.stages.analyze.analysis import Analysis

MIN_PROBLEMS: Final = 10
"""Accuracies of fewer problems are pale in a figure and not compared: they are too uncertain."""
_NUMBERS: Final = ("raw", "adjusted", "adjusted_low", "adjusted_high")
DIFFERENCES: Final = ("reference", *_NUMBERS)


def add_differences(
    analysis: Analysis, table: pl.DataFrame, items: pl.DataFrame, by: Sequence[str], column: str
) -> pl.DataFrame:
    """Add the differences of the accuracies of a curve to its first one.

    Args:
        analysis: The study's results.
        table: Accuracies, one row per curve and value.
        items: The values behind them: `by`, `column`, `id`, `cluster` and `verdict`.
        by: Columns that distinguish curves.
        column: The column of the values, whose first is the lowest.

    Returns:
        The table with `reference`, the lowest value with `MIN_PROBLEMS` problems, `raw`, the
        accuracy minus that of the reference, and `adjusted` with `adjusted_low` and
        `adjusted_high`, the same within subjects (`statistics.paired.adjusted_difference`). They
        are null for the reference, for fewer problems, and `adjusted` if no subject has both.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    rows = []
    subjects = {id: answer.subject for id, answer in analysis.results.answers.items()}
    coded = items.select(
        *by, column, "verdict", pl.col("cluster").rank("dense").cast(pl.Int64),
        subject=pl.col("id").replace_strict(subjects).rank("dense").cast(pl.Int64),
    )  # fmt: skip
    for keys, part in coded.partition_by(by, as_dict=True, maintain_order=True).items():
        counts = Counter(part[column])
        reference, *others = sorted(v for v in counts if counts[v] >= MIN_PROBLEMS) or [None]
        if not others:
            continue
        verdict, subject, cluster = (
            part[name].to_numpy() for name in ("verdict", "subject", "cluster")
        )
        first = (part[column] == reference).to_numpy()
        for other in others:
            second = (part[column] == other).to_numpy()
            both = first | second
            found = adjusted_difference(
                verdict[both], second[both], subject[both], cluster[both], analysis.confidence
            )
            raw = verdict[second].mean() - verdict[first].mean()
            bounds = (found.lo, found.hi) if found.n else (None, None)
            rows.append((*keys, other, str(reference), raw, found.value, *bounds))
    schema = {name: items.schema[name] for name in (*by, column)} | {
        "reference": pl.String, **dict.fromkeys(_NUMBERS, pl.Float64)
    }  # fmt: skip
    differences = pl.DataFrame(rows, schema, orient="row")
    return table.join(differences, on=[*by, column], how="left", maintain_order="left")
