"""Words of one's own: instructions in a text file, in place of those that are built in."""

from __future__ import annotations

from omibench.errors import OmibenchError, ParamsError, reason_of
from omibench.files.intake import read_bytes

PROMPT_BYTES = 2**20


def read_prompt(file: str, owner: str) -> str:
    """The text of a prompt file, stripped; `owner` says in errors who is given it.

    Raises ParamsError for a file that cannot be read or is empty.
    """
    try:
        text = read_bytes(file, PROMPT_BYTES).decode("utf-8").strip()
    except (OmibenchError, UnicodeDecodeError) as error:
        reason = reason_of(error).removeprefix(f"{file}: ").removeprefix("cannot be read: ")
        raise ParamsError(f"{file}: the prompt of the {owner} cannot be read: {reason}") from None
    if not text:
        raise ParamsError(f"{file}: the prompt of the {owner} is empty")
    return text
