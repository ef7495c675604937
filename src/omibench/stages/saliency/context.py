"""What stands before the letter that is scored: a part of the model's own response.

f(I, Q) of USNCO-V's equation 7 is the distribution over the options where the model says its
final letter. What it has said by then stays in place; the letter itself is not seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from omibench.answers import (
    LetterMissing,
    find_declared_option,
    find_letter_place,
)
from omibench.params.stages.saliency import Reading
from omibench.prompts.catalogue import PromptEntry, add_prompt
from omibench.prompts.wording import read_wording
from omibench.schemas.problem import Choice
from omibench.schemas.request import Conversation, Message, TextPart

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
    """A response up to where its letter is asked for."""

    letter: str
    """The option that the response ends on."""
    text: str
    """What stands before the letter; empty where the response begins with its answer."""
    declares: bool
    """Whether `text` itself says already that it is this option."""


def read_context(
    response: str, choices: Sequence[Choice] | None, reading: Reading
) -> LetterContext | LetterMissing:
    """Find what stands before the letter of a response.

    Args:
        response: The model's own response.
        choices: The problem's options.
        reading: `final_letter` keeps all up to the letter, `before_answer` all up to the sentence
            and lines that state the answer.

    Returns:
        The context, or why the response has no letter that could be scored.
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
    """The conversation up to where the letter is what the model says next.

    Under `final_letter` it ends in the assistant's turn, which providers go on with. Under both
    readings nothing is added where the response begins with its answer. `prompts` are files whose
    words take the place of ours, by the names of prompts.
    """
    if not context.text:
        return conversation
    turns = [_make_turn("assistant", context.text)]
    if reading == "before_answer":
        file = prompts.get(LETTER.name)
        turns.append(_make_turn("user", read_wording(file, LETTER).text if file else CLOSING))
    return conversation.model_copy(update={"messages": (*conversation.messages, *turns)})


def _make_turn(role: str, text: str) -> Message:
    return Message.model_validate({"role": role, "parts": (TextPart(text=text),)})
