"""A candidate that a later run would buy is not passed over."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from omibench.errors import ModelError
from omibench.schemas.request import Conversation, Message, Request, Response, Tags, TextPart
from omibench.stages.rationale.stage import refuse_gaps

ANSWERED = Response(text="So.")
STOPPED = Response(text="", outcome="budget_stop")


def ask(*responses: Response) -> Sequence[tuple[str, Response]]:
    message = Message(role="user", parts=(TextPart(text="?"),))
    conversation = Conversation(messages=(message,))
    tags = [Tags(role="rationale_writer", problem=f"p{n}") for n in range(len(responses))]
    requests = [Request(conversation=conversation, tags=tag) for tag in tags]
    return refuse_gaps("pen", lambda _: [("key", r) for r in responses])(requests)


def test_a_budget_that_is_used_up_stops_the_stage() -> None:
    with pytest.raises(ModelError) as raised:
        ask(ANSWERED, STOPPED, STOPPED)
    assert str(raised.value) == (
        "rationale: 2 of 3 requests to pen (rationale_writer) have no answer, the first is for "
        "'p1': the budget is used up; completed replies are kept; raise "
        "study.budget_usd and run again"
    )
