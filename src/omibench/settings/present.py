"""Presentation: builds the conversation of a question under a setting.

A pure function of its arguments, except for a custom prompt file and the derived pictures of some
conditions. It never sees an answer: `Question` contains none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from omibench.params.setting import Setting
from omibench.schemas.image_marks import split_at_image_marks
from omibench.schemas.problem import Choice, Question
from omibench.schemas.request import Conversation, Message, Part, TextPart
from omibench.settings.conditions import NOT_SHOWN, show_pictures
from omibench.settings.prompts import load_prompt
from omibench.settings.registry import Piece, Shown
from omibench.settings.templates import CHOICES, EXAMPLES, QUESTION, SLOT, Prompt


class Around(NamedTuple):
    """The surroundings of a question: examples in its message, and earlier turns.

    `lettered` states whether a letter is requested, even if the choices were removed; None: if
    there are choices.
    """

    inline: tuple[Piece, ...] = ()
    turns: tuple[Message, ...] = ()
    lettered: bool | None = None


ALONE = Around()


def present(
    question: Question,
    setting: Setting,
    folder: str | Path = "",
    captions: Sequence[str] = (),
    around: Around = ALONE,
) -> Conversation:
    """Return the conversation that presents a problem to a model.

    Images are placed exactly at the question's marks and picture choices at their letter; unmarked
    ones follow the question in order. A mark of an image that the setting does not show becomes
    `[image not shown]`. Image paths are relative to `folder`, that of questions.jsonl; `captions`
    of all images are required if the setting shows those instead. Raises ParamsError if the
    setting's prompt does not exist.
    """
    pictures = show_pictures(question, setting.images, folder, captions)
    return apply_prompt(question, load_prompt(setting.prompt, setting.prompts), pictures, around)


def apply_prompt(
    question: Question, prompt: Prompt, pictures: Shown, around: Around = ALONE
) -> Conversation:
    """Apply a prompt to a question, with the content for its pictures and the preceding text."""
    parts = join_pieces(pieces(question, prompt, pictures, around))
    system_parts = (TextPart(text=prompt.system),) if prompt.system else ()
    system = (Message(role="system", parts=system_parts),) if system_parts else ()
    return Conversation(messages=(*system, *around.turns, Message(role="user", parts=parts)))


def pieces(
    question: Question, prompt: Prompt, pictures: Shown, around: Around = ALONE
) -> Iterator[Piece]:
    """Return the parts of a prompt around a question, its choices and its pictures."""
    choices = bool(question.choices)
    lettered = choices if around.lettered is None else around.lettered
    template = prompt.shape(lettered, choices, examples=bool(around.inline))
    for piece in SLOT.split(template):
        if piece == QUESTION:
            yield from _interleave(question.question, pictures)
            yield from pictures.after
        elif piece == CHOICES:
            yield from _choices(question, prompt, pictures)
        elif piece == EXAMPLES:
            yield from around.inline
        elif piece:
            yield piece


def join_pieces(parts: Iterator[Piece]) -> tuple[Part, ...]:
    """Join neighbouring texts; a text of only white space is dropped."""
    return tuple(_join_texts(parts))


def _choices(question: Question, prompt: Prompt, pictures: Shown) -> Iterator[Piece]:
    for number, choice in enumerate(question.choices or []):
        yield ("\n" if number else "") + prompt.label.format(choice.label)
        yield from _choice(choice, pictures)


def _choice(choice: Choice, pictures: Shown) -> Iterator[Piece]:
    if choice.text is not None:
        yield from _interleave(choice.text, pictures)
        yield " " if choice.image is not None else ""
    if choice.image is not None:
        yield pictures.at.get(choice.image, NOT_SHOWN)


def _interleave(text: str, pictures: Shown) -> Iterator[Piece]:
    for run in split_at_image_marks(text):
        yield run if isinstance(run, str) else pictures.at.get(run, NOT_SHOWN)


def _join_texts(parts: Iterator[Piece]) -> Iterator[Part]:
    text = ""
    for part in parts:
        if isinstance(part, str):
            text += part
            continue
        if text.strip():
            yield TextPart(text=text)
        text = ""
        yield part
    if text.strip():
        yield TextPart(text=text)
