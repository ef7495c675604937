from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.score.symbolic import Worker, is_safe, numeric_value, symbolically_equal


@pytest.mark.parametrize(
    "text",
    [
        r"\int_0^1 e^{\sin x} dx", "(x+y+z+1)^{400}", "10^{10^{10}}", "100000000!", "((5!)!)!",
        "1" * 5000, r"\frac{1}{1+" * 20, "{" * 100, r"\input{/etc/passwd}", "", "x" * 301,
        "__import__('os').system('true')",
    ],
)  # fmt: skip
def test_the_guard_turns_dangerous_texts_away(text: str) -> None:
    assert not is_safe(text)
    assert not symbolically_equal(text, text)
    assert numeric_value(text) is None


@given(st.text(max_size=400))
def test_the_guard_always_answers(text: str) -> None:
    assert is_safe(text) in (True, False)


def test_a_job_that_takes_too_long_costs_the_worker_its_life_and_nothing_else() -> None:
    worker = Worker(cpu_limit_s=1.0)
    try:
        assert worker.ask("equal", "2x", "x+x") is True
        assert worker.ask("value", "9" + "!" * 12) is None
        assert worker.ask("equal", "2x", "x+x") is True
    finally:
        worker.stop()


def test_nonsense_is_unknown_not_an_error() -> None:
    worker = Worker()
    try:
        assert worker.ask("equal", "}{", "\\frac") in (None, False)
        assert worker.ask("no such job") is None
        assert worker.ask("value", "3") == 3.0
    finally:
        worker.stop()


@pytest.mark.parametrize(
    ("gold", "pred", "equal"),
    [
        (r"\sqrt{gh}", "(gh)^{1/2}", True),
        (r"\frac{1}{2^{n}}", "2^{-n}", True),
        (r"\sin^2 x + \cos^2 x", "1", True),
        (r"(n-1)\alpha", r"(n+1)\alpha", False),
        (r"\frac{153}{209} R", "0.732 R", False),
        (r"\frac{1}{3} R", "0.3333333 R", True),
    ],
)
def test_formulas_are_told_by_samples(gold: str, pred: str, equal: bool) -> None:
    assert symbolically_equal(gold, pred) is equal
