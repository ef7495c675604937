"""The items of each attribute value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omibench.params.stages.analyze import split_slice
from omibench.results.attributes import list_values
from omibench.results.slices import DEFAULT_SLICES, JOINT, sort_values

if TYPE_CHECKING:
    import polars as pl

    from omibench.stages.analyze.analysis import Analysis


def list_item_slices(analysis: Analysis) -> list[str]:
    """List the slices of the study that depend only on attributes of items."""
    slices = analysis.study.analyze.slices
    attributes = analysis.attributes.of_items
    return [
        names
        for names in (DEFAULT_SLICES if slices is None else slices)
        if all(name in attributes for name in split_slice(names))
    ]


def label_items(items: pl.DataFrame, names: str) -> pl.DataFrame:
    """Give each item its values in a slice.

    Args:
        items: `Analysis.items`.
        names: One attribute, or two separated by a comma.

    Returns:
        Rows of `id`, `slice` and `value`: one per item, several for an item with several labels,
        `not stated` for an item without the attribute; values in order.
    """
    import polars as pl

    attributes = split_slice(names)
    labels = items.select("id")
    for name in attributes:
        labels = labels.join(list_values(items, "id", name), on="id", maintain_order="left")
    named = labels.select(
        "id",
        pl.lit(JOINT.join(attributes)).alias("slice"),
        pl.concat_str(attributes, separator=JOINT).alias("value"),
    )
    return named.sort(pl.col("value").cast(pl.Enum(sort_values(named["value"]))))


def slice_items(analysis: Analysis) -> pl.DataFrame:
    """Label every item in every slice of items and in the whole, where slice and value are "".

    Returns:
        Rows of `id`, `slice` and `value`, the whole first.
    """
    import polars as pl

    items = analysis.items
    whole = items.select("id", pl.lit("").alias("slice"), pl.lit("").alias("value"))
    parts = [label_items(items, names) for names in list_item_slices(analysis)]
    return pl.concat([whole, *parts])
