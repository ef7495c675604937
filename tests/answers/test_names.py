from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.answers.multipart import is_dashed, is_name, is_numbered


@pytest.mark.parametrize(
    "text",
    ["CAG", "F T T F", "(BCA)", "H2O", "A-C-B", "1-3-2", "Gly-Ala-Ser", "5'-CAG-3'", "sp3",
     "CH_{3}CH_{2}OH", "2H2O"],
)  # fmt: skip
def test_names(text: str) -> None:
    assert is_name(text)


@pytest.mark.parametrize(
    "text",
    ["2ab", "n-1", "a-b", "m × g", r"\alpha\beta", "C_{1}V_{1}", "R_{2}C_{2}", "x^{2}", "-4", "3",
     "a(b+c)", r"\sqrt{gh}", ""],
)  # fmt: skip
def test_mathematics(text: str) -> None:
    assert not is_name(text)


@given(st.text(alphabet="AaGg12 '-_{}()=.", max_size=400))
def test_every_text_is_told(text: str) -> None:
    assert {is_name(text), is_numbered(text), is_dashed(text)} <= {True, False}
