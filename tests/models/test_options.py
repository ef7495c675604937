"""Options scored: by lists of alternatives, by simulation, and refused by who has none."""

from __future__ import annotations

import math
from typing import Any

import pytest
from tests.models.apis import provider, write_body
from tests.models.local_blocks import answer_so_far, shown

from model_server.handle import ServerHandle
from omibench.errors import ModelError
from omibench.models.api.replies import score_from_list
from omibench.schemas.request import Request, Response


def asked(*options: str) -> Request:
    return shown("Which?", options=options)


def reply(**logprobs: float) -> dict[str, object]:
    listed = [{"token": token.replace("_", " "), "logprob": p} for token, p in logprobs.items()]
    return {"choices": [{"logprobs": {"content": [{"top_logprobs": listed}]}}]}


def test_spellings_of_a_letter_add_up_and_others_do_not_count() -> None:
    told = reply(A=math.log(0.2), _A=math.log(0.3), B=math.log(0.1), Apple=math.log(0.2))
    found = score_from_list(Response(text="A", outcome="truncated"), told, ("A", "B", "C"))
    assert (found.text, found.outcome) == ("A", "answered")
    assert found.option_logprobs == pytest.approx({"A": math.log(0.5), "B": math.log(0.1)})
    assert found.logprob == pytest.approx(math.log(0.5))


@pytest.mark.parametrize(
    ("told", "why"),
    [
        (reply(Z=-0.1), "lists none of the options"),
        (reply(A=-9999.0), "lists none of the options"),
        ({"choices": [{"message": {}}]}, "contains no log-probabilities"),
        ({"choices": [{"logprobs": {"content": [{"top_logprobs": [{"token": "A"}]}]}}]}, "none of"),
        ({}, "contains no log-probabilities"),
        ([], "contains no log-probabilities"),
    ],
)
def test_a_reply_without_them_is_a_failure(told: object, why: str) -> None:
    found = score_from_list(Response(text="A"), told, ("A", "B"))
    assert found.outcome == "provider_error"
    assert why in str(found.error)
    assert found.option_logprobs is None


@pytest.fixture(scope="module")
def server_config() -> dict[str, Any]:
    return {"replies": {"Which?": {"text": "B"}}}


def test_an_endpoint_that_declares_them_is_asked_for_one_token(server: ServerHandle) -> None:
    request = asked("A", "B")
    ((same, response),) = provider(server, "chat", can={"logprobs": True}).answer([request])
    assert same is request
    assert (response.text, response.outcome, response.finish_reason) == ("B", "answered", "scored")
    assert response.option_logprobs is not None
    assert set(response.option_logprobs) == {"B"}, "what is not listed is not made up"
    assert -0.7 < response.option_logprobs["B"] < 0


def test_an_endpoint_that_does_not_declare_them_is_not_asked(server: ServerHandle) -> None:
    with pytest.raises(ModelError, match=r"set `can: \{logprobs: true\}`"):
        list(provider(server, "chat").answer([asked("A", "B")]))


def test_an_endpoint_that_goes_on_with_a_turn_is_told_so() -> None:
    can = {"logprobs": True, "prefill": True}
    inside = answer_so_far(asked("A", "B"), "It is  ")
    body = write_body("chat", inside, can=can)
    assert (body["add_generation_prompt"], body["continue_final_message"]) == (False, True)
    assert body["messages"][-1] == {"role": "assistant", "content": "It is"}
    plain = write_body("chat", asked("A"), can=can)
    assert "continue_final_message" not in plain


def test_an_endpoint_that_does_not_is_not_asked_inside_a_response(server: ServerHandle) -> None:
    inside = answer_so_far(asked("A", "B"), "It is ")
    with pytest.raises(ModelError, match=r"set `can: \{prefill: true\}` .* `before_answer`"):
        list(provider(server, "chat", can={"logprobs": True}).answer([inside]))
