"""The names of the prompts, each with the module that describes it on import."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from omibench.plugins.built_in import find_registered
from omibench.plugins.registry import known_names

_FOLDERS: Final = (
    "stages/ocr", "stages/filter", "stages/rationale", "settings", "stages/saliency", "judges",
    "stages/aggregate",
)  # fmt: skip
"""Folders with prompts, in the order of the graph."""


@cache
def prompt_homes() -> Mapping[str, str]:
    """Return the module of each built-in prompt, in the order of the graph.

    They are found where `@prompt`, `add_prompt` or a judge's `register` names them.
    """
    return find_registered(_FOLDERS, ["@prompt", "add_prompt", "register"])


def list_prompt_names() -> list[str]:
    """List the names of all prompts: built-in ones, then those of plug-ins' settings and judges."""
    return list(dict.fromkeys([*prompt_homes(), *known_names("prompts"), *known_names("judges")]))
