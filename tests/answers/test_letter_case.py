from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.answers.prose import fold_words


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("The Golgi BODY", "the golgi body"), ("GCT", "gct"), ("No", "no"),
        ("A base is In it", "a base is in it"), ("As", "As"), ("mW", "mW"), ("Mmol", "Mmol"),
        ("AaBb", "AaBb"), ("AABB", "AABB"), ("KOH", "KOH"), ("NaCl", "NaCl"), ("mgh", "mgh"),
        (r"\Omega", r"\Omega"), ("Max_{2}", "Max_{2}"), ("v_{MAX}", "v_{max}"), ("2 Cal", "2 Cal"),
        ("point B", "point B"),
    ],
)  # fmt: skip
def test_ordinary_words_alone_lose_their_case(text: str, folded: str) -> None:
    assert fold_words(text) == folded


@given(st.text(alphabet="aAbBeEgGtT mM12_^{}\\", max_size=200))
def test_folding_changes_case_alone_and_once(text: str) -> None:
    assert fold_words(text).casefold() == text.casefold()
    assert fold_words(fold_words(text)) == fold_words(text)
