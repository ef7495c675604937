"""Answers of every kind and in many languages, right and wrong ones, made up for these tests."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.items import make_item

from omibench.answers.scorers.robust import score
from omibench.schemas.verdict import Verdict

CASES: list[dict[str, Any]] = [
    json.loads(line)
    for line in Path(__file__).with_name("unseen.jsonl").read_text("utf-8").splitlines()
]


def verdict(case: dict[str, Any]) -> Verdict:
    return score(make_item(case["response"], case["gold"], case.get("options")))


@pytest.mark.parametrize("kind", sorted({case["kind"] for case in CASES}))
def test_right_and_wrong_answers_of_every_kind(kind: str) -> None:
    told = {
        (tuple(case["gold"]), case["response"]): verdict(case).verdict == case["right"]
        for case in CASES
        if case["kind"] == kind
    }
    assert len(told) >= 25
    assert [case for case, right in told.items() if not right] == []


RENDERINGS = (
    "{}", r"\boxed{{{}}}", r"Thus the result is $\boxed{{{}}}$ as asked.", "The answer is {}.",
    "**Answer:** {}", "答案：{}", "La respuesta es {}.", "Ответ: {}", '{{"answer": "{}"}}',
    "<think>perhaps 0</think>The final answer is {}", "<answer>{}</answer>",
    "### Final Answer\n\n{}",
)  # fmt: skip
NUMBERS = st.decimals(-9999, 9999, allow_nan=False, allow_infinity=False, places=2).map(str)
UNITS = st.sampled_from(["", " m", " kg", " m/s^2", " J", " °C", " mol/L", " kPa", "%"])
LISTS = st.lists(st.integers(0, 999), min_size=2, max_size=5).map(lambda n: ", ".join(map(str, n)))
FORMULAS = st.sampled_from([
    "2x+3", "v_0^2/(2g)", "ab-cd", "3x^2-4x+7", "k_1[A]^2", "H2SO4", "Fe3+", "x = 25", "3:7",
    "(12, 7)", "[0, 4]", "x > 31", "5 or 9", "T, F, T", "a) 1; b) 2", "C6H12O6", "sp3",
])  # fmt: skip
GOLDS = st.one_of(st.tuples(NUMBERS, UNITS).map("".join), LISTS, FORMULAS)


@given(GOLDS, st.sampled_from(RENDERINGS))
@settings(max_examples=300, deadline=None)
def test_a_gold_is_right_in_any_rendering(gold: str, rendering: str) -> None:
    told = score(make_item(rendering.format(gold), gold))
    assert (told.verdict, told.credit) == (1, 1)


@given(GOLDS, st.sampled_from(RENDERINGS), st.data())
@settings(max_examples=300, deadline=None)
def test_a_changed_digit_is_never_right(gold: str, rendering: str, data: st.DataObject) -> None:
    digits = [m.start() for m in re.finditer(r"\d", gold)]
    assume(digits and "or" not in gold)
    at = data.draw(st.sampled_from(digits))
    other = data.draw(st.sampled_from([d for d in "0123456789" if d != gold[at]]))
    assert score(make_item(rendering.format(gold[:at] + other + gold[at + 1 :]), gold)).verdict == 0


PIECES = st.sampled_from([
    "\\boxed{", "{", "}", "(", ")", "[", "]", "\\frac", "\\ce{", "->", "<=>", "^{", "_{", "√", "±",
    " or ", ", ", ";", "=", "<", "\\leq", "∞", "1", "23", "H2O", "x", "TRUE", "F", "%", " m/s", "°",
    "answer is ", "答案", '{"answer": ', '"', "<answer>", "</answer>", "a) ", "1. ", "\\to",
    "is", "not", "\x00", "\u200b", "Ａ", "！", "9" * 40, "!", "\\binom{9}{4}", "\\vec", "\n", "-",
])  # fmt: skip
JUNK = st.lists(PIECES, max_size=60).map("".join)


@given(JUNK, JUNK.filter(lambda text: bool(text.strip())), st.integers(1, 40))
@settings(max_examples=200, deadline=None)
def test_no_answer_crashes_or_takes_long(response: str, gold: str, times: int) -> None:
    began = time.process_time()
    told = score(make_item(response * times, gold))
    assert time.process_time() - began < 2
    assert told.verdict in (0, 1)
    assert told.credit is None or 0 <= told.credit <= 1
