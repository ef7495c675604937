"""Presenting: a question under a setting becomes the conversation that is sent.

A pure function of what it is given, apart from the prompt file that a setting may name. It never
sees an answer: `Question` holds none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from omibench.problem import IMAGE_MARK, Choice, Question
from omibench.request import ABSENT, Conversation, ImagePart, Message, Part, TextPart
from omibench.setting_params import Setting
from omibench.settings.prompts import CHOICES, QUESTION, Prompt, load_prompt

NOT_SHOWN = "[image not shown]"
_SLOT = re.compile(f"({re.escape(QUESTION)}|{re.escape(CHOICES)})")

Piece = str | ImagePart
"""A run of words or a picture, before neighbouring words are joined."""


def present(question: Question, setting: Setting, folder: str | Path = "") -> Conversation:
    """The conversation in which a problem is put to a model.

    Images stand exactly where the question marks them and picture choices at their letter; those
    that are marked nowhere follow the question in order. A mark of an image that the setting does
    not show becomes `[image not shown]`. Image paths are resolved against `folder`, that of
    questions.jsonl. Raises ParamsError when the setting's prompt does not exist.
    """
    met = question.image_order()
    loose = [i for i in range(len(question.images)) if i not in met]
    order = [*met, *loose]
    shown = set({"all": order, "first": order[:1], "none": []}[setting.images.show])
    loose = [i for i in loose if i in shown]
    root = f"{folder}/" if str(folder) else ""
    parts: list[Piece] = []
    prompt = load_prompt(setting.prompt)
    template = prompt.mcq if question.choices else _without_choices(prompt.open)
    for piece in _SLOT.split(template):
        if piece == QUESTION:
            parts += _interleaved(question.question, question, shown, root)
            parts += ["\n"] * bool(loose)
            parts += [_image(question, index, root) for index in loose]
        elif piece == CHOICES:
            parts += _choices(question, prompt, shown, root)
        elif piece:
            parts.append(piece)
    return Conversation(messages=(Message(role="user", parts=tuple(_joined(parts))),))


def _without_choices(template: str) -> str:
    paragraphs = template.split("\n\n")
    return "\n\n".join(p for p in paragraphs if CHOICES not in p)


def _choices(question: Question, prompt: Prompt, shown: set[int], folder: str) -> Iterator[Piece]:
    for number, choice in enumerate(question.choices or []):
        yield ("\n" if number else "") + prompt.label.format(choice.label)
        yield from _choice(choice, question, shown, folder)


def _choice(choice: Choice, question: Question, shown: set[int], folder: str) -> Iterator[Piece]:
    if choice.text is not None:
        yield from _interleaved(choice.text, question, shown, folder)
        yield " " if choice.image is not None else ""
    if choice.image is not None:
        visible = choice.image in shown
        yield _image(question, choice.image, folder) if visible else NOT_SHOWN


def _interleaved(text: str, question: Question, shown: set[int], folder: str) -> Iterator[Piece]:
    end = 0
    for mark in IMAGE_MARK.finditer(text):
        yield text[end : mark.start()]
        index = int(mark.group(1))
        visible = index in shown
        yield _image(question, index, folder) if visible else NOT_SHOWN
        end = mark.end()
    yield text[end:]


def _image(question: Question, index: int, folder: str) -> ImagePart:
    figure = question.images[index]
    return ImagePart(sha256=figure.sha256 or ABSENT + figure.file, path=folder + figure.file)


def _joined(parts: Sequence[Piece]) -> Iterator[Part]:
    """Neighbouring texts become one; a text of nothing but white space is no part."""
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
