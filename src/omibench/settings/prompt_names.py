"""The names of the prompts, each with the module that describes it on import."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from omibench.errors import FileFormatError, ParamsError, reason_of
from omibench.files.reading import Container
from omibench.plugins.built_in import find_registered
from omibench.plugins.registry import known_names, runs_files
from omibench.schemas.validation import suggest_name

_FOLDERS: Final = (
    "stages/ocr", "stages/filter", "stages/rationale", "settings", "stages/saliency",
    "answers/judges", "stages/aggregate",
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


# A folder of prompts: `NAME.txt` replaces the built-in wording of the prompt NAME.

SUFFIX = ".txt"
_MOST_FILES: Final = 1000


def list_text_files(folder: str) -> list[Path]:
    """Return the text files of a folder in alphabetical order, without subfolders.

    Raises:
        ParamsError: The folder cannot be listed, has more than 1,000 text files, or a link in it
            leads out of it: what it sends to models could be any file of yours.
    """
    container = Container(folder)
    try:
        names = sorted(path.name for path in Path(folder).iterdir() if path.suffix == SUFFIX)
        if len(names) > _MOST_FILES:
            raise ParamsError(
                f"{folder}: has {len(names):,} text files, but at most {_MOST_FILES:,} are read; "
                "keep prompts alone in it"
            )
        return [container.path(name) for name in names]
    except FileFormatError as error:
        raise ParamsError(str(error)) from None
    except OSError as error:
        raise ParamsError(f"{folder}: cannot be listed: {reason_of(error)}") from None


def list_prompt_files(folder: str) -> dict[str, str]:
    """Return the prompts in a folder: name -> path, in alphabetical order.

    Args:
        folder: Path of the folder.

    Raises:
        ParamsError: It cannot be listed, or a text file has no prompt's name (with the nearest
            one).
    """
    files = list_text_files(folder)
    names = list_prompt_names()
    for path in files:
        if path.stem not in names and runs_files():
            raise ParamsError(
                f"{path}: {path.stem!r} is not a prompt; `omibench prompts list` lists "
                f"all prompts{suggest_name(path.stem, names)}"
            )
    return {path.stem: str(path) for path in files}
