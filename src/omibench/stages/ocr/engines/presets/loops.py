"""Replies of models that fell into a loop."""

from __future__ import annotations

from typing import Final

_LONGEST_UNIT: Final = 200
_REPEATS: Final = 20
_SHORTEST: Final = 200
"""Characters: a shorter run of one unit may be a table of equal cells."""


def ends_in_loop(text: str) -> bool:
    """Whether a text ends in twenty or more repeats of one unit of letters or digits.

    Args:
        text: A model's reply. Blanks to fill in (`____`, `....`) are no loop.
    """
    tail = text.rstrip()[-_LONGEST_UNIT * (_REPEATS + 1) :]
    for length in range(1, _LONGEST_UNIT + 1):
        span = max(length * _REPEATS, _SHORTEST)
        run = tail[-span:]
        if len(run) == span and run[length:] == run[:-length]:
            return any(character.isalnum() for character in run[-length:])
    return False
