"""Marks of pictures in the texts of published benchmarks, written as ours."""

from __future__ import annotations

import re
from collections.abc import Mapping


def replace_marks(text: str, mark: re.Pattern[str], places: Mapping[str, int]) -> str:
    """A text whose marks of pictures are `[IMAGEi]`.

    Args:
        text: Of a question or a choice.
        mark: What marks a picture there; its first group is the picture's name.
        places: Name of a picture -> its place among the problem's pictures, from 0. The mark of a
            picture that is not there stays as it is.
    """
    return mark.sub(
        lambda match: f"[IMAGE{places[match[1]]}]" if match[1] in places else match[0], text
    )
