"""What `omibench score` says at its end: a summary for each rule book, and what judges failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from omibench.errors import SomeFailedError
from omibench.terminal import say

if TYPE_CHECKING:
    from omibench.score.stage import Scored

BUDGET = "budget_stop"


def tell_scores(scored: Scored, out: Path) -> None:
    """Print a summary of each rule book and judge, and where the verdicts are.

    Raises SomeFailedError where every judgement failed; a budget that stopped some is no failure
    of theirs, and its warning was printed.
    """
    if scored.part:
        say(f"[PARTIAL RUN] {scored.part}")
    for line in [*_summaries(scored), *_failures(scored)]:
        say(line)
    say(f"{scored.frame.height} rows written to {out}", err=True)
    for rules, (asked, failed) in scored.failed.items():
        if asked and failed.total() == asked and not failed[BUDGET]:
            raise SomeFailedError(
                f"score: every judgement of {rules} failed ({_counts(failed)}): {out} holds no "
                "verdict of a judge; see that the judge's model answers (omibench plan names its "
                "address), then run the same command again"
            )


def _summaries(scored: Scored) -> Iterator[str]:
    from omibench.analyze.verdict_summary import summarise, summary_lines

    frame = scored.frame
    books, clusters = frame["rules"].to_list(), scored.clusters
    told: dict[str, list[tuple[float, str, str]]] = {}
    for rules, *row in zip(books, frame["verdict"], frame["outcome"], clusters, strict=True):
        told.setdefault(rules, []).append((row[0], row[1], row[2]))
    if "gptscore" in frame.columns:  # stands beside the verdicts of each rule book
        first = frame.height // len(told)
        judged = zip(frame["gptscore"], frame["judge_outcome"], clusters, strict=True)
        told["gptscore"] = [*judged][:first]
    for rules, rows in told.items():
        if "/" not in rules:  # a single judge of a panel
            values, why, groups = zip(*rows, strict=True)
            yield from summary_lines(summarise(rules, values, why, groups))


def _failures(scored: Scored) -> Iterator[str]:
    for rules, (asked, failed) in scored.failed.items():
        if failed.total():
            yield (
                f"{rules}: {failed.total():,} of {asked:,} judgements failed ({_counts(failed)})"
            )


def _counts(failed: Counter[str]) -> str:
    return ", ".join(f"{count:,} {why.replace('_', ' ')}" for why, count in failed.most_common())
