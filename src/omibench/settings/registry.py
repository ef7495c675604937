"""The prompts and the image conditions that settings name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from omibench.errors import PluginError
from omibench.params.image import Images
from omibench.plugins import Registry
from omibench.prompts.catalogue import add_prompt
from omibench.prompts.names import PROMPT_HOMES
from omibench.schemas.problem import Question
from omibench.schemas.request import ImagePart
from omibench.settings.templates import Prompt, describe_template

Piece = str | ImagePart
"""A run of words or a picture, before neighbouring words are joined."""


class Shown(NamedTuple):
    """`at` holds what is shown for each figure, by its index; a figure without is not shown.

    `after` follows the question's text: what is shown for pictures that are marked nowhere.
    """

    at: Mapping[int, Piece]
    after: Sequence[Piece] = ()


class Pictures(NamedTuple):
    """A question's pictures, as a condition gets them.

    `images` is the block of the setting, `folder` that to which paths of pictures are relative,
    `originals` every picture by its index, in the order in which the question has them, `captions`
    the words for each where the setting asks for them.
    """

    question: Question
    images: Images
    folder: str | Path
    originals: Mapping[int, ImagePart]
    captions: Sequence[str] = ()


Condition = Callable[[Pictures], Shown]
"""Says what is shown for each picture of a question; pure, but for pictures that it draws."""

PROMPTS: Final[Registry[Prompt]] = Registry("prompts", "prompt")
CONDITIONS: Final[Registry[Condition]] = Registry("conditions", "image condition")


def prompt(name: str) -> Callable[[Callable[[], Prompt]], Callable[[], Prompt]]:
    """A decorator that makes what a function returns the prompt `name`; it is called once.

    Args:
        name: What `prompt:` of a setting calls it.

    Returns:
        A decorator that returns the function as it is.

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
        if name not in PROMPT_HOMES:
            add_prompt(describe_template(name, words.mcq))
        return write

    return register


def condition(name: str) -> Callable[[Condition], Condition]:
    """A decorator that makes a function the image condition `name`.

    Args:
        name: What `images:` of a setting calls it.

    Returns:
        A decorator that returns the function as it is.

    Raises:
        PluginError: Another condition has this name.
    """
    return CONDITIONS.register(name)
