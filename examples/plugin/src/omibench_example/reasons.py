"""The filter reason `too_long` for overly long statements, and `needs_a_table` of models."""

from __future__ import annotations

from omibench.answers.judges.instrument import Instrument, make_instrument
from omibench.answers.judges.scales import LabelScale
from omibench.params.panel import JudgePanel
from omibench.stages.filter.candidate import Case
from omibench.stages.filter.reasons.registry import model_reason, reason

MOST_WORDS = 400


@reason("too_long")
def too_long(case: Case) -> str | None:
    """Return evidence if the statement has more than 400 words."""
    words = len(case.candidate.statement.split())
    return f"the statement has {words} words; at most {MOST_WORDS}" if words > MOST_WORDS else None


@model_reason("needs_a_table", rejects=["yes"])
def build_needs_a_table(panel: JudgePanel) -> Instrument[str]:
    """Reject problems that need a table of constants which they do not give."""
    labels = {
        "yes": "It needs constants from a table that it does not show.",
        "no": "Everything is given, or known by heart.",
    }
    return make_instrument(
        "needs_a_table", "You look for missing tables of constants.", LabelScale(labels)
    )
