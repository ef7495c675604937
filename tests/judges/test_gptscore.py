from __future__ import annotations

import pytest
from tests.items import choices_of
from tests.judges.conftest import CASE, Script, panel, user_text

from omibench.answers.judges.gptscore import GPTSCORE, VARIANTS, find_variant, read
from omibench.answers.judges.instrument import build_prompt, build_request
from omibench.answers.judges.panel import consult
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
    """Equation 8 prints the opposite; see docs/reference/judges.md."""
    script = Script("ANSWER: consistent", "ANSWER: inconsistent")
    told = consult([CASE, CASE], GPTSCORE, panel(GPTSCORE, script))
    assert [(o.value, o.outcome) for o in told] == [(True, "scored"), (False, "scored")]


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


OLD_PROMPT = "eaad6b44463b95d67ef81e998c3d0c8b2945b614652fddc79fc19edbfc374410"
"""Of the only wording before there were variants."""


def test_the_default_asks_for_reasoning_that_justifies_the_answer() -> None:
    """C.2: a conclusion that is not justified is inconsistent, one without reasoning included."""
    assert VARIANTS["justified"] is GPTSCORE
    words = " ".join(GPTSCORE.instructions.split())
    assert "is missing, so that the final answer stands alone, it is inconsistent" in words
    assert "gives only its final answer is judged by it" not in words


def test_the_other_variant_keeps_prompt_requests_and_version() -> None:
    """Judgements and certificates that were made with these words stay what they are."""
    variant = VARIANTS["bare-answers"]
    assert build_prompt(variant).sha256 == OLD_PROMPT
    assert (variant.version, GPTSCORE.version) == (2, 3)
    ours, papers = build_request(CASE, variant), build_request(CASE, GPTSCORE)
    assert ours.conversation.messages[1] == papers.conversation.messages[1]
    assert ours.conversation.messages[0] != papers.conversation.messages[0]


def test_a_prompt_tells_its_variant() -> None:
    assert find_variant(OLD_PROMPT) == "bare-answers"
    assert find_variant(build_prompt(GPTSCORE).sha256) == "justified"
    assert find_variant("0" * 64) is None
    assert find_variant(None) is None
