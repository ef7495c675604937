"""Values of items as matrices, with one row per cell and one column per item.

Every cell answers the same items, so one order of the columns serves all cells: the sums of all
slices of 820,000 verdicts take a second, while grouping the rows again takes a second per slice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import polars as pl
from polars import selectors

from omibench.errors import ArgumentError
from omibench.params.stages.analyze import MOST_ATTRIBUTES, split_slice
from omibench.results.attributes import NOT_STATED, AttributeTables, list_values
from omibench.results.grouped import estimate_mean_sums, estimate_sums
from omibench.results.load import JUDGE_RULES
from omibench.schemas.verdict import FAILURES

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


# Replaces missing partial credit, ratio and strict accuracy of a response.

OptionalMeasure = Literal["credit", "ratio", "strict"]
OPTIONAL_MEASURES: tuple[OptionalMeasure, ...] = ("credit", "ratio", "strict")
"""Columns of verdicts that only some scorers return, and only for readable answers."""


def fill_measure(measure: OptionalMeasure) -> pl.Expr:
    """Return the column of a measure without nulls: responses without an answer count as wrong.

    The verdict replaces a missing credit or ratio; a response without a strict value is wrong
    (MathReal, evaluation protocol).
    """
    return pl.coalesce(measure, pl.lit(0.0) if measure == "strict" else "verdict").alias(measure)


def fill_measures(verdicts: pl.DataFrame) -> pl.DataFrame:
    """Fill the measures of every scorer that returns them, so that each covers all responses.

    Args:
        verdicts: Rows with `rules`, `verdict` and the columns of `OPTIONAL_MEASURES`.

    Returns:
        The same rows; a measure stays null under a scorer that never returns it.
    """
    return verdicts.with_columns(
        pl.when(pl.col(measure).is_not_null().any().over("rules"))
        .then(fill_measure(measure))
        .alias(measure)
        for measure in OPTIONAL_MEASURES
    )


# Results by one or two attributes of items, models or settings.
#
# A row is about one model under one setting, unless the attribute is one of models or of settings:
# then an item's value is its mean over the cells that share the attribute's value, with equal
# weights, and the interval is over items as everywhere else.

JOINT = " × "
"""Separates two attributes, and their values."""
DEFAULT_SLICES = ("subject", "n_images", "answer_type")
CELL = ("model", "setting")
VALUES = (*CELL, "rules")
MEANS = {"verdict": "accuracy", "credit": "credit", "ratio": "ratio", "strict": "strict"}
"""The column of verdicts -> the metric of its mean."""
OUTCOME = "outcome-"
"""Prefix of the metrics of outcomes without an answer: `outcome-refused`."""
LENGTHS = ("characters", "output_tokens", "reasoning_tokens")
_NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)\+?$")
Estimate = Callable[[Any, Sequence[str], float], Any]


class SlicePlan(NamedTuple):
    """One slice: its attributes, its cells, its level of confidence."""

    by: tuple[str, ...]
    tables: AttributeTables
    marks: pl.DataFrame
    """One row per cell and scorer: `model`, `setting`, `rules`, `simulated`."""
    confidence: float

    @classmethod
    def make(
        cls, by: Sequence[str], tables: AttributeTables, marks: pl.DataFrame, confidence: float
    ) -> Self:
        """Check the attributes of a slice.

        Args:
            by: One attribute, or two different ones.
            tables: The available attributes.
            marks: One row per cell and scorer: `model`, `setting`, `rules`, `simulated`.
            confidence: The two-sided level of intervals, in (0, 1).

        Raises:
            ArgumentError: The number of attributes is wrong, or one does not exist; with the
                available ones.
        """
        if not 1 <= len(by) <= MOST_ATTRIBUTES or len(set(by)) < len(by):
            raise ArgumentError(
                f"slice {','.join(by)!r}: give one attribute, or {MOST_ATTRIBUTES} different ones "
                "with a comma between them"
            )
        for name in by:
            if name not in tables.names:
                raise ArgumentError(
                    f"slice {','.join(by)!r}: no item, model or setting has the attribute "
                    f"{name!r}; available: {', '.join(tables.names)}"
                )
        return cls(tuple(by), tables, marks, confidence)

    @property
    def name(self) -> str:
        """The name of the slice in tables."""
        return JOINT.join(self.by)

    @property
    def pooled_columns(self) -> list[str]:
        """`model` and `setting`, if rows aggregate several because of an attribute of theirs."""
        kinds = {"model": self.tables.of_models, "setting": self.tables.of_settings}
        return [key for key, names in kinds.items() if any(name in names for name in self.by)]

    def label(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Add the values of their attributes to rows with `model`, `setting` and optionally `id`.

        Args:
            frame: The rows; without `id`, attributes of items are omitted.

        Returns:
            One column per attribute; several rows for an item with several labels, and an empty
            text under the aggregated keys.
        """
        for name in self.by:
            key, table = self._find_table(name)
            if key in frame.columns:
                labels = list_values(table, key, name).rename({name: _column(name)})
                frame = frame.join(labels, on=key, how="inner", maintain_order="left")
        pooled = [key for key in self.pooled_columns if key in frame.columns]
        return frame.with_columns(pl.lit("").alias(key) for key in pooled)

    def list_columns(self, frame: pl.DataFrame) -> list[str]:
        """List the columns of attributes in labelled rows."""
        return [_column(name) for name in self.by if _column(name) in frame.columns]

    def _find_table(self, name: str) -> tuple[str, pl.DataFrame]:
        if name in self.tables.of_items:
            return "id", self.tables.items
        if name in self.tables.of_models:
            return "model", self.tables.models
        return "setting", self.tables.settings


def _column(attribute: str) -> str:
    return f"_by_{attribute}"


def arrange_outcomes(verdicts: pl.DataFrame) -> ItemMatrix:
    """Arrange the share of each outcome without an answer among an item's samples.

    Args:
        verdicts: Rows of `model, setting, rules, id, cluster, outcome`.

    Returns:
        A matrix for every such outcome among the verdicts, such as `outcome-refused`.
    """
    present = set(verdicts["outcome"].unique())
    flags = {
        f"{OUTCOME}{name}": (pl.col("outcome") == name).cast(pl.Float64)
        for name in FAILURES
        if name in present
    }
    return arrange_items(verdicts.select(*VALUES, "id", "cluster", **flags), VALUES, [*flags])


def arrange_samples(aggregates: pl.DataFrame) -> ItemMatrix:
    """Arrange pass@k, consistency@k and the choice among k samples.

    Args:
        aggregates: Rows of `model, setting, rules, id, cluster, metric, k, value`.

    Returns:
        A matrix for each metric and k, such as `pass@4`.
    """
    name = pl.concat_str("metric", pl.lit("@"), pl.col("k").cast(pl.String))
    named = aggregates.select(*VALUES, "id", "cluster", name.alias("_metric"), "value")
    names = named["_metric"].unique(maintain_order=True).to_list()
    wide = named.pivot(
        on="_metric",
        index=[*VALUES, "id", "cluster"],
        values="value",
        aggregate_function="mean",
        maintain_order=True,
    )
    return arrange_items(wide, VALUES, names)


def slice_lengths(lengths: ItemMatrix, plan: SlicePlan) -> pl.DataFrame:
    """Estimate the mean length of responses in a slice.

    Args:
        lengths: Cells by `model` and `setting`; the columns of `LENGTHS`.
        plan: The slice.

    Returns:
        Rows as in `slice_values`, without `rules`: metrics `characters` (of the visible text),
        `output_tokens` and `reasoning_tokens` (as counted by providers; responses without a count
        are ignored), with Student's intervals of clustered means.
    """
    cells = plan.marks.group_by(CELL, maintain_order=True).agg(pl.col("simulated").any())
    rows = slice_values(lengths, plan._replace(marks=cells), estimate_mean_sums)
    return rows.with_columns(pl.col("low").clip(lower_bound=0)) if rows.height else rows


def slice_values(
    matrix: ItemMatrix, plan: SlicePlan, estimate: Estimate = estimate_sums
) -> pl.DataFrame:
    """Estimate the mean of each matrix in a slice.

    Args:
        matrix: Cells by `model`, `setting` and `rules`: the columns of `MEANS`, or the output of
            `arrange_outcomes` or `arrange_samples`.
        plan: The slice.
        estimate: Returns the intervals of sums.

    Returns:
        Rows of `model, setting, rules, slice, value, metric, estimate, low, high, n, clusters`,
        `simulated` and `cells`, the number of cells in an item's mean; cells in order of
        occurrence, values in their natural order. The metric of a matrix outside `MEANS` is its
        name; that of a judge's accuracy is `gptscore`.
    """
    keys, groups = _group_cells(matrix, plan)
    labels, labelled = _label_columns(matrix, plan)
    clusters = code_values(matrix.items["cluster"].to_list())
    parts = []
    for place, (column, values) in enumerate(matrix.values.items()):
        metric = MEANS.get(column, column)
        pooled = average_cells(values, groups, keys.height) if plan.pooled_columns else values
        sums = describe_labels(pooled, clusters, labelled)
        rows = estimate(sums, ["_cell", "_label"], plan.confidence)
        named = rows.hstack(keys[rows["_cell"]])
        if labels.width:
            named = named.hstack(labels[rows["_label"]])
        parts.append(named.with_columns(name_metric(metric).alias("metric"), _metric=pl.lit(place)))
    rows = pl.concat(parts) if parts else pl.DataFrame()
    return _name_values(_mark_cells(rows, plan), plan) if rows.height else rows


def _group_cells(matrix: ItemMatrix, plan: SlicePlan) -> tuple[pl.DataFrame, Places]:
    """Return the keys of the rows of a slice other than its items, and the row of each cell.

    `_place` counts the rows that differ in more than the slice's own values.
    """
    cells = plan.label(matrix.cells)
    keys, names = cells.unique(maintain_order=True), matrix.cells.columns
    coded = cells.join(
        keys.with_row_index("_group"), on=keys.columns, how="left", maintain_order="left"
    )
    places = keys.select(names).unique(maintain_order=True).with_row_index("_place")
    placed = keys.join(places, on=names, how="left", maintain_order="left")
    return placed, coded["_group"].to_numpy().astype(np.int64)


def _name_values(rows: pl.DataFrame, plan: SlicePlan) -> pl.DataFrame:
    """Name the slice and its values; cells in order of occurrence, their values sorted."""
    names = [_column(name) for name in plan.by]
    n_eff = selectors.by_name("n_eff", require_all=False)
    named = rows.with_columns(slice=pl.lit(plan.name), value=pl.concat_str(names, separator=JOINT))
    ranks = {name: rank for rank, name in enumerate(sort_values(named["value"]))}
    return (
        named.with_columns(_value=pl.col("value").replace_strict(ranks, return_dtype=pl.Int64))
        .sort("_place", "_value", "_metric")
        .drop("_cell", "_place", "_label", "_value", "_metric", *names)
        .select(~n_eff, n_eff)
    )


def _label_columns(matrix: ItemMatrix, plan: SlicePlan) -> tuple[pl.DataFrame, LabelledItems]:
    """Return the values of items in a slice, and the columns under each."""
    items = plan.label(matrix.items.select("id").with_row_index("_place"))
    names = plan.list_columns(items)
    if not names:
        places = np.arange(matrix.items.height)
        return items.head(1).select([]), LabelledItems(places, np.zeros_like(places))
    labels = items.select(names).unique(maintain_order=True)
    coded = items.join(labels.with_row_index("_code"), on=names, how="left", maintain_order="left")
    codes = (coded[name].to_numpy().astype(np.int64) for name in ("_place", "_code"))
    return labels, LabelledItems(*codes)


def _mark_cells(rows: pl.DataFrame, plan: SlicePlan) -> pl.DataFrame:
    """Add to each row its number of cells, and whether any of them is simulated."""
    labelled = plan.label(plan.marks)
    keys = [name for name in labelled.columns if name != "simulated"]
    groups = labelled.group_by(keys, maintain_order=True).agg(
        pl.col("simulated").any(), pl.len().cast(pl.Int64).alias("cells")
    )
    return rows.join(groups, on=keys, how="left", maintain_order="left")


def name_metric(metric: str) -> pl.Expr:
    """Name the metric of rows by their scorer: the accuracy of a judge is `gptscore`."""
    if metric != MEANS["verdict"]:
        return pl.lit(metric)
    is_judge = pl.col("rules").str.split("/").list.first() == JUDGE_RULES
    return pl.when(is_judge).then(pl.lit(JUDGE_RULES)).otherwise(pl.lit(metric))


def label_items(items: pl.DataFrame, names: str) -> pl.DataFrame:
    """Give each item its values in a slice.

    Args:
        items: One row per item, as `describe_items` returns them.
        names: One attribute, or two separated by a comma.

    Returns:
        Rows of `id`, `slice` and `value`: one per item, several for an item with several labels,
        `not stated` for an item without the attribute; values in order.
    """
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


def sort_values(values: Iterable[str]) -> list[str]:
    """Sort the values of a slice: numbers by size, texts alphabetically, `NOT_STATED` last."""
    return sorted(set(values), key=_rank_value)


def _rank_value(value: str) -> list[tuple[int, float, str]]:
    return [_rank_part(part) for part in value.split(JOINT)]


def _rank_part(part: str) -> tuple[int, float, str]:
    if part == NOT_STATED:
        return 2, 0.0, part
    number = _NUMBER.match(part)
    return (0, float(number[1]), part) if number else (1, 0.0, part)
