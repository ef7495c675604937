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
"""Gives parts of a problem's task that come from elsewhere than the problem."""
AddPictures = Callable[[Problem], Iterable[PictureFile]]
_SHOWN_WORK: Mapping[str, str] = {"rationale": RATIONALE, "label": LABEL, "item": RATIONALE}
"""What a kind shows that a model may have written, by the code of its warning."""


@dataclass(frozen=True)
class ElsewhereParts:
    """What a kind shows beside the problem.

    Attributes:
        add_parts: Gives the parts that come from elsewhere, such as candidates.
        add_pictures: Gives pictures beside the problem's own, such as its pages.
        simulated_models: Names of simulated models, who may have translated a problem.
        simulated: Ids of problems of which these parts come from a simulated model.
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
    """Make a task of each problem that a kind applies to.

    Args:
        kind: One of `contents.PROBLEM_KINDS`.
        problems: As the kinds before it have left them.
        folder: Where image paths are relative to.
        elsewhere: What the kind shows beside the problem.

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
    """The pictures of a problem, as read or frozen, with their files; absent ones are left out."""
    figures = [figure for figure in problem.images if figure.sha256]
    return [
        PictureFile(picture, folder / figure.file)
        for picture, figure in zip(list_pictures(problem), figures, strict=True)
    ]


def state_strata(problem: Problem) -> dict[str, str]:
    """What samples are stratified by (OMIBench, A.4.3), and the subject."""
    return {
        "subject": problem.subject,
        "type": problem.answer_type,
        "difficulty": join_labels(problem.attributes.get("difficulty")),
        "source": problem.source,
    }


def is_simulated(kind: str, problem: Problem, elsewhere: ElsewhereParts) -> bool:
    """Whether what a task of a kind shows of a problem comes from a simulated model."""
    if kind == "page":
        return False
    translator = problem.original.translator if problem.original else None
    code = _SHOWN_WORK.get(kind)
    return (
        translator in elsewhere.simulated_models
        or problem.id in elsewhere.simulated
        or any(warning.is_simulated and warning.code == code for warning in problem.warnings)
    )
