"""From messages of the Anthropic API to outcomes, reasoning, tokens and dollars."""

from __future__ import annotations

from typing import Any

import pytest
from tests.models.apis import PRICE, read

from omibench.models.api.failures import Failure
from omibench.schemas.request import Response


def message(*content: dict[str, Any], stop: str = "end_turn", **usage: int) -> dict[str, Any]:
    counted = {"input_tokens": 100, "output_tokens": 10} | usage
    return {
        "id": "m1",
        "type": "message",
        "model": "stub-model",
        "content": list(content),
        "stop_reason": stop,
        "usage": counted,
    }


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def one(reply: object, **block: Any) -> Response:
    (response,) = read("messages", reply, **block)
    return response


THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "s"}
HIDDEN = {"type": "redacted_thinking", "data": "xxxx"}


@pytest.mark.parametrize(
    ("reply", "outcome", "said", "reasoning"),
    [
        (message(text("4"), text("2")), "answered", "42", None),
        (message(THOUGHT, HIDDEN, text("42")), "answered", "42", "hm"),
        (message(text("42"), stop="stop_sequence"), "answered", "42", None),
        (message(text("the half"), stop="max_tokens"), "truncated", "the half", None),
        (message(THOUGHT, stop="max_tokens"), "truncated", "", "hm"),
        (message(stop="model_context_window_exceeded"), "truncated", "", None),
        (message(stop="refusal"), "refused", "", None),
        (message(), "empty", "", None),
    ],
)
def test_outcomes(reply: Any, outcome: str, said: str, reasoning: str | None) -> None:
    found = one(reply)
    assert (found.outcome, found.text, found.reasoning) == (outcome, said, reasoning)
    assert found.finish_reason == reply["stop_reason"]
    assert found.sampling == "provider_default"


def test_tokens_and_dollars() -> None:
    reply = message(text("a"), cache_read_input_tokens=40, cache_creation_input_tokens=20)
    found = one(reply, price=PRICE)
    assert found.usage.input_tokens == 160
    assert found.usage.cached_tokens == 40
    assert found.cost_usd == pytest.approx((100 * 2 + 20 * 2.5 + 40 * 0.5 + 10 * 10) / 1e6)
    (half,) = read("messages", reply, by_batch=True, price=PRICE)
    assert half.cost_usd == pytest.approx((found.cost_usd or 0) / 2)


@pytest.mark.parametrize("content", [[], [None], [{}], ["text"], [{"type": "text"}]])
def test_a_malformed_message_without_a_count_is_a_failure(content: Any) -> None:
    with pytest.raises(Failure, match="neither an answer nor a count of tokens") as caught:
        one({"type": "message", "content": content, "stop_reason": "end_turn"})
    assert caught.value.transient


@pytest.mark.parametrize("stop", ["error", "timeout", "server_error"])
@pytest.mark.parametrize("content", [(), (text("the half"),)])
def test_what_the_server_did_not_finish_is_tried_again(content: Any, stop: str) -> None:
    for usage in ({}, message()["usage"]):
        with pytest.raises(Failure, match=f"ended with '{stop}'") as caught:
            one(message(*content, stop=stop) | {"usage": usage})
        assert caught.value.transient


@pytest.mark.parametrize("reply", [None, [], "<html>", {}, {"type": "error", "error": {}}])
def test_what_is_no_message(reply: Any) -> None:
    with pytest.raises(Failure) as caught:
        one(reply)
    assert caught.value.transient
