"""Fields of decisions against the declaration of their kind, and what their author confirms."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.review.app.conflicts import find_formula_fault, list_doubts
from omibench.review.check import (
    TEXT_CHARACTERS,
    DecisionFieldError,
    check_fields,
    read_choices_text,
    write_part_text,
)
from omibench.review.kinds import KINDS, find_kind
from omibench.review.kinds.declaration import Field, Kind, Option, Part, list_options
from omibench.schemas.problem import Choice
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
        ("choices", "A. 1 m\nA. 2 m", "choices: A, A found; give two or more, each once"),
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


# Parts become texts that people edit, and such texts parts again.


SHOWN = [
    Choice(label="A", text="1 m"),
    Choice(label="B", image=2),
    Choice(label="C", text="x\ny"),
]


def dump(choices: list[Choice]) -> str:
    return write_part_text([choice.model_dump() for choice in choices])


def test_choices_come_back() -> None:
    assert read_choices_text(dump(SHOWN), SHOWN) == SHOWN
    edited = read_choices_text("A) 2 m\nB. [IMAGE2]\nC. z\nD. missed before", SHOWN)
    assert [(c.label, c.text, c.image) for c in edited] == [
        ("A", "2 m", None), ("B", None, 2), ("C", "z", None), ("D", "missed before", None),
    ]  # fmt: skip


words = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=9)


@given(st.lists(words, min_size=2, max_size=6))
def test_any_texts_come_back(texts: list[str]) -> None:
    choices = [Choice(label="ABCDEF"[i], text=text) for i, text in enumerate(texts)]
    assert read_choices_text(dump(choices), choices) == choices


# What the author of a decision is asked to confirm.


DOUBTED = {
    "question": "What is $x$ in [IMAGE0] and [IMAGE1]?",
    "answer": ["A"],
    "solution": "It is 2.",
}


def list_doubted(**fields: Any) -> list[tuple[str, str]]:
    """The doubts about an item's decision, as field and message."""
    kind, task = find_kind("item"), make_task(content=DOUBTED)
    checked = check_fields(kind, task, {"valid": "valid", "quality": 4} | fields)
    return [(doubt.field, doubt.message) for doubt in list_doubts(kind, task, checked)]


def test_a_plain_decision_is_not_doubted() -> None:
    assert list_doubted() == []
    assert (
        list_doubted(question=r"What is $\frac{x}{2}$ in [IMAGE0] and [IMAGE1]? It costs \$5.")
        == []
    )


def test_a_correction_that_drops_a_picture_is_doubted() -> None:
    ((field, message),) = list_doubted(question="What is $x$ in [IMAGE0]?")
    assert field == "question"
    assert message.startswith("[IMAGE1] is no longer in the text")
    assert list_doubted(question="What is $x$ in [IMAGE1] and then [IMAGE0]?") == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (r"$\frac{x}{2$", "{ and } do not match"),
        (r"$x}{y$", "{ and } do not match"),
        (r"$\left( x$", r"\left and \right do not match"),
        (r"$$\begin{cases} x$$", r"\begin and \end do not match"),
        (r"The angle \alpha is right", r"\alpha is outside of a formula"),
    ],
)
def test_an_unreadable_formula_is_doubted(text: str, fault: str) -> None:
    ((field, message),) = list_doubted(question=f"{text} [IMAGE0] [IMAGE1]")
    assert field == "question"
    assert fault in message


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"solution_valid": "invalid"}, "solution_valid"),
        ({"defects": ["wrong_solution"]}, "defects"),
        ({"defects": ["unreadable", "wrong_answer"]}, "defects"),
    ],
)
def test_a_valid_item_with_a_wrong_part_is_doubted(fields: dict[str, Any], field: str) -> None:
    assert [name for name, _ in list_doubted(**fields)] == [field]
    assert list_doubted(valid="invalid", **fields) == []


def test_a_corrected_part_is_not_doubted() -> None:
    assert list_doubted(solution_valid="invalid", solution="It is 3.") == []
    assert list_doubted(defects=["wrong_answer"], answer="B") == []


LEAVES = st.sampled_from(["x", "2", r"\alpha", r"\{", r"\}", r"a \le b"])
FORMULAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        inner.map(lambda text: f"{{{text}}}"),
        inner.map(lambda text: rf"\left( {text} \right)"),
        inner.map(lambda text: rf"\begin{{cases}} {text} \end{{cases}}"),
        st.tuples(inner, inner).map(lambda pair: rf"\frac{{{pair[0]}}}{{{pair[1]}}} {pair[0]}"),
    ),
)


@given(FORMULAS)
def test_a_balanced_formula_can_be_read_and_one_without_its_last_brace_cannot(latex: str) -> None:
    assert find_formula_fault(f"Find ${latex}$.") is None
    assert find_formula_fault(f"Find $\\sqrt{{{latex}$.") is not None


# Every declaration holds together: names, keys, parts, and what each role sees.


KEYS_OF_THE_FORM = {"j", "k", "?"}


@pytest.fixture(params=list(KINDS))
def kind(request: pytest.FixtureRequest) -> Kind:
    return KINDS[request.param]


def test_names_and_keys_are_unique_in_a_kind(kind: Kind) -> None:
    names = [field.name for field in kind.fields]
    parts = [part.name for part in kind.parts]
    keys = [field.key for field in kind.fields if field.key]
    keys += [option.key for field in kind.fields for option in field.options if option.key]
    for values in (names, parts, keys, *(field.values for field in kind.fields)):
        assert [value for value, count in Counter(values).items() if count > 1] == []
    assert not KEYS_OF_THE_FORM & set(keys)
    assert all(len(key) == 1 and key == key.lower() for key in keys)
    if any(field.options_from for field in kind.fields):
        assert not {key for key in keys if key.isdigit() and key != "0"}


def test_fields_name_parts_and_fields_that_there_are(kind: Kind) -> None:
    parts = {part.name: part for part in kind.parts}
    for field in kind.fields:
        assert {name for name in (field.edits, field.prefill, field.options_from) if name} <= set(
            parts
        )
        assert not (field.edits and field.required)
        if field.when:
            name, values = field.when
            assert set(values) <= set(kind.by_name[name].values)
            assert list(kind.by_name).index(name) < list(kind.by_name).index(field.name)
        if field.type in {"choice", "choices"}:
            assert field.options or field.options_from
            assert all(option.title for option in field.options)
        if field.tolerance is not None:
            assert field.type == "rating"
            assert 0 <= field.tolerance < field.scale[1] - field.scale[0]


def test_whatever_two_people_judge_escalates_somewhere(kind: Kind) -> None:
    escalates = any(f.critical or f.tolerance is not None for f in kind.fields)
    assert escalates == (kind.design == "review" and kind.reviewers > 1)


def test_opposing_flags_and_ratings_two_apart_go_to_a_senior() -> None:
    for kind in KINDS.values():
        for field in kind.fields:
            if field.type == "rating":
                assert field.tolerance == min(1, field.scale[1] - 1)


def test_the_auditor_does_not_see_the_label() -> None:
    label = KINDS["label"]
    hidden = {part.name for part in label.parts} - {
        part.name for part in label.list_visible_parts("auditor")
    }
    assert hidden == {"subject", "subfield", "topic", "reason"}
    assert {field.prefill for field in label.fields if field.prefill} <= hidden
    assert {part.name for part in label.list_visible_parts("senior")} >= hidden


def test_people_who_are_measured_see_no_gold() -> None:
    baseline = KINDS["baseline"]
    assert {part.name for part in baseline.parts} == {"question", "choices", "images"}
    assert baseline.timed
    assert baseline.design == "everyone"


def test_conditions_of_photographs_are_those_of_the_paper() -> None:
    conditions = KINDS["photo_conditions"]
    groups = Counter(field.group for field in conditions.fields)
    assert sorted(groups.values()) == [4, 4, 6]
    binary = {field.name for field in conditions.fields if field.scale == (0, 1)}
    assert binary == {"handwritten_answer"}
    assert conditions.by_name["rotation"].type == "choice"
    assert all(field.attribute for field in conditions.fields)
    assert len(KINDS["photo_screening"].fields) == 3
    assert len(KINDS["photo_fields"].fields) == 8


def test_what_takes_an_item_out_of_the_dataset() -> None:
    values = {
        (kind.name, option.value)
        for kind in KINDS.values()
        for field in kind.fields
        for option in field.options
        if option.drops
    }
    assert values == {
        ("page", "unusable"),
        ("page", "wrong"),
        ("translation", "ambiguous"),
        ("difficulty", "trivial"),
        ("difficulty", "too_special"),
        ("difficulty", "out_of_style"),
        ("item", "invalid"),
        ("photo_screening", "no"),
    }


FIELD = Field(
    "candidate", "Candidate", "choice", options=(Option("none", "None", "0"),), options_from="list"
)


@pytest.mark.parametrize(
    ("entries", "options"),
    [
        (["a", "b"], [Option("a", "a", "1"), Option("b", "b", "2")]),
        ([{"id": "p#0", "title": "First", "text": "..."}], [Option("p#0", "First", "1")]),
        ([{"value": "x", "help": "Why"}], [Option("x", "x", "1", "Why")]),
        ("no list", []),
        (None, []),
    ],
)
def test_a_task_lists_options(entries: Any, options: list[Option]) -> None:
    assert list_options(FIELD, {"list": entries}) == (*options, *FIELD.options)


def test_only_the_first_nine_options_have_digits() -> None:
    keys = [option.key for option in list_options(FIELD, {"list": list("abcdefghijk")})]
    assert keys == [*"123456789", "", "", "0"]
