"""A question as a setting shows it, without the text of a prompt, for judges of answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from omibench.params.image import Images
from omibench.schemas.problem import Question
from omibench.schemas.request import Part
from omibench.settings.conditions import show_pictures
from omibench.settings.present import join_pieces, pieces
from omibench.settings.templates import CHOICES, QUESTION, Prompt

_BARE = Prompt(mcq=f"{QUESTION}\n{CHOICES}", open=QUESTION, label="{}: ")


def show_statement(
    question: Question, images: Images, folder: str | Path = "", captions: Sequence[str] = ()
) -> tuple[Part, ...]:
    """Return the statement and its options, with the content of a condition for each picture.

    Args:
        question: The question, without the parts that the setting removes.
        images: The condition of the pictures.
        folder: The base of picture paths, that of questions.jsonl.
        captions: The text for each picture, if the condition shows it.

    Returns:
        Texts and pictures in order.
    """
    shown = show_pictures(question, images, folder, captions)
    return join_pieces(pieces(question, _BARE, shown))
