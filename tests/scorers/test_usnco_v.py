from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.items import make_item

from omibench.answers.scorers.usnco_v import (
    find_declared_letter,
    find_last_letter,
    score,
    score_last_letter,
)
from omibench.text.visible import drop_hidden_text

OPTIONS = ["1 mol", "2 mol", "3 mol", "4 mol"]
REMARKS = (
    " because water boils at 100 °C", ".", "", ", since 4 mol of D are left.",
    "\n\nA and C are wrong.", ". Option A is close.", " (see D)", ": 2 mol of C", ") 0.25 M",
    "**\n\nNote that A, C, D fail.",
)  # fmt: skip
DECLARATIONS = (
    "The answer is {}", "Answer: {}", "**Answer:** {}", "The correct option is ({}",
    "The best choice would be {}", "So the final answer is therefore option {}", "answer = {}",
    "It follows:\n\nANSWER:\n\n**{}",
    r"The correct answer is \text{{{}}}",
)  # fmt: skip


@pytest.mark.parametrize(
    ("response", "letter"),
    [("B", "B"), ("(C)", "C"), ("We compare both. So \\boxed{D}", "D"), ("Answer: A.", "A")],
)
@pytest.mark.parametrize("read", [score, score_last_letter])
def test_a_standalone_letter_is_taken(response: str, letter: str, read: Callable) -> None:
    verdict = read(make_item(response, letter, OPTIONS))
    assert (verdict.extracted, verdict.verdict) == (letter, 1.0)


@pytest.mark.parametrize("response", ["E", "b", "BAD", "I don't know", "2 mol", "CO2 and NaCl"])
@pytest.mark.parametrize("read", [score, score_last_letter])
def test_anything_else_is_invalid_and_wrong(response: str, read: Callable) -> None:
    verdict = read(make_item(response, "B", OPTIONS))
    assert (verdict.extracted, verdict.verdict, verdict.outcome) == (None, 0.0, "unparsed")


def test_a_declared_answer_comes_before_a_later_letter() -> None:
    item = make_item("The answer is B because water boils at 100 °C", "B", OPTIONS)
    assert (score(item).extracted, score(item).rules, score(item).version) == ("B", "usnco-v", 2)
    last = score_last_letter(item)
    assert (last.extracted, last.rules, last.version) == ("C", "usnco-v-last-letter", 1)


@given(st.sampled_from("ABCD"), st.sampled_from(DECLARATIONS), st.sampled_from(REMARKS),
       st.sampled_from(["", "A fails. C may be.\n\n", "Is D right? No.\n"]))  # fmt: skip
def test_a_remark_takes_no_declared_answers_place(
    letter: str, declaration: str, remark: str, before: str
) -> None:
    response = f"{before}{declaration.format(letter)}{remark}"
    assert score(make_item(response, letter, OPTIONS)).verdict == 1


@pytest.mark.parametrize(
    ("response", "letter", "method"),
    [
        (r"\boxed{B} is it. C and D are not.", "B", "box"),
        (r"First \boxed{A}, but no: \boxed{\text{(C)}}, not D.", "C", "box"),
        ("The answer is A? No, the answer is B. D is out.", "B", "phrase"),
        ("The answer is A, I thought.\nBut D is less.\n\n**C**", "C", "last line"),
        ("Therefore, B is the correct answer, not D.", "B", "called right"),
        ("I choose C, since D is at 5 °C", "C", "called right"),
        ("B. Option A is wrong.", "B", "first letter"),
        ("A: CC#[N+]C(C)(C)C", "A", "first letter"),
    ],
)
def test_ways_of_declaring_an_answer(response: str, letter: str, method: str) -> None:
    assert find_declared_letter(response) == (letter, method)


@pytest.mark.parametrize(
    "response",
    [
        "The answer is not B but C", "The answer is A or B", "The answer is C-14 dating, so D",
        "Answer: B is wrong, so D", "Answer: A titration gives B", "A. x\nB. y\nC. z\nThus C fits.",
        "(A) and (C) are wrong; it is (B)", "A simple titration.", "The answer is A, B and C",
    ],
)  # fmt: skip
def test_without_a_declared_answer_the_last_letter_counts(response: str) -> None:
    assert find_declared_letter(response) is None
    item = make_item(response, "B", OPTIONS)
    assert score(item).extracted == score_last_letter(item).extracted is not None


def test_a_declared_letter_that_is_no_option_is_invalid() -> None:
    item = make_item("The answer is E, not B.", "B", OPTIONS)
    assert (score(item).outcome, score_last_letter(item).extracted) == ("unparsed", "B")


def test_known_weaknesses_stay() -> None:
    simple = make_item("A simple titration.", "A", OPTIONS)
    assert score(simple).verdict == score_last_letter(simple).verdict == 1
    assert score_last_letter(make_item("B. Option A is wrong.", "B", OPTIONS)).verdict == 0


def test_open_answers_are_outside_these_rules() -> None:
    assert score(make_item("B", "B")).outcome == "unparsed"
    assert score_last_letter(make_item("B", "B")).outcome == "unparsed"


@given(st.text(max_size=200) | st.text("ABCDE answeris:.\n(){}\\boxed*", max_size=80))
def test_any_text_returns_a_letter_that_stands_in_it(text: str) -> None:
    verdict = score(make_item(text, "B", OPTIONS))
    assert verdict.verdict in {0.0, 1.0}
    body = drop_hidden_text(text)
    assert verdict.extracted is None or verdict.extracted in body
    if verdict.extracted is None and not find_declared_letter(body):
        assert find_last_letter(body) is None


def test_readings_on_published_responses(
    shared_data: Path, module_at: Callable[[str], ModuleType]
) -> None:
    letters = module_at("benchmarks/usnco_v_letters.py")
    replies = list(letters.read_replies(shared_data / "emma"))
    four = [reply for reply in replies if len(reply.item.choices) <= 4]
    counts = letters.count_replies(four, show=False)
    assert counts["responses"] == 2_457
    assert counts["usnco-v right"] >= 2_450
    assert counts["only usnco-v right"] == counts["verdicts differ"]


@pytest.mark.parametrize("quoted", ["'D'", "‘D’", '"D"', "“D”"])
def test_a_declared_letter_may_stand_in_quotes(quoted: str) -> None:
    assert score(make_item(f"The answer is {quoted}. See A.", "D", OPTIONS)).extracted == "D"
    assert score(make_item("The answer is D's neighbour", "D", OPTIONS)).extracted is None
