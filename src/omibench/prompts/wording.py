"""A wording: the words of one prompt, from a text file that takes the place of the built-in ones.

A file begins with lines that say how it is sent, each where it is wanted: `[[literal]]` sends it as
it is pasted, without fences and closing lines of ours; `[[system]]` begins a system message, which
goes to the line `[[user]]`.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from omibench.errors import OmibenchError, ParamsError, reason_of
from omibench.files.intake import read_bytes
from omibench.prompts.catalogue import PromptEntry
from omibench.prompts.slots import describe_faults, holds_slot

PROMPT_BYTES = 2**20
LITERAL, SYSTEM, USER = "[[literal]]", "[[system]]", "[[user]]"


class Wording(NamedTuple):
    """The words of one prompt as a file has them.

    `system` is the system message, `text` what follows it; `literal` says that nothing of ours is
    added: no fences around material, no line about the form of the reply.
    """

    file: str
    text: str
    system: str = ""
    literal: bool = False

    @property
    def sha256(self) -> str:
        """Hash of all of the words and of how they are sent."""
        marks = f"{LITERAL if self.literal else ''}\0{self.system}\0{self.text}"
        return hashlib.sha256(marks.encode()).hexdigest()


def read_wording(file: str, entry: PromptEntry) -> Wording:
    """The words of a file for one prompt of the catalogue.

    Args:
        file: Its path; UTF-8, at most 1 MiB.
        entry: The prompt whose place they take.

    Raises:
        ParamsError: It cannot be read, is empty, lacks a slot that must be there, or holds one that
            this prompt does not have.
    """
    wording = parse_wording(file, read_prompt_text(file, entry.owner), entry)
    if faults := list_faults(wording, entry):
        raise ParamsError(f"{file}: the prompt of the {entry.owner}: {faults[0]}")
    return wording


def parse_wording(file: str, text: str, entry: PromptEntry) -> Wording:
    """The words of a file's text, its first lines read for how it is sent.

    Raises:
        ParamsError: A line such as `[[user]]` stands where it has no meaning.
    """
    if SYSTEM in text.partition("\n")[0] or LITERAL in text.partition("\n")[0]:
        text = text.replace("\r\n", "\n")
    literal = text.partition("\n")[0].strip() == LITERAL
    if literal:
        text = text.partition("\n")[2].strip()
    if any(line.strip("\ufeff \t\r").casefold() == LITERAL for line in text.splitlines()):
        raise ParamsError(
            f"{file}: {LITERAL} stands once, in small letters, alone on the first line; nothing "
            "stands before it, also no byte order mark"
        )
    try:
        system, text = split_system(text)
    except ValueError as error:
        raise ParamsError(f"{file}: {error}") from None
    if not text:
        raise ParamsError(f"{file}: the prompt of the {entry.owner} is empty")
    return Wording(file, text, system, literal)


def list_faults(wording: Wording, entry: PromptEntry) -> list[str]:
    """What keeps words from being sent as a prompt, one line each; none where they can be.

    Material that a fenced prompt names no slot for follows it between fences, so that only a
    literal one must have its slots; every other prompt is the whole of what is sent.
    """
    complete = wording.literal or not entry.fenced
    faults = describe_faults(wording.text, entry.slots, complete)
    faults += [
        f"has {{{slot.name}}} in its system message: slots stand after the line {USER}"
        for slot in entry.slots
        if holds_slot(wording.system, slot.name)
    ]
    if wording.system and entry.is_fragment:
        faults.insert(0, f"has a message after {SYSTEM}, and stands inside of another message")
    if wording.literal and not entry.fenced:
        faults.insert(0, f"begins with {LITERAL}, and nothing is ever added to it: drop that line")
    return faults


def split_system(text: str) -> tuple[str, str]:
    """The system message of a prompt file's text, empty if there is none, and the user's.

    Raises:
        ValueError: The marks of the two do not stand in their places.
    """
    if not text.startswith(f"{SYSTEM}\n"):
        if {SYSTEM, USER} & {line.strip() for line in text.splitlines()}:
            raise ValueError(f"the first line is {SYSTEM} where there is a system message")
        return "", text
    system, mark, user = text.removeprefix(f"{SYSTEM}\n").partition(f"\n{USER}\n")
    if not mark:
        raise ValueError(f"after the line {SYSTEM} there must be a line {USER}")
    return system.strip(), user.strip()


def read_prompt_text(file: str, owner: str) -> str:
    """The text of a prompt file without white space around it.

    Args:
        file: Its path; UTF-8, at most 1 MiB.
        owner: Who is given it, for messages.

    Raises:
        ParamsError: It cannot be read, or is empty.
    """
    try:
        text = _read_unchanged(file, _state(file))
    except (OmibenchError, UnicodeDecodeError) as error:
        reason = reason_of(error).removeprefix(f"{file}: ").removeprefix("cannot be read: ")
        raise ParamsError(f"{file}: the prompt of the {owner} cannot be read: {reason}") from None
    if not text:
        raise ParamsError(f"{file}: the prompt of the {owner} is empty")
    return text


def _state(file: str) -> tuple[int, int]:
    """When a file was changed and how long it is; the same for all that cannot be looked at."""
    try:
        state = Path(file).stat()
    except (OSError, ValueError):
        return 0, -1
    return state.st_mtime_ns, state.st_size


@lru_cache(maxsize=128)
def _read_unchanged(file: str, state: tuple[int, int]) -> str:
    """The text of a file in a state: requests are made one by one, and it is read for the first."""
    return read_bytes(file, PROMPT_BYTES).decode("utf-8").strip()
