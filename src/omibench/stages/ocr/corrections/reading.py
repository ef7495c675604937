"""The original reading at the place of a correction: a text, or its digest."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

from omibench.schemas.problem import Choice, Figure
from omibench.stages.ocr.corrections.entry import describe_box

PREFIX: Final = "sha256:"
_DIGITS: Final = 16


def compute_digest(text: str) -> str:
    """Return the digest of a text without spacing: `sha256:` and 16 hexadecimal digits."""
    return PREFIX + hashlib.sha256(_normalise(text).encode()).hexdigest()[:_DIGITS]


def is_same_reading(was: str | None, text: str) -> bool:
    """Return whether a text equals the original reading of a correction.

    Args:
        was: Original text in the correction, its digest, or None.
        text: Current reading. Spacing is ignored.
    """
    return was is None or _normalise(was) == _normalise(text) or was == compute_digest(text)


def join_lines(texts: Sequence[str]) -> str:
    """Return the text of several lines, for `was` of a correction at a box."""
    return "\n".join(texts)


def describe_choices(choices: Sequence[Choice] | None) -> str:
    """Return the text of all choices, for `was`: one line each."""
    return "\n".join(f"({choice.label}) {choice.text or ''}" for choice in choices or [])


def describe_answer(answer: Sequence[str] | None) -> str:
    """Return the answer of a key, for `was`; empty without an answer."""
    return "; ".join(answer or [])


def describe_figure(figure: Figure) -> str:
    """Return the box of a figure, for `was`; its hash if it has no position on a page."""
    if figure.page is None or figure.bbox is None:
        return PREFIX + figure.sha256[:_DIGITS]
    return describe_box(figure.page, figure.bbox)


def quote_reading(text: str, most: int = 80) -> str:
    """Return a reading on one line for a message."""
    line = _normalise(text)
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _normalise(text: str) -> str:
    return " ".join(text.split())
