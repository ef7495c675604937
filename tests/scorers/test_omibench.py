from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.items import make_item

from omibench.answers.scorers.omibench import lcs_ratio, normalise, read_number, score


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
        (r"\boxed{9 \times 10^{-6}}", r"9 \times 10^{-5}"),
        (r"\boxed{12 kg}", "12 cm"),
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


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12), ("$-3.5e2$ m", -350), ("1,234 kg", 1234), ("\u22125", -5), (".5", 0.5),
        (r"$ 9.42 \times 10^{-3} $", 9.42e-3), ("4.7 × 10⁻¹²", 4.7e-12), ("1.74x10⁵", 174_000),
        (r"10^{-3}\ \text{m}", 1e-3), (r"9.93\cdot 10^{10}", 9.93e10), ("96.5 %", 96.5),
        (r"45^\circ", 45), (r"3 \mathrm{~m/s^2}", 3), ("5 m s^{-1}", 5), ("12 students", 12),
    ],
)  # fmt: skip
def test_a_number_has_an_optional_unit_and_nothing_else(text: str, value: float) -> None:
    assert read_number(text) == pytest.approx(value)


@pytest.mark.parametrize(
    "text",
    [
        r"$12+2 \sqrt{3}$", r"$20\sqrt{3}$", r"$160 \pi$", "$2n(n-1)$", "25 n+50", "2 R", "1/2",
        r"\frac{1}{2}", "2 O₂•⁻ + 2 H⁺ → O₂ + H₂O₂", r"$ 1.6 \pm 0.1 $", "6 675;55 %", "12, 13",
        "3 points at a distance of $F$", "5 or less", "3:1", "5!", "2^{10}", "1 h 20 min", "2+",
        "about 5", "x = 5", "", "cm", "9" * 400,
    ],
)  # fmt: skip
def test_whatever_merely_begins_with_a_digit_is_text(text: str) -> None:
    assert read_number(text) is None


@given(st.text(max_size=60))
def test_reading_a_number_returns_for_any_text(text: str) -> None:
    value = read_number(text)
    assert value is None or math.isfinite(value)


@given(st.floats(-1e6, 1e6), st.sampled_from(["", " cm", r"\,\mathrm{kg}", "°", " %"]))
def test_a_printed_number_is_read_as_its_value(value: float, unit: str) -> None:
    assert read_number(f"{value:.4f}{unit}") == pytest.approx(float(f"{value:.4f}"))


@pytest.mark.parametrize(
    ("prediction", "gold"),
    [
        (r"\boxed{12}", r"$12+2\sqrt{3}$"),
        (r"\boxed{20}", r"$20\sqrt{3}$"),
        (r"\boxed{2 H2O}", "2 O₂•⁻ + 2 H⁺ → O₂ + H₂O₂"),
        (r"\boxed{9 \times 10^{-6}}", r"9 \times 10^{-3}"),
        (r"\boxed{12+2\sqrt{3}}", "12"),
        (r"\boxed{1/3}", "1/2"),
    ],
)
def test_a_shared_beginning_is_no_match(prediction: str, gold: str) -> None:
    verdict = score(make_item(prediction, gold))
    assert (verdict.verdict, verdict.ratio) == (0, 0)


def test_the_ratio_of_equation_6_stands_beside_the_indicator_of_equation_5() -> None:
    near = score(make_item(r"\boxed{abcdef}", "abcdefgh"))
    assert (near.verdict, near.ratio) == (1, 0.75)
    far = score(make_item(r"\boxed{abcde}", "abcdefgh"))
    assert (far.verdict, far.ratio) == (0, 0)
    number = score(make_item(r"\boxed{5 cm}", "5"))
    assert (number.verdict, number.ratio) == (1, 1)
    letter = score(make_item(r"\boxed{B}", "B", ["red", "blue"]))
    assert (letter.verdict, letter.ratio) == (1, 1)
    assert score(make_item("", "5")).ratio is None


@given(st.text(max_size=30), st.text(min_size=1, max_size=30))
def test_the_indicator_is_one_exactly_where_the_ratio_is_positive(pred: str, gold: str) -> None:
    verdict = score(make_item(f"\\boxed{{{pred}}}", gold))
    assert verdict.verdict == float((verdict.ratio or 0) > 0)
    assert verdict.ratio is None or verdict.ratio == 0 or 0.75 <= verdict.ratio <= 1


@pytest.mark.parametrize("prediction", ["E10", "$E1_000$", "e5 and e6", "-E3 V"])
def test_digits_of_an_exponent_alone_are_no_number(prediction: str) -> None:
    """A point of a figure may be called E10: that reply ended the scoring of a whole file."""
    assert read_number(prediction) is None
    assert score(make_item(f"\\boxed{{{prediction}}}", "5")).verdict == 0
    assert score(make_item(f"\\boxed{{{prediction}}}", prediction)).verdict == 1
