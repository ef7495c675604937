"""Text ablations: a question without its words, or without its choices (USNCO-V, figure 6).

The instruction stays as it is, so that the answer is still asked for in the form that is scored;
the paper prints no other prompt for these cells. Pictures are taken away by `images: none`.
"""

from __future__ import annotations

from collections.abc import Sequence

from omibench.params.presentation import Without
from omibench.schemas.image_marks import IMAGE_MARK
from omibench.schemas.problem import Question


def ablate(question: Question, without: Sequence[Without]) -> Question:
    """The question without what a setting takes away.

    Its pictures stay when its words go. Pictures that stand in choices alone go with the choices,
    and the others are renumbered. What a question lacks cannot be taken from it.
    """
    if "choices" in without and question.choices:
        question = _without_choices(question)
    return wordless(question) if "question" in without else question


def wordless(question: Question) -> Question:
    """The question with nothing but its pictures, where they are marked, in their order."""
    return question.model_copy(update={"question": marks(question)})


def marks(question: Question) -> str:
    """The marks of pictures in a question's text, one a line."""
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
