"""Pages with too much text to be searched for formulas in bounded time."""

from __future__ import annotations

import pytest

from omibench.stages.ocr.formulas.page_formulas import MAX_CROWD, MAX_LINES, exceeds_limits
from omibench.stages.ocr.formulas.text_layer import Character, TextRun
from omibench.stages.ocr.layout.layout import Box


def run(count: int, step: float) -> TextRun:
    places = [(50 + step * (k % 80), 50 + step * (k // 80)) for k in range(count)]
    box = Box(0, 0, 5, 7)
    return TextRun({}, tuple(Character(k, "x", "F", 10.0, *p, box) for k, p in enumerate(places)))


@pytest.mark.parametrize(
    ("runs", "exceeds"),
    [
        ([run(4000, 6.0)], False),
        ([run(MAX_CROWD, 0.0)], False),
        ([run(MAX_CROWD + 1, 0.0)], True),
        ([run(1, 6.0)] * (MAX_LINES + 1), True),
    ],
)
def test_crowded_text_and_thousands_of_lines_exceed_the_limits(
    runs: list[TextRun], *, exceeds: bool
) -> None:
    assert exceeds_limits(runs) is exceeds
