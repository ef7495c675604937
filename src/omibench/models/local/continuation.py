"""Options as the next token, also in the middle of an assistant turn.

A letter inside a response is usually one token together with the space or bracket before it, so a
response that is cut off before its letter does not end at a token boundary. The context is cut back
to a boundary that fits every option, and the characters in between are added to each option.
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
"""Maximum characters before a letter that can be part of its token."""
TAIL = 4
"""Tokens at the end of a prompt that are compared."""


class OptionPrompt(NamedTuple):
    """A conversation, and each option as one possible next token."""

    conversation: Conversation
    ids: list[int]
    tail: list[int]
    """The last tokens of the continued turn; empty if a new turn begins."""


class LetterToken(NamedTuple):
    """The end of a text at which each option is exactly one further token."""

    moved: int
    """Characters at its end that belong to the tokens of the options."""
    ids: list[int]
    tail: list[int]


class OptionTokens:
    """Finds the tokens of options as the continuation of a conversation.

    The result is cached per text, since many conversations differ only in a patch.

    Args:
        tokenizer: The model's tokenizer.
        specials: Its control tokens, which no text can contain.
        name: The model's name in the study.
    """

    def __init__(self, tokenizer: Any, specials: Iterable[str], name: str) -> None:
        self._tokenizer, self._specials, self._name = tokenizer, frozenset(specials), name
        self._tokens: dict[tuple[str, tuple[str, ...]], LetterToken] = {}

    def prepare(self, conversation: Conversation, options: Sequence[str]) -> OptionPrompt:
        """Find the token of each option as the continuation of a conversation.

        Args:
            conversation: The conversation; if it ends in an assistant turn, that turn is continued.
            options: The options, such as letters.

        Returns:
            The conversation, with its last turn cut back by the characters that belong to the
            options' tokens, and these tokens.

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
    """Cut a text back, by few characters, until every option adds exactly one token.

    Args:
        tokenizer: The model's tokenizer.
        text: The text before the option.
        options: The options.
        name: The model's name in the study.

    Raises:
        ModelError: No position fits.
    """
    for moved in range(min(MOST_MOVED, len(text)) + 1):
        context, lead = text[: len(text) - moved], text[len(text) - moved :]
        tokens = _encode(tokenizer, context)
        longer = [_encode(tokenizer, context + lead + option) for option in options]
        if all(row[:-1] == tokens for row in longer):
            return LetterToken(moved, [row[-1] for row in longer], tokens[-TAIL:])
    raise ModelError(
        f"model {name!r}: an option is not a single token after {text[-20:]!r}; log-probabilities "
        "are exact only for options of one token, such as a letter"
    )


def split_by_turn(prompts: Sequence[OptionPrompt]) -> Iterator[list[OptionPrompt]]:
    """Split into runs of neighbours that all continue an assistant turn or all begin a new one."""
    for _, alike in groupby(prompts, lambda prompt: is_continued(prompt.conversation)):
        yield list(alike)


def check_tail(prompt: Sequence[int], tail: Sequence[int], name: str) -> None:
    """Check that a prompt ends with the continued turn.

    Args:
        prompt: The tokens of the prompt, from the engine.
        tail: `OptionPrompt.tail`.
        name: The model's name in the study.

    Raises:
        ModelError: It does not: the chat template changes the end of the turn.
    """
    if tail and list(prompt[-len(tail) :]) != list(tail):
        raise ModelError(
            f"model {name!r}: its chat template changes the end of the response before the "
            "requested letter; set `saliency.reading` to `before_answer`"
        )


def _encode(tokenizer: Any, text: str) -> list[int]:
    return [int(token) for token in tokenizer.encode(text, add_special_tokens=False)]
