"""Context before the scored letter: a part of the model's own response.

f(I, Q) of USNCO-V's equation 7 is the distribution over the options at the model's final letter.
The text before it is kept; the letter itself is removed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from omibench.answers.extraction.letter_place import (
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
    turns = [_make_turn("assistant", context.text)]
    if reading == "before_answer":
        file = prompts.get(LETTER.name)
        turns.append(_make_turn("user", read_wording(file, LETTER).text if file else CLOSING))
    return conversation.model_copy(update={"messages": (*conversation.messages, *turns)})


def _make_turn(role: str, text: str) -> Message:
    return Message.model_validate({"role": role, "parts": (TextPart(text=text),)})
