"""Values of items as matrices, with one row per cell and one column per item.

Every cell answers the same items, so one order of the columns serves all cells: the sums of all
slices of 820,000 verdicts take a second, while grouping the rows again takes a second per slice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


class ItemMatrix(NamedTuple):
    """The means of each item's samples in each cell."""

    cells: pl.DataFrame
    """One row per row of the matrices: the keys of the cells, in the order of the data."""
    items: pl.DataFrame
    """One row per column of the matrices: `id`, `cluster`."""
    values: Mapping[str, Floats]
    """The matrices by name; NaN if a cell has no value for an item."""


class LabelledItems(NamedTuple):
    """Columns of a matrix under labels; an item with several labels is under each."""

    places: Places
    """The column of each item and label."""
    labels: Places
    """The code of each label, from 0."""


def arrange_items(rows: pl.DataFrame, keys: Sequence[str], columns: Sequence[str]) -> ItemMatrix:
    """Average the samples of each item in each cell, as matrices.

    Args:
        rows: Rows with `keys`, `id`, `cluster` and the columns; nulls are ignored.
        keys: The columns that identify cells.
        columns: The columns to average.
    """
    cells = rows.select(keys).unique(maintain_order=True)
    items = rows.select("id", "cluster").unique("id", maintain_order=True)
    coded = rows.join(
        cells.with_row_index("_cell"), on=list(keys), how="left", maintain_order="left"
    ).join(items.select("id").with_row_index("_item"), on="id", how="left", maintain_order="left")
    shape = (cells.height, items.height)
    place = coded["_cell"].to_numpy().astype(np.int64) * items.height + coded["_item"].to_numpy()
    values = {
        name: _average(place, coded[name].cast(pl.Float64).to_numpy(), shape) for name in columns
    }
    return ItemMatrix(cells, items, values)


def average_cells(matrix: Floats, groups: Places, count: int) -> Floats:
    """Average the rows of a matrix by group, with equal weights for cells.

    Args:
        matrix: Cells by items, NaN for missing values.
        groups: The group of each row, from 0.
        count: Number of groups.

    Returns:
        Groups by items, NaN if no cell of the group has a value.
    """
    present = ~np.isnan(matrix)
    sums, counts = np.zeros((2, count, matrix.shape[1]))
    np.add.at(sums, groups, np.where(present, matrix, 0.0))
    np.add.at(counts, groups, present)
    with np.errstate(invalid="ignore"):
        return np.asarray(sums / np.where(counts == 0, np.nan, counts))


def describe_labels(matrix: Floats, clusters: Places, labelled: LabelledItems) -> pl.DataFrame:
    """Sum the values of each cell under each label, within clusters and over them.

    Args:
        matrix: Cells by items, NaN for missing values.
        clusters: The cluster of each item, as a number.
        labelled: The items under each label.

    Returns:
        One row per cell and label with a value: `_cell`, `_label`, and the sums of
        `grouped.estimate_sums`.
    """
    order = np.lexsort((clusters[labelled.places], labelled.labels))
    places, labels = labelled.places[order], labelled.labels[order]
    chosen = matrix[:, places]
    present = ~np.isnan(chosen)
    filled = np.where(present, chosen, 0.0)
    starts = _find_starts(labels)
    widths = np.diff([*starts, len(labels)])
    n = np.add.reduceat(present, starts, axis=1, dtype=np.int64)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.add.reduceat(filled, starts, axis=1) / n
    centred = np.where(present, filled - np.repeat(mean, widths, axis=1), 0.0)
    between_ends = present & (filled != 0) & (filled != 1)
    runs = _find_starts(labels, clusters[places])
    sizes = np.add.reduceat(present, runs, axis=1, dtype=np.int64)
    first_run = np.searchsorted(runs, starts)
    cells, codes = np.nonzero(n)
    sums = {
        "mean": mean,
        "n": n,
        "squares": np.add.reduceat(centred**2, starts, axis=1),
        "clusters": np.add.reduceat(sizes > 0, first_run, axis=1, dtype=np.int64),
        "sizes_squared": np.add.reduceat(sizes**2, first_run, axis=1),
        "between": np.add.reduceat(np.add.reduceat(centred, runs, axis=1) ** 2, first_run, axis=1),
        "binary": ~np.logical_or.reduceat(between_ends, starts, axis=1),
    }
    return pl.DataFrame(
        {"_cell": cells, "_label": labels[starts][codes]}
        | {name: values[cells, codes] for name, values in sums.items()}
    )


def code_values(values: Sequence[str]) -> Places:
    """Number texts, with equal numbers for equal ones."""
    codes = {value: code for code, value in enumerate(dict.fromkeys(values))}
    return np.fromiter((codes[value] for value in values), dtype=np.int64, count=len(values))


def _average(place: Places, values: Floats, shape: tuple[int, int]) -> Floats:
    present = ~np.isnan(values)
    size = shape[0] * shape[1]
    sums = np.bincount(place[present], weights=values[present], minlength=size)
    counts = np.bincount(place[present], minlength=size)
    with np.errstate(invalid="ignore"):
        return np.asarray((sums / np.where(counts == 0, np.nan, counts)).reshape(shape))


def _find_starts(*codes: Places) -> Places:
    """Return the starts of runs of equal codes."""
    changes = np.zeros(len(codes[0]), dtype=bool)
    changes[:1] = True
    for code in codes:
        changes[1:] |= code[1:] != code[:-1]
    return np.flatnonzero(changes)
