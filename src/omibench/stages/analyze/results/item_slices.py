"""The items of each attribute value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omibench.params.stages.analyze import split_slice
from omibench.results.slices import DEFAULT_SLICES, label_items

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
