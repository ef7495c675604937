"""A wording: the text of one prompt, from a file that replaces the built-in one.

A file can begin with mode lines: `[[literal]]` sends it unchanged, without our fences and closing
lines; `[[system]]` begins a system message, which ends at the line `[[user]]`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from omibench.errors import OmibenchError, ParamsError, reason_of
from omibench.files.reading import read_bytes
from omibench.settings.prompts.catalogue import (
    PromptEntry,
    describe_faults,
    find_prompt,
    holds_slot,
    list_prompts,
)

PROMPT_BYTES = 2**20
_CONTROL = re.compile(r"[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
LITERAL, SYSTEM, USER = "[[literal]]", "[[system]]", "[[user]]"


class Wording(NamedTuple):
    """The wording of one prompt from a file.

    `system` is the system message, `text` the rest; `literal` means that nothing of ours is added:
    no fences around material, no line about the form of the reply.
    """

    file: str
    text: str
    system: str = ""
    literal: bool = False

    @property
    def sha256(self) -> str:
        """Hash of the wording and its mode."""
        marks = f"{LITERAL if self.literal else ''}\0{self.system}\0{self.text}"
        return hashlib.sha256(marks.encode()).hexdigest()


def read_wording(file: str, entry: PromptEntry) -> Wording:
    """Read a file as the wording of one prompt of the catalogue.

    Args:
        file: Its path; UTF-8, at most 1 MiB.
        entry: The prompt that it replaces.

    Raises:
        ParamsError: It cannot be read, is empty, lacks a required slot, or has one that this prompt
            does not have.
    """
    wording = parse_wording(file, read_prompt_text(file, entry.owner), entry)
    if faults := list_faults(wording, entry):
        raise ParamsError(f"{file}: the prompt of the {entry.owner}: {faults[0]}")
    return wording


def choose_wording(files: Mapping[str, str], entry: PromptEntry) -> Wording:
    """Return the wording of a prompt from the file with its name, else the built-in one.

    Raises:
        ParamsError: The file cannot be read or is invalid.
    """
    file = files.get(entry.name)
    return read_wording(file, entry) if file else Wording("", entry.text)


def parse_wording(file: str, text: str, entry: PromptEntry) -> Wording:
    """Parse a file's text into a wording by its mode lines.

    Raises:
        ParamsError: A line such as `[[user]]` is out of place.
    """
    if SYSTEM in text.partition("\n")[0] or LITERAL in text.partition("\n")[0]:
        text = text.replace("\r\n", "\n")
    literal = text.partition("\n")[0].strip() == LITERAL
    if literal:
        text = text.partition("\n")[2].strip()
    if any(line.strip("\ufeff \t\r").casefold() == LITERAL for line in text.splitlines()):
        raise ParamsError(
            f"{file}: {LITERAL} must be on the first line, alone and in lower case, without "
            "anything before it, such as a byte order mark"
        )
    try:
        system, text = split_system(text)
    except ValueError as error:
        raise ParamsError(f"{file}: {error}") from None
    if not text:
        raise ParamsError(f"{file}: the prompt of the {entry.owner} is empty")
    return Wording(file, text, system, literal)


def list_faults(wording: Wording, entry: PromptEntry) -> list[str]:
    """List the errors that prevent a wording from being sent, one line each.

    Material without a slot in a fenced prompt follows it between fences, so only a literal one must
    have its slots; any other prompt is sent as a whole.
    """
    complete = wording.literal or not entry.fenced
    faults = describe_faults(wording.text, entry.slots, complete)
    faults += [
        f"has {{{slot.name}}} in its system message; move slots below the line {USER}"
        for slot in entry.slots
        if holds_slot(wording.system, slot.name)
    ]
    if wording.system and entry.is_fragment:
        faults.insert(
            0, f"has a message after {SYSTEM}, but it is part of another message; remove the line"
        )
    if wording.literal and not entry.fenced:
        faults.insert(
            0, f"begins with {LITERAL}, but nothing is ever added to this prompt; remove that line"
        )
    return faults


def split_system(text: str) -> tuple[str, str]:
    """Split a prompt file's text into its system message (or empty text) and the user's.

    Raises:
        ValueError: The mode lines of the two are out of place.
    """
    if not text.startswith(f"{SYSTEM}\n"):
        if {SYSTEM, USER} & {line.strip() for line in text.splitlines()}:
            raise ValueError(f"the first line must be {SYSTEM} if there is a system message")
        return "", text
    system, mark, user = text.removeprefix(f"{SYSTEM}\n").partition(f"\n{USER}\n")
    if not mark:
        raise ValueError(f"after the line {SYSTEM} there must be a line {USER}")
    return system.strip(), user.strip()


def read_prompt_text(file: str, owner: str) -> str:
    """Return the text of a prompt file without surrounding white space.

    Args:
        file: Its path; UTF-8, at most 1 MiB.
        owner: Its recipient, for messages.

    Raises:
        ParamsError: It cannot be read, is empty, or has a control character.
    """
    try:
        text = _read_unchanged(file, _state(file))
    except (OmibenchError, UnicodeDecodeError) as error:
        reason = reason_of(error).removeprefix(f"{file}: ").removeprefix("cannot be read: ")
        raise ParamsError(f"{file}: the prompt of the {owner} cannot be read: {reason}") from None
    if not text:
        raise ParamsError(f"{file}: the prompt of the {owner} is empty")
    if control := _CONTROL.search(text):
        raise ParamsError(
            f"{file}: the prompt of the {owner} has the control character {control[0]!r} in line "
            f"{text.count(chr(10), 0, control.start()) + 1}; remove it"
        )
    return text


def _state(file: str) -> tuple[int, int]:
    """Return modification time and size of a file; equal for all that cannot be inspected."""
    try:
        state = Path(file).stat()
    except (OSError, ValueError):
        return 0, -1
    return state.st_mtime_ns, state.st_size


@lru_cache(maxsize=128)
def _read_unchanged(file: str, state: tuple[int, int]) -> str:
    """Return the text of an unchanged file, cached, since requests are built individually."""
    return read_bytes(file, PROMPT_BYTES).decode("utf-8").strip()


# The catalogue as text, and prompt files compared with it: the output of `omibench prompts`.

_HASH_DIGITS = 12


class PlacedFile(NamedTuple):
    """A prompt file of a study: its key in params.yaml, and its path."""

    key: str
    file: str


def describe_prompt(
    entry: PromptEntry, files: Sequence[PlacedFile] = (), with_text: bool = False
) -> list[str]:
    """Describe a prompt in a few lines: purpose, slots, hash, printed original.

    Args:
        entry: The prompt.
        files: The files by which a study replaces it.
        with_text: Whether the built-in wording follows, indented.

    Returns:
        Lines, the first one with the prompt's name.
    """
    slots = " ".join(
        f"{{{slot.name}}}" if slot.required else f"[{{{slot.name}}}]" for slot in entry.slots
    )
    lines = [
        f"{entry.name}: {entry.purpose}",
        f"  slots: {slots or 'none'}",
        f"  built in: SHA-256 {entry.sha256[:_HASH_DIGITS]}; printed: {entry.source or 'nowhere'}",
        *(f"  {place.key}: {describe_file(place.file, entry)}" for place in files),
    ]
    if with_text:
        words = [*entry.text.splitlines(), *(["(the material)"] if entry.fenced else [])]
        lines += [f"  | {line}" for line in [*words, *entry.closing.splitlines()]]
    return lines


def describe_catalogue(
    files: Mapping[str, Sequence[PlacedFile]], with_text: bool = False
) -> list[str]:
    """Describe every prompt of the catalogue with `describe_prompt`.

    Args:
        files: The files by which a study replaces prompts, by name.
        with_text: Whether the built-in wording follows.

    Returns:
        Lines.
    """
    return [
        line
        for entry in list_prompts()
        for line in describe_prompt(entry, files.get(entry.name, ()), with_text)
    ]


def describe_file(file: str, entry: PromptEntry) -> str:
    """Describe a file on one line: its hash and mode, or its error."""
    try:
        wording = parse_wording(file, read_prompt_text(file, entry.owner), entry)
    except ParamsError as error:
        return str(error)
    if faults := list_faults(wording, entry):
        return f"{file}: {faults[0]}"
    literal = ", literal" if wording.literal else ""
    return f"{file}{literal}, SHA-256 {wording.sha256[:_HASH_DIGITS]}"


def check_prompt_file(file: str, name: str | None = None) -> list[str]:
    """Return the errors that prevent a file from being sent as a prompt.

    Args:
        file: Path of the file.
        name: The prompt; default: the file's name without its suffix.

    Returns:
        One line per error, also for a file that cannot be read or has no prompt's name; empty if
        the file is valid.

    Raises:
        ParamsError: The prompt `name` does not exist.
    """
    entry = find_prompt(name) if name else None
    try:
        entry = entry or find_prompt(Path(file).stem)
        wording = parse_wording(file, read_prompt_text(file, entry.owner), entry)
    except ParamsError as error:
        text = str(error)
        return [text if text.startswith(file) else f"{file}: {text}"]
    return [f"{file}: {fault}" for fault in list_faults(wording, entry)]
