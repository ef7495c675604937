"""Fields of decisions against the declaration of their kind."""

from __future__ import annotations

from typing import Any

import pytest

from omibench.review.check import TEXT_CHARACTERS, DecisionFieldError, check_fields
from omibench.review.kinds import KINDS
from omibench.review.kinds.declaration import Field, Kind, Option, Part
from omibench.schemas.review import ReviewTask, TaskPicture
from review.builders import make_task

YES_NO = (Option("yes", "Yes"), Option("no", "No"))
KIND = Kind(
    name="toy",
    title="Toy",
    instruction="Decide.",
    parts=(Part("text", "Text", "markdown"), Part("steps", "Steps", "steps")),
    fields=(
        Field("good", "Good?", "choice", options=YES_NO),
        Field("why", "Why?", "text", when=("good", ("no",))),
        Field("marks", "Marks", "choices", options=YES_NO, required=False),
        Field("rating", "Rating", "rating", required=False),
        Field("sure", "Sure?", "flag", required=False),
        Field("edited", "Text", "text", required=False, edits="text"),
        Field("hint", "Hint", "text", required=False, when=("sure", ("true",))),
        Field("right", "Steps", "steps", options=YES_NO, required=False),
    ),
)
TASK = ReviewTask(
    id="toy:1",
    kind="toy",
    problem="1",
    content={"text": "a\r\nb", "steps": ["x", "y"]},
    content_hash="0" * 64,
)


def check(**fields: Any) -> dict[str, Any]:
    return check_fields(KIND, TASK, {"good": "yes"} | fields)


def test_fields_are_recorded_in_the_order_of_the_declaration() -> None:
    checked = check(right=["yes", "no"], rating=3, marks=["no"])
    assert list(checked) == [field.name for field in KIND.fields]
    assert checked["right"] == ["yes", "no"]
    assert checked["edited"] is None


def test_a_text_that_is_the_one_it_started_with_is_none() -> None:
    assert check(edited="a\r\nb")["edited"] is None
    assert check(edited="a\nb")["edited"] is None
    assert check(edited="a\r\nc")["edited"] == "a\nc"


def test_a_field_is_asked_only_after_the_answer_that_it_names() -> None:
    assert check(good="no", why="Wrong.")["why"] == "Wrong."
    assert check(why="")["why"] is None
    assert check(sure=True, hint="h")["hint"] == "h"


@pytest.mark.parametrize(
    ("fields", "field", "line"),
    [
        ({"goood": "yes"}, "goood", "did you mean 'good'?"),
        ({"good": None}, "good", "is missing"),
        ({"good": "maybe"}, "good", "must be one of yes, no (got 'maybe')"),
        ({"good": "no", "why": "  "}, "why", "is missing"),
        ({"why": "Because."}, "why", "applies only if good is no"),
        ({"marks": "yes"}, "marks", "must be a list of yes, no"),
        ({"marks": ["yes", 1]}, "marks", "must be a list of yes, no"),
        ({"marks": ["yes", "yes"]}, "marks", "has a value twice"),
        ({"rating": 6}, "rating", "must be an integer from 1 to 5 (got 6)"),
        ({"rating": True}, "rating", "must be an integer"),
        ({"rating": 2.5}, "rating", "must be an integer"),
        ({"sure": "yes"}, "sure", "must be true or false"),
        ({"sure": False, "hint": "h"}, "hint", "applies only if sure is true"),
        ({"edited": ["a"]}, "edited", "takes a text"),
        ({"edited": "a" * (TEXT_CHARACTERS + 1)}, "edited", "the limit is 200,000"),
        ({"edited": "a\x00b"}, "edited", "the control character U+0000"),
        ({"right": ["yes"]}, "right", "for each of 2 steps"),
        ({"right": ["yes", "maybe"]}, "right", "for each of 2 steps"),
    ],
)
def test_a_wrong_field_is_named(fields: dict[str, Any], field: str, line: str) -> None:
    with pytest.raises(DecisionFieldError) as error:
        check(**fields)
    assert error.value.field == field
    assert line in error.value.message
    assert str(error.value) == f"{field}: {error.value.message}"


RATIONALE = KINDS["rationale"]
CANDIDATES = [
    {"id": "p#0", "title": "First", "text": "So\r\n5."},
    {"id": "p#1", "title": "Second", "text": "So 6."},
]
WRITTEN = {
    **dict.fromkeys(("concepts", "computation", "completeness", "final_answer", "clarity"), True),
    "candidate": "p#0",
    "action": "accept",
}


def test_options_of_the_task_are_taken_and_no_others() -> None:
    task = make_task(kind="rationale", content={"candidates": CANDIDATES})
    assert check_fields(RATIONALE, task, WRITTEN)["candidate"] == "p#0"
    fields = WRITTEN | {"candidate": "none", "solution": "Mine."}
    assert check_fields(RATIONALE, task, fields)["candidate"] == "none"
    with pytest.raises(DecisionFieldError, match="solution: is missing: candidate is none"):
        check_fields(RATIONALE, task, WRITTEN | {"candidate": "none"})
    with pytest.raises(DecisionFieldError, match=r"must be one of p#0, p#1, none \(got 'p#2'\)"):
        check_fields(RATIONALE, task, WRITTEN | {"candidate": "p#2"})


def test_a_rationale_left_as_the_candidate_chosen_is_none() -> None:
    task = make_task(kind="rationale", content={"candidates": CANDIDATES})
    assert check_fields(RATIONALE, task, WRITTEN | {"solution": "So\n5."})["solution"] is None
    assert check_fields(RATIONALE, task, WRITTEN | {"solution": "So 6."})["solution"] == "So 6."


def test_lists_are_edited_as_lines() -> None:
    task = make_task(content={"answer": ["1 m", "2 s"]})
    fields = {"valid": "valid", "quality": 4}
    item = KINDS["item"]
    assert check_fields(item, task, fields | {"answer": "1 m\n2 s"})["answer"] is None
    assert check_fields(item, task, fields | {"answer": "1 m"})["answer"] == "1 m"


def test_a_field_without_options_in_this_task_is_not_missing() -> None:
    steps = KINDS["steps"]
    task = make_task(kind="steps", content={"steps": []})
    assert check_fields(steps, task, {"validation": "wrong"})["error_type"] is None
    task = make_task(kind="steps", content={"steps": ["a"], "error_types": ["logical"]})
    with pytest.raises(DecisionFieldError, match="error_type: is missing"):
        check_fields(steps, task, {"validation": "wrong", "steps": ["wrong"]})


@pytest.mark.parametrize(
    ("field", "text", "line"),
    [
        ("choices", "1 m or 2 m", "choices: the first line is '1 m or 2 m'; write each choice"),
        ("choices", "A. 1 m", "choices: A found; give two or more"),
        ("choices", "A. [IMAGE1]\nB. 2 m", "choices: has [IMAGE1], but the item has 1 pictures"),
        ("question", "See [IMAGE4].", "question: has [IMAGE4], but the item has 1 pictures"),
        ("question", "See [IMAGE0] and [IMAGE2].", None),
        ("choices", "A. [IMAGE0]\nB. 2 m\nC. 3 m", None),
        ("solution", "As in [IMAGE9].", None),
    ],
)
def test_an_edit_that_could_not_be_used_is_refused(field: str, text: str, line: str | None) -> None:
    content = {
        "question": "See [IMAGE2].",
        "choices": [{"label": "A", "text": "1 m"}, {"label": "B", "text": "2 m"}],
    }
    task = make_task(content=content, pictures=[TaskPicture(sha256="a" * 64, suffix="png")])
    fields = {"valid": "valid", "quality": 4, field: text}
    if line is None:
        assert check_fields(KINDS["item"], task, fields)[field] == text
        return
    with pytest.raises(DecisionFieldError) as error:
        check_fields(KINDS["item"], task, fields)
    assert line in str(error.value)
