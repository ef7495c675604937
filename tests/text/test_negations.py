"""Words of negation in texts of unknown language."""

from __future__ import annotations

import pytest

from omibench.text.pieces import list_negations


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It is not in motion, and doesn't stop.", ["doesn't", "not"]),
        ("Kein Körper ist ohne Masse.", ["kein", "ohne"]),
        ("Тело не движется.", ["не"]),
        ("质量不变，下列不正确的是", ["不"]),
        ("The same notion, as in another note.", []),
        ("sin x", []),
    ],
)
def test_words_of_all_known_languages_are_found(text: str, words: list[str]) -> None:
    assert list_negations(text) == words
