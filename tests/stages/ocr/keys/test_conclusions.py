"""The letter with which a worked solution concludes; none where it is not certain."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.stages.ocr.structure.solutions import read_conclusion


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("Energy is kept. Hence the correct answer is (B).", ["B"]),
        ("So the answer is option C.", ["C"]),
        ("Therefore option (d) is correct.", ["D"]),
        ("Thus, (A) is the correct choice.", ["A"]),
        ("由能量守恒可知，故选C．", ["C"]),
        ("综上，故选：AC。", ["A", "C"]),
        ("所以答案为 B。", ["B"]),
        ("Portanto, a alternativa correta é a letra D.", ["D"]),
        ("La respuesta correcta es la opción B.", ["B"]),
        (r"It follows that \boxed{E}", ["E"]),
        ("Option A is not correct. Option B is correct.", ["B"]),
        ("Option A is correct. But the answer is (B).", []),
        ("Point A is right of B.", []),
        ("We can rule out option A. It is too large.", []),
        ("A ball is correct.", []),
        ("The answer is a number.", []),
        ("The acceleration is right.", []),
        ("答案不是 C。", []),
        ("", []),
    ],
)
def test_what_a_solution_concludes(text: str, letters: list[str]) -> None:
    assert read_conclusion(text) == letters


@given(st.text("AB answeriscorct().选故答案:\\boxed{}", max_size=60))
def test_no_letter_is_made_up(text: str) -> None:
    assert set(read_conclusion(text)) <= set(text.upper())
