"""What people decided on the items of a release, as far as a release says it."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Final

from omibench.review.agreement import measure_agreement
from omibench.review.contents import PROBLEM_KINDS
from omibench.review.folder import read_review
from omibench.review.read import raise_bad_lines
from omibench.review.report import ReviewReport, summarize_review

DATASET_KINDS: Final = frozenset(
    {*PROBLEM_KINDS, "photo_screening", "photo_conditions", "photo_fields"}
)
"""Kinds of tasks that are about a dataset; the others are about responses and people."""


def summarize_release_review(folder: Path, ids: Collection[str]) -> ReviewReport:
    """Where the review of the items of a release stands.

    Tasks on problems that are not in the release, and those about responses of models, are left
    out; the head hash is over the whole record.

    Args:
        folder: With tasks.jsonl and decisions.jsonl.
        ids: Those of the items.

    Raises:
        MissingInputError: There is no such folder, or no tasks.jsonl in it.
        FileFormatError: A line cannot be read: a release says nothing of half a record.
    """
    record = read_review(folder)
    raise_bad_lines(record.errors)
    members = frozenset(ids)
    tasks = [
        task for task in record.tasks if task.kind in DATASET_KINDS and task.problem in members
    ]
    agreement = measure_agreement(tasks, record.decisions)
    return summarize_review(tasks, record.decisions, agreement=agreement)
