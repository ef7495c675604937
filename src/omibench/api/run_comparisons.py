"""Two runs of a study compared, from their results folders."""

from __future__ import annotations

from pathlib import Path

from omibench.api.arguments import check_path
from omibench.api.comparisons import check_confidence
from omibench.errors import ArgumentError, UnfinishedError
from omibench.run_comparison.compare import compare_run_folders
from omibench.run_comparison.report import RunComparison
from omibench.stages.score.cache import locate_user_cache
from omibench.status.runs import find_latest_run, read_runs


def compare_runs(
    a: str | Path,
    b: str | Path,
    *,
    rules: str | tuple[str, str] | None = None,
    confidence: float = 0.95,
) -> RunComparison:
    """Compare two runs: what did each change between them do to the accuracies?

    What needs no model is replayed (gold, data, rules, stored judgements) and gets its share of
    the difference, averaged over the orders in which the changes are made. What was asked anew is
    one share.

    Example:
        >>> comparison = omibench.compare_runs("before", "after")
        >>> {share.name: share.share for share in comparison.total.shares}

    Args:
        a: The first results folder; params.yaml is not needed.
        b: The second one.
        rules: The rule book, or `gptscore`, or one for each run; by default the first by which each
            was scored, and GPTScore where both have it.
        confidence: The two-sided level of the paired intervals, in (0, 1).

    Returns:
        The comparison, as `compare.json` holds it; `items` is the table of all verdicts that moved.

    Raises:
        ArgumentError: An argument is wrong, or the runs have nothing to compare.
        MissingInputError: A folder is no results folder.
        UnfinishedError: A run writes to one of them.
        FileFormatError: A file is broken.
        UntrustedError: A file was exchanged or edited.
    """
    folders = check_path("a", a), check_path("b", b)
    check_confidence(confidence)
    for folder in folders:
        _refuse_live_run(folder)
    pair = (rules, rules) if rules is None or isinstance(rules, str) else tuple(rules)
    if len(pair) != 2 or not all(name is None or isinstance(name, str) for name in pair):
        raise ArgumentError(f"rules: is {rules!r}; give a rule book, or one for each run")
    return compare_run_folders(*folders, (pair[0], pair[1]), confidence, locate_user_cache())


def _refuse_live_run(folder: Path) -> None:
    """Raise UnfinishedError where a run of the graph writes to a results folder."""
    run = find_latest_run(read_runs(folder))
    if run is not None and run.live:
        raise UnfinishedError(
            f"{folder}: a run is writing to it: wait until it has ended (`omibench status`), then "
            "compare again"
        )
