"""What a study may well not mean as it stands: said before it is planned or run."""

from __future__ import annotations

from omibench.params.checks.unused_models import describe_unused
from omibench.params.study import Study


def list_remarks(study: Study) -> list[str]:
    """Remarks on a study, one line each: a model that is never asked, a missing grader."""
    remarks = (describe_unused(study), describe_missing_grader(study))
    return [remark for remark in remarks if remark]


def describe_missing_grader(study: Study) -> str | None:
    """One line where the rule book `mathreal` has no model to grade by; else None."""
    if "mathreal" not in study.score.rules or study.score.graders or not study.cells:
        return None
    return (
        "score.rules names mathreal, and no model grades: its answers stay unjudged and count as "
        "wrong; name one in `score.grader`"
    )
