"""Summaries of the judges in `judge.others`: mean marks, or the share of each label.

Both are averaged over samples and then problems, with intervals clustered by shared stem. Failed
judgements are excluded and counted separately.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from omibench.params.cell import Cell
from omibench.results.judgements import read_judgements
from omibench.results.load import Results
from omibench.stages.analyze.tables.reasoning import average_by_problem, find_judge
from omibench.statistics.intervals import Estimate, clustered_mean, clustered_wilson

if TYPE_CHECKING:
    import polars as pl

MEAN = "mean"
"""The label of rows of a judge that gives marks."""


class JudgeSummary(NamedTuple):
    """One judge on one cell: its mean mark (`label` None), or the share of a label.

    `lowest` and `highest` are the ends of its scale; `failed` judgements are excluded.
    """

    cell: Cell
    instrument: str
    label: str | None
    estimate: Estimate
    lowest: float
    highest: float
    failed: int
    judge: str
    simulated: bool


def summarise_other_judges(results: Results, folder: Path) -> list[JudgeSummary]:
    """Summarise the judgements of `judge.others`.

    Args:
        results: The study.
        folder: Results folder of the stage `judge`.

    Returns:
        By judge and cell: the mean, or every label the judge gave to any cell, most frequent first.

    Raises:
        MissingInputError: A cell to be judged has no file.
    """
    names = list(results.study.judge.others)
    if not names:
        return []
    frames = {cell: read_judgements(results, folder, cell) for cell in results.study.judged_cells}
    summaries: list[JudgeSummary] = []
    for name in names:
        by_cell = {cell: frame.filter(instrument=name) for cell, frame in frames.items()}
        labels = _list_labels(by_cell.values())
        for cell, rows in by_cell.items():
            if not rows.is_empty():
                summaries += _summarise(cell, rows, labels, results.study.analyze.confidence)
    return summaries


def _list_labels(frames: Iterable[pl.DataFrame]) -> list[str]:
    counts: dict[str, int] = {}
    for frame in frames:
        for label in frame["label"].drop_nulls():
            counts[label] = counts.get(label, 0) + 1
    return sorted(counts, key=lambda label: (-counts[label], label))


def _summarise(
    cell: Cell, rows: pl.DataFrame, labels: Sequence[str], confidence: float
) -> Iterator[JudgeSummary]:
    import polars as pl

    def summary(label: str | None, estimate: Estimate, bounds: tuple[float, float]) -> JudgeSummary:
        failed = rows.filter(pl.col("outcome") != "scored").height
        simulated = bool(rows["simulated"].any())
        instrument = str(rows["instrument"][0])
        return JudgeSummary(
            cell, instrument, label, estimate, *bounds, failed, find_judge(rows), simulated
        )

    marks, labelled = rows.drop_nulls("mark"), rows.drop_nulls("label")
    for label in labels:
        is_it = labelled.with_columns(is_it=(pl.col("label") == label).cast(pl.Float64))
        share = clustered_wilson(*average_by_problem(is_it, "is_it"), confidence)
        yield summary(label, share, (0.0, 1.0))
    if not labels and not marks.is_empty():
        lowest, highest = float(marks["lowest"][0]), float(marks["highest"][0])
        values, clusters = average_by_problem(marks, "mark")
        mean = clustered_mean(values, clusters, confidence, lowest, highest)
        yield summary(None, mean, (lowest, highest))


def list_other_judge_rows(
    results: Results, summaries: Iterable[JudgeSummary]
) -> list[Mapping[str, Any]]:
    """Return the rows of other-judges.csv; numbers are rounded to 6 digits."""
    from omibench.stages.analyze.tables.accuracy import cell_names, round_number

    return [
        {
            **cell_names(results, s.cell), "instrument": s.instrument, "value": s.label or MEAN,
            "n": s.estimate.n, "estimate": round_number(s.estimate.mean),
            "lo": round_number(s.estimate.lo), "hi": round_number(s.estimate.hi),
            "lowest": s.lowest, "highest": s.highest, "judge_failed": s.failed, "judge": s.judge,
            "simulated": s.simulated,
        }
        for s in summaries
    ]  # fmt: skip
