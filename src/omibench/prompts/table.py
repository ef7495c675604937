"""The catalogue as text, and files of words held against it: what `omibench prompts` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from omibench.errors import ParamsError
from omibench.prompts.catalogue import PromptEntry, find_prompt, list_prompts
from omibench.prompts.wording import list_faults, parse_wording, read_prompt_text

_HASH_DIGITS = 12


class PlacedFile(NamedTuple):
    """A file of words that a study uses: the key of params.yaml that leads to it, and its path."""

    key: str
    file: str


def describe_prompt(
    entry: PromptEntry, files: Sequence[PlacedFile] = (), with_text: bool = False
) -> list[str]:
    """A prompt in a few lines: what it asks for, its slots, its hash, where its original stands.

    Args:
        entry: The prompt.
        files: The files that a study puts in its place.
        with_text: Whether the built-in words follow, indented.

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
    """Every prompt of the catalogue, as `describe_prompt` has it.

    Args:
        files: The files that a study puts in the places of prompts, by name.
        with_text: Whether the built-in words follow.

    Returns:
        Lines.
    """
    return [
        line
        for entry in list_prompts()
        for line in describe_prompt(entry, files.get(entry.name, ()), with_text)
    ]


def describe_file(file: str, entry: PromptEntry) -> str:
    """A file with its hash and how it is sent, or what is wrong with it, on one line."""
    try:
        wording = parse_wording(file, read_prompt_text(file, entry.owner), entry)
    except ParamsError as error:
        return str(error)
    if faults := list_faults(wording, entry):
        return f"{file}: {faults[0]}"
    literal = ", literal" if wording.literal else ""
    return f"{file}{literal}, SHA-256 {wording.sha256[:_HASH_DIGITS]}"


def check_prompt_file(file: str, name: str | None = None) -> list[str]:
    """What keeps a file from being sent as a prompt.

    Args:
        file: Its path.
        name: The prompt; the file's name without its suffix if left out.

    Returns:
        One line a fault, also for a file that cannot be read or bears no name of a prompt; none
        where the file can be used.

    Raises:
        ParamsError: There is no prompt `name`.
    """
    entry = find_prompt(name) if name else None
    try:
        entry = entry or find_prompt(Path(file).stem)
        wording = parse_wording(file, read_prompt_text(file, entry.owner), entry)
    except ParamsError as error:
        text = str(error)
        return [text if text.startswith(file) else f"{file}: {text}"]
    return [f"{file}: {fault}" for fault in list_faults(wording, entry)]
