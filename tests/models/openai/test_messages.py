"""Bodies of the OpenAI API."""

from __future__ import annotations

from typing import Any

import pytest
from tests.asks import ask
from tests.models.apis import openai_model, provider, write_body

from omibench.errors import ModelError
from omibench.schemas.request import ImagePart, Request

A, B = ImagePart(sha256="a"), ImagePart(sha256="b")


def body(request: Request, **block: Any) -> dict[str, Any]:
    return write_body(block.pop("api", "chat"), request, **block)


def test_a_conversation_in_its_order() -> None:
    found = body(ask("one", A, "two", B, system="be brief", temperature=0.6, max_tokens=99))
    assert found == {
        "model": "stub-model",
        "messages": [
            {"role": "system", "content": "be brief"},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "one"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,a"}},
                    {"type": "text", "text": "two"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,b"}},
                ],
            },
        ],
        "max_completion_tokens": 99,
        "temperature": 0.6,
    }


def test_switches_of_chat() -> None:
    found = body(
        ask(A, top_p=0.9, index=3),
        effort="high",
        max_tokens_field="max_tokens",
        detail="low",
        can={"seed": True, "logprobs": True},
        extra_body={"top_k": 20},
    )
    assert found["max_tokens"] == 4096
    assert found["reasoning_effort"] == "high"
    assert (found["seed"], found["logprobs"], found["top_p"], found["top_k"]) == (3, True, 0.9, 20)
    assert found["messages"][0]["content"][0]["image_url"]["detail"] == "low"
    assert "n" not in found


def test_what_is_not_declared_is_not_sent() -> None:
    found = body(ask("hi", index=3, temperature=0.6), can={"temperature": False})
    assert set(found) == {"model", "messages", "max_completion_tokens"}


def test_responses() -> None:
    found = body(
        ask("hi", A, max_tokens=50, temperature=0.0),
        api="responses",
        effort="minimal",
        detail="high",
        can={"logprobs": True},
    )
    assert found == {
        "model": "stub-model",
        "input": [
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "hi"},
                    {
                        "type": "input_image",
                        "image_url": "data:image/png;base64,a",
                        "detail": "high",
                    },
                ],
            }
        ],
        "max_output_tokens": 50,
        "store": False,
        "reasoning": {"effort": "minimal"},
        "include": ["message.output_text.logprobs"],
        "temperature": 0.0,
    }


def test_what_enters_the_key() -> None:
    assert openai_model(base_url="http://a", price=None, label="A").store_identity == {
        "provider": "openai",
        "id": "stub-model",
    }
    model = openai_model(
        revision="awq", endpoint="azure", api="responses", effort="low", detail="low",
        extra_body={"top_k": 1}, can={"temperature": False},
    )  # fmt: skip
    assert model.store_identity == {
        "provider": "openai", "id": "stub-model", "revision": "awq", "endpoint": "azure",
        "api": "responses", "effort": "low", "detail": "low", "extra_body": {"top_k": 1},
        "sampling": "provider_default",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("block", "word"),
    [
        ({"api": "responses", "can": {"samples": True}}, "can.samples"),
        ({"api": "responses", "can": {"seed": True}}, "can.seed"),
        ({"extra_body": {"temperature": 1}}, "'temperature'"),
        ({"extra_body": {"messages": []}}, "'messages'"),
    ],
)
def test_contradictions_are_named(block: dict[str, Any], word: str) -> None:
    with pytest.raises(ModelError, match=word):
        provider(None, **{"api": "chat"} | block)
