"""Remarks on probable mistakes in a study, shown before it is planned or run."""

from __future__ import annotations

from collections.abc import Sequence

from omibench.files.intake import read_text
from omibench.files.intake.yaml_bounds import YAML_BYTES
from omibench.files.yaml_file import list_dates
from omibench.params.checks.unused_models import describe_unused
from omibench.params.study import Study


def list_remarks(study: Study, files: Sequence[str] = ()) -> list[str]:
    """List remarks on a study, one line each.

    Args:
        study: The study.
        files: Its parameter files.

    Returns:
        A model without requests, a missing grader, dates that DVC cannot read.
    """
    remarks = (describe_unused(study), describe_missing_grader(study))
    place = f"{', '.join(files)}: " if files else ""
    dates = [line for file in files for line in describe_dates(file)]
    return [*(f"{place}{remark}" for remark in remarks if remark), *dates]


def describe_dates(file: str) -> list[str]:
    """Return a line for each date without quotes in a parameter file."""
    return [
        f"{file}, line {line}: {text} is a date of YAML, which DVC cannot read (`dvc status`, "
        f'`dvc repro`); put it in quotes: "{text}"'
        for line, text in list_dates(read_text(file, YAML_BYTES))
    ]


def describe_missing_grader(study: Study) -> str | None:
    """Return a line if the scorer `mathreal` has no grading model; else None."""
    if "mathreal" not in study.score.rules or study.score.graders or not study.cells:
        return None
    return (
        "score.rules: 'mathreal' has no grading model, so its answers stay unjudged and count as "
        "wrong; set `score.grader`"
    )
