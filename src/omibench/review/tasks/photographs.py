"""Tasks from photographs of problems (MathReal, C)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from pydantic import JsonValue

from omibench.errors import MissingInputError
from omibench.files.reading import hash_file
from omibench.review.changes import find_drop
from omibench.review.contents import Content, find_suffix
from omibench.review.kinds import find_kind
from omibench.review.report import compute_states
from omibench.review.tasks.drafts import PictureFile, TaskDraft, draft_task
from omibench.review.tasks.problems import list_picture_files, state_strata
from omibench.review.tasks.request import TaskRequest, find_problems
from omibench.schemas.problem import Problem
from omibench.schemas.review import TaskPicture
from omibench.schemas.tables import read_jsonl
from omibench.stages.ocr.sources.manifest import CLEAN, list_by_stem, list_photographs


def draft_photographs(
    kind: str, files: Iterable[Path], clean: Path | None = None
) -> list[TaskDraft]:
    """Make a task of each photograph; its file name without suffix is its id.

    Args:
        kind: One of `outcomes.PHOTO_KINDS`.
        files: The photographs, as listed by `list_photographs`.
        clean: A folder with clean pictures of the same names, which `photo_fields` shows next to
            them.

    Returns:
        The tasks in the order of the files.
    """
    clean_files = list_by_stem(clean) if kind == "photo_fields" and clean else {}
    drafts = []
    for path in files:
        pictures = [_read_picture(path, "Photograph")]
        if path.stem in clean_files:
            pictures.append(_read_picture(clean_files[path.stem], "Clean picture"))
        facts: dict[str, JsonValue] = {"file": path.name}
        drafts.append(draft_task(kind, path.stem, {"facts": facts}, pictures))
    return drafts


def draft_photographed_problems(
    kind: str, problems: Iterable[Problem], folder: Path
) -> list[TaskDraft]:
    """Make a task of each problem that is one photograph, such as those of MathReal's release.

    Known questions and answers are prefilled for correction. A clean picture is shown next to the
    photograph of its group, and has no separate task.

    Args:
        kind: One of `outcomes.PHOTO_KINDS`.
        problems: The problems; those with another number of pictures are skipped.
        folder: The base folder of image paths.
    """
    all_problems = list(problems)
    clean = {p.group: p for p in all_problems if p.photograph == "clean"}
    drafts = []
    for problem in all_problems:
        if not is_photographed(problem) or problem.photograph == "clean":
            continue
        content: Content = {
            "question": problem.question,
            "answer": list(problem.answer or []),
            "description": problem.images[0].caption or "",
        }
        facts: Content = {"facts": {"source": problem.source}}
        parts = content | facts if kind == "photo_fields" else facts
        pictures = list_picture_files(problem, folder)
        if kind == "photo_fields" and problem.photograph and problem.group in clean:
            for picture, path in list_picture_files(clean[problem.group], folder):
                labelled = picture.model_copy(update={"label": "Clean picture"})
                pictures.append(PictureFile(labelled, path))
        drafts.append(draft_task(kind, problem.id, parts, pictures, strata=state_strata(problem)))
    return drafts


def is_photographed(problem: Problem) -> bool:
    """Return whether a problem has exactly one picture, with its bytes."""
    return len(problem.images) == 1 and bool(problem.images[0].sha256)


def _read_picture(path: Path, label: str) -> PictureFile:
    picture = TaskPicture(sha256=hash_file(path), suffix=find_suffix(path.name), label=label)
    return PictureFile(picture, path)


# Tasks on a folder of photographs; photographs discarded in screening get no further tasks.

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
