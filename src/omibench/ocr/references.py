"""Which figures a text refers to by number."""

from __future__ import annotations

import re

_REFERENCE = re.compile(
    r"(?:figures?|fig\.|figuras?|abbildung(?:en)?|图)\s*(\d{1,3})"
    r"(?:\s*(?:,|and|y|e|und|和|、|-|–)\s*(\d{1,3}))*",
    re.I,
)


def figure_numbers(text: str) -> list[str]:
    """The numbers of all figures that a text names, in order, each once."""
    mentions = (match[0] for match in _REFERENCE.finditer(text))
    found = [number for mention in mentions for number in re.findall(r"\d{1,3}", mention)]
    return list(dict.fromkeys(found))
