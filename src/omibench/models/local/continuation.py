"""Options as what comes next, also in the middle of a turn of the assistant.

A letter inside a response is mostly one token with the space or bracket before it, so a response
that is cut off before its letter does not end where a token does. The context is cut back to where
it ends with a token under every option, and the characters between stand before each option.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from omibench.errors import ModelError
from omibench.models.local.chat import defuse, option_ids
from omibench.models.options import is_continued
from omibench.schemas.request import Conversation, TextPart

MOST_MOVED = 3
"""Characters before a letter that may be part of its token."""
TAIL = 4
"""Tokens at the end of a prompt that are compared."""


class OptionPrompt(NamedTuple):
    """A conversation, and each option as one token that may come next."""

    conversation: Conversation
    ids: list[int]
    tail: list[int]
    """The last tokens of the turn that is gone on with; none where a new turn begins."""


class LetterToken(NamedTuple):
    """Where a text has to end for each option to be one token behind it."""

    moved: int
    """Characters at its end that belong to the options' tokens."""
    ids: list[int]
    tail: list[int]


class OptionTokens:
    """Finds the tokens of options as what comes next in conversations.

    What was found behind a text is remembered: many conversations differ in a patch alone.

    Args:
        tokenizer: The model's.
        specials: Its control tokens, which no text may hold.
        name: The model's name in the study.
    """

    def __init__(self, tokenizer: Any, specials: Iterable[str], name: str) -> None:
        self._tokenizer, self._specials, self._name = tokenizer, frozenset(specials), name
        self._tokens: dict[tuple[str, tuple[str, ...]], LetterToken] = {}

    def prepare(self, conversation: Conversation, options: Sequence[str]) -> OptionPrompt:
        """Find the token of each option as what comes next in a conversation.

        Args:
            conversation: What is asked; where it ends in a turn of the assistant, that is gone on
                with.
            options: The options, such as letters.

        Returns:
            The conversation, its last turn cut back by the characters that belong to the options'
            tokens, and these tokens.

        Raises:
            ModelError: An option is not exactly one token there.
        """
        if not is_continued(conversation):
            return OptionPrompt(conversation, option_ids(self._tokenizer, options, self._name), [])
        *before, turn = conversation.messages
        part = turn.parts[-1]
        text = defuse(part.text, self._specials) if isinstance(part, TextPart) else ""
        token = self._find_token(text, tuple(options))
        context = text[: len(text) - token.moved]
        messages = [*before]
        if context.strip():
            parts = (*turn.parts[:-1], TextPart(text=context))
            messages.append(turn.model_copy(update={"parts": parts}))
        shortened = conversation.model_copy(update={"messages": tuple(messages)})
        return OptionPrompt(shortened, token.ids, token.tail if context.strip() else [])

    def _find_token(self, text: str, options: tuple[str, ...]) -> LetterToken:
        if (text, options) not in self._tokens:
            self._tokens[text, options] = find_letter_token(
                self._tokenizer, text, options, self._name
            )
        return self._tokens[text, options]


def find_letter_token(tokenizer: Any, text: str, options: Sequence[str], name: str) -> LetterToken:
    """Cut a text back, by few characters, to where every option makes it one token longer.

    Args:
        tokenizer: The model's.
        text: What stands before the option.
        options: The options.
        name: The model's name in the study.

    Raises:
        ModelError: There is no such place.
    """
    for moved in range(min(MOST_MOVED, len(text)) + 1):
        context, lead = text[: len(text) - moved], text[len(text) - moved :]
        tokens = _encode(tokenizer, context)
        longer = [_encode(tokenizer, context + lead + option) for option in options]
        if all(row[:-1] == tokens for row in longer):
            return LetterToken(moved, [row[-1] for row in longer], tokens[-TAIL:])
    raise ModelError(
        f"model {name!r}: an option is no single token behind {text[-20:]!r}; log-probabilities "
        "are exact for options of one token, such as a letter"
    )


def split_by_turn(prompts: Sequence[OptionPrompt]) -> Iterator[list[OptionPrompt]]:
    """Neighbours that all go on with a turn of the assistant, or all begin a new one."""
    for _, alike in groupby(prompts, lambda prompt: is_continued(prompt.conversation)):
        yield list(alike)


def check_tail(prompt: Sequence[int], tail: Sequence[int], name: str) -> None:
    """Check that a prompt ends with the turn that is gone on with.

    Args:
        prompt: The tokens of the prompt as the engine has made it.
        tail: `OptionPrompt.tail`.
        name: The model's name in the study.

    Raises:
        ModelError: It does not: the chat template changes the end of the turn.
    """
    if tail and list(prompt[-len(tail) :]) != list(tail):
        raise ModelError(
            f"model {name!r}: its chat template changes the end of the response that a letter is "
            "asked for in; set `saliency.reading` to `before_answer`"
        )


def _encode(tokenizer: Any, text: str) -> list[int]:
    return [int(token) for token in tokenizer.encode(text, add_special_tokens=False)]
