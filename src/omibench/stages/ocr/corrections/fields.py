"""Apply corrections of the statement, choices, answer and solution of a problem."""

from __future__ import annotations

from collections.abc import Sequence

from omibench.schemas.problem import Choice, Problem
from omibench.schemas.problem_warning import ProblemWarning
from omibench.stages.ocr.corrections.doubts import INK_UNREAD, drop_settled_doubts
from omibench.stages.ocr.corrections.entry import Correction
from omibench.stages.ocr.corrections.reading import describe_answer, describe_choices
from omibench.stages.ocr.corrections.structure import MisfitError, validate
from omibench.stages.ocr.keys.chosen import as_letters
from omibench.stages.ocr.structure.assemble import BROKEN

_OF_ANSWERS = ("answer_conflict", "answer_doubtful", "answer_unread", "answer_cancelled")
"""Warnings of a key that a corrected answer settles."""
STATEMENT = ""
"""The name of the statement among a problem's parts; choices are named by their letters."""
SUSPECT = "math_suspect"


def describe_field(problem: Problem, correction: Correction) -> str:
    """Return the current text at the place of a correction, for `was`.

    Raises:
        MisfitError: The problem has no such choice.
    """
    if correction.text is not None:
        return problem.question
    if correction.choice is not None:
        return _find_choice(problem, correction.choice.label).text or ""
    if correction.choices is not None:
        return describe_choices(problem.choices)
    if correction.answer is not None:
        return describe_answer(problem.answer)
    return problem.solution or ""


def set_field(problem: Problem, correction: Correction) -> Problem:
    """Set the text, a choice, all choices, the answer or the solution of a problem.

    Args:
        problem: Problem with its answer.
        correction: Correction of one of these kinds.

    Returns:
        The problem, without obsolete warnings.

    Raises:
        MisfitError: The problem has no such choice, or the new value is invalid.
    """
    if correction.text is not None:
        return _clean(validate(problem, question=correction.text))
    if correction.choice is not None:
        before = _find_choice(problem, correction.choice.label)
        after = before.model_copy(update={"text": correction.choice.text or None})
        choices = [after if choice is before else choice for choice in problem.choices or []]
        return _clean(validate(problem, choices=choices))
    if correction.choices is not None:
        images = {choice.label: choice.image for choice in problem.choices or []}
        choices = [
            Choice(label=choice.label, text=choice.text, image=images.get(choice.label))
            for choice in correction.choices
        ]
        return _clean(validate(problem, choices=choices or None))
    if correction.answer is not None:
        return _set_answer(problem, correction.answer)
    return validate(problem, solution=correction.solution or None)


def list_parts(problem: Problem, correction: Correction) -> set[str]:
    """Return the parts of a problem's text that a correction sets: its statement, letters of
    choices."""
    if correction.text is not None:
        return {STATEMENT}
    if correction.choice is not None:
        return {correction.choice.label}
    return {choice.label for choice in problem.choices or []} if correction.choices else set()


def _find_choice(problem: Problem, label: str) -> Choice:
    for choice in problem.choices or []:
        if choice.label == label:
            return choice
    letters = ", ".join(choice.label for choice in problem.choices or [])
    raise MisfitError(f"it has no choice {label}; its choices: {letters or 'none'}")


def _set_answer(problem: Problem, answer: Sequence[str]) -> Problem:
    letters = as_letters(answer, problem.choices) if answer else []
    if answer and not letters:
        raise MisfitError(f"the answer {describe_answer(answer)} is not a choice")
    warnings = [warning for warning in problem.warnings if warning.code not in _OF_ANSWERS]
    return validate(problem, answer=letters or None, warnings=warnings)


def drop_suspicion(problem: Problem) -> Problem:
    """Return a corrected problem without the warnings of lost forms of formulas and unread ink."""
    return _without(_without(problem, SUSPECT), INK_UNREAD)


def _clean(problem: Problem) -> Problem:
    """Remove obsolete warnings about its texts."""
    texts = [problem.question, *(choice.text or "" for choice in problem.choices or [])]
    if not any(BROKEN.search(text) for text in texts):
        problem = _without(problem, "garbled_text")
    if all(choice.text or choice.image is not None for choice in problem.choices or []):
        problem = _without(problem, "choice_empty")
    return drop_settled_doubts(problem)


def _without(problem: Problem, code: str) -> Problem:
    warnings: list[ProblemWarning] = [w for w in problem.warnings if w.code != code]
    return problem.model_copy(update={"warnings": warnings})
