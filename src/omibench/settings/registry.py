"""The prompts and the image conditions of settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from omibench.errors import PluginError
from omibench.params.setting import Images
from omibench.plugins import Registry
from omibench.schemas.problem import Question
from omibench.schemas.request import ImagePart
from omibench.settings.prompts.catalogue import add_prompt
from omibench.settings.prompts.names import prompt_homes
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

PROMPTS: Final[Registry[Prompt]] = Registry("prompts", "prompt")
CONDITIONS: Final[Registry[Condition]] = Registry("conditions", "image condition")


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
