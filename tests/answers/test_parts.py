from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.answers.multipart import (
    SPLITTERS,
    by_arrow,
    by_comma,
    by_semicolon,
    split_labelled,
    without_label,
)


@given(st.text(alphabet="abcAB123()[]{},;: \\-→\n$", max_size=80))
def test_any_text_splits_or_does_not(text: str) -> None:
    for split in SPLITTERS:
        assert len(split(text)) != 1


@pytest.mark.parametrize(
    ("text", "keys", "texts"),
    [
        ("(1) 90, (2) 45", "12", ["90", "45"]),
        ("a) FALSE b) TRUE c) FALSE", "abc", ["FALSE", "TRUE", "FALSE"]),
        ("A : TRUE ; B: FALSE", "ab", ["TRUE", "FALSE"]),
        ("a : F ; b : T ; c :T ;d :F", "abcd", ["F", "T", "T", "F"]),
        ("(2) 45 (1) 90", "12", ["90", "45"]),
        ("c) TRUE a) TRUE b) FALSE", "abc", ["TRUE", "FALSE", "TRUE"]),
    ],
)
def test_labelled_parts(text: str, keys: str, texts: list[str]) -> None:
    parts = split_labelled(text)
    assert "".join(p.key for p in parts) == keys
    assert [p.text for p in parts] == texts


def test_labels_must_start_with_the_first_and_follow_each_other() -> None:
    assert split_labelled("(2) 90, (3) 45") == []
    coordinates = split_labelled("(1) (3, 2) (2) (5, 1)")
    assert [part.text for part in coordinates] == ["(3, 2)", "(5, 1)"]
    assert split_labelled("f(x) = 3 and g(y) = 4") == []


def test_lists_split_outside_brackets_and_numbers() -> None:
    assert [p.text for p in by_comma("(1, 2), 1,000 and [3, 4)")] == ["(1, 2)", "1,000", "[3, 4)"]
    assert [p.text for p in by_comma("9, 13, 49")] == ["9", "13", "49"]
    assert by_comma("1,000") == []


def test_named_parts_keep_their_names() -> None:
    assert by_semicolon("Phloem - a d; Xylem - b c") == [("phloem", "a d"), ("xylem", "b c")]


def test_sequences_split_at_arrows() -> None:
    assert [p.text for p in by_arrow("b - e - f")] == ["b", "e", "f"]
    assert by_arrow("x - 3") == []


def test_one_label_can_be_taken_off() -> None:
    assert without_label("a) FALSE") == "FALSE"
    assert without_label("(2) 45") == "45"
    assert without_label("f(x)") == "f(x)"
