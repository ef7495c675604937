"""The catalogue: every prompt that the program sends, described where it is defined."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib import import_module
from typing import Final

from omibench.errors import ParamsError
from omibench.prompts.names import PROMPT_HOMES
from omibench.prompts.slots import Slot
from omibench.schemas.validation import suggest_name

_ENTRIES: Final[dict[str, PromptEntry]] = {}


@dataclass(frozen=True)
class PromptEntry:
    """One prompt of the catalogue.

    Attributes:
        name: What a file in a folder of prompts is called, without `.txt`.
        purpose: What it asks for, in a few words.
        text: The built-in words, with their slots.
        slots: The places that are filled for each request.
        source: Where the printed original stands, such as `OMIBench, C.2`; empty where there is
            none.
        owner: Who is given it, as messages say it: `judge quality`.
        fenced: Whether material follows the words between fences, and a line about the form of
            the reply after that: both stay unless a file is literal.
        closing: That line.
        is_fragment: Whether it stands inside of a message that other words begin, so that no file
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
        """Hash of the built-in words."""
        return hashlib.sha256(f"{self.text}\0{self.closing}".encode()).hexdigest()


def add_prompt(entry: PromptEntry) -> PromptEntry:
    """Add a prompt to the catalogue, and return it."""
    _ENTRIES[entry.name] = entry
    return entry


def list_prompts() -> list[PromptEntry]:
    """Every prompt: the built-in ones, then those of settings that loaded plug-ins bring."""
    built_in = [find_prompt(name) for name in PROMPT_HOMES]
    return [*built_in, *(_ENTRIES[name] for name in _ENTRIES if name not in PROMPT_HOMES)]


def find_prompt(name: str) -> PromptEntry:
    """The prompt of that name; its module is imported at the first call.

    Raises:
        ParamsError: There is none, with the nearest name.
    """
    if name not in _ENTRIES and name in PROMPT_HOMES:
        import_module(PROMPT_HOMES[name])
    if name not in _ENTRIES:
        raise ParamsError(f"there is no prompt {name!r}{suggest_name(name, list(PROMPT_HOMES))}")
    return _ENTRIES[name]
