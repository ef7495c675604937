"""Marks `[IMAGE0]`, `[IMAGE1]`, ... in a text, at the positions of a problem's pictures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar

IMAGE_MARK = re.compile(r"\[IMAGE(\d+)\]")
_ONLY_MARK = re.compile(rf"\s*{IMAGE_MARK.pattern}\s*")

Picture = TypeVar("Picture")


def write_image_mark(number: int) -> str:
    """Return the mark of the picture with a number, starting from 0: `[IMAGE0]`."""
    return f"[IMAGE{number}]"


def list_image_marks(text: str) -> list[int]:
    """Return the numbers of the marks in a text, in order."""
    return [int(mark) for mark in IMAGE_MARK.findall(text)] if "[IMAGE" in text else []


def read_only_image_mark(text: str) -> int | None:
    """Return the number of the mark that is the whole text, such as a choice that is a picture."""
    mark = _ONLY_MARK.fullmatch(text)
    return int(mark[1]) if mark else None


def split_at_image_marks(text: str) -> list[str | int]:
    """Split a text at its image marks.

    Args:
        text: Statement or choice, such as `"Compare [IMAGE0] with [IMAGE1]."`.

    Returns:
        Texts alternating with picture numbers, starting and ending with a text, which can be
            empty: `["Compare ", 0, " with ", 1, "."]`.
    """
    runs = IMAGE_MARK.split(text)
    return [int(run) if place % 2 else run for place, run in enumerate(runs)]


def pair_with_pictures(text: str, pictures: Sequence[Picture]) -> list[tuple[str, Picture | None]]:
    """Split a text into runs, each with the picture after it.

    Args:
        text: Statement or choice.
        pictures: Pictures by the numbers of the marks.

    Returns:
        Runs in order; a run can be empty. The last run has no picture, nor has one before a mark
        with an unknown number.
    """
    runs = IMAGE_MARK.split(text)
    numbers = [int(mark) for mark in runs[1::2]]
    behind = [pictures[number] if number < len(pictures) else None for number in numbers]
    return list(zip(runs[::2], [*behind, None], strict=True))
