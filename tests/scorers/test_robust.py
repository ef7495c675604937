from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.items import make_item

from omibench.answers.scorers.robust import score

OPTIONS = ["10 N", "12 N", "14 N", "16 N"]


@given(st.text(max_size=200), st.text(min_size=1, max_size=60), st.booleans())
@settings(max_examples=150, deadline=None)
def test_every_response_gets_a_verdict(text: str, gold: str, choice: bool) -> None:
    verdict = score(make_item(text, "B" if choice else gold, OPTIONS if choice else None))
    assert verdict.verdict in (0.0, 1.0)
    assert verdict.outcome == "scored" or (verdict.verdict == 0 and verdict.extracted is None)


@pytest.mark.parametrize(
    ("response", "gold", "options"),
    [
        ("Both figures agree, so the final answer is 12 cm.", "12 cm", None),
        ("The other curves fall, so option (B) fits best.", "B", OPTIONS),
        (r"\boxed{12\ \text{cm}}", "12", None),
        (r"A first result is \boxed{7}. Thus \boxed{12}.", "12", None),
        (r"The first reading is \boxed{A}, but in all \boxed{B}.", "B", OPTIONS),
        (r"\boxed{C, D}", ["CD"], OPTIONS),
        (r"\boxed{CD}", ["C", "D"], OPTIONS),
    ],
)
def test_slips_of_format_do_not_cost_a_right_answer(
    response: str, gold: str | list[str], options: list[str] | None
) -> None:
    assert score(make_item(response, gold, options)).verdict == 1


@pytest.mark.parametrize(
    ("response", "gold", "options"),
    [
        ("Both figures agree, so the final answer is 13 cm.", "12 cm", None),
        ("The other curves fall, so option (C) fits best.", "B", OPTIONS),
        (r"\boxed{13\ \text{cm}}", "12", None),
        (r"A first result is \boxed{12}. Thus \boxed{7}.", "12", None),
        (r"\boxed{A, B}", "B", OPTIONS),
        (r"\boxed{C}", ["CD"], OPTIONS),
    ],
)
def test_wrong_answers_stay_wrong(
    response: str, gold: str | list[str], options: list[str] | None
) -> None:
    verdict = score(make_item(response, gold, options))
    assert (verdict.verdict, verdict.outcome) == (0.0, "scored")


@pytest.mark.parametrize(
    ("response", "more", "outcome"),
    [
        ("I'm sorry, but I can't help with that.", {}, "refused"),
        ("From Figure 1 we read that the", {"finish_reason": "length"}, "truncated"),
        ("From Figure 1 we read that the", {"outcome": "truncated"}, "truncated"),
        ("We compare the two slopes again. " * 60, {"outcome": "truncated"}, "loop"),
        (r"\boxed{12}", {"outcome": "provider_error"}, "provider_error"),
        (r"\boxed{12}", {"outcome": "budget_stop"}, "budget_stop"),
        (r"\boxed{12}", {"outcome": "refused"}, "refused"),
        ("", {}, "empty"),
    ],
)
def test_failure_is_not_a_wrong_answer(response: str, more: dict[str, str], outcome: str) -> None:
    verdict = score(make_item(response, "12", **more))
    assert (verdict.verdict, verdict.outcome, verdict.extracted) == (0.0, outcome, None)


def test_a_verdict_says_how_it_came_about() -> None:
    verdict = score(make_item(r"so \boxed{0.5 m}", "50 cm"))
    assert verdict.extracted == "0.5 m"
    assert verdict.method == "box > number"
    assert (verdict.rules, verdict.version) == ("robust", 10)
