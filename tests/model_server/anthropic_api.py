"""Messages of the Anthropic API."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from model_server.answers import Answer, Finish
from model_server.asked import Api, Asked, Part, Refused, bad, decoding, need, picture, positive
from model_server.config import Config, Kind
from model_server.tools import called, may_call, message_rounds

Json = dict[str, Any]
STOPS: dict[Finish, str] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "filter": "refusal",
    "calls": "tool_use",
}


def error(refused: Refused) -> Json:
    """`{"type": "error", "error": {...}}`."""
    kind = "billing_error" if refused.kind == "insufficient_quota" else refused.kind
    return {"type": "error", "error": {"type": kind, "message": refused.message}}


def part(block: Any) -> Part:
    """A content block. Raises Refused."""
    if not isinstance(block, dict):
        raise bad("messages: content blocks must be objects", "messages")
    if block.get("type") == "text":
        return str(need(block, "text", str))
    if block.get("type") == "image":
        source = need(block, "source", dict)
        if source.get("type") != "base64":
            raise bad("image sources other than base64 are not served here", "messages")
        return picture(need(source, "data", str), need(source, "media_type", str))
    raise bad(f"messages: unknown content block type {block.get('type')!r}", "messages")


def turn(message: Any) -> tuple[str, tuple[Part, ...]]:
    """A message: its role and parts. Raises Refused."""
    if not isinstance(message, dict):
        raise bad("messages: expected objects", "messages")
    role, content = need(message, "role", str), message.get("content")
    if role not in ("user", "assistant"):
        raise bad(f"messages: unexpected role {role!r}", "messages")
    if isinstance(content, str):
        return role, (content,)
    blocks = need(message, "content", list)
    return role, tuple(own for block in blocks for own in parts(block))


def parts(block: Any) -> list[Part]:
    """What a model sees of a block: of the result of a tool its parts. Raises Refused."""
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "tool_use":
        return [called(block.get("name"), json.dumps(need(block, "input", dict)))]
    if kind == "tool_result":
        content = block.get("content") or []
        return [content] if isinstance(content, str) else [part(own) for own in content]
    if kind == "thinking":
        need(block, "signature", str)
        return [str(need(block, "thinking", str))]
    return [part(block)]


def parse(body: Mapping[str, Any]) -> Asked:
    """A body of POST /v1/messages, which knows neither n, seed nor logprobs. Raises Refused."""
    for name in ("n", "seed", "logprobs", "max_completion_tokens", "stop"):
        if name in body:
            raise bad(f"{name}: Extra inputs are not permitted", name)
    most = positive(body, "max_tokens")
    if most is None:
        raise bad("max_tokens: Field required", "max_tokens")
    turns = tuple(map(turn, need(body, "messages", list)))
    if not turns:
        raise bad("messages: at least one message is required", "messages")
    system = body.get("system")
    said = (system,) if isinstance(system, str) else tuple(map(part, system or ()))
    return Asked(
        model=body["model"],
        turns=(("system", said), *turns) if said else turns,
        decoding=decoding(body),
        max_tokens=most,
        temperature=body.get("temperature"),
        thinks=_thinks(body, most),
        may_call=may_call(body, ("input_schema",)),
        rounds=message_rounds(
            body["messages"],
            body.get("tools"),
            (body.get("thinking") or {}).get("type") == "enabled",
        ),
    )


def _thinks(body: Mapping[str, Any], most: int) -> bool:
    thinking = body.get("thinking") or {}
    kind = thinking.get("type", "disabled")
    if kind == "enabled" and not 1024 <= need(thinking, "budget_tokens", int) < most:
        raise bad("thinking.enabled.budget_tokens: must be >= 1024 and less than max_tokens")
    return kind in ("enabled", "adaptive")


def render(asked: Asked, answer: Answer, config: Config, *, serial: str, kind: Kind) -> Json:
    """A message: a block of thinking when there was any, then the text."""
    del config
    choice = answer.choices[0]
    content: list[Json] = []
    if choice.reasoning:
        block = {"type": "thinking", "thinking": choice.reasoning, "signature": f"sig-{serial}"}
        content.append(block)
    if choice.text and choice.finish != "filter":
        content.append({"type": "text", "text": choice.text, "citations": None})
    content += [
        {"type": "tool_use", "id": f"toolu_{n}", "name": name, "input": json.loads(arguments)}
        for n, (name, arguments) in enumerate(choice.calls)
    ]
    return {
        "id": f"msg_{serial}",
        "type": "message",
        "role": "assistant",
        "model": "another-model" if kind == "wrong_model" else asked.model,
        "content": [] if kind == "fewer_choices" else content,
        "stop_reason": "error" if kind == "broken_off" else STOPS[choice.finish],
        "stop_sequence": None,
        "usage": {
            "input_tokens": answer.input - answer.cached,
            "cache_read_input_tokens": answer.cached,
            "cache_creation_input_tokens": 0,
            "output_tokens": answer.output,
            "output_tokens_details": {"thinking_tokens": answer.reasoning},
            "service_tier": "standard",
        },
    }


MESSAGES = Api("messages", "/v1/messages", parse, render, error, {"insufficient_quota": 402})
