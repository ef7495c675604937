"""Tasks on a folder of photographs; what the screening discards gets no other task."""

from __future__ import annotations

from omibench.errors import MissingInputError
from omibench.review.changes import find_drop
from omibench.review.kinds import find_kind
from omibench.review.state import compute_state
from omibench.review_tasks.drafts import TaskDraft
from omibench.review_tasks.photographs import CLEAN, draft_photographs, list_photographs
from omibench.review_tasks.request import TaskRequest

SCREENING = "photo_screening"


def draft_study_photographs(request: TaskRequest) -> list[TaskDraft]:
    """Make tasks of photographs, those that a settled screening discards left out.

    Raises:
        MissingInputError: No folder is named, or it holds no photographs.
    """
    if request.photographs is None:
        raise MissingInputError(
            f"review: {request.kind!r} tasks are about photographs: name their folder with "
            "--photographs"
        )
    discarded = list_discarded(request) if request.kind != SCREENING else set()
    files = [f for f in list_photographs(request.photographs) if f.stem not in discarded]
    names = request.choose(file.stem for file in files)
    chosen = [file for file in files if file.stem in names]
    return draft_photographs(request.kind, chosen, request.photographs / CLEAN)


def list_discarded(request: TaskRequest) -> set[str]:
    """The photographs that a settled screening discards."""
    kind, needed = find_kind(SCREENING), request.rule.count_needed(SCREENING)
    discarded = set()
    for task in request.present:
        if task.kind != SCREENING or task.purpose != "work":
            continue
        state = compute_state(task, kind, request.decisions, needed)
        if state.fields is not None and find_drop(kind, state.fields):
            discarded.add(task.problem)
    return discarded
