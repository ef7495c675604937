"""A study's values of printed quantities: metrics of its cells over parts of its dataset."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import polars as pl

from omibench.params.cell import Cell
from omibench.results.attributes import NOT_STATED, describe_items
from omibench.results.grouped import average_samples, estimate_groups
from omibench.results.load import Results
from omibench.results.slices import JOINT, label_items
from omibench.results.study_files import StudyFiles

CELL: Final = ("model", "setting", "rules")
ESTIMATE: Final = ("estimate", "low", "high", "n", "clusters")
_PLACE = ("slice", "place")
_MEANS = {
    "accuracy": "verdict", "gptscore": "verdict", "credit": "partial", "strict": "all_parts",
}  # fmt: skip
"""The column of verdicts averaged for each metric."""


class Quantity(NamedTuple):
    """A metric of a cell over a part of the dataset, which is empty for all of it.

    `metric` is a key of `_MEANS`, or one of the stage `aggregate` with its k (`pass@5`).
    """

    model: str
    setting: str
    rules: str
    slice: str
    place: str
    """The value of the slice, without case."""
    metric: str


class Parts:
    """The parts of a study's dataset by attributes; case of values is ignored.

    Args:
        results: The study's results.
        names: Attributes, or two joined by ` × `; unknown ones have no part.
    """

    def __init__(self, results: Results, names: Iterable[str]) -> None:
        items = describe_items(results.answers.values(), results.questions)
        known = [n for n in dict.fromkeys(names) if n and {*n.split(JOINT)} <= {*items.columns}]
        labels = pl.concat(
            [
                items.select("id", pl.lit("").alias("slice"), pl.lit("").alias("value")),
                *(label_items(items, name.replace(JOINT, ",")) for name in known),
            ]
        ).with_columns(place=pl.col("value").map_elements(str.casefold, return_dtype=pl.String))
        self.labels = labels.join(items.select("id", "cluster"), on="id", maintain_order="left")
        """Rows of `id`, `cluster`, `slice`, `value` and `place`, the value without case."""
        counts = labels.group_by(_PLACE).len()
        self._sizes: dict[tuple[str, str], int] = {
            (name, place): size for name, place, size in counts.iter_rows()
        }

    def count(self, name: str, value: str) -> int:
        """Return the number of problems of a part."""
        return self._sizes.get((name, value.casefold()), 0)

    def list_values(self, name: str) -> list[str]:
        """Return the values of an attribute, or two joined, among the problems."""
        values = self.labels.filter(slice=name)["value"].unique()
        return [value for value in values if NOT_STATED not in value.split(JOINT)]


def measure(
    results: Results, wanted: Collection[Quantity], parts: Parts, aggregate: Path | None
) -> dict[Quantity, Mapping[str, Any]]:
    """Measure quantities of a study.

    Args:
        results: The study's results.
        wanted: The quantities.
        parts: The parts of the dataset that they are about.
        aggregate: Folder of the stage `aggregate`; None if it was not run.

    Returns:
        The columns `ESTIMATE` of the quantities with responses, as shares.
    """
    places = pl.DataFrame([q[3:5] for q in wanted], dict.fromkeys(_PLACE, pl.String), orient="row")
    labels = parts.labels.join(places.unique(), on=_PLACE, how="semi").drop("value")
    sampled = dict.fromkeys(Cell(*q[:2]) for q in wanted if "@" in q.metric)
    frames = [
        *_estimate_verdicts(results, [q for q in wanted if q.metric in _MEANS], labels),
        *(_estimate_samples(results, sampled, labels, aggregate) if aggregate else ()),
    ]
    return {
        Quantity(*(row[name] for name in Quantity._fields)): {n: row[n] for n in ESTIMATE}
        for frame in frames
        for row in frame.iter_rows(named=True)
    }


def _estimate_verdicts(
    results: Results, wanted: Collection[Quantity], labels: pl.DataFrame
) -> Iterator[pl.DataFrame]:
    """Return the mean over problems of their samples' verdicts, credit or strict verdicts."""
    if not wanted:
        return
    asked = pl.DataFrame([q[:3] for q in wanted], dict.fromkeys(CELL, pl.String), orient="row")
    verdict = pl.col("verdict")
    verdicts = results.counting_verdicts.join(asked.unique(), on=CELL, how="semi").with_columns(
        partial=pl.coalesce("credit", verdict),
        all_parts=pl.coalesce("strict", (verdict >= 1).cast(pl.Float64)),
    )
    metrics = {q.metric for q in wanted}
    columns = tuple({_MEANS[metric] for metric in metrics})
    values = average_samples(verdicts, CELL, columns).drop("cluster").join(labels, on="id")
    confidence = results.study.analyze.confidence
    for metric in metrics:
        frame = estimate_groups(values, (*CELL, *_PLACE), confidence, _MEANS[metric])
        yield frame.with_columns(metric=pl.lit(metric))


def _estimate_samples(
    results: Results, cells: Iterable[Cell], labels: pl.DataFrame, aggregate: Path
) -> Iterator[pl.DataFrame]:
    """Return the mean over problems of the results of the stage `aggregate`."""
    files = StudyFiles(aggregate.parent, aggregate=aggregate)
    for cell in cells:
        frame = files.read_aggregates(cell)
        if frame is not None:
            values = frame.select(
                *CELL,
                "id",
                pl.concat_str("metric", pl.col("k").cast(pl.String), separator="@").alias("metric"),
                pl.col("value").alias("worth"),
            ).join(labels, on="id")
            confidence = results.study.analyze.confidence
            yield estimate_groups(values, (*CELL, *_PLACE, "metric"), confidence, "worth")
