"""Who may ask what, and what counts as one request."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import anthropic
import openai
import pytest
from pydantic import ValidationError

from model_server.config import Config
from model_server.conftest import KEY, chat, chat_client, claude, claude_client, every_api, only
from model_server.handle import ServerHandle


def test_keys_are_checked(server: ServerHandle) -> None:
    server.configure(api_keys=[KEY])
    assert chat(server)
    assert claude(server)
    with pytest.raises(openai.AuthenticationError):
        chat(server, client={"api_key": "other"})
    with pytest.raises(anthropic.AuthenticationError):
        claude(server, client={"api_key": "other"})
    assert server.stats()["statuses"] == {"200": 2, "401": 2}


def test_unknown_parameters_are_refused(server: ServerHandle) -> None:
    server.configure(strict=["model", "messages", "max_tokens"])
    assert chat(server, max_tokens=10)
    for name, value in {"n": 2, "seed": 1, "max_completion_tokens": 10}.items():
        with pytest.raises(openai.BadRequestError, match=name) as caught:
            chat(server, **{name: value})
        assert caught.value.param == name
    server.reset()
    server.configure(rejects=["temperature"])
    with pytest.raises(anthropic.BadRequestError, match="temperature"):
        claude(server, extra_body={"temperature": 0.6})


@every_api
@pytest.mark.parametrize("name", ["n", "seed", "nonsense"])
def test_each_api_knows_its_own_parameters(
    server: ServerHandle, call: Callable[..., Any], name: str
) -> None:
    if call is chat or name == "nonsense":
        assert call(server, extra_body={name: 2})
        return
    with pytest.raises((openai.BadRequestError, anthropic.BadRequestError), match=name):
        call(server, extra_body={name: 2})


def test_models_are_listed_and_added(server: ServerHandle) -> None:
    server.add_model("model-of-tomorrow")

    async def go() -> tuple[list[str], list[str]]:
        async with chat_client(server) as one, claude_client(server) as two:
            ours = [model.id async for model in one.models.list()]
            theirs = [model.id async for model in two.models.list()]
        return ours, theirs

    assert asyncio.run(go()) == (["stub-model", "model-of-tomorrow"],) * 2
    server.configure(any_model=False)
    assert chat(server, model="model-of-tomorrow")
    with pytest.raises(openai.NotFoundError):
        chat(server, model="m")


def test_a_request_is_what_a_model_sees(server: ServerHandle) -> None:
    chat(server, temperature=0.5)
    chat(server, temperature=0.5, user="somebody", metadata={"tag": "x"}, store=False)
    assert only(server)["paid"] == 2
    chat(server, temperature=0.6)
    chat(server, temperature=0.5, n=2)
    chat(server, temperature=0.5, model="m2")
    chat(server, temperature=0.5, extra_headers={"x-sample-index": "1"})
    stats = server.stats()
    assert stats["distinct"] == 5
    assert (stats["requests"], stats["paid"], stats["samples"]) == (6, 6, 7)
    assert stats["started_at"] <= stats["finished_at"] <= time.time()


def test_a_mistyped_fault_is_an_error(server: ServerHandle) -> None:
    for wrong in ({"falts": {}}, {"faults": {"hangs": 0.1}}, {"faults": {"hang": 2}}):
        with pytest.raises(ValueError, match="validation error"):
            server.configure(**wrong)
        with pytest.raises(ValidationError):
            Config(**wrong)
    with pytest.raises(ValidationError, match="exceed 1"):
        Config(faults={"hang": 0.6, "reset": 0.6})
