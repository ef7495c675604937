"""Chat completions and Responses of the OpenAI API."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from model_server.answers import Answer, Choice, logprobs
from model_server.asked import (
    Api,
    Asked,
    Part,
    Refused,
    bad,
    decoding,
    need,
    picture_of_url,
    positive,
)
from model_server.config import Config, Kind
from model_server.tools import called, chat_rounds, may_call, response_rounds

Json = dict[str, Any]


def error(refused: Refused) -> Json:
    """`{"error": {...}}`, with the code that SDKs look at."""
    codes = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}
    code = "insufficient_quota" if refused.kind == "insufficient_quota" else None
    kind = "server_error" if refused.status >= 500 else refused.kind
    body = {
        "message": refused.message,
        "type": kind,
        "param": refused.param,
        "code": code or codes.get(refused.status),
    }
    return {"error": body}


def part(block: Any) -> Part:
    """A content part of either endpoint. Raises Refused."""
    if not isinstance(block, dict):
        raise bad("Invalid content part: expected an object", "messages")
    kind = block.get("type")
    if kind in ("text", "input_text", "output_text"):
        return str(need(block, "text", str))
    if kind == "image_url":
        return picture_of_url(need(need(block, "image_url", dict), "url", str))
    if kind == "input_image":
        return picture_of_url(need(block, "image_url", str))
    raise bad(f"Invalid content part type: {kind!r}", "messages")


def turn(message: Any) -> tuple[str, tuple[Part, ...]]:
    """A message: its role and parts. Raises Refused."""
    if not isinstance(message, dict):
        raise bad("Invalid message: expected an object", "messages")
    if message.get("type") == "function_call":
        return "assistant", (called(message.get("name"), message.get("arguments")),)
    if message.get("type") == "function_call_output":
        output = message.get("output")
        return "tool", (output,) if isinstance(output, str) else tuple(map(part, output or ()))
    content = message.get("content")
    functions = [call.get("function") or {} for call in message.get("tool_calls") or ()]
    calls = [called(own.get("name"), own.get("arguments")) for own in functions]
    if content is None and calls:
        return need(message, "role", str), tuple(calls)
    parts = (content,) if isinstance(content, str) else map(part, need(message, "content", list))
    return need(message, "role", str), (*parts, *calls)


def _token(token: str, logprob: float) -> Json:
    return {"token": token, "logprob": logprob, "bytes": list(token.encode())}


def token_rows(choice: Choice, asked: Asked) -> list[Json] | None:
    """Per token what was asked of its log-probabilities; None when nothing was."""
    if asked.top_logprobs is None:
        return None
    rows = logprobs(choice.text, asked.top_logprobs)
    return [_token(t, p) | {"top_logprobs": [_token(*o) for o in tops]} for t, p, tops in rows]


# Chat completions.


def parse_chat(body: Mapping[str, Any]) -> Asked:
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


def render_chat(asked: Asked, answer: Answer, config: Config, *, serial: str, kind: Kind) -> Json:
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


CHAT = Api("chat", "/v1/chat/completions", parse_chat, render_chat, error)


# Responses.


def parse_response(body: Mapping[str, Any]) -> Asked:
    """A body of POST /v1/responses, which knows neither n nor seed. Raises Refused."""
    for name in ("n", "seed", "messages", "max_tokens", "stop"):
        if name in body:
            raise bad(f"Unknown parameter: '{name}'.", name)
    given = body.get("input")
    turns = [("user", (given,))] if isinstance(given, str) else map(turn, need(body, "input", list))
    system = body.get("instructions")
    wants = "message.output_text.logprobs" in (body.get("include") or ())
    return Asked(
        model=body["model"],
        turns=(*([("system", (system,))] if system else []), *turns),
        decoding=decoding(body),
        max_tokens=positive(body, "max_output_tokens"),
        temperature=body.get("temperature"),
        top_logprobs=(body.get("top_logprobs") or 0) if wants else None,
        thinks=(body.get("reasoning") or {}).get("effort") != "none",
        may_call=may_call(body, ("parameters",)),
        rounds=response_rounds(given) if isinstance(given, list) else 0,
    )


def render_response(
    asked: Asked, answer: Answer, config: Config, *, serial: str, kind: Kind
) -> Json:
    """A response: an item of reasoning when there was any, then the message."""
    choice = answer.choices[0]
    output: list[Json] = []
    if answer.reasoning:
        shown = [{"type": "summary_text", "text": choice.reasoning}]
        summary = shown if config.reasoning_field != "hidden" else []
        output.append({"id": f"rs_{serial}", "type": "reasoning", "summary": summary})
    reason = {"length": "max_output_tokens", "filter": "content_filter"}.get(choice.finish)
    status = "incomplete" if reason else "completed"
    status = "cancelled" if kind == "broken_off" else status
    if choice.text and choice.finish != "filter":
        text: Json = {"type": "output_text", "text": choice.text, "annotations": []}
        text["logprobs"] = token_rows(choice, asked) or []
        item = {"id": f"msg_{serial}", "type": "message", "role": "assistant"}
        output.append(item | {"status": status, "content": [text]})
    for n, (name, arguments) in enumerate(choice.calls):
        call = {"type": "function_call", "id": f"fc_{serial}_{n}", "call_id": f"call_{n}"}
        output.append(call | {"name": name, "arguments": arguments, "status": "completed"})
    for n, url in enumerate(choice.images):
        drawn = {"type": "image_generation_call", "id": f"ig_{serial}_{n}", "status": "completed"}
        output.append(drawn | {"result": url.partition(",")[2]})
    return {
        "id": f"resp_{serial}",
        "object": "response",
        "created_at": int(time.time()),
        "status": status,
        "incomplete_details": {"reason": reason} if reason else None,
        "error": None,
        "model": "another-model" if kind == "wrong_model" else asked.model,
        "output": [] if kind == "fewer_choices" else output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": answer.input,
            "input_tokens_details": {"cached_tokens": answer.cached, "cache_write_tokens": 0},
            "output_tokens": answer.output,
            "output_tokens_details": {"reasoning_tokens": answer.reasoning},
            "total_tokens": answer.input + answer.output,
        },
    }


RESPONSES = Api("responses", "/v1/responses", parse_response, render_response, error)
