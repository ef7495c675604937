"""Conversion of picture marks in the texts of published benchmarks."""

from __future__ import annotations

import re
from collections.abc import Mapping


def replace_marks(text: str, mark: re.Pattern[str], places: Mapping[str, int]) -> str:
    """Return a text with its picture marks written as `[IMAGEi]`.

    Args:
        text: Text of a question or a choice.
        mark: Pattern of a picture mark; its first group is the picture's name.
        places: Name of a picture -> its index among the problem's pictures, from 0. The mark of
            a missing picture is kept unchanged.
    """
    return mark.sub(
        lambda match: f"[IMAGE{places[match[1]]}]" if match[1] in places else match[0], text
    )
