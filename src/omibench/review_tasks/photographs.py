"""Tasks from photographs of problems (MathReal, C)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from pydantic import JsonValue

from omibench.files.hashes import hash_file
from omibench.review.contents import Content, find_suffix
from omibench.review_tasks.drafts import PictureFile, TaskDetails, TaskDraft, draft_task
from omibench.review_tasks.problems import list_picture_files, state_strata
from omibench.schemas.problem import Problem
from omibench.schemas.review import TaskPicture
from omibench.stages.ocr.sources.photographs import list_by_stem

PHOTO_KINDS = ("photo_screening", "photo_conditions", "photo_fields")


def draft_photographs(
    kind: str, files: Iterable[Path], clean: Path | None = None
) -> list[TaskDraft]:
    """Make a task of each photograph; its file name without suffix is its id.

    Args:
        kind: One of `PHOTO_KINDS`.
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
        kind: One of `PHOTO_KINDS`.
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
        details = TaskDetails(state_strata(problem))
        pictures = list_picture_files(problem, folder)
        if kind == "photo_fields" and problem.photograph and problem.group in clean:
            pictures += _show_clean(clean[problem.group], folder)
        drafts.append(draft_task(kind, problem.id, parts, pictures, details))
    return drafts


def is_photographed(problem: Problem) -> bool:
    """Return whether a problem has exactly one picture, with its bytes."""
    return len(problem.images) == 1 and bool(problem.images[0].sha256)


def _show_clean(twin: Problem, folder: Path) -> list[PictureFile]:
    return [
        replace(file, picture=file.picture.model_copy(update={"label": "Clean picture"}))
        for file in list_picture_files(twin, folder)
    ]


def _read_picture(path: Path, label: str) -> PictureFile:
    picture = TaskPicture(sha256=hash_file(path), suffix=find_suffix(path.name), label=label)
    return PictureFile(picture, path)
