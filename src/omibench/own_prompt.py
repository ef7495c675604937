"""Words of one's own: instructions in a text file, in place of those that are built in."""

from __future__ import annotations

from pathlib import Path

from omibench.errors import ParamsError, reason_of


def own_prompt(file: str, whose: str) -> str:
    """The text of a prompt file, stripped; `whose` says in errors who is given it.

    Raises ParamsError for a file that cannot be read or is empty.
    """
    try:
        text = Path(file).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = reason_of(error)
        raise ParamsError(f"{file}: the prompt of the {whose} cannot be read: {reason}") from None
    if not text:
        raise ParamsError(f"{file}: the prompt of the {whose} is empty")
    return text
