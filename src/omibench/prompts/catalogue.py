"""The catalogue: every prompt that the program sends, described at its definition."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib import import_module
from typing import Final

from omibench.errors import ParamsError
from omibench.prompts.names import prompt_homes
from omibench.prompts.slots import Slot
from omibench.schemas.validation import suggest_name

_ENTRIES: Final[dict[str, PromptEntry]] = {}


@dataclass(frozen=True)
class PromptEntry:
    """One prompt of the catalogue.

    Attributes:
        name: File name in a folder of prompts, without `.txt`.
        purpose: Its purpose, in a few words.
        text: The built-in wording, with its slots.
        slots: The places that are filled for each request.
        source: The printed original, such as `OMIBench, C.2`; empty without one.
        owner: Its recipient in messages: `judge quality`.
        fenced: Whether material follows the wording between fences, and then a line about the form
            of the reply: both stay unless a file is literal.
        closing: That line.
        is_fragment: Whether it is part of a message that begins with other text, so that no file
            can give it a system message.
    """

    name: str
    purpose: str
    text: str
    slots: tuple[Slot, ...] = ()
    source: str = ""
    owner: str = ""
    fenced: bool = False
    closing: str = ""
    is_fragment: bool = False

    @property
    def sha256(self) -> str:
        """Hash of the built-in wording."""
        return hashlib.sha256(f"{self.text}\0{self.closing}".encode()).hexdigest()


def add_prompt(entry: PromptEntry) -> PromptEntry:
    """Add a prompt to the catalogue and return it."""
    _ENTRIES[entry.name] = entry
    return entry


def list_prompts() -> list[PromptEntry]:
    """Return every prompt: the built-in ones, then those of settings in loaded plug-ins."""
    for name in prompt_homes():
        find_prompt(name)
    return [_ENTRIES[name] for name in dict.fromkeys([*prompt_homes(), *_ENTRIES])]


def find_prompt(name: str) -> PromptEntry:
    """Return the prompt of that name; its module is imported on the first call.

    Raises:
        ParamsError: It does not exist (with the nearest name).
    """
    if name not in _ENTRIES and name in prompt_homes():
        import_module(prompt_homes()[name])
    if name not in _ENTRIES:
        raise ParamsError(f"unknown prompt {name!r}{suggest_name(name, list(prompt_homes()))}")
    return _ENTRIES[name]
