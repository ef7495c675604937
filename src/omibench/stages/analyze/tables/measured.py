"""Our values of printed quantities: metrics of cells over parts of the dataset."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from omibench.params.cell import Cell
from omibench.results.attributes import NOT_STATED, describe_items
from omibench.results.grouped import average_samples, estimate_groups
from omibench.results.load import Results
from omibench.results.slices import JOINT
from omibench.results.study_files import StudyFiles
from omibench.stages.analyze.results.item_slices import label_items

if TYPE_CHECKING:
    import polars as pl

_CELL = ("model", "setting", "rules")
_PLACE = ("slice", "value")
_COLUMNS = {
    "accuracy": "verdict", "gptscore": "verdict", "credit": "partial", "strict": "all_parts",
}  # fmt: skip
"""The column of verdicts averaged for each metric."""


class MeasuredQuantity(NamedTuple):
    """A quantity: a metric of a cell over a part of the dataset.

    `metric` is `accuracy`, `gptscore`, `credit`, `strict`, or one of the stage `aggregate` with its
    k (`pass@5`, `majority@4`). `slice` and `value` are empty for the whole dataset.
    """

    cell: Cell
    rules: str
    slice: str
    value: str
    metric: str


class Measurement(NamedTuple):
    """A share in [0, 1] over n problems, with its interval."""

    value: float
    low: float
    high: float
    n: int
    clusters: int


class PartMeans:
    """The parts of a dataset, given by an attribute and a value; case is ignored."""

    def __init__(self, results: Results, places: Collection[tuple[str, str]]) -> None:
        """Find the problems of each part."""
        self._results, self._places = results, places

    @cached_property
    def _items(self) -> pl.DataFrame:
        return describe_items(self._results.answers.values(), self._results.questions)

    def list_values(self, name: str) -> list[str]:
        """Return the values of an attribute, or two joined, among the problems."""
        if not {*name.split(JOINT)} <= {*self._items.columns}:
            return []
        values = label_items(self._items, name.replace(JOINT, ","))["value"].unique()
        return [value for value in values if NOT_STATED not in value.split(JOINT)]

    @cached_property
    def labels(self) -> pl.DataFrame:
        """Return rows of `id`, `cluster`, `slice` and `value`; none for an unknown attribute."""
        import polars as pl

        items = self._items
        whole = items.select("id", pl.lit("").alias("slice"), pl.lit("").alias("value"))
        parts = [
            label_items(items, name.replace(JOINT, ","))
            for name in dict.fromkeys(name for name, _ in self._places if name)
            if {*name.split(JOINT)} <= {*items.columns}
        ]
        labels = pl.concat([whole, *parts]).with_columns(pl.col("value").map_elements(
            str.casefold, return_dtype=pl.String
        ))  # fmt: skip
        named = pl.DataFrame(
            [(name, value.casefold()) for name, value in self._places],
            dict.fromkeys(_PLACE, pl.String), orient="row",
        )  # fmt: skip
        clusters = items.select("id", "cluster")
        return labels.join(named.unique(), on=_PLACE, how="semi").join(clusters, on="id")

    @cached_property
    def sizes(self) -> dict[tuple[str, str], int]:
        """Return the number of problems of each non-empty part."""
        counts = self.labels.group_by(_PLACE).len()
        return {(name, value): size for name, value, size in counts.iter_rows()}

    def count(self, name: str, value: str) -> int:
        """Return the number of problems of a part."""
        return self.sizes.get((name, value.casefold()), 0)


def measure(
    results: Results,
    quantities: Collection[MeasuredQuantity],
    parts: PartMeans,
    aggregate: Path | None,
) -> dict[MeasuredQuantity, Measurement]:
    """Measure quantities of a study.

    Args:
        results: The study's results.
        quantities: Quantities to measure.
        parts: Parts of the dataset that they use.
        aggregate: Folder of the stage `aggregate`; None if it was not run.

    Returns:
        The measurements of quantities with responses.
    """
    import polars as pl

    counted = [q for q in quantities if q.metric in _COLUMNS]
    sampled = [q for q in quantities if "@" in q.metric]
    frames = [
        *_estimate_verdicts(results, counted, parts),
        *(_estimate_samples(results, sampled, parts, aggregate) if aggregate else ()),
    ]
    if not frames:
        return {}
    found = {}
    for row in pl.concat(frames, how="diagonal").iter_rows(named=True):
        place = (row["rules"], row["slice"], row["value"], row["metric"])
        found[MeasuredQuantity(Cell(row["model"], row["setting"]), *place)] = Measurement(
            row["estimate"], row["low"], row["high"], row["n"], row["clusters"]
        )
    keys = {q: q._replace(value=q.value.casefold()) for q in quantities}
    return {quantity: found[key] for quantity, key in keys.items() if key in found}


def _estimate_verdicts(
    results: Results, quantities: Collection[MeasuredQuantity], parts: PartMeans
) -> Iterator[pl.DataFrame]:
    """Return the mean over problems of their samples' verdicts, credit or strict verdicts."""
    import polars as pl

    if not quantities:
        return
    asked = pl.DataFrame(
        [(*q.cell, q.rules) for q in quantities], dict.fromkeys(_CELL, pl.String), orient="row"
    ).unique()
    verdict = pl.col("verdict")
    verdicts = results.counting_verdicts.join(asked, on=_CELL, how="semi").with_columns(
        partial=pl.coalesce("credit", verdict),
        all_parts=pl.coalesce("strict", (verdict >= 1).cast(pl.Float64)),
    )
    columns = {metric: _COLUMNS[metric] for metric in {q.metric for q in quantities}}
    means = average_samples(verdicts, _CELL, tuple({*columns.values()})).drop("cluster")
    values = means.join(parts.labels, on="id")
    for metric, column in columns.items():
        yield _estimate(results, values, (*_CELL, *_PLACE), column).with_columns(
            metric=pl.lit(metric)
        )


def _estimate_samples(
    results: Results, quantities: Collection[MeasuredQuantity], parts: PartMeans, aggregate: Path
) -> Iterator[pl.DataFrame]:
    """Return the mean over problems of the results of the stage `aggregate`."""
    import polars as pl

    files = StudyFiles(aggregate.parent, aggregate=aggregate)
    for cell in dict.fromkeys(quantity.cell for quantity in quantities):
        frame = files.read_aggregates(cell)
        if frame is not None:
            values = frame.select(
                *_CELL,
                "id",
                pl.concat_str("metric", pl.col("k").cast(pl.String), separator="@").alias("metric"),
                pl.col("value").alias("worth"),
            )
            labelled = values.join(parts.labels, on="id")
            yield _estimate(results, labelled, (*_CELL, *_PLACE, "metric"), "worth")


def _estimate(
    results: Results, values: pl.DataFrame, by: tuple[str, ...], column: str
) -> pl.DataFrame:
    frame = estimate_groups(values, by, results.study.analyze.confidence, column)
    names = (*_CELL, *_PLACE, *(("metric",) if "metric" in by else ()))
    return frame.select(*names, "estimate", "low", "high", "n", "clusters")
