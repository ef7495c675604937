"""What reading said where a correction was made: a text, or its digest."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

from omibench.schemas.problem import Choice, Figure
from omibench.stages.ocr.corrections.entry import describe_box

PREFIX: Final = "sha256:"
_DIGITS: Final = 16


def compute_digest(text: str) -> str:
    """The digest of a text, spacing aside: `sha256:` and 16 hexadecimal digits."""
    return PREFIX + hashlib.sha256(_normalise(text).encode()).hexdigest()[:_DIGITS]


def is_same_reading(was: str | None, text: str) -> bool:
    """Whether a text is what reading said when a correction was made.

    Args:
        was: What the correction says of it: the text, its digest, or None where it says nothing.
        text: What reading says now. Spacing does not count.
    """
    return was is None or _normalise(was) == _normalise(text) or was == compute_digest(text)


def join_lines(texts: Sequence[str]) -> str:
    """The text of several lines, for `was` of a correction at a box."""
    return "\n".join(texts)


def describe_choices(choices: Sequence[Choice] | None) -> str:
    """The text of all choices, for `was`: a line for each."""
    return "\n".join(f"({choice.label}) {choice.text or ''}" for choice in choices or [])


def describe_answer(answer: Sequence[str] | None) -> str:
    """The answer of a key, for `was`; empty where there is none."""
    return "; ".join(answer or [])


def describe_figure(figure: Figure) -> str:
    """Where a figure was cut out, for `was`; its hash where it has no place on a page."""
    if figure.page is None or figure.bbox is None:
        return PREFIX + figure.sha256[:_DIGITS]
    return describe_box(figure.page, figure.bbox)


def quote_reading(text: str, most: int = 80) -> str:
    """What reading says, on one line of a message."""
    line = _normalise(text)
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _normalise(text: str) -> str:
    return " ".join(text.split())
