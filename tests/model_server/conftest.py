"""A server for its own tests, and one call of each API through its SDK."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from typing import Any

import anthropic
import openai
import pytest

from model_server.handle import ServerHandle

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
JPEG = b"\xff\xd8\xff\xe0" + bytes(16)
KEY = "sk-test"


def chat_client(server: ServerHandle, **options: Any) -> openai.AsyncOpenAI:
    # Without TLS no certificates are loaded, most of the cost of a client.
    http = openai.DefaultAsyncHttpxClient(verify=False)
    options = {"api_key": KEY, "max_retries": 0, "timeout": 20.0, "http_client": http} | options
    return openai.AsyncOpenAI(base_url=server.openai_url, **options)


def claude_client(server: ServerHandle, **options: Any) -> anthropic.AsyncAnthropic:
    http = anthropic.DefaultAsyncHttpxClient(verify=False)
    options = {"api_key": KEY, "max_retries": 0, "timeout": 20.0, "http_client": http} | options
    return anthropic.AsyncAnthropic(base_url=server.anthropic_url, **options)


def chat(server: ServerHandle, text: str = "Question 1", **body: Any) -> Any:
    """One chat completion; `client` holds options of the SDK."""
    options = body.pop("client", {})
    body = {"model": "m", "messages": [{"role": "user", "content": text}]} | body

    async def go() -> Any:
        async with chat_client(server, **options) as client:
            return await client.chat.completions.create(**body)

    return asyncio.run(go())


def respond(server: ServerHandle, text: str = "Question 1", **body: Any) -> Any:
    async def go() -> Any:
        async with chat_client(server) as client:
            return await client.responses.create(**{"model": "m", "input": text} | body)

    return asyncio.run(go())


def claude(server: ServerHandle, text: str = "Question 1", **body: Any) -> Any:
    options = body.pop("client", {})
    body = {"model": "m", "messages": [{"role": "user", "content": text}]} | body

    async def go() -> Any:
        async with claude_client(server, **options) as client:
            return await client.messages.create(**{"max_tokens": 100} | body)

    return asyncio.run(go())


CALLS: dict[str, Callable[..., Any]] = {"chat": chat, "responses": respond, "messages": claude}
every_api = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


def only(server: ServerHandle) -> dict[str, Any]:
    """The entry of the one request that the server saw."""
    (entry,) = server.stats()["contents"].values()
    return entry


def data_url(raw: bytes, kind: str = "image/png") -> str:
    return f"data:{kind};base64,{base64.b64encode(raw).decode()}"


def chat_message(*parts: str | bytes) -> list[dict[str, Any]]:
    content = [
        {"type": "text", "text": part}
        if isinstance(part, str)
        else {"type": "image_url", "image_url": {"url": data_url(part)}}
        for part in parts
    ]
    return [{"role": "user", "content": content}]
