"""Requests for one problem: its options with pictures unmodified and under every patch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from omibench.errors import ParamsError
from omibench.params.stages.saliency import SaliencyParams
from omibench.schemas.problem import Question
from omibench.schemas.request import (
    Conversation,
    Decoding,
    ImagePart,
    Message,
    Request,
    Tags,
)
from omibench.schemas.saliency_row import SaliencyOutcome
from omibench.settings.pictures.derived import locate_pictures
from omibench.settings.pictures.made import Recipe, make
from omibench.settings.pictures.opening import read_size
from omibench.settings.steps import Task, next_step
from omibench.stages.saliency.context import LetterContext, add_context
from omibench.stages.saliency.grid import Patch, Size, fit_size, list_positions, resize_picture

DECODING = Decoding(temperature=0.0, max_tokens=1)
SUPPOSED = 1000
"""Side length in pixels of a picture that is not rendered yet, for plans."""
Change = Callable[[ImagePart], ImagePart]


class PatchPlace(NamedTuple):
    """One picture of a conversation under one patch; `number` counts the pictures, from 0."""

    number: int
    patch: Patch


class Occlusion(NamedTuple):
    """The requests for one problem: unmodified first, then every position of every picture."""

    question: Question
    context: LetterContext
    pictures: tuple[ImagePart, ...]
    base: Request
    covered: Mapping[PatchPlace, Request]

    @property
    def requests(self) -> list[Request]:
        """Return all requests, in order."""
        return [self.base, *self.covered.values()]


class UnscoredProblem(NamedTuple):
    """A problem of a cell without requests."""

    question: Question
    outcome: SaliencyOutcome
    reason: str


def make_occlusion(
    task: Task, params: SaliencyParams, tags: Tags, context: LetterContext
) -> Occlusion:
    """Build the requests for one multiple-choice problem.

    Args:
        task: The problem in its setting.
        params: Parameters of saliency.
        tags: Tags of the requests.
        context: The model's own response up to its letter.

    Returns:
        The requests: one with unmodified pictures, and one per position of each picture.

    Raises:
        ParamsError: The setting has several steps.
        ModelError: A picture cannot be opened.
    """
    question = task.question
    conversation = _make_conversation(task, tags.setting)
    scaled = _scale_pictures(conversation, task, params)
    options = tuple(choice.label for choice in question.choices or [])
    base = Request(
        conversation=add_context(scaled, context, params.reading, params.prompts),
        decoding=DECODING,
        tags=tags,
        options=options,
    )
    covered = {place: _cover_place(base, place) for place in _list_places(conversation, params)}
    return Occlusion(question, context, tuple(scaled.images), base, covered)


def _make_conversation(task: Task, setting: str) -> Conversation:
    step = next_step(task)
    if len(step) != 1 or step[0].role != "respondent" or step[0].conversation.tools:
        raise ParamsError(
            f"saliency.settings: {setting!r} has several steps; options are scored in settings "
            "with one step"
        )
    return step[0].conversation


def _scale_pictures(conversation: Conversation, task: Task, params: SaliencyParams) -> Conversation:
    if params.max_pixels is None:
        return conversation
    treatment = {"show": "scaled", **params.model_dump(include={"stride", "patch", "max_pixels"})}
    home = locate_pictures(task.folder) / f"scaled-{params.max_pixels}"

    def scale(part: ImagePart) -> ImagePart:
        recipe = Recipe(home, task.question.id, treatment)
        return make(recipe, [part], lambda images: resize_picture(images[0], params))

    return _change_pictures(conversation, scale)


def _change_pictures(conversation: Conversation, change: Change) -> Conversation:
    def change_message(message: Message) -> Message:
        parts = tuple(change(p) if isinstance(p, ImagePart) else p for p in message.parts)
        changed = any(new is not old for new, old in zip(parts, message.parts, strict=True))
        return message.model_copy(update={"parts": parts}) if changed else message

    return conversation.model_copy(
        update={"messages": tuple(map(change_message, conversation.messages))}
    )


def _list_places(conversation: Conversation, params: SaliencyParams) -> Iterator[PatchPlace]:
    for number, image in enumerate(conversation.images):
        for patch in list_positions(_choose_size(image, params), params):
            yield PatchPlace(number, patch)


def _choose_size(source: ImagePart, params: SaliencyParams) -> Size:
    """Return the size at which a picture is analysed.

    For one that is not rendered yet, the maximum; `SUPPOSED` without a maximum.
    """
    size = None if source.absent else read_size(source.path)
    if size is None:
        side = int(params.max_pixels**0.5) if params.max_pixels else SUPPOSED
        size = side, side
    return fit_size(size, params)


def _cover_place(base: Request, place: PatchPlace) -> Request:
    number = -1

    def cover(part: ImagePart) -> ImagePart:
        nonlocal number
        number += 1
        return part.model_copy(update={"patch": place.patch}) if number == place.number else part

    return base.model_copy(update={"conversation": _change_pictures(base.conversation, cover)})
