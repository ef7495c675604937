"""Text ablations: a question without its text, or without its choices (USNCO-V, figure 6).

The instruction is unchanged, so that the answer is still requested in the scored form; the paper
prints no other prompt for these cells. Pictures are removed by `images: none`.
"""

from __future__ import annotations

from collections.abc import Sequence

from omibench.params.presentation import Without
from omibench.schemas.image_marks import IMAGE_MARK
from omibench.schemas.problem import Question


def ablate(question: Question, without: Sequence[Without]) -> Question:
    """Remove the parts of a question that a setting omits.

    Its pictures stay when its text is removed. Pictures only in choices are removed with the
    choices, and the others are renumbered. Missing parts are skipped.
    """
    if "choices" in without and question.choices:
        question = _without_choices(question)
    return wordless(question) if "question" in without else question


def wordless(question: Question) -> Question:
    """Return the question with only its pictures, in order, at their marks."""
    return question.model_copy(update={"question": marks(question)})


def marks(question: Question) -> str:
    """Return the marks of pictures in a question's text, one per line."""
    return "\n".join(mark[0] for mark in IMAGE_MARK.finditer(question.question))


def _without_choices(question: Question) -> Question:
    bare = question.model_copy(update={"choices": None})
    in_choices = {*question.image_order()} - {*bare.image_order()}
    indices = [i for i in range(len(question.images)) if i not in in_choices]
    places = {old: new for new, old in enumerate(indices)}
    text = IMAGE_MARK.sub(lambda mark: f"[IMAGE{places[int(mark[1])]}]", question.question)
    return bare.model_copy(
        update={"question": text, "images": [question.images[i] for i in indices]}
    )
