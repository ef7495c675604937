"""What `omibench score` says at its end: a summary for each rule book, and what judges failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from omibench.errors import MissingExtraError, SomeFailedError
from omibench.text.terminal import say

if TYPE_CHECKING:
    from omibench.stages.score.stage import ScoreResult

BUDGET = "budget_stop"
UNREADABLE = "judge_failed"


def tell_scores(scored: ScoreResult, out: Path) -> None:
    """Print a summary of each rule book and judge, and where the verdicts are.

    Raises SomeFailedError where every judgement failed; a budget that stopped some is no failure
    of theirs, and its warning was printed.
    """
    if scored.part:
        say(f"[PARTIAL RUN] {scored.part}")
    if scored.lacking:
        say(scored.lacking)
    for line in [*_summaries(scored), *_failures(scored)]:
        say(line)
    say(f"{scored.frame.height} rows written to {out}", err=True)
    for rules, (count, failed) in scored.failed.items():
        if count and _all_failed(scored, rules) and not failed[BUDGET]:
            raise SomeFailedError(
                f"score: every judgement of {rules} failed ({_counts(failed)}): {out} holds no "
                f"verdict of a judge; {_remedy(failed)}"
            )


def _all_failed(scored: ScoreResult, rules: str) -> bool:
    count, failed = scored.failed.get(rules, (0, Counter[str]()))
    return 0 < count == failed.total()


def _remedy(failed: Counter[str]) -> str:
    """What to do; a reply that says no verdict is in the store, and is not asked for again."""
    if failed.keys() <= {UNREADABLE}:
        return (
            "its replies, which the store keeps, say no verdict: read one (omibench store inspect "
            "KEY, from the column judge_key), then name another judge"
        )
    return (
        "see that the judge's model answers (omibench plan --probe asks it), then run the same "
        "command again"
    )


def _summaries(scored: ScoreResult) -> Iterator[str]:
    from omibench.results.verdict_summary import format_lines, summarise_verdicts

    frame = scored.frame
    books, clusters = frame["rules"].to_list(), scored.clusters
    by_rules: dict[str, list[tuple[float, str, str]]] = {}
    for rules, *row in zip(books, frame["verdict"], frame["outcome"], clusters, strict=True):
        by_rules.setdefault(rules, []).append((row[0], row[1], row[2]))
    if "gptscore" in frame.columns:  # stands beside the verdicts of each rule book
        first = frame.height // len(by_rules)
        judged = zip(frame["gptscore"], frame["judge_outcome"], clusters, strict=True)
        by_rules["gptscore"] = [*judged][:first]
    for rules, rows in by_rules.items():
        # Not a single judge of a panel, nor a number that no judgement stands behind.
        if "/" not in rules and not _all_failed(scored, rules):
            values, outcomes, groups = zip(*rows, strict=True)
            try:
                yield from format_lines(summarise_verdicts(rules, values, outcomes, groups))
            except MissingExtraError as error:
                yield f"{rules}: no summary: {error}"


def _failures(scored: ScoreResult) -> Iterator[str]:
    for rules, (count, failed) in scored.failed.items():
        if failed.total():
            yield (
                f"{rules}: {failed.total():,} of {count:,} judgements failed ({_counts(failed)})"
            )


def _counts(failed: Counter[str]) -> str:
    return ", ".join(
        f"{count:,} {reason.replace('_', ' ')}" for reason, count in failed.most_common()
    )
