from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.items import make_item

from omibench.rule_books.omibench import lcs_ratio, leading_number, normalise, score


@given(st.text(max_size=80))
def test_normal_form_has_single_spaces_and_no_capitals(text: str) -> None:
    once = normalise(text)
    assert once == " ".join(once.split())
    assert not any("A" <= char <= "Z" for char in once)


def test_punctuation_goes_except_inside_tokens() -> None:
    assert normalise("  The force, is 3.5 N;  why? A: ") == "the force is 3.5 n why a"
    assert normalise("e.g. x,y") == "e.g x,y"


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_ratio_is_symmetric_and_one_for_equal_texts(a: str, b: str) -> None:
    assert lcs_ratio(a, b) == lcs_ratio(b, a)
    assert 0 <= lcs_ratio(a, b) <= 1
    assert lcs_ratio(a, a) == 1


@given(st.text(alphabet="abc {}\\$12.", min_size=1, max_size=60).filter(lambda t: t.strip()))
def test_every_text_equals_itself_in_a_box(text: str) -> None:
    if text.count("{") == text.count("}") == 0 and "\\" not in text:
        assert score(make_item(f"So \\boxed{{{text}}}.", text)).verdict == 1


def test_the_threshold_is_three_quarters_of_the_longer_text() -> None:
    assert score(make_item(r"\boxed{abcdef}", "abcdefgh")).verdict == 1
    assert score(make_item(r"\boxed{abcde}", "abcdefgh")).verdict == 0


def test_the_numeric_tolerance_is_absolute() -> None:
    assert score(make_item(r"\boxed{12.00009 cm}", "12 mm")).verdict == 1
    assert score(make_item(r"\boxed{12.0002}", "12")).verdict == 0


@pytest.mark.parametrize(
    ("prediction", "gold"),
    [
        (r"\boxed{20}", r"$20\sqrt{3}$"),
        (r"\boxed{9 \times 10^{-6}}", r"9 \times 10^{-3}"),
        (r"\boxed{0.00009}", "0.00001"),
        (r"\boxed{a) TRUE b) TRUE c) FALSE d) TRUE}", "a) TRUE b) FALSE c) FALSE d) TRUE"),
        (r"\boxed{$\alpha - \beta + \gamma$}", r"$\alpha + \beta + \gamma$"),
    ],
)
def test_known_weaknesses_stay(prediction: str, gold: str) -> None:
    assert score(make_item(prediction, gold)).verdict == 1


def test_choices_are_the_label_or_the_text_of_the_gold_option() -> None:
    options = ["red", "blue", "green"]
    assert score(make_item(r"\boxed{B}", "B", options)).verdict == 1
    assert score(make_item(r"\boxed{Blue}", "B", options)).verdict == 1
    assert score(make_item(r"\boxed{C}", "B", options)).verdict == 0
    assert score(make_item(r"\boxed{B: blue}", "B", options)).verdict == 0
    assert score(make_item("so option (B) fits best.", "B", options)).verdict == 0


def test_entries_of_a_gold_are_one_answer() -> None:
    assert score(make_item(r"\boxed{20, 40, 30}", ["20", "40", "30"])).verdict == 1
    assert score(make_item(r"\boxed{20, 40}", ["20", "40", "30"])).verdict == 0


def test_failures_without_a_box_keep_their_outcome() -> None:
    assert score(make_item("I'm sorry, I can't help.", "5")).outcome == "refused"
    assert score(make_item("We now comp", "5", finish_reason="length")).outcome == "truncated"
    assert score(make_item("round " * 99, "5")).outcome == "loop"
    assert score(make_item("", "5")).outcome == "empty"


def test_only_a_leading_number_is_a_number() -> None:
    assert leading_number("$-3.5e2$ m") == -350
    assert leading_number("1,234 kg") == 1234
    assert leading_number("about 5") is None


@pytest.mark.parametrize("prediction", ["E10", "$E1_000$", "e5 and e6", "-E3 V"])
def test_digits_of_an_exponent_alone_are_no_number(prediction: str) -> None:
    """A point of a figure may be called E10: that reply ended the scoring of a whole file."""
    assert leading_number(prediction) is None
    assert score(make_item(f"\\boxed{{{prediction}}}", "5")).verdict == 0
    assert score(make_item(f"\\boxed{{{prediction}}}", prediction)).verdict == 1
