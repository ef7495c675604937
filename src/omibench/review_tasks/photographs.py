"""Photographs of problems: a folder of pictures becomes tasks (MathReal, C)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import JsonValue

from omibench.errors import MissingInputError
from omibench.files.hashes import hash_file
from omibench.files.intake.picture import SUFFIXES
from omibench.review.contents import Content, find_suffix
from omibench.review_tasks.drafts import PictureFile, TaskDetails, TaskDraft, draft_task
from omibench.review_tasks.problems import list_picture_files, state_strata
from omibench.schemas.problem import Problem
from omibench.schemas.review import TaskPicture

CLEAN = "clean"
"""The folder beside the photographs that holds clean pictures of the same figures."""
PHOTO_KINDS = ("photo_screening", "photo_conditions", "photo_fields")
_SUFFIXES = frozenset({*SUFFIXES.values(), "jpeg"})


def draft_photographs(
    kind: str, files: Iterable[Path], clean: Path | None = None
) -> list[TaskDraft]:
    """Make a task of each photograph; its name without the suffix is its id.

    Args:
        kind: One of `PHOTO_KINDS`.
        files: The photographs, as `list_photographs` gives them.
        clean: A folder with clean pictures of the same names, which `photo_fields` shows beside
            them.

    Returns:
        The tasks in the order of the files.
    """
    clean_files = _list_by_stem(clean) if kind == "photo_fields" and clean else {}
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

    What is known of its question and answer is there to be corrected.

    Args:
        kind: One of `PHOTO_KINDS`.
        problems: The problems; those with another number of pictures are left out.
        folder: Where image paths are relative to.
    """
    drafts = []
    for problem in problems:
        if not is_photographed(problem):
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
        drafts.append(draft_task(kind, problem.id, parts, pictures, details))
    return drafts


def is_photographed(problem: Problem) -> bool:
    """Whether a problem is one picture, whose bytes are there."""
    return len(problem.images) == 1 and bool(problem.images[0].sha256)


def list_photographs(folder: Path) -> list[Path]:
    """The pictures of a folder by name, those of folders in it left out.

    Raises:
        MissingInputError: It is no folder, holds no picture, or two pictures that differ in their
            suffix alone.
    """
    if not folder.is_dir():
        raise MissingInputError(f"{folder}: is no folder of photographs")
    files = _list_pictures(folder)
    if not files:
        raise MissingInputError(f"{folder}: holds no picture ({', '.join(sorted(_SUFFIXES))})")
    stems: dict[str, Path] = {}
    for path in files:
        if path.stem in stems:
            raise MissingInputError(
                f"{folder}: {stems[path.stem].name} and {path.name} would be one task: rename one"
            )
        stems[path.stem] = path
    return files


def _list_pictures(folder: Path) -> list[Path]:
    return sorted(
        path
        for path in folder.iterdir()
        if path.is_file() and path.suffix.lstrip(".").lower() in _SUFFIXES
    )


def _list_by_stem(folder: Path) -> dict[str, Path]:
    return {path.stem: path for path in _list_pictures(folder)} if folder.is_dir() else {}


def _read_picture(path: Path, label: str) -> PictureFile:
    picture = TaskPicture(sha256=hash_file(path), suffix=find_suffix(path.name), label=label)
    return PictureFile(picture, path)
