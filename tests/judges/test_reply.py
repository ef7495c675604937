"""A verdict is read from the end of a reply, strictly, or not at all."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.answers.judges.scales import last_object, last_value

KEYS = ("score", "note")
SCALAR = st.none() | st.booleans() | st.integers() | st.text(max_size=20)


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
