"""Accuracies and their differences, computed from the table of verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from omibench.api.arguments import check_kind, check_path, takes_scorer
from omibench.api.scored_files import open_results
from omibench.errors import ArgumentError, UnfinishedError
from omibench.results.comparison.compare import compare_run_folders
from omibench.results.comparison.report import RunComparison
from omibench.results.grouped import estimate_accuracy
from omibench.results.statistics.intervals import Estimate
from omibench.results.statistics.paired import AccuracyDifference, paired_difference
from omibench.schemas.validation import suggest_name
from omibench.study.status.runs import find_latest_run, read_runs


def select_rows(frame: pl.DataFrame, column: str, value: str) -> pl.DataFrame:
    """Return the rows with a given value in a column.

    Raises:
        ArgumentError: If no row has it; suggests the nearest value.
    """
    names = list_values(frame, column)
    if value not in names:
        name = "scorer" if column == "rules" else column
        raise ArgumentError(f"{name}: no verdict has {value!r}{suggest_name(str(value), names)}")
    return frame.filter(**{column: value})


def list_values(frame: pl.DataFrame, column: str) -> list[str]:
    """Return the distinct values of a column in order."""
    values: list[str] = frame[column].unique(maintain_order=True).to_list()
    return values


def check_confidence(confidence: object) -> None:
    """Check the level of an interval.

    Raises:
        ArgumentError: If it is not a number between 0 and 1.
    """
    if isinstance(confidence, bool) or not isinstance(confidence, int | float):
        raise ArgumentError(f"confidence: is {confidence!r}; give a level between 0 and 1")
    if not 0 < confidence < 1:
        raise ArgumentError(f"confidence: is {confidence}; give a level between 0 and 1")


def estimate_cell(rows: pl.DataFrame, confidence: float) -> Estimate:
    """Estimate the accuracy of one cell under one scorer."""
    check_confidence(confidence)
    counting = rows.filter(rows["counts"])
    return estimate_accuracy(counting.rename({"group": "cluster"}), confidence)


def compare_rows(
    frames: Sequence[pl.DataFrame], confidence: float, comparisons: int
) -> AccuracyDifference:
    """Compare the verdicts of two cells under one scorer on their common problems.

    Raises:
        ArgumentError: If `confidence` or `comparisons` is out of range.
    """
    check_confidence(confidence)
    check_kind("comparisons", comparisons, int, "give a number of at least 1")
    if comparisons < 1:
        raise ArgumentError(f"comparisons: is {comparisons}; give a number of at least 1")
    first, second = (_mean_by_problem(frame.filter(frame["counts"])) for frame in frames)
    pairs = first.join(second, on=["id", "group"], suffix="_second").sort("id")
    return paired_difference(
        pairs["score"].to_list(),
        pairs["score_second"].to_list(),
        pairs["group"].to_list(),
        confidence,
        comparisons,
    )


def _mean_by_problem(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.group_by("id", "group").agg(score=pl.col("verdict").mean())


# Comparison of two runs of a study from their results folders.


@takes_scorer
def compare_runs(
    a: str | Path,
    b: str | Path,
    *,
    scorer: str | tuple[str, str] | None = None,
    confidence: float = 0.95,
) -> RunComparison:
    """Compare two runs: each changed verdict with the first thing that differs.

    These are, in this order, the problem, its gold answer, the scorer or judge, the samples that
    count, and the response. The changes by cause sum to the difference over common problems.

    Examples:
        >>> comparison = omibench.compare_runs("before", "after")
        >>> {total.cause: total.change for total in comparison.total.causes}

    Args:
        a: First results folder, whose params.yaml is not needed, or file of `omibench score`.
        b: Second one.
        scorer: Scorer, or `gptscore`, or one for each run; by default the first scorer of each
            run, and GPTScore if both have it.
        confidence: Two-sided level of the paired intervals, in (0, 1).

    Returns:
        The comparison, with the content of `compare.json`; `items` is the table of all verdicts
        that changed.

    Raises:
        ArgumentError: If an argument is invalid or the runs have nothing to compare.
        MissingInputError: If a path is neither a results folder nor a file.
        UnfinishedError: If a run is writing to one of them.
        FileFormatError: If a file is broken, or has no verdicts.
        UntrustedError: If a file was exchanged or edited.
    """
    paths = check_path("a", a), check_path("b", b)
    check_confidence(confidence)
    for path in paths:
        _refuse_live_run(path)
    pair = (scorer, scorer) if scorer is None or isinstance(scorer, str) else tuple(scorer)
    if len(pair) != 2 or not all(name is None or isinstance(name, str) for name in pair):
        raise ArgumentError(f"scorer: is {scorer!r}; give a scorer, or one for each run")
    with open_results(paths[0]) as first, open_results(paths[1]) as second:
        comparison = compare_run_folders(first, second, (pair[0], pair[1]), confidence)
    named = {
        side: run.model_copy(update={"folder": str(path)})
        for side, run, path in zip("ab", (comparison.a, comparison.b), paths, strict=True)
    }
    return comparison.model_copy(update=named)


def _refuse_live_run(folder: Path) -> None:
    """Raise UnfinishedError if a run of the graph is writing to a results folder."""
    run = find_latest_run(read_runs(folder))
    if run is not None and run.live:
        raise UnfinishedError(
            f"{folder}: a run is writing to it; wait until it ends (`omibench status`), then "
            "compare again"
        )
