"""The printed text of a problem, as reference for OCR of its pictures."""

from __future__ import annotations

from omibench.schemas.image_marks import IMAGE_MARK
from omibench.schemas.problem import Question


def print_text(question: Question) -> str:
    """Return the text of a problem that a transcript should contain (MathReal, D: OCR task).

    Args:
        question: The frozen problem.

    Returns:
        Its statement without marks of pictures, and its text options, one per line.
    """
    statement = IMAGE_MARK.sub("", question.question).strip()
    options = [f"{c.label}. {c.text}" for c in question.choices or () if c.text]
    return "\n".join([statement, *options])
