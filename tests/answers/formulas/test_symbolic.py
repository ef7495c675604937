from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.answers.formulas import symbolic
from omibench.answers.formulas.symbolic import (
    Pool,
    WorkerReply,
    is_safe,
    numeric_value,
    symbolically_equal,
)


@pytest.mark.parametrize(
    "text",
    [
        r"\int_0^1 e^{\sin x} dx", "(x+y+z+1)^{400}", "10^{10^{10}}", "100000000!", "((5!)!)!",
        "1" * 5000, r"\frac{1}{1+" * 20, "{" * 100, r"\input{/etc/passwd}", "", "x" * 301,
        "__import__('os').system('true')", "---", "1 2",
    ],
)  # fmt: skip
def test_the_guard_turns_dangerous_texts_away(text: str) -> None:
    assert not is_safe(text)
    assert not symbolically_equal(text, text)
    assert numeric_value(text) is None


@given(st.text(max_size=400))
def test_the_guard_always_answers(text: str) -> None:
    assert is_safe(text) in (True, False)


@pytest.fixture
def dear(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """The CPU seconds that were left to each job of a pool on which every job takes too long."""
    left: list[float] = []

    class Slow(Pool):
        def ask(self, job: str, texts: Sequence[str], cpu_s: float) -> WorkerReply:
            left.append(cpu_s)
            return WorkerReply(None, cpu_s, ended=True)

    monkeypatch.setattr(symbolic, "_pool", Slow())
    symbolic._ask_worker.cache_clear()
    yield left
    symbolic._ask_worker.cache_clear()


def test_the_comparisons_of_one_response_share_their_time(dear: list[float]) -> None:
    with symbolic.item_time():
        assert not any(symbolically_equal(f"x_{n} < y", f"y > x_{n}") for n in range(8))
    assert dear == [1.0, 0.5]


def test_what_another_response_left_undecided_is_asked_again(dear: list[float]) -> None:
    for _ in range(2):
        with symbolic.item_time():
            assert not symbolically_equal("a < y", "y > a")  # 1.0 s are too little: it is decided
            assert not symbolically_equal("b < y", "y > b")  # 0.5 s say nothing
    assert dear == [1.0, 0.5, 1.0]


def test_plain_formulas_need_no_worker(dear: list[float]) -> None:
    assert symbolically_equal(r"\frac{ x_{0} }{2}", "0.5 x_{0}")
    assert numeric_value(r"\frac{3}{4}") == 0.75
    assert dear == []


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
