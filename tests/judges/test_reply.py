"""A verdict is read from the end of a reply, strictly, or not at all."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.judges.reply import last_line, last_object, last_value, whole_number

KEYS = ("score", "note")
SCALAR = st.none() | st.booleans() | st.integers() | st.text(max_size=20)


@pytest.mark.parametrize(
    ("reply", "line"),
    [("", None), ("\n \n", None), ("a\n\n**b**\n", "b"), ("a\r\nb\r\n", "b"), ("x" * 5000, None)],
)
def test_the_last_line_that_says_something(reply: str, line: str | None) -> None:
    assert last_line(reply) == line


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("SCORE: 1/2", "1/2"),
        ("score :  1/2", "1/2"),
        ("**SCORE:** 1/2", "1/2"),
        ("SCORE: 1/2\nthat is all", None),
        ("The SCORE: 1/2", None),
        ("1/2", None),
    ],
)
def test_a_labelled_value_stands_on_the_last_line(reply: str, value: str | None) -> None:
    assert last_value(reply, "score") == value


@pytest.mark.parametrize(
    "reply",
    [
        '{"score": 3, "note": ""}',
        'I quote {"score": 5, "note": ""}.\n{"score": 3, "note": ""}',
        '{"score": 5, "note": "first"}\n{"score": 3, "note": "last"}',
        '```json\n{"score": 3,\n "note": "two lines"}\n```\n',
        '{"score": 3, "note": "it says {\\"score\\": 5, \\"note\\": \\"\\"}"}',
        '{"score": 3, "note": "\\n{\\"score\\": 5}"}  \n',
    ],
)
def test_the_object_that_ends_a_reply_counts(reply: str) -> None:
    assert last_object(reply, KEYS)["score"] == 3


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "[3]",
        '{"score": 3}',
        '{"score": 3, "note": "", "more": 1}',
        '{"score": 3, "score": 5, "note": ""}',
        '{"score": 3, "note": ""} is my verdict',
        'my verdict is {"score": 3, "note": ""}',
        '{"note": "broken {"score": 3, "note": ""}',
        '{"outer":\n{"score": 3, "note": ""}}',
        '{"score": 3, "note": ""',
        "{" * 5000,
        '{"a":' * 3000,
    ],
)
def test_anything_else_is_no_object(reply: str) -> None:
    assert last_object(reply, KEYS) == {}


@given(st.text(max_size=60), SCALAR, SCALAR)
def test_whatever_comes_before_the_object_changes_nothing(
    before: str, score: object, note: object
) -> None:
    told = json.dumps({"score": score, "note": note})
    reply = f"{before.rstrip('{[')} .\n{told}"
    assert last_object(reply, KEYS) == {"score": score, "note": note}


@given(st.text())
def test_no_reply_raises(reply: str) -> None:
    last_object(reply, KEYS)
    last_value(reply, "score")


@pytest.mark.parametrize(
    ("value", "mark"),
    [(1, 1), (5, 5), (0, None), (6, None), (True, None), (3.0, None), ("3", None), (None, None)],
)
def test_marks_are_whole_and_in_range(value: object, mark: int | None) -> None:
    assert whole_number(value, 1, 5) == mark
