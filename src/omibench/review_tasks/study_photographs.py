"""Tasks on a folder of photographs; photographs discarded in screening get no further tasks."""

from __future__ import annotations

from collections.abc import Collection

from omibench.errors import MissingInputError
from omibench.review.changes import find_drop
from omibench.review.kinds import find_kind
from omibench.review.report import compute_states
from omibench.review_tasks.current_problems import find_problems
from omibench.review_tasks.drafts import TaskDraft
from omibench.review_tasks.photographs import (
    draft_photographed_problems,
    draft_photographs,
    is_photographed,
)
from omibench.review_tasks.request import TaskRequest
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_jsonl
from omibench.stages.ocr.sources.photographs import CLEAN, list_photographs

SCREENING = "photo_screening"
_NO_PHOTOGRAPHS = (
    "review: {!r} tasks are about photographs; pass their folder with --photographs, or import "
    "problems that are one photograph each"
)


def draft_study_photographs(request: TaskRequest) -> list[TaskDraft]:
    """Make tasks of photographs, except those discarded by a settled screening.

    The photographs are the pictures of a folder or, without one, the study's problems that are one
    photograph each; freezing turns settled fields of these into attributes.

    Raises:
        MissingInputError: No photographs are found.
    """
    discarded = list_discarded(request) if request.kind != SCREENING else set()
    if request.photographs is None:
        return _draft_problems(request, discarded)
    files = [f for f in list_photographs(request.photographs) if f.stem not in discarded]
    names = request.choose(file.stem for file in files)
    chosen = [file for file in files if file.stem in names]
    return draft_photographs(request.kind, chosen, request.photographs / CLEAN)


def _draft_problems(request: TaskRequest, discarded: Collection[str]) -> list[TaskDraft]:
    try:
        path = request.problems or find_problems(request.results)
    except MissingInputError:
        raise MissingInputError(_NO_PHOTOGRAPHS.format(request.kind)) from None
    problems = [p for p in read_jsonl(path, Problem) if is_photographed(p)]
    if not problems:
        raise MissingInputError(_NO_PHOTOGRAPHS.format(request.kind))
    names = request.choose(
        p.id for p in problems if p.id not in discarded and p.photograph != "clean"
    )
    groups = {problem.group for problem in problems if problem.id in names}
    chosen = [p for p in problems if p.id in names or (p.photograph and p.group in groups)]
    return draft_photographed_problems(request.kind, chosen, path.parent)


def list_discarded(request: TaskRequest) -> set[str]:
    """Return the photographs that a settled screening discards."""
    kind = find_kind(SCREENING)
    screenings = [t for t in request.present if t.kind == SCREENING and t.purpose == "work"]
    states = compute_states(screenings, request.decisions, request.study.review.reviewers)
    return {
        state.task.problem
        for state in states.values()
        if state.fields is not None and find_drop(kind, state.fields)
    }
