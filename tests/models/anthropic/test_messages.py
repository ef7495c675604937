"""Bodies of the Anthropic messages API."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.asks import ask, say, talk
from tests.models.apis import anthropic_model, picture, provider, write_body

from omibench.errors import ModelError
from omibench.schemas.request import ImagePart, Request

A = ImagePart(sha256="a")


def body(request: Request, **block: Any) -> dict[str, Any]:
    return write_body("messages", request, **block)


def check(request: Request, **block: Any) -> None:
    provider(None, "messages", **block).check([request])


def test_a_conversation_with_its_system_apart_and_no_temperature() -> None:
    found = body(ask("one", A, " \n", "two", system="be brief", temperature=0.6, max_tokens=99))
    source = {"type": "base64", "media_type": "image/png", "data": "a"}
    assert found == {
        "model": "stub-model",
        "max_tokens": 99,
        "system": "be brief",
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "one"},
                    {"type": "image", "source": source},
                    {"type": "text", "text": "two"},
                ],
            }
        ],
    }


def test_thinking_and_effort() -> None:
    assert body(ask("hi"), thinking="adaptive", effort="max")["thinking"] == {"type": "adaptive"}
    found = body(ask("hi"), thinking=2048, effort="low")
    assert found["thinking"] == {"type": "enabled", "budget_tokens": 2048}
    assert found["output_config"] == {"effort": "low"}


def test_thinking_leaves_room_to_answer() -> None:
    with pytest.raises(ModelError, match="max_tokens is 1024"):
        check(ask("hi", max_tokens=1024), thinking=1024)
    check(ask("hi", max_tokens=1025), thinking=1024)


def test_system_turns_stand_first(tmp_path: Path) -> None:
    late = talk(say("user", "hi"), say("system", "late"))
    shown = talk(say("system", picture(tmp_path, "a.png")), say("user", "hi"))
    for request in (late, shown):
        with pytest.raises(ModelError, match="only at the start"):
            check(request)


@pytest.mark.parametrize("ability", ["samples", "seed", "logprobs"])
def test_abilities_that_the_api_lacks(ability: str) -> None:
    with pytest.raises(ModelError, match=f"can.{ability}"):
        provider(None, "messages", can={ability: True})


def test_what_enters_the_key() -> None:
    assert anthropic_model(base_url="http://a", batch=True).store_identity == {
        "provider": "anthropic",
        "id": "stub-model",
    }
    found = anthropic_model(thinking="disabled", effort="low", endpoint="eu").store_identity
    assert (found["thinking"], found["effort"], found["endpoint"]) == ("disabled", "low", "eu")
