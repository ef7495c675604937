"""What chat completions and Responses of the OpenAI API have in common."""

from __future__ import annotations

from typing import Any

from model_server.answers import Choice, logprobs
from model_server.asked import Asked, Part, Refused, bad, need, picture_of_url
from model_server.tools import called

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
