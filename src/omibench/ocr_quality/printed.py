"""The printed text of a problem, which a reading of its pictures is compared with."""

from __future__ import annotations

from omibench.schemas.image_marks import IMAGE_MARK
from omibench.schemas.problem import Question


def print_text(question: Question) -> str:
    """The words of a problem that a transcript of it should hold (MathReal, D: OCR task).

    Args:
        question: The problem as it is frozen.

    Returns:
        Its statement without marks of pictures, and its options where they are text, one a line.
    """
    statement = IMAGE_MARK.sub("", question.question).strip()
    options = [f"{c.label}. {c.text}" for c in question.choices or () if c.text]
    return "\n".join([statement, *options])
