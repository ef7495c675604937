from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.answers.extraction.extract import json_answer, tagged_answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('{"answer": "3 m"}', "3 m"),
        ('{"reasoning": "2+1", "Final Answer": 3}', "3"),
        ('{"answer": ["3", "7"]}', "3, 7"),
        ('{"answer": {"a": 3, "b": 7}}', "a: 3; b: 7"),
        ('{"a": 3, "b": true}', "a: 3; b: True"),
        ('["A", "C"]', "A, C"),
        ("[0, 4]", "[0, 4]"),
        ('```json\n{"answer": "B"}\n```', "B"),
        ('We add.\n```json\n{"answer": [3, 7]}\n```\nDone.', "3, 7"),
        ('{"note": 1} and then {"answer": "x"} and {"more": 2}', "x"),
        (r'{"answer": "\frac{1}{2}"}', r"\frac{1}{2}"),
        (r'{"answer": "\\frac{1}{2}"}', r"\frac{1}{2}"),
        (r'{"answer": "\beta\theta\nu"}', r"\beta\theta\nu"),
    ],
)
def test_answers_in_json(text: str, answer: str) -> None:
    assert json_answer(text) == answer


@pytest.mark.parametrize(
    "text",
    ["", "{", '{"answer": ', '{"answer": null}', '{"answer": []}', '{"answer": [[1]]}',
     r"\frac{1}{2}", 'The set {"a"} is open', 'Some words and {"note": 3}'],
)  # fmt: skip
def test_no_answer_in_json(text: str) -> None:
    assert json_answer(text) is None


def test_the_last_tag_counts() -> None:
    assert tagged_answer("<answer>1</answer> no: <ANSWER>\n2 </ANSWER>") == "2"
    assert tagged_answer("<answer>1") is None


@given(st.text(alphabet='{}[]":,\\answer123 ntf\n`', max_size=200))
def test_any_text_gives_an_answer_or_none(text: str) -> None:
    assert json_answer(text) != ""
