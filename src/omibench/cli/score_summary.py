"""The last lines of `omibench score`: a summary per scorer, and failed judgements."""

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
    """Print a summary of each scorer and judge, and the path of the verdicts.

    Raises:
        SomeFailedError: All judgements failed. Judgements stopped by a budget do not count as
            failed; their warning is printed earlier.
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
                f"score: all judgements of {rules} failed ({_counts(failed)}), so {out} has no "
                f"verdict of a judge; {_remedy(failed)}"
            )


def _all_failed(scored: ScoreResult, rules: str) -> bool:
    count, failed = scored.failed.get(rules, (0, Counter[str]()))
    return 0 < count == failed.total()


def _remedy(failed: Counter[str]) -> str:
    """Return the remedy; a reply without a verdict is in the store and not requested again."""
    if failed.keys() <= {UNREADABLE}:
        return (
            "its replies contain no verdict: read one with `omibench store inspect KEY` (column "
            "judge_key), then choose another judge"
        )
    return (
        "check that the judge's model answers (`omibench plan --probe`), then run the command again"
    )


def _summaries(scored: ScoreResult) -> Iterator[str]:
    from omibench.results.verdict_summary import format_lines, summarise_verdicts

    frame = scored.frame
    scorers, clusters = frame["rules"].to_list(), scored.clusters
    by_rules: dict[str, list[tuple[float, str, str]]] = {}
    for rules, *row in zip(scorers, frame["verdict"], frame["outcome"], clusters, strict=True):
        by_rules.setdefault(rules, []).append((row[0], row[1], row[2]))
    if "gptscore" in frame.columns:  # stored next to the verdicts of each scorer
        first = frame.height // len(by_rules)
        judged = zip(frame["gptscore"], frame["judge_outcome"], clusters, strict=True)
        by_rules["gptscore"] = [*judged][:first]
    for rules, rows in by_rules.items():
        # Neither single judges of a panel nor numbers without a judgement.
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
