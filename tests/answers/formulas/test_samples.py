from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.answers.formulas.machine import MAX_STEPS, evaluate
from omibench.answers.formulas.reader import MAX_CHARS, MAX_DEPTH, readings
from omibench.answers.formulas.samples import POINTS, same_at_samples, value_at_samples

X, Y, Z = "x_{0}", "x_{1}", "x_{2}"


@pytest.mark.parametrize(
    ("gold", "pred"),
    [
        (rf"\frac{{{X}}}{{2}}", f"0.5 {X}"),
        (rf"\sqrt{{{X} {Y}}}", rf"\sqrt{{{X}}} × \sqrt{{{Y}}}"),
        (rf"\sqrt[3]{{{X}}}", f"{X}^{{1/3}}"),
        (rf"\sin^{{2}} {X}", rf"1-\cos^{{2}} {X}"),
        (rf"2 \sin {X} \cos {X}", rf"\sin 2 {X}"),
        (rf"\sin^{{-1}} {X}", rf"\arcsin ( {X} )"),
        (rf"\log_{{2}} {X}", rf"\frac{{\ln {X}}}{{\ln 2}}"),
        (rf"|{X} - {Y}|", rf"|{Y} - {X}|"),
        (f"e^{{-{X}}}", rf"\exp(-{X})"),
        (rf"\arcsin \{{ {X}/3 \}}", rf"\arcsin ( {X} × \frac{{1}}{{3}})"),
        (f"√({X})", f"{X}^{{1/2}}"),
        (f"{X} ± {Y}", f"± {Y} + {X}"),
        (rf"\sum {{ {X} }} {Y}", rf"{Y} \sum ( {X} )"),
        # What can be read in two ways equals either.
        (f"1/2 {X}", rf"\frac{{{X}}}{{2}}"),
        (f"1/2 {X}", rf"\frac{{1}}{{2 {X}}}"),
        (rf"\sin {X} {Y}", rf"\sin ( {X} {Y} )"),
        (rf"\sin {X} {Y}", rf"{Y} \sin ( {X} )"),
        (rf"\sin {X} {Y} / {Z}", rf"\sin ( \frac{{{X} {Y}}}{{{Z}}} )"),
        (rf"\sin {X} {Y} × {Z}", rf"{Z} \sin ( {X} {Y} )"),
    ],
)  # fmt: skip
def test_formulas_of_equal_value_are_equal(gold: str, pred: str) -> None:
    assert same_at_samples(gold, pred) is True
    assert same_at_samples(pred, gold) is True


@pytest.mark.parametrize(
    ("gold", "pred"),
    [
        (f"{X} + {Y}", f"{X} - {Y}"),
        (f"{X}^{{2}}", f"{X}^{{3}}"),
        (rf"\frac{{{X}}}{{{Y}}}", rf"\frac{{{Y}}}{{{X}}}"),
        (rf"\sin {X} {Y}", rf"\cos {X} {Y}"),
        (rf"\sum {{ {X} {Y} }}", rf"{Y} \sum ( {X} )"),
        (f"{X} ± {Y}", f"{X} ± 2 {Y}"),
        ("2.000001", "2.00001"),
    ],
)
def test_formulas_of_other_value_are_not(gold: str, pred: str) -> None:
    assert same_at_samples(gold, pred) is False


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "2 3", r"1\frac{1}{2}", "(1, 2)", "x", r"\int_{0}^{1} x_{0}", r"x_{0} < 3", "3!!",
        "((1)", "1)", "2^{3}^{4}", r"\frac{1}", r"\sqrt", r"\{1\}", "50%", "x_{64}", "x_{0} +", "-",
        "(" * (MAX_DEPTH + 1) + "1" + ")" * (MAX_DEPTH + 1), "1+" * MAX_CHARS + "1",
        "__import__('os')", r"\input{/etc/passwd}",
    ],
)  # fmt: skip
def test_what_the_reader_does_not_know_it_leaves(text: str) -> None:
    assert readings(text) == ()
    assert same_at_samples(text, text) is None


@pytest.mark.parametrize(
    "text", ["1/0", "0^{-1}", "10^{10^{10}}", r"\ln 0", "9" * 500, "9.5^{9999}"]
)
def test_a_text_without_a_value_is_undecided(text: str) -> None:
    assert same_at_samples(text, "1") is None
    assert value_at_samples(text) is None


def test_digits_that_cancelled_decide_nothing() -> None:
    assert same_at_samples(rf"\sin^{{2}} {X} + \cos^{{2}} {X} - 1", "0") is None


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3.0), (r"\frac{3}{4}", 0.75), (r"2\sqrt{3}", 2 * math.sqrt(3)), (r"-\pi", -math.pi),
     ("2e", 2 * math.e), ("2^{10}", 1024.0), (r"\sqrt{-1}", None), (X, None), ("1/2 e", None)],
)  # fmt: skip
def test_numbers_have_one_real_value(text: str, value: float | None) -> None:
    found = value_at_samples(text)
    assert found is None if value is None else found == pytest.approx(value)


numbers = st.integers(1, 99).map(str)
symbols = st.integers(0, 5).map(lambda place: f" x_{{{place}}} ")
formulas = st.recursive(
    numbers | symbols,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda ab: f"({ab[0]}+{ab[1]})"),
        st.tuples(inner, inner).map(lambda ab: rf"\frac{{{ab[0]}}}{{{ab[1]}}}"),
        st.tuples(inner, inner).map(lambda ab: f"({ab[0]})({ab[1]})"),
        inner.map(lambda a: rf"\sqrt{{{a}}}"),
        inner.map(lambda a: rf"\arctan ({a})"),
    ),
    max_leaves=12,
)


@given(formulas)
def test_a_formula_equals_itself_in_another_dress_and_not_its_double(formula: str) -> None:
    assert same_at_samples(formula, f"0+[{formula}]×1") is True
    assert same_at_samples(formula, f"2({formula})") is False


@given(st.text(alphabet=r"0123456789.x_{}()[]|^+-*/×\e fracsqtinlogpi±,<!", max_size=120))
def test_any_text_is_read_or_left(text: str) -> None:
    assert same_at_samples(text, text) in (True, None)


def test_nested_sums_end_after_a_number_of_steps() -> None:
    outer = r"\sum_{x_{0} = 1}^{39} \sum_{x_{1} = 1}^{39}"
    deep = rf"{outer} \sum_{{x_{{2}} = 1}}^{{999}} \lfloor x_{{2}} / 2 \rfloor"
    assert same_at_samples("7", deep) is None
    assert same_at_samples("1521", rf"{outer} 1") is True


def test_all_sums_of_a_comparison_have_one_number_of_steps() -> None:
    small = r"(\sum_{x_{0} = 1}^{39} \sum_{x_{1} = 1}^{39} \sum_{x_{2} = 1}^{20} x_{2})"
    one, many = readings(small)[0], readings("+".join([small] * 16))[0]
    left = [MAX_STEPS]
    assert evaluate(one, POINTS[0], left) == 39 * 39 * 210
    assert 0 < left[0] < MAX_STEPS
    assert evaluate(many, POINTS[0], left) is None
    assert -10 < left[0] < 0
