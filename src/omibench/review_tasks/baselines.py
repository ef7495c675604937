"""Problems for people to solve: the human baseline (OMIBench, K)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from omibench.review_tasks.drafts import TaskDetails, TaskDraft, draft_task
from omibench.review_tasks.problems import list_picture_files
from omibench.schemas.problem import Question


def draft_baselines(
    questions: Iterable[Question],
    folder: Path,
    scored: Collection[str],
    familiarisation: Collection[str] = (),
) -> list[TaskDraft]:
    """Make a task for each problem of the baseline, without gold answers.

    Args:
        questions: The frozen questions.
        folder: The base folder of image paths.
        scored: Ids of the problems that count, in the order to solve them.
        familiarisation: Ids of the practice problems, which come first and do not count.

    Returns:
        The tasks in the order to solve them.
    """
    by_id = {question.id: question for question in questions}
    return [
        *(_draft_baseline(by_id[name], folder, is_first=True) for name in familiarisation),
        *(_draft_baseline(by_id[name], folder, is_first=False) for name in scored),
    ]


def _draft_baseline(question: Question, folder: Path, *, is_first: bool) -> TaskDraft:
    return draft_task(
        "baseline",
        question.id,
        {
            "question": question.question,
            "choices": [choice.model_dump(mode="json") for choice in question.choices or []],
        },
        list_picture_files(question, folder),
        TaskDetails(
            {"subject": question.subject, "type": question.answer_type},
            purpose="familiarisation" if is_first else "work",
        ),
    )
