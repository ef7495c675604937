"""Every declaration holds together: names, keys, parts, and what each role sees."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from omibench.review.kinds import KINDS, Field, Kind, Option
from omibench.review.kinds.declaration import list_options

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
