"""A file of verdicts in a few lines: accuracy with its interval, and the other outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from omibench.statistics.intervals import Estimate, clustered_wilson

UNREAD = "unparsed"
SCORED = "scored"


class VerdictSummary(NamedTuple):
    """The verdicts of one scorer.

    `accuracy` is the mean verdict with Wilson's interval at the effective number of responses,
    clustered; a response without an answer counts as wrong.
    """

    rules: str
    accuracy: Estimate
    clusters: int
    outcomes: Counter[str]
    confidence: float

    @property
    def unread_share(self) -> float:
        """The share of responses with text in which no answer was found, in [0, 1]."""
        return self.outcomes[UNREAD] / max(1, self.accuracy.n)


def summarise_verdicts(
    rules: str,
    verdicts: Sequence[float],
    outcomes: Sequence[str],
    clusters: Sequence[str],
    confidence: float = 0.95,
) -> VerdictSummary:
    """Summarize verdicts in [0, 1] with their outcomes and clusters."""
    estimate = clustered_wilson(verdicts, clusters, confidence)
    return VerdictSummary(rules, estimate, len(set(clusters)), Counter(outcomes), confidence)


def format_lines(summary: VerdictSummary) -> Iterator[str]:
    """Render the summary: one line of accuracy, one of outcomes."""
    mean, lo, hi, n, _ = summary.accuracy
    level = f"{100 * summary.confidence:g} % interval"
    problems = f" to {summary.clusters:,} problems, clustered" if summary.clusters < n else ""
    yield (
        f"{summary.rules}: accuracy {_percent(mean)} [{_percent(lo)}, {_percent(hi)}] ({level}), "
        f"{n:,} response{'s' if n != 1 else ''}{problems}"
    )
    counts = summary.outcomes.most_common()
    failures = [f"{name.replace('_', ' ')} {count:,}" for name, count in counts if name != SCORED]
    failure_note = f"; no answer: {', '.join(failures)} (counted as wrong)" if failures else ""
    unread = _percent(summary.unread_share)
    yield f"  scored {summary.outcomes[SCORED]:,}{failure_note}; unread {unread}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
