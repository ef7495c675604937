"""The prompts, image conditions and strategies of settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from omibench.errors import PluginError
from omibench.params.setting import Images
from omibench.plugins import Registry
from omibench.schemas.problem import Question
from omibench.schemas.request import Conversation, ImagePart, Response, write_reply, write_turn
from omibench.settings.prompt_names import prompt_homes
from omibench.settings.prompts import add_prompt
from omibench.settings.templates import Prompt, describe_template

Piece = str | ImagePart
"""A run of text or a picture, before neighbouring texts are joined."""


class Shown(NamedTuple):
    """`at` is the content for each figure, by index; figures without one are not shown.

    `after` follows the question's text: the content for unmarked pictures.
    """

    at: Mapping[int, Piece]
    after: Sequence[Piece] = ()


class Pictures(NamedTuple):
    """A question's pictures, as passed to a condition.

    `images` is the block of the setting, `folder` the base of picture paths, `originals` every
    picture by its index, in the question's order, `captions` the text for each if the setting needs
    them.
    """

    question: Question
    images: Images
    folder: str | Path
    originals: Mapping[int, ImagePart]
    captions: Sequence[str] = ()


Condition = Callable[[Pictures], Shown]
"""Returns the content for each picture of a question; pure, except for pictures that it draws."""


class Dialogue(NamedTuple):
    """A problem under a strategy, after one or more responses.

    `opening` presents the problem, `responses` are the model's so far.
    """

    question: Question
    opening: Conversation
    responses: tuple[Response, ...]


NextTurn = Callable[[Dialogue], str | Conversation | None]
"""Returns the user's next turn as text, or the whole next conversation; None if the last response
is the answer. Pure: it is called again for every earlier turn."""


class Strategy(NamedTuple):
    """A strategy, and the maximum number of requests of one sample."""

    next_turn: NextTurn
    turns: int


PROMPTS: Final[Registry[Prompt]] = Registry("prompts", "prompt")
CONDITIONS: Final[Registry[Condition]] = Registry("conditions", "image condition")
STRATEGIES: Final[Registry[Strategy]] = Registry("strategies", "strategy")
MOST_TURNS: Final = 32
"""Maximum requests of one sample under a strategy."""


def prompt(name: str, source: str = "") -> Callable[[Callable[[], Prompt]], Callable[[], Prompt]]:
    """Return a decorator that registers a function's result as the prompt `name`.

    Args:
        name: The value of `prompt:` in a setting.
        source: The printed original, such as `OMIBench, C.2`.

    Returns:
        A decorator that calls the function once and returns it unchanged.

    Raises:
        PluginError: Another prompt has this name, or the function returns no Prompt.
    """
    PROMPTS.check_name(name)

    def register(write: Callable[[], Prompt]) -> Callable[[], Prompt]:
        words = write()
        if not isinstance(words, Prompt):
            raise PluginError(
                f"prompt {name!r}: its function returned {type(words).__name__}; return a Prompt"
            )
        PROMPTS.add(name, words, write.__module__)
        if prompt_homes().get(name, write.__module__) == write.__module__:
            add_prompt(describe_template(name, words.mcq, source))
        return write

    return register


def condition(name: str) -> Callable[[Condition], Condition]:
    """Return a decorator that registers a function as the image condition `name`.

    Args:
        name: The value of `images:` in a setting.

    Returns:
        A decorator that returns the function unchanged.

    Raises:
        PluginError: Another condition has this name.
    """
    return CONDITIONS.register(name)


def strategy(name: str, *, turns: int) -> Callable[[NextTurn], NextTurn]:
    """Return a decorator that registers a function as the strategy `name`.

    Args:
        name: The value of `strategy:` in a setting.
        turns: Maximum requests of one sample, 2 to 32; the last response is then the answer.

    Returns:
        A decorator that returns the function unchanged.

    Raises:
        PluginError: Another strategy has this name, or `turns` is not valid.
    """
    STRATEGIES.check_name(name)
    if not isinstance(turns, int) or not 2 <= turns <= MOST_TURNS:
        raise PluginError(
            f"strategy {name!r}: turns is {turns!r}; give a number from 2 to {MOST_TURNS}"
        )

    def register(next_turn: NextTurn) -> NextTurn:
        STRATEGIES.add(name, Strategy(next_turn, turns), next_turn.__module__)
        return next_turn

    return register


def continue_dialogue(
    name: str, question: Question, opening: Conversation, responses: Sequence[Response]
) -> Conversation | None:
    """Return the next request under the strategy `name`; None if the last response is the answer.

    Raises:
        PluginError: The strategy raised, or returned something else.
    """
    part = STRATEGIES.get(name)
    if len(responses) >= part.turns:
        return None
    conversation = opening
    for count in range(1, len(responses) + 1):
        with STRATEGIES.calling(name, question.id):
            turn = part.next_turn(Dialogue(question, opening, tuple(responses[:count])))
        if turn is None:
            return None
        if isinstance(turn, str):
            reply = write_reply(responses[count - 1])
            messages = (*conversation.messages, reply, write_turn("user", turn))
            conversation = Conversation(messages=messages)
        elif isinstance(turn, Conversation):
            conversation = turn
        else:
            raise PluginError(
                f"strategy {name!r}: it returned {type(turn).__name__}; return the next turn as "
                "text, a Conversation, or None"
            )
    return conversation
