from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.items import make_item

from omibench.answers.scorers.omibench_release import (
    CONTAINED_CHARS,
    find_contained_gold,
    normalise,
    score,
)

OPTIONS = ["red", "blue", "green"]


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("B", "B"),
        (r"Of A and C, \boxed{B} is it.", "B"),
        (r"\boxed{A}, no: \boxed{\text{B}}", "B"),
        ("A and C fail. The answer is (B), not C.", "B"),
        ("**Answer: B**", "B"),
        ("So option B", "B"),
    ],
)
def test_a_letter_is_the_boxes_or_the_phrases_or_the_last(response: str, letter: str) -> None:
    verdict = score(make_item(response, letter, OPTIONS))
    assert (verdict.extracted, verdict.verdict) == (letter, 1)


@pytest.mark.parametrize("response", ["12.50 cm", "  $12.50$ CM. ", r"\boxed{12.50\text{ cm}}"])
def test_dress_is_dropped(response: str) -> None:
    right = score(make_item(response, r"12.50 cm")).verdict
    assert right == ("text" not in response)


def test_a_gold_of_three_characters_may_stand_anywhere() -> None:
    assert score(make_item("The work is 105 J then.", "105")).method == "whole > contained"
    assert score(make_item("105", "105")).method == "whole > equal"
    assert score(make_item("The work is 15 J then.", "15")).verdict == 0


@pytest.mark.parametrize(
    ("response", "gold"),
    [("31050", ["105"]), ("only 120 of them", ["120", "300"]), ("not 105", ["105"])],
)
def test_known_weaknesses_stay(response: str, gold: list[str]) -> None:
    assert score(make_item(response, gold)).verdict == 1


def test_known_weaknesses_of_letters_and_short_golds_stay() -> None:
    assert score(make_item("A simple calculation will do.", "A", OPTIONS)).verdict == 1
    assert score(make_item(r"\boxed{CD}", "CD", OPTIONS)).verdict == 0
    assert score(make_item(r"So it is \boxed{5} at last.", "5")).verdict == 0
    assert score(make_item(r"\boxed{5}", "5")).verdict == 1


def test_what_holds_no_answer_keeps_its_outcome() -> None:
    assert score(make_item("", "5")).outcome == "empty"
    assert score(make_item("I'm sorry, I can't help.", "5")).outcome == "refused"
    assert score(make_item("K or L", "B", OPTIONS)).outcome == "unparsed"
    assert score(make_item("We now comp", "5", finish_reason="length")).outcome == "truncated"


@given(st.text(max_size=60))
def test_normalising_twice_changes_nothing_more_of_plain_text(text: str) -> None:
    plain = text.replace("\\", "")
    once = normalise(plain)
    assert not set(once) & set(" ${}\n\t")
    assert normalise(once) == normalise(normalise(once))


@given(st.text(max_size=30), st.text(alphabet="abc123+", min_size=CONTAINED_CHARS), st.text())
def test_whatever_surrounds_a_long_gold_it_is_found(before: str, gold: str, after: str) -> None:
    assert find_contained_gold(f"{before}{gold}{after}", [gold]) in {"equal", "contained"}


@given(st.text(max_size=300), st.sampled_from([None, OPTIONS]))
def test_any_text_returns(text: str, options: list[str] | None) -> None:
    verdict = score(make_item(text, "B", options))
    assert verdict.verdict in {0.0, 1.0}
    assert verdict.outcome == "scored" or verdict.verdict == 0
