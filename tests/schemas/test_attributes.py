"""Attributes of problems: texts or lists of labels, bounded where people state them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from omibench.schemas.problem import (
    Answer,
    Problem,
    StatedAttributes,
    join_labels,
    keep_stated,
    list_labels,
    split_labels,
)

STATED = TypeAdapter(StatedAttributes)


def test_numbers_and_switches_become_texts() -> None:
    assert STATED.validate_python({"year": 2024, "resit": True, "skills": ["a", 3]}) == {
        "year": "2024", "resit": "yes", "skills": ["a", "3"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"model": "x"}, "'model' is the name of a column of every table"),
        ({"a,b": "x"}, "'a,b' is not a name of an attribute"),
        ({"": "x"}, "'' is not a name of an attribute"),
        ({"n" * 61: "x"}, "is not a name of an attribute"),
        ({"level": {"a": 1}}, "level: give a text or a list of texts"),
        ({"level": None}, "level: give a text or a list of texts"),
        ({"level": " "}, "level: a label must have 1 to 200 characters"),
        ({"level": "x" * 201}, "level: a label must have 1 to 200 characters"),
        ({"level": ["x"] * 51}, "level: has 51 labels; at most 50 are allowed"),
        ({f"a{n}": "x" for n in range(51)}, "has 51 attributes; at most 50 are allowed"),
    ],
)
def test_what_is_no_attribute_is_one_line(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as error:
        STATED.validate_python(values)
    assert message in error.value.errors()[0]["msg"]


@given(st.lists(st.text("ab c", min_size=1).filter(str.strip), min_size=1))
def test_labels_that_are_split_are_those_that_were_joined(labels: list[str]) -> None:
    parts = list_labels(split_labels(";".join(labels)))
    assert parts == list(dict.fromkeys(label.strip() for label in labels))
    assert list_labels(split_labels(join_labels(parts))) == parts


def test_absent_values_have_no_label() -> None:
    assert (list_labels(None), join_labels(None)) == ([], "")
    assert keep_stated({"a": None, "b": "", "c": [], "d": "x"}) == {"d": "x"}


def test_files_keep_lists_and_texts() -> None:
    text = '{"id":"a","answer":["1"],"answer_type":"open","attributes":{"k":["x","y"],"l":"z"}}'
    answer = Answer.model_validate_json(text)
    assert answer.attributes == {"k": ["x", "y"], "l": "z"}
    assert Answer.model_validate_json(answer.model_dump_json()) == answer


def test_year_and_competition_are_attributes_unless_the_problem_states_others() -> None:
    problem = Problem(
        id="a", question="?", source="s", source_sha256="", number="1", pages=[], year=2024,
        competition="Cup", attributes={"year": "2023", "level": "regional"},
    )  # fmt: skip
    assert problem.stated_attributes == {
        "competition": "Cup", "year": "2023", "level": "regional",
    }  # fmt: skip
