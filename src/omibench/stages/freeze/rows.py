"""The two halves of a problem: model input, and scorer input."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from omibench.errors import FileFormatError, MissingInputError
from omibench.schemas.attributes import list_labels
from omibench.schemas.problem import Answer, Problem, Question
from omibench.schemas.problem_warning import CORRECTED, LABEL, RATIONALE

SIMULATED = "[SIMULATED rationale by "
"""Prefix of a rationale by a simulated model."""


def build_answer(problem: Problem) -> Answer:
    """Return the half with gold answer and rationale; a simulated one is marked in its first line.

    Raises:
        MissingInputError: The problem has no answer.
    """
    if not problem.answer:
        raise MissingInputError(
            f"{problem.id}: no answer; give its key in the sources manifest, or edit or drop "
            "the problem in the review decisions"
        )
    simulated = find_simulated_writer(problem)
    mark = f"{SIMULATED}{simulated}]\n" if simulated and problem.solution else ""
    return Answer(
        id=problem.id,
        answer=problem.answer,
        answer_type=problem.answer_type,
        choices=problem.choices,
        solution=mark + problem.solution if problem.solution else None,
        sketch=problem.sketch,
        subject=problem.subject,
        topic=problem.topic,
        group=problem.group,
        n_images=len({figure.sha256 for figure in problem.images}),
        attributes=problem.stated_attributes,
    )


def align_attributes(answers: Sequence[Answer]) -> list[Answer]:
    """Give each attribute one type, so that table loaders read it as one column.

    Args:
        answers: Answers of a dataset.

    Returns:
        The answers; an attribute that is a list of labels in one of them becomes a list in all.
    """
    several = {
        name
        for answer in answers
        for name, value in answer.attributes.items()
        if isinstance(value, list)
    }
    return [
        answer.model_copy(
            update={
                "attributes": {
                    name: list_labels(value) if name in several else value
                    for name, value in answer.attributes.items()
                }
            }
        )
        if several & answer.attributes.keys()
        else answer
        for answer in answers
    ]


def find_simulated_writer(problem: Problem) -> str | None:
    """Return the simulated model that wrote a problem's rationale, or None."""
    models = (", ".join(w.simulated_by) for w in problem.warnings if w.code == RATIONALE)
    return next(filter(None, models), None)


def count_simulated_judgements(problems: Sequence[Problem]) -> dict[str, int]:
    """Return the filter's judgements by simulated models, with the number of problems."""
    return dict(
        Counter(
            warning.code
            for problem in problems
            for warning in problem.warnings
            if warning.is_simulated and warning.code not in (RATIONALE, LABEL)
        )
    )


def list_corrected(problems: Sequence[Problem]) -> dict[str, list[str]]:
    """Return the corrections of the reading of each problem, by id, without people's names."""
    corrected = {
        problem.id: [w.detail.partition(" by ")[0] for w in problem.warnings if w.code == CORRECTED]
        for problem in problems
    }
    return {id_: sorted(set(kinds)) for id_, kinds in corrected.items() if kinds}


def is_simulated(answer: Answer) -> bool:
    """Return whether a simulated model wrote an answer's rationale."""
    return (answer.solution or "").startswith(SIMULATED)


def check_pairs(questions: Sequence[Question], answers: Sequence[Answer]) -> None:
    """Check that questions and answers match one to one, with unique ids.

    Raises:
        FileFormatError: An id is repeated, or has no question; the message gives the first.
        MissingInputError: A question has no answer.
    """
    ids = Counter(question.id for question in questions)
    answered = Counter(answer.id for answer in answers if answer.answer)
    for id_ in ids | answered:
        if max(ids[id_], answered[id_]) > 1:
            raise FileFormatError(f"{id_}: two problems have this id")
        if not answered[id_]:
            raise MissingInputError(f"{id_}: has no answer")
        if not ids[id_]:
            raise FileFormatError(f"{id_}: has an answer, but no question")
