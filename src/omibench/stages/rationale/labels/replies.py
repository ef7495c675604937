"""Labels in a reply: `{CLASS: a#b}` in its last line, with the text before it as the reason."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from omibench.schemas.attributes import LONGEST_VALUE
from omibench.schemas.request import Response

SEPARATOR: Final = "#"
"""Separator of labels in one reply (OMIBench, A.5)."""
MOST_LABELS: Final = 8
"""Maximum number of labels in one reply."""
LONGEST_REASON: Final = 2000
_CLASS = re.compile(r"\{CLASS: ([^{}]+)\}")


class LabelReply(NamedTuple):
    """The labels of one reply, and its text before them."""

    labels: list[str]
    reason: str


def parse_labels(response: Response) -> LabelReply:
    """Read the labels of a reply.

    Args:
        response: A response whose last line should be `{CLASS: a#b}`.

    Returns:
        Its labels without repetitions (ignoring spaces and case), and the text before that line.
        There are no labels if the line or answer is missing, or a label is too long for an
        attribute.
    """
    text = response.text if response.outcome == "answered" else ""
    named = read_class(text)
    if named is None:
        return LabelReply([], "")
    labels = {
        normalise_label(text): " ".join(text.split())
        for text in reversed(named.split(SEPARATOR))
        if text.strip()
    }
    names = list(reversed(labels.values()))
    if len(names) > MOST_LABELS or any(len(name) > LONGEST_VALUE for name in names):
        return LabelReply([], "")
    return LabelReply(names, "\n".join(text.strip().splitlines()[:-1]).strip()[:LONGEST_REASON])


def read_class(reply: str) -> str | None:
    """Return the X of a reply whose last line is `{CLASS: X}`, else None."""
    lines = reply.strip().splitlines()
    match = _CLASS.fullmatch(lines[-1].strip()) if lines else None
    return match[1] if match else None


def normalise_label(text: str) -> str:
    """Return a label for comparison: single spaces, case ignored."""
    return " ".join(text.split()).casefold()
