"""Prompt strategies: the words around a question and its choices, built in or from a file."""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path

from omibench.errors import OmibenchError, ParamsError, reason_of
from omibench.files.intake import read_bytes
from omibench.files.prompt_file import PROMPT_BYTES
from omibench.schemas.validation import suggest_name
from omibench.settings.registry import PROMPTS
from omibench.settings.templates import CHOICES, EXAMPLES, QUESTION, Prompt

_FIELDS = ("question", "choices", "examples")
_SYSTEM, _USER = "[[system]]", "[[user]]"


def load_prompt(name: str) -> Prompt:
    """A built-in prompt by name, or a text file's prompt by its path.

    A file that begins with the line `[[system]]` has a system message, which goes to the line
    `[[user]]`. Raises ParamsError when there is neither, or when the file lacks `{question}`.
    """
    if name in PROMPTS:
        return PROMPTS.get(name)
    try:
        state = Path(name).stat()
    except OSError:
        hint = suggest_name(name, list(PROMPTS))
        raise ParamsError(f"prompt {name!r} is neither built in nor a file{hint}") from None
    return _from_file(name, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=64)
def _from_file(name: str, modified_ns: int, size: int) -> Prompt:
    path = Path(name)
    try:
        system, text = _parts(read_bytes(path, PROMPT_BYTES).decode("utf-8").strip())
    except UnicodeDecodeError as error:
        raise ParamsError(f"{name}: cannot be read: {reason_of(error)}") from None
    except OmibenchError as error:
        raise ParamsError(str(error)) from None
    except ValueError as error:
        raise ParamsError(f"{name}: {error}") from None
    if text.count(QUESTION) != 1 or max(text.count(CHOICES), text.count(EXAMPLES)) > 1:
        raise ParamsError(
            f"{name}: a prompt holds {QUESTION} once, {CHOICES} and {EXAMPLES} at most once"
        )
    for field in re.findall(r"\{([a-z]+)\}", text):
        if field not in _FIELDS and get_close_matches(field, _FIELDS):
            raise ParamsError(f"{name}: unknown {{{field}}}{suggest_name(field, _FIELDS)}")
    return Prompt(text, text, system=system)


def _parts(text: str) -> tuple[str, str]:
    """The system message, empty if there is none, and the user's."""
    if not text.startswith(f"{_SYSTEM}\n"):
        if {_SYSTEM, _USER} & {line.strip() for line in text.splitlines()}:
            raise ValueError(f"the first line is {_SYSTEM} where there is a system message")
        return "", text
    system, mark, user = text.removeprefix(f"{_SYSTEM}\n").partition(f"\n{_USER}\n")
    if not mark:
        raise ValueError(f"after the line {_SYSTEM} there must be a line {_USER}")
    if QUESTION in system:
        raise ValueError(f"{QUESTION} stands after the line {_USER}")
    return system.strip(), user.strip()
