"""A question as a setting shows it, without the words of a prompt: for those who judge answers."""

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
    """The statement and its options, with what a condition shows in the place of each picture.

    Args:
        question: What is left of it where a setting takes words away.
        images: The condition of the pictures.
        folder: To which the paths of pictures are relative, that of questions.jsonl.
        captions: The words for each picture, where the condition shows these.

    Returns:
        Texts and pictures in order.
    """
    shown = show_pictures(question, images, folder, captions)
    return join_pieces(pieces(question, _BARE, shown))
