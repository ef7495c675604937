"""Parts become texts that people edit, and such texts parts again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.errors import FileFormatError
from omibench.review.check import read_choices_text, write_part_text
from omibench.schemas.problem import Choice

CHOICES = [
    Choice(label="A", text="1 m"),
    Choice(label="B", image=2),
    Choice(label="C", text="x\ny"),
]


def dump(choices: list[Choice]) -> str:
    return write_part_text([choice.model_dump() for choice in choices])


def test_choices_come_back() -> None:
    assert read_choices_text(dump(CHOICES), CHOICES) == CHOICES
    edited = read_choices_text("A) 2 m\nB. [IMAGE2]\nC. z\nD. missed before", CHOICES)
    assert [(c.label, c.text, c.image) for c in edited] == [
        ("A", "2 m", None), ("B", None, 2), ("C", "z", None), ("D", "missed before", None),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 m\nB. 2", "the first line is '1 m'"),
        ("A. 1", "A found"),
        ("A. 1\nA. 2", "each once"),
        ("", "none found"),
    ],
)
def test_what_are_no_choices(text: str, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        read_choices_text(text, CHOICES)


words = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=9)


@given(st.lists(words, min_size=2, max_size=6))
def test_any_texts_come_back(texts: list[str]) -> None:
    choices = [Choice(label="ABCDEF"[i], text=text) for i, text in enumerate(texts)]
    assert read_choices_text(dump(choices), choices) == choices
