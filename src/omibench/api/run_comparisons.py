"""Comparison of two runs of a study from their results folders."""

from __future__ import annotations

from pathlib import Path

from omibench.api.arguments import check_path
from omibench.api.comparisons import check_confidence
from omibench.errors import ArgumentError, UnfinishedError
from omibench.run_comparison.compare import compare_run_folders
from omibench.run_comparison.report import RunComparison
from omibench.status.runs import find_latest_run, read_runs


def compare_runs(
    a: str | Path,
    b: str | Path,
    *,
    rules: str | tuple[str, str] | None = None,
    confidence: float = 0.95,
) -> RunComparison:
    """Compare two runs: each changed verdict with the first thing that differs.

    These are, in this order, the problem, its gold answer, the scorer or judge, the samples that
    count, and the response. The changes by cause sum to the difference over common problems.

    Examples:
        >>> comparison = omibench.compare_runs("before", "after")
        >>> {total.cause: total.change for total in comparison.total.causes}

    Args:
        a: First results folder; params.yaml is not needed.
        b: Second results folder.
        rules: Scorer, or `gptscore`, or one for each run; by default the first scorer of each
            run, and GPTScore if both have it.
        confidence: Two-sided level of the paired intervals, in (0, 1).

    Returns:
        The comparison, with the content of `compare.json`; `items` is the table of all verdicts
        that changed.

    Raises:
        ArgumentError: If an argument is invalid or the runs have nothing to compare.
        MissingInputError: If a folder is not a results folder.
        UnfinishedError: If a run is writing to one of them.
        FileFormatError: If a file is broken.
        UntrustedError: If a file was exchanged or edited.
    """
    folders = check_path("a", a), check_path("b", b)
    check_confidence(confidence)
    for folder in folders:
        _refuse_live_run(folder)
    pair = (rules, rules) if rules is None or isinstance(rules, str) else tuple(rules)
    if len(pair) != 2 or not all(name is None or isinstance(name, str) for name in pair):
        raise ArgumentError(f"rules: is {rules!r}; give a scorer, or one for each run")
    return compare_run_folders(*folders, (pair[0], pair[1]), confidence)


def _refuse_live_run(folder: Path) -> None:
    """Raise UnfinishedError if a run of the graph is writing to a results folder."""
    run = find_latest_run(read_runs(folder))
    if run is not None and run.live:
        raise UnfinishedError(
            f"{folder}: a run is writing to it; wait until it ends (`omibench status`), then "
            "compare again"
        )
