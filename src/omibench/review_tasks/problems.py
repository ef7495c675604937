"""Tasks on problems: pages, translations, difficulty, rationales, labels, items."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from omibench.review.contents import Content, list_pictures, make_content
from omibench.review_tasks.drafts import PictureFile, TaskDetails, TaskDraft, draft_task
from omibench.schemas.attributes import join_labels
from omibench.schemas.problem import Problem, Question
from omibench.schemas.problem_warning import LABEL, RATIONALE

AddParts = Callable[[Problem], Content]
"""Returns parts of a problem's task that come from other sources."""
AddPictures = Callable[[Problem], Iterable[PictureFile]]
_SHOWN_WORK: Mapping[str, str] = {"rationale": RATIONALE, "label": LABEL, "item": RATIONALE}
"""The code of the warning if a model wrote a kind's content, by kind."""


@dataclass(frozen=True)
class ElsewhereParts:
    """Task content that is not part of the problem.

    Attributes:
        add_parts: Returns parts from other sources, such as candidates.
        add_pictures: Returns additional pictures, such as the problem's pages.
        simulated_models: Names of simulated models, which may have translated a problem.
        simulated: Ids of problems with parts from a simulated model.
    """

    add_parts: AddParts = lambda problem: {}
    add_pictures: AddPictures = lambda problem: ()
    simulated_models: Collection[str] = ()
    simulated: Collection[str] = ()


def draft_problem_tasks(
    kind: str,
    problems: Iterable[Problem],
    folder: Path,
    elsewhere: ElsewhereParts | None = None,
) -> list[TaskDraft]:
    """Make a task for each problem that a kind applies to.

    Args:
        kind: One of `contents.PROBLEM_KINDS`.
        problems: The problems as changed by the kinds before it.
        folder: The base folder of image paths.
        elsewhere: Content from other sources.

    Returns:
        The tasks in the order of the problems.
    """
    elsewhere = elsewhere or ElsewhereParts()
    drafts = []
    for problem in problems:
        content = make_content(kind, problem)
        if content is None:
            continue
        content |= elsewhere.add_parts(problem)
        pictures = [*list_picture_files(problem, folder), *elsewhere.add_pictures(problem)]
        simulated = is_simulated(kind, problem, elsewhere)
        details = TaskDetails(state_strata(problem), simulated)
        drafts.append(draft_task(kind, problem.id, content, pictures, details))
    return drafts


def list_picture_files(problem: Problem | Question, folder: Path) -> list[PictureFile]:
    """Return the pictures of a problem with their files; missing ones are skipped."""
    figures = [figure for figure in problem.images if figure.sha256]
    return [
        PictureFile(picture, folder / figure.file)
        for picture, figure in zip(list_pictures(problem), figures, strict=True)
    ]


def state_strata(problem: Problem) -> dict[str, str]:
    """Return the strata for samples (OMIBench, A.4.3), and the subject."""
    return {
        "subject": problem.subject,
        "type": problem.answer_type,
        "difficulty": join_labels(problem.attributes.get("difficulty")),
        "source": problem.source,
    }


def is_simulated(kind: str, problem: Problem, elsewhere: ElsewhereParts) -> bool:
    """Return whether a task of a kind shows content from a simulated model."""
    if kind == "page":
        return False
    translator = problem.original.translator if problem.original else None
    code = _SHOWN_WORK.get(kind)
    return (
        translator in elsewhere.simulated_models
        or problem.id in elsewhere.simulated
        or any(warning.is_simulated and warning.code == code for warning in problem.warnings)
    )
