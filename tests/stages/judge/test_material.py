"""What judges of reasoning are shown as the reference."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.schemas.problem import Answer, Question
from omibench.stages.judge.material import make_case


@pytest.mark.parametrize(
    ("solution", "sketch", "reference"),
    [
        ("At length.", "In short.", "At length."),
        (None, "In short.", "In short."),
        (None, None, None),
    ],
)
def test_the_reference_is_the_rationale_or_else_the_sketch(
    solution: str | None, sketch: str | None, reference: str | None
) -> None:
    answer = Answer(id="p", answer=["1"], answer_type="open", solution=solution, sketch=sketch)
    case = make_case(Question(id="p", question="?"), answer, "So 1.", Path("in"), images=False)
    assert case.reference == reference
