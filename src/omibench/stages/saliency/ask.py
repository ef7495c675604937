"""What is asked of a model: the options of one problem, uncovered and under every patch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from omibench.errors import ParamsError
from omibench.params.saliency import SaliencyParams
from omibench.schemas.problem import Question
from omibench.schemas.request import (
    Conversation,
    Decoding,
    ImagePart,
    Message,
    Request,
    Tags,
    TextPart,
)
from omibench.settings.pictures.derived import home_of
from omibench.settings.pictures.made import Recipe, make
from omibench.settings.pictures.opening import open_picture
from omibench.settings.steps import Task, next_step
from omibench.stages.saliency.grid import Patch, Size, fitted, positions, resized

DECODING = Decoding(temperature=0.0, max_tokens=1)
CLOSING = "Which option is it? Reply with its letter alone."
"""The last turn, where the letter is asked for after the model's own response."""


Change = Callable[[ImagePart], ImagePart]


class Covered(NamedTuple):
    """One picture of a conversation under one patch; `number` counts the pictures shown, from 0."""

    number: int
    patch: Patch


class Looked(NamedTuple):
    """What is asked about one problem: uncovered first, then every position of every picture."""

    question: Question
    pictures: tuple[ImagePart, ...]
    base: Request
    covered: Mapping[Covered, Request]

    @property
    def requests(self) -> list[Request]:
        """All of it, in order."""
        return [self.base, *self.covered.values()]


def look(task: Task, params: SaliencyParams, tags: Tags, response: str | None) -> Looked:
    """What to ask about one multiple-choice problem.

    `response`, where there is one, stands before the question for the letter, as the model's own
    turn. Raises ParamsError when the setting goes in several steps, and as pictures do.
    """
    question = task.question
    asked = _conversation(task, tags.setting)
    shown = _scaled(asked, task, params)
    if response is not None:
        turns = (_turn("assistant", response), _turn("user", CLOSING))
        shown = shown.model_copy(update={"messages": (*shown.messages, *turns)})
    options = tuple(choice.label for choice in question.choices or [])
    base = Request(conversation=shown, decoding=DECODING, tags=tags, options=options)
    covered = {place: _under(base, place) for place in _places(asked, params)}
    return Looked(question, tuple(shown.images), base, covered)


def _conversation(task: Task, setting: str) -> Conversation:
    step = next_step(task)
    if len(step) != 1 or step[0].role != "respondent" or step[0].conversation.tools:
        raise ParamsError(
            f"saliency.settings: {setting!r} asks in several steps; options are scored under "
            "settings that ask once"
        )
    return step[0].conversation


def _scaled(conversation: Conversation, task: Task, params: SaliencyParams) -> Conversation:
    how = {"show": "scaled", **params.model_dump(include={"stride", "patch", "max_pixels"})}
    home = home_of(task.folder) / f"scaled-{params.max_pixels}"

    def scaled(part: ImagePart) -> ImagePart:
        recipe = Recipe(home, task.question.id, how)
        return make(recipe, [part], lambda own: resized(own[0], params))

    return _mapped(conversation, scaled)


def _mapped(conversation: Conversation, change: Change) -> Conversation:
    def one(message: Message) -> Message:
        parts = (change(p) if isinstance(p, ImagePart) else p for p in message.parts)
        return message.model_copy(update={"parts": tuple(parts)})

    return conversation.model_copy(update={"messages": tuple(map(one, conversation.messages))})


def _places(conversation: Conversation, params: SaliencyParams) -> Iterator[Covered]:
    for number, image in enumerate(conversation.images):
        for patch in positions(_size(image, params), params):
            yield Covered(number, patch)


def _size(source: ImagePart, params: SaliencyParams) -> Size:
    """The size at which a picture is looked into; the largest for one that is not drawn yet."""
    if source.absent or not Path(source.path).is_file():
        side = int(params.max_pixels**0.5)
        return fitted((side, side), params)
    return fitted(open_picture(source).image.size, params)


def _under(base: Request, place: Covered) -> Request:
    seen = -1

    def covered(part: ImagePart) -> ImagePart:
        nonlocal seen
        seen += 1
        return part.model_copy(update={"patch": place.patch}) if seen == place.number else part

    return base.model_copy(update={"conversation": _mapped(base.conversation, covered)})


def _turn(role: str, text: str) -> Message:
    return Message.model_validate({"role": role, "parts": (TextPart(text=text),)})
