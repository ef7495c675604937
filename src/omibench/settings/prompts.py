"""Prompt strategies: the text around a question and its choices, built in or from a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from omibench.errors import ParamsError
from omibench.prompts.catalogue import PromptEntry, find_prompt
from omibench.prompts.names import prompt_homes
from omibench.prompts.wording import read_wording
from omibench.schemas.validation import suggest_name
from omibench.settings.registry import PROMPTS
from omibench.settings.templates import (
    CHOICES,
    EXAMPLES,
    OPEN,
    QUESTION,
    SLOTS,
    Prompt,
)

FILE = PromptEntry("file", "puts a question", "", SLOTS, owner="respondent")
"""A custom prompt that replaces none."""
NO_FILES: Mapping[str, str] = {}


def load_prompt(name: str, files: Mapping[str, str] = NO_FILES) -> Prompt:
    """Return a built-in prompt by name, or a text file's prompt by its path.

    A file that begins with the line `[[system]]` has a system message, which ends at the line
    `[[user]]`.

    Args:
        name: A prompt of the registry, or the path of a file.
        files: Files that replace prompts, by prompt name; `NAME-open` is the variant of a prompt
            for problems without choices.

    Returns:
        The prompt.

    Raises:
        ParamsError: Neither exists, a file lacks `{question}`, or the two files of a prompt have
            different system messages.
    """
    if name in PROMPTS:
        return _replace_words(name, PROMPTS.get(name), files)
    if not Path(name).exists():
        hint = suggest_name(name, list(PROMPTS))
        raise ParamsError(f"prompt {name!r} is neither a built-in prompt nor a file{hint}")
    return read_template(name, FILE)


def read_template(file: str, entry: PromptEntry) -> Prompt:
    """Read a file's prompt for problems with and without choices.

    Raises:
        ParamsError: The file cannot be read, or its slots are not those of a question.
    """
    wording = read_wording(file, entry)
    text = wording.text
    if text.count(QUESTION) != 1 or max(text.count(CHOICES), text.count(EXAMPLES)) > 1:
        raise ParamsError(
            f"{file}: a prompt contains {QUESTION} once, {CHOICES} and {EXAMPLES} at most once"
        )
    return Prompt(text, text, system=wording.system)


def _replace_words(name: str, prompt: Prompt, files: Mapping[str, str]) -> Prompt:
    """Return a prompt with the wording of the given files."""
    if name in files:
        mine = read_template(files[name], find_prompt(name))
        has_two = f"{name}{OPEN}" in prompt_homes()
        prompt = prompt._replace(
            mcq=mine.mcq, open=prompt.open if has_two else mine.open, system=mine.system
        )
    if file := files.get(f"{name}{OPEN}"):
        mine = read_template(file, find_prompt(f"{name}{OPEN}"))
        if mine.system not in ("", prompt.system):
            raise ParamsError(
                f"{file}: its system message differs from that of {name}.txt, which applies to "
                "every problem; write it into both files, or remove it from this one"
            )
        prompt = prompt._replace(open=mine.open)
    return prompt
