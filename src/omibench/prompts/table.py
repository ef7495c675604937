"""The catalogue as text, and prompt files compared with it: the output of `omibench prompts`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from omibench.errors import ParamsError
from omibench.prompts.catalogue import PromptEntry, find_prompt, list_prompts
from omibench.prompts.wording import list_faults, parse_wording, read_prompt_text

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
