from __future__ import annotations

import pytest
from tests.items import choices_of
from tests.judges.conftest import CASE, Script, panel, user_text

from omibench.judges.gptscore import GPTSCORE, read
from omibench.judges.instrument import build_prompt, build_request
from omibench.judges.panel import consult
from omibench.schemas.request import Response


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        ("ANSWER: consistent", True),
        ("ANSWER: inconsistent", False),
        ("The parts agree.\n\n**ANSWER: consistent**\n", True),
        ("consistent", True),
        ("Inconsistent.", False),
        ("**ANSWER:** inconsistent", False),
        ("ANSWER: consistent\r\nANSWER: inconsistent\r\n", False),
    ],
)
def test_the_last_line_tells(reply: str, told: bool) -> None:
    assert read(reply, CASE) is told


@pytest.mark.parametrize(
    "reply",
    ["", "yes", "ANSWER: consistent, I think", "ANSWER: consistent\nBut part b is missing.",
     "consistent inconsistent", "ANSWER: not consistent", "{\"answer\": \"consistent\"}", "1"],
)  # fmt: skip
def test_anything_else_is_no_verdict(reply: str) -> None:
    assert read(reply, CASE) is None


def test_one_is_consistent() -> None:
    """Equation 8 prints the opposite; see docs/scoring.md."""
    script = Script("ANSWER: consistent", "ANSWER: inconsistent")
    told = consult([CASE, CASE], GPTSCORE, panel(GPTSCORE, script))
    assert [(o.value, o.outcome) for o in told] == [(True, "scored"), (False, "scored")]


def test_a_failed_reply_is_asked_once_more_and_then_counted_apart() -> None:
    script = Script("hm", "ANSWER: consistent", "still hm")
    told = consult([CASE, CASE._replace(id="p-2")], GPTSCORE, panel(GPTSCORE, script))
    assert [r.index for r in script.asked] == [0, 0, 1]
    assert [o.outcome for o in told] == ["judge_failed", "scored"]
    rescued = consult(
        [CASE],
        GPTSCORE,
        panel(GPTSCORE, Script(Response(text="", outcome="empty"), "ANSWER: consistent")),
    )
    assert rescued[0].value is True
    assert rescued[0].key == rescued[0].votes[0].key != told[1].key


def test_a_reply_that_is_no_answer_is_no_verdict() -> None:
    cut = Response(text="ANSWER: consistent", outcome="truncated", finish_reason="length")
    (told,) = consult([CASE], GPTSCORE, panel(GPTSCORE, Script(cut, cut)))
    assert told.outcome == "judge_failed"


def test_the_request_shows_question_options_gold_and_response_and_no_more() -> None:
    case = CASE._replace(
        choices=choices_of(["3 cm", "12 cm"]), reference="the worked solution", answer="12"
    )
    request = build_request(case, GPTSCORE)
    assert (request.tags.role, request.tags.problem) == ("judge", "p-1")
    assert request.decoding.temperature == 0
    text = user_text(request)
    assert "B: 12 cm" in text
    assert "the worked solution" not in text
    assert text.endswith(build_prompt(GPTSCORE).closing)
