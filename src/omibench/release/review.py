"""Review of the items of a release."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Final

from omibench.review.agreement import measure_agreement
from omibench.review.contents import PROBLEM_KINDS
from omibench.review.folder import raise_bad_lines, read_review
from omibench.review.report import ReviewReport, summarize_review

DATASET_KINDS: Final = frozenset(
    {*PROBLEM_KINDS, "photo_screening", "photo_conditions", "photo_fields"}
)
"""Kinds of tasks about a dataset; the others are about responses and people."""


def summarize_release_review(folder: Path, ids: Collection[str]) -> ReviewReport:
    """Return the state of the review of a release's items.

    Tasks on problems outside the release and on responses of models are excluded; the head hash
    covers the whole log.

    Args:
        folder: The folder with tasks.jsonl and decisions.jsonl.
        ids: Ids of the items.

    Raises:
        MissingInputError: The folder or its tasks.jsonl does not exist.
        FileFormatError: A line cannot be read.
    """
    record = read_review(folder)
    raise_bad_lines(record.errors)
    members = frozenset(ids)
    tasks = [
        task for task in record.tasks if task.kind in DATASET_KINDS and task.problem in members
    ]
    agreement = measure_agreement(tasks, record.decisions)
    return summarize_review(tasks, record.decisions, agreement=agreement)
