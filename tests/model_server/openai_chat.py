"""Chat completions of the OpenAI API."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from model_server.answers import Answer, Choice
from model_server.api import Api
from model_server.asked import Asked, bad, decoding, need, positive
from model_server.config import Config, Kind
from model_server.openai_parts import Json, error, token_rows, turn
from model_server.tools import chat_rounds, may_call


def parse(body: Mapping[str, Any]) -> Asked:
    """A body of POST /v1/chat/completions. Raises Refused."""
    turns = tuple(map(turn, need(body, "messages", list)))
    if not turns:
        raise bad("Invalid 'messages': empty array", "messages")
    most = positive(body, "max_completion_tokens") or positive(body, "max_tokens")
    top = body.get("top_logprobs")
    if top is not None and not body.get("logprobs"):
        raise bad("'top_logprobs' needs 'logprobs' to be true", "top_logprobs")
    return Asked(
        model=body["model"],
        turns=turns,
        decoding=decoding(body),
        max_tokens=most,
        n=positive(body, "n", 128) or 1,
        temperature=body.get("temperature"),
        seed=body.get("seed"),
        top_logprobs=(top or 0) if body.get("logprobs") else None,
        thinks=body.get("reasoning_effort") != "none",
        may_call=may_call(body, ("function", "parameters")),
        rounds=chat_rounds(body["messages"]),
    )


def _choice(i: int, choice: Choice, asked: Asked, config: Config, kind: Kind) -> Json:
    message: Json = {"role": "assistant", "content": choice.text, "refusal": None}
    if choice.reasoning and config.reasoning_field != "hidden":
        message[config.reasoning_field] = choice.reasoning
        message["content"] = choice.text or None  # as vLLM when all went into reasoning
    if choice.calls:
        message["content"] = choice.text or None
        message["tool_calls"] = [
            {"id": f"call_{i}_{n}", "type": "function",
             "function": {"name": name, "arguments": arguments}}
            for n, (name, arguments) in enumerate(choice.calls)
        ]  # fmt: skip
    if choice.images:
        message["images"] = [
            {"type": "image_url", "image_url": {"url": url}} for url in choice.images
        ]
    finish = {"length": "length", "calls": "tool_calls"}.get(choice.finish, "stop")
    finish = "error" if kind == "broken_off" else finish
    if choice.finish == "filter":
        finish, message["content"] = "content_filter", None
    rows = token_rows(choice, asked)
    return {
        "index": i,
        "message": message,
        "finish_reason": finish,
        "logprobs": None if rows is None else {"content": rows, "refusal": None},
    }


def render(asked: Asked, answer: Answer, config: Config, *, serial: str, kind: Kind) -> Json:
    """A chat completion."""
    choices = [_choice(i, c, asked, config, kind) for i, c in enumerate(answer.choices)]
    return {
        "id": f"chatcmpl-{serial}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": "another-model" if kind == "wrong_model" else asked.model,
        "choices": choices[:-1] if kind == "fewer_choices" else choices,
        "usage": {
            "prompt_tokens": answer.input,
            "completion_tokens": answer.output,
            "total_tokens": answer.input + answer.output,
            "prompt_tokens_details": {"cached_tokens": answer.cached, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": answer.reasoning},
        },
    }


CHAT = Api("chat", "/v1/chat/completions", parse, render, error)
