"""Select and name the rows of a table of differences for a figure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from omibench.stages.analyze.claims import SIMULATED
from omibench.stages.analyze.figures.marks import MOST_ROWS
from omibench.stages.analyze.results.comparisons.baselines import DIFFERENCE

if TYPE_CHECKING:
    import polars as pl

MOST_BASELINES = 4
MOST_PARTS = 4
"""The number of values of a slice shown next to each other."""


def select_differences(table: pl.DataFrame, kind: str) -> list[dict[str, Any]]:
    """Select the differences of one kind, by the first scorer and measure, for one slice.

    Args:
        table: A table of `comparisons.differences.compare_slices`.
        kind: `model` or `setting`.

    Returns:
        Rows with the numbers in points (`points`, `left`, `right`, `acc`, `base`) and the columns
        `part` (the value of the slice), `pair` (the comparison) and `name`.
    """
    import polars as pl

    rows = table.filter(pl.col("metric") == DIFFERENCE, pl.col("kind") == kind)
    if rows.is_empty():
        return []
    rows = rows.filter(pl.col("rules") == rows["rules"][0], pl.col("measure") == rows["measure"][0])
    part = rows.filter(pl.col("slice") == _pick_slice(rows))
    several = part[kind].n_unique() > 1
    is_mixed = part["simulated"].n_unique() > 1
    described_rows = []
    for row in part.to_dicts():
        pair = f"{row[kind]} vs {row['baseline']}"
        other = row["setting"] if kind == "model" else row["model"]
        mark = SIMULATED if is_mixed and row["simulated"] else ""
        names = [other, mark, row[kind] if several else "", row["value"]]
        described_rows.append(
            scale_row(row)
            | {"pair": pair, "part": row["value"] or "all items", "name": join_names(names)}
        )
    return described_rows


def scale_row(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of differences with its numbers in points."""
    columns = {
        "points": "estimate", "left": "low", "right": "high",
        "acc": "score", "base": "baseline_score",
    }  # fmt: skip
    return row | {name: 100 * row[column] for name, column in columns.items()}


def mark_model(row: dict[str, Any], rows: Sequence[dict[str, Any]]) -> str:
    """Return the model of a row, marked if it is simulated and other rows are not.

    If all are simulated, the title of the figure is marked.
    """
    is_mixed = not all(other["simulated"] for other in rows)
    return f"{row['model']} · {SIMULATED}" if row["simulated"] and is_mixed else str(row["model"])


def name_baselines(rows: list[dict[str, Any]]) -> str:
    """Return a subtitle with the baselines: 'against direct', 'against a or b'."""
    baselines = list(dict.fromkeys(row["baseline"] for row in rows))
    names = " or ".join(baselines[:MOST_BASELINES])
    return f"against {names}" + " and others" * (len(baselines) > MOST_BASELINES)


def join_names(names: Iterable[str]) -> str:
    """Return the non-empty parts of a row's name."""
    return " · ".join(filter(None, names))


def keep_largest(rows: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], str]:
    """Return the rows that fit into one figure, in order, with a subtitle on the selection.

    Args:
        rows: Output of `select_differences`.
    """
    if len(rows) <= MOST_ROWS:
        return rows, ""
    largest = sorted(rows, key=lambda row: -abs(row["points"]))[:MOST_ROWS]
    return [
        row for row in rows if row in largest
    ], f"the {MOST_ROWS} largest of {len(rows):,} differences; its table has all"


def _pick_slice(rows: pl.DataFrame) -> str:
    """Return the first slice by one attribute with two to four values; "" for all items."""
    import polars as pl

    counts = rows.group_by("slice", maintain_order=True).agg(pl.col("value").n_unique())
    return next((name for name, n in counts.iter_rows() if name and 2 <= n <= MOST_PARTS), "")
