"""Two readings of one place: what is settled, and what is named as different."""

from __future__ import annotations

import pytest

from omibench.stages.ocr.formulas.rereading.pages import compare_formulas, compare_lines


@pytest.mark.parametrize("reply", [r"$\frac{a}{b} + 1$", r"\[ \dfrac{a}{b}+1 \]", r"\frac a b + 1"])
def test_equal_readings_are_settled_as_the_layer_has_them(reply: str) -> None:
    assert compare_formulas(r"\frac{a}{b}+1", reply) == (r"\frac{a}{b}+1", True, "")


def test_another_arrangement_of_the_same_symbols_is_the_readers() -> None:
    assert compare_formulas("a 2 + b 3", r"$a^{2} + b_{3}$") == ("a^{2} + b_{3}", True, "")


@pytest.mark.parametrize(
    ("layer", "reply", "noun"),
    [
        ("x^{2} + 1", "$x^{3} + 1$", "numbers"),
        ("x^{2} + 1", "$x^{2} - 1$", "signs"),
        (r"x \neq 1", "$x = 1$", "negations"),
        ("x + y", "$x + z$", "symbols"),
    ],
)
def test_other_numbers_signs_negations_and_symbols_are_named_with_both(
    layer: str, reply: str, noun: str
) -> None:
    text, is_settled, difference = compare_formulas(layer, reply)
    assert (text, is_settled) == (layer, False)
    assert noun in difference
    assert layer in difference
    assert reply.strip("$") in difference


def test_a_glyph_without_a_name_may_be_anything_and_the_rest_must_be_there() -> None:
    assert compare_formulas(r"\square = 2 a", r"$\beta = 2 a$") == (r"\beta = 2 a", True, "")
    text, is_settled, difference = compare_formulas(r"\square = 2 a", r"$\beta = 3 a$")
    assert (text, is_settled) == (r"\square = 2 a", False)
    assert "numbers: 2 is missing" in difference
    assert compare_formulas("", r"\sqrt{2}") == (r"\sqrt{2}", True, "")


@pytest.mark.parametrize("reply", ["", "   ", "x + " * 400, "```\n```"])
def test_a_reply_that_is_no_formula_settles_nothing(reply: str) -> None:
    assert compare_formulas("x^{2}", reply) == ("x^{2}", False, "")


def test_a_line_is_the_readers_where_digits_and_signs_agree() -> None:
    line = "1. A ball falls with v0 = 3 2 g t2 from a tower"
    reply = r"1. A ball falls with \(v_0 = \frac{3}{2} g t^2\) from a tower"
    text = r"1. A ball falls with $v_0 = \frac{3}{2} g t^2$ from a tower"
    assert compare_lines(line, reply) == (text, True, "")


def test_a_line_with_another_digit_or_sign_is_the_readers_and_is_named() -> None:
    text, is_settled, difference = compare_lines("density 106 kg/m3", r"density $10^{5}$ kg/m$^3$")
    assert (text, is_settled) == (r"density $10^{5}$ kg/m$^3$", True)
    assert difference.endswith("6 and 5")
    assert compare_lines("the charge −2e", "the charge $2e$").difference.endswith("- and none")


@pytest.mark.parametrize(
    ("line", "reply", "difference"),
    [
        ("It does not move, v0 = 3", "It does move, $v_0 = 3$", "not and none"),
        ("Qual força é F1 ?", "Qual força não é $F_1$ ?", "none and não"),
        ("下列x2正确的是", "下列$x^2$不正确的是", "none and 不"),
    ],
)
def test_a_negation_that_one_reading_lacks_is_named(line: str, reply: str, difference: str) -> None:
    assert compare_lines(line, reply).difference.endswith(difference)


def test_a_sine_is_no_spanish_negation() -> None:
    assert compare_lines("Es sin x2 en el eje", r"Es $\sin x^2$ en el eje").difference == ""


def test_dashes_of_all_lengths_and_raised_digits_are_the_same() -> None:
    assert compare_lines("x² − 10⁻³ m", "$x^2 - 10^{-3}$ m").difference == ""


@pytest.mark.parametrize(
    "reply", ["", "I cannot read this picture, it is too small for me.", "the ball " * 60]
)
def test_a_reply_about_something_else_leaves_the_line_as_it_is(reply: str) -> None:
    line = "where v0 is the speed at 20 m"
    assert compare_lines(line, reply) == (line, False, "")
