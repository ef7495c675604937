"""The halves of a problem: attributes have one type over a dataset."""

from __future__ import annotations

from omibench.schemas.problem import Answer
from omibench.stages.freeze.rows import align_attributes


def test_an_attribute_that_is_a_list_once_is_one_everywhere() -> None:
    answers = [
        Answer(id="a", answer=["1"], answer_type="open", attributes={"k": "x", "exam": "final"}),
        Answer(id="b", answer=["1"], answer_type="open", attributes={"k": ["x", "y"]}),
        Answer(id="c", answer=["1"], answer_type="open"),
    ]
    aligned = align_attributes(answers)
    assert [answer.attributes for answer in aligned] == [
        {"k": ["x"], "exam": "final"}, {"k": ["x", "y"]}, {},
    ]  # fmt: skip
    assert align_attributes(answers[:1]) == answers[:1]
