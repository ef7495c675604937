"""A folder of prompts: `NAME.txt` replaces the built-in wording of the prompt NAME."""

from __future__ import annotations

from pathlib import Path

from omibench.errors import ParamsError, reason_of
from omibench.plugins.registry import runs_files
from omibench.prompts.names import list_prompt_names
from omibench.schemas.validation import suggest_name

SUFFIX = ".txt"


def list_text_files(folder: str) -> list[Path]:
    """Return the text files of a folder in alphabetical order, without subfolders.

    Raises:
        ParamsError: The folder cannot be listed.
    """
    try:
        return sorted(path for path in Path(folder).iterdir() if path.suffix == SUFFIX)
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
