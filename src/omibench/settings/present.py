"""Presenting: a question under a setting becomes the conversation that is sent.

A pure function of what it is given, apart from the prompt file that a setting may name and the
derived pictures that some conditions show. It never sees an answer: `Question` holds none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from omibench.problem import IMAGE_MARK, Choice, Question
from omibench.request import Conversation, Message, Part, TextPart
from omibench.setting_params import Setting
from omibench.settings.conditions import NOT_SHOWN, Piece, Shown, shown
from omibench.settings.prompts import CHOICES, QUESTION, Prompt, load_prompt

_SLOT = re.compile(f"({re.escape(QUESTION)}|{re.escape(CHOICES)})")


def present(
    question: Question, setting: Setting, folder: str | Path = "", captions: Sequence[str] = ()
) -> Conversation:
    """The conversation in which a problem is put to a model.

    Images stand exactly where the question marks them and picture choices at their letter; those
    that are marked nowhere follow the question in order. A mark of an image that the setting does
    not show becomes `[image not shown]`. Image paths are resolved against `folder`, that of
    questions.jsonl; `captions` of all images are needed where the setting shows those instead.
    Raises ParamsError when the setting's prompt does not exist.
    """
    return put(question, setting.prompt, shown(question, setting.images, folder, captions))


def put(question: Question, prompt: str, pictures: Shown) -> Conversation:
    """A question under a prompt by its name or file, with what stands for its pictures."""
    parts = joined(pieces(question, load_prompt(prompt), pictures))
    return Conversation(messages=(Message(role="user", parts=parts),))


def pieces(question: Question, prompt: Prompt, pictures: Shown) -> Iterator[Piece]:
    """The words of a prompt around a question and its choices, with what stands for pictures."""
    template = prompt.mcq if question.choices else _without_choices(prompt.open)
    for piece in _SLOT.split(template):
        if piece == QUESTION:
            yield from _interleaved(question.question, pictures)
            yield from pictures.after
        elif piece == CHOICES:
            yield from _choices(question, prompt, pictures)
        elif piece:
            yield piece


def joined(parts: Iterator[Piece]) -> tuple[Part, ...]:
    """Neighbouring texts become one; a text of nothing but white space is no part."""
    return tuple(_joined(parts))


def _without_choices(template: str) -> str:
    paragraphs = template.split("\n\n")
    return "\n\n".join(p for p in paragraphs if CHOICES not in p)


def _choices(question: Question, prompt: Prompt, pictures: Shown) -> Iterator[Piece]:
    for number, choice in enumerate(question.choices or []):
        yield ("\n" if number else "") + prompt.label.format(choice.label)
        yield from _choice(choice, pictures)


def _choice(choice: Choice, pictures: Shown) -> Iterator[Piece]:
    if choice.text is not None:
        yield from _interleaved(choice.text, pictures)
        yield " " if choice.image is not None else ""
    if choice.image is not None:
        yield pictures.at.get(choice.image, NOT_SHOWN)


def _interleaved(text: str, pictures: Shown) -> Iterator[Piece]:
    end = 0
    for mark in IMAGE_MARK.finditer(text):
        yield text[end : mark.start()]
        yield pictures.at.get(int(mark.group(1)), NOT_SHOWN)
        end = mark.end()
    yield text[end:]


def _joined(parts: Iterator[Piece]) -> Iterator[Part]:
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
