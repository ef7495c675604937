"""Detect endless repetition in replies of models."""

from __future__ import annotations

from typing import Final

_LONGEST_UNIT: Final = 200
_REPEATS: Final = 20
_SHORTEST: Final = 200
"""The minimum length of repetitions in characters: shorter ones may be a table of equal cells."""


def ends_in_loop(text: str) -> bool:
    """Return whether a text ends in twenty or more repeats of one unit of letters or digits.

    Args:
        text: A model's reply. Blanks (`____`, `....`) are not a loop.
    """
    tail = text.rstrip()[-_LONGEST_UNIT * (_REPEATS + 1) :]
    for length in range(1, _LONGEST_UNIT + 1):
        span = max(length * _REPEATS, _SHORTEST)
        run = tail[-span:]
        if len(run) == span and run[length:] == run[:-length]:
            return any(character.isalnum() for character in run[-length:])
    return False
