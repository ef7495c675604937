"""Labels in a reply: `{CLASS: a#b}` in its last line, what stands before it as the reason."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from omibench.schemas.attributes import LONGEST_VALUE
from omibench.schemas.request import Response

SEPARATOR: Final = "#"
"""Between the labels of one reply (OMIBench, A.5)."""
MOST_LABELS: Final = 8
"""Labels of one reply that are read."""
LONGEST_REASON: Final = 2000
_CLASS = re.compile(r"\{CLASS: ([^{}]+)\}")


class LabelReply(NamedTuple):
    """The labels of one reply, and its words before them."""

    labels: list[str]
    reason: str


def parse_labels(response: Response) -> LabelReply:
    """Read the labels of a reply.

    Args:
        response: Whose last line is to be `{CLASS: a#b}`.

    Returns:
        Its labels, each once (spaces and letter case set aside), none where the reply has no such
        line or no answer, or where a label is longer than an attribute may be; and the words
        before that line.
    """
    lines = response.text.strip().splitlines() if response.outcome == "answered" else []
    match = _CLASS.fullmatch(lines[-1].strip()) if lines else None
    if match is None:
        return LabelReply([], "")
    labels = {
        normalise_label(text): " ".join(text.split())
        for text in reversed(match.group(1).split(SEPARATOR))
        if text.strip()
    }
    names = list(reversed(labels.values()))
    if len(names) > MOST_LABELS or any(len(name) > LONGEST_VALUE for name in names):
        return LabelReply([], "")
    return LabelReply(names, "\n".join(lines[:-1]).strip()[:LONGEST_REASON])


def normalise_label(text: str) -> str:
    """A label as it is compared: single spaces, no difference of letter case."""
    return " ".join(text.split()).casefold()
