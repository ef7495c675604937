"""Real and clean pictures of the same problems in one study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from omibench.schemas.attributes import list_labels
from omibench.stages.analyze.results.comparisons.differences import (
    CELL,
    MEASURES,
    compare_slices,
    keep_scorers,
)
from omibench.stages.analyze.results.item_slices import slice_items
from omibench.stages.analyze.results.result import result

if TYPE_CHECKING:
    import polars as pl

    from omibench.stages.analyze.analysis import Analysis

PAIR: Final = "pair"
REAL, CLEAN = "real", "clean"
NOISE: Final = "noise"
"""The attribute that lists the conditions of a photograph."""
PRESENT, ABSENT = "present", "absent"


@result(
    "real-clean",
    "Clean and real pictures of the same problems",
    source="MathReal, tables 7 and 8, section Real Image vs. Clean Image",
)
def tabulate_pictures(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate each cell's accuracy on clean minus real pictures of the same problems.

    Two items with the attribute `pair`, one `real` and one `clean`, that share a cluster (`group`)
    are one problem. Differences are computed overall, by the slices of the study, and by each
    condition of the real photograph: `present` or `absent` (slice `noise: <condition>`) and its
    grade (slice `<condition>`). `measure` distinguishes strict and loose accuracy.

    Args:
        analysis: The study's results.

    Returns:
        The rows of `differences.compare_slices`, with the baseline `real`; None if no problem has
        both pictures.
    """
    import polars as pl

    items = analysis.items
    if PAIR not in items.columns:
        return None
    couples = _match_items(items)
    if couples.is_empty():
        return None
    values = keep_scorers(analysis.item_values)
    clean = values.join(couples, left_on="id", right_on=CLEAN, maintain_order="left")
    real = values.select(
        *CELL,
        pl.col("id").alias(REAL),
        *(pl.col(column).alias(f"{column}_base") for column in MEASURES),
    )
    pairs = (
        clean.join(real, on=[*CELL, REAL], maintain_order="left")
        .with_columns(baseline=pl.lit(REAL))
        .drop("id")
        .rename({REAL: "id"})
    )
    labels = slice_items(analysis).filter(pl.col("slice") != PAIR)
    labels = pl.concat([labels, _label_conditions(items)]).unique(maintain_order=True)
    tables = list(compare_slices(analysis, pairs, labels, "picture"))
    return analysis.mark_simulated(pl.concat(tables)) if tables else None


def _match_items(items: pl.DataFrame) -> pl.DataFrame:
    """Return the ids of the two items of each problem, `real` and `clean`; other clusters are
    dropped."""
    import polars as pl

    sides = {
        side: items.filter(pl.col(PAIR) == side)
        .group_by("cluster", maintain_order=True)
        .agg(pl.col("id").first(), pl.len().alias("items"))
        .filter(pl.col("items") == 1)
        .select("cluster", pl.col("id").alias(side))
        for side in (REAL, CLEAN)
    }
    return sides[REAL].join(sides[CLEAN], on="cluster", maintain_order="left").drop("cluster")


def _label_conditions(items: pl.DataFrame) -> pl.DataFrame:
    """Return rows of `id`, `slice` and `value`: each condition present or absent, and its grade."""
    import polars as pl

    schema = {"id": pl.String, "slice": pl.String, "value": pl.String}
    if NOISE not in items.columns:
        return pl.DataFrame(schema=schema)
    stated = {
        row["id"]: set(list_labels(row[NOISE])) for row in items.select("id", NOISE).to_dicts()
    }
    conditions = sorted(set().union(*stated.values()))
    rows = [
        (id_, f"{NOISE}: {condition}", PRESENT if condition in labels else ABSENT)
        for condition in conditions
        for id_, labels in stated.items()
    ]
    presence = pl.DataFrame(rows, schema=schema, orient="row")
    grades = [
        items.select(
            "id", pl.lit(condition).alias("slice"), pl.col(condition).cast(pl.String).alias("value")
        ).drop_nulls()
        for condition in conditions
        if condition in items.columns and items.schema[condition] == pl.String
    ]
    return pl.concat([presence, *grades])
