"""Context before the scored letter: a part of the model's own response.

f(I, Q) of USNCO-V's equation 7 is the distribution over the options at the model's final letter.
The text before it is kept; the letter itself is removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from omibench.answers.extraction.extract import (
    LetterMissing,
    find_declared_option,
    find_letter_place,
)
from omibench.errors import ParamsError
from omibench.params.stages.saliency import Reading, SaliencyParams
from omibench.schemas.problem import Choice, Question
from omibench.schemas.request import (
    Conversation,
    Decoding,
    ImagePart,
    Message,
    Request,
    Response,
    Tags,
    write_turn,
)
from omibench.schemas.tables import SALIENCY_VERSION, SaliencyOutcome, SaliencyRow
from omibench.settings.pictures import Recipe, locate_pictures, make, read_size
from omibench.settings.prompts import PromptEntry, add_prompt, read_wording
from omibench.settings.steps import Task, next_step
from omibench.stages.saliency.maps import (
    Effect,
    Patch,
    Scores,
    Size,
    fit_size,
    list_positions,
    measure_effects,
    measure_mass,
    normalise,
    resize_picture,
)

NO_FILES: Mapping[str, str] = {}
CLOSING = "Which option is it? Reply with its letter alone."
"""The last turn of the reading `before_answer`."""
LETTER = add_prompt(
    PromptEntry(
        name="letter",
        purpose="asks for the letter after a response without its answer, for saliency",
        text=CLOSING,
        owner="respondent (letter)",
        is_fragment=True,
    )
)


class LetterContext(NamedTuple):
    """A response up to its letter."""

    letter: str
    """The option that the response ends with."""
    text: str
    """The text before the letter; empty if the response begins with its answer."""
    declares: bool
    """Whether `text` itself already states this option."""


def read_context(
    response: str, choices: Sequence[Choice] | None, reading: Reading
) -> LetterContext | LetterMissing:
    """Find the text before the letter of a response.

    Args:
        response: The model's own response.
        choices: The problem's options.
        reading: `final_letter` keeps everything up to the letter, `before_answer` everything up to
            the sentence and lines with the answer.

    Returns:
        The context, or the reason why the response has no letter to score.
    """
    place = find_letter_place(response, choices)
    if isinstance(place, LetterMissing):
        return place
    if reading == "final_letter":
        text = response[: place.start]
    else:
        text = response[: place.answer_start].rstrip()
    text = text if text.strip() else ""
    declares = bool(text) and find_declared_option(text, choices) == place.letter
    return LetterContext(place.letter, text, declares)


def add_context(
    conversation: Conversation,
    context: LetterContext,
    reading: Reading,
    prompts: Mapping[str, str] = NO_FILES,
) -> Conversation:
    """Return the conversation in which the letter is the model's next output.

    With `final_letter` it ends in the assistant's turn, which providers continue. With both
    readings, nothing is added if the response begins with its answer. `prompts` are files that
    replace prompts, by name.
    """
    if not context.text:
        return conversation
    turns = [write_turn("assistant", context.text)]
    if reading == "before_answer":
        file = prompts.get(LETTER.name)
        turns.append(write_turn("user", read_wording(file, LETTER).text if file else CLOSING))
    return conversation.model_copy(update={"messages": (*conversation.messages, *turns)})


# Requests for one problem: its options with pictures unmodified and under every patch.

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
    requests: Sequence[Request] = ()


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


# Rows of a cell from a model's scores of one problem.

KeyedResponse = tuple[str, Response]


class OcclusionScores(NamedTuple):
    """A model's scores of one problem: log P over its options, unmodified and under each patch."""

    occlusion: Occlusion
    key: str
    base: Scores
    covered: Mapping[PatchPlace, Scores]
    mass: float
    simulated: bool

    @property
    def final_letter(self) -> str:
        """The option that the model's response ends with."""
        return self.occlusion.context.letter

    def measure_effects(self, number: int, option: str) -> list[Effect]:
        """Return the effect of every position of one picture on one option.

        Args:
            number: The number of the shown picture, from 0.
            option: The option's label.
        """
        covered = [
            (place.patch, scores)
            for place, scores in self.covered.items()
            if place.number == number
        ]
        return measure_effects(self.base, covered, option)


def collect_scores(
    occlusion: Occlusion | UnscoredProblem, answers: Mapping[int, KeyedResponse]
) -> OcclusionScores | UnscoredProblem:
    """Read the log-probabilities of one problem's options.

    Args:
        occlusion: The requests.
        answers: Key and response of each request, by the request's `id()`.

    Returns:
        The scores, normalized over the options; or the problem and its outcome if the request
        without a patch has none for the chosen option.
    """

    if isinstance(occlusion, UnscoredProblem):
        return occlusion
    key, base = answers[id(occlusion.base)]
    raw, chosen = base.option_logprobs or {}, occlusion.context.letter
    if chosen not in raw:
        reason = base.error or f"no log-probability of {chosen}, the option of the response"
        return UnscoredProblem(occlusion.question, "no_logprobs", reason)
    covered = {
        place: normalise(scores)
        for place, request in occlusion.covered.items()
        if (scores := answers[id(request)][1].option_logprobs)
    }
    return OcclusionScores(
        occlusion, key, normalise(raw), covered, measure_mass(raw), base.simulated
    )


def make_rows(
    result: OcclusionScores, gold: Sequence[str], params: SaliencyParams
) -> Iterator[SaliencyRow]:
    """Return a row for each picture, option and position of a scored problem."""
    occlusion = result.occlusion
    for number, picture in enumerate(occlusion.pictures):
        for option in result.base:
            for (x, y, side), drop in result.measure_effects(number, option):
                yield SaliencyRow(
                    **_describe(occlusion.question, params), key=result.key, image=number,
                    sha256=picture.sha256, x=x, y=y, side=side, option=option,
                    logprob=result.base[option], drop=drop, mass=result.mass,
                    declares=occlusion.context.declares, chosen=option == result.final_letter,
                    right=option in gold, simulated=result.simulated,
                )  # fmt: skip


def make_unscored_row(problem: UnscoredProblem, params: SaliencyParams) -> SaliencyRow:
    """Return the single row of a problem that is not scored."""
    return SaliencyRow(
        **_describe(problem.question, params), outcome=problem.outcome, reason=problem.reason
    )


def _describe(question: Question, params: SaliencyParams) -> dict[str, Any]:
    return {
        "id": question.id, "version": SALIENCY_VERSION, "reading": params.reading,
        "max_pixels": params.max_pixels, "stride": params.stride,
    }  # fmt: skip
