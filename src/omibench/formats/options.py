"""Options in the text of a question: lines A) ... B) ... at its end."""

from __future__ import annotations

import re
from typing import Final

from omibench.formats.values import CAPITALS

_LINE: Final = re.compile(r"^[ \t]*\(?([A-Z])[).:][ \t]+(\S.*)$", re.MULTILINE)


def options_in_question(question: str) -> dict[str, str] | None:
    """Return the last run of lines that begin with A), B), ... in order; None for under two."""
    runs: list[dict[str, str]] = [{}]
    for label, text in _LINE.findall(question):
        if label == "A":
            runs.append({})
        if label == CAPITALS[len(runs[-1]) : len(runs[-1]) + 1]:
            runs[-1][label] = text.strip()
    return runs[-1] if len(runs[-1]) > 1 else None
