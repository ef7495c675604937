"""A folder of prompts: `NAME.txt` takes the place of the built-in words of the prompt NAME."""

from __future__ import annotations

from pathlib import Path

from omibench.errors import ParamsError, reason_of
from omibench.prompts.names import list_prompt_names
from omibench.schemas.validation import suggest_name

SUFFIX = ".txt"


def list_text_files(folder: str) -> list[Path]:
    """The text files of a folder in alphabetical order; those of folders in it are left alone.

    Raises:
        ParamsError: It cannot be listed.
    """
    try:
        return sorted(path for path in Path(folder).iterdir() if path.suffix == SUFFIX)
    except OSError as error:
        raise ParamsError(f"{folder}: cannot be listed: {reason_of(error)}") from None


def list_prompt_files(folder: str) -> dict[str, str]:
    """The prompts that a folder has words for: name -> path, in alphabetical order.

    Args:
        folder: Its path.

    Raises:
        ParamsError: It cannot be listed, or a text file bears no name of a prompt, with the nearest
            one.
    """
    files = list_text_files(folder)
    names = list_prompt_names()
    for path in files:
        if path.stem not in names:
            raise ParamsError(
                f"{path}: {path.stem!r} is no prompt{suggest_name(path.stem, names)}; "
                "`omibench prompts list` says which there are"
            )
    return {path.stem: str(path) for path in files}
