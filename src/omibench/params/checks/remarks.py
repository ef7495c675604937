"""Remarks on probable mistakes in a study, shown before it is planned or run."""

from __future__ import annotations

from omibench.params.checks.unused_models import describe_unused
from omibench.params.study import Study


def list_remarks(study: Study) -> list[str]:
    """List remarks on a study, one line each: a model without requests, a missing grader."""
    remarks = (describe_unused(study), describe_missing_grader(study))
    return [remark for remark in remarks if remark]


def describe_missing_grader(study: Study) -> str | None:
    """Return a line if the scorer `mathreal` has no grading model; else None."""
    if "mathreal" not in study.score.rules or study.score.graders or not study.cells:
        return None
    return (
        "score.rules: 'mathreal' has no grading model, so its answers stay unjudged and count as "
        "wrong; set `score.grader`"
    )
