"""Tools in the OpenAI API: chat completions and Responses."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from omibench.models.http.replies import Json, as_objects, as_text
from omibench.models.http.tool_turns import MOST_CALLS, describe_tools, parse_call, read_chat_calls
from omibench.schemas.request import Message, Request, Response, ToolCall, ToolSpec

_EXTRA = "extra_content"
"""Field with the signature of a call at Google's endpoint, which rejects a history without it."""


def add_tools(
    body: dict[str, Any], tools: Sequence[Json], extra_body: Mapping[str, Any]
) -> dict[str, Any]:
    """Add the offered tools to a body, next to those from a model's `extra_body`."""
    merged = {**body, **extra_body}
    return merged | {"tools": [*tools, *extra_body.get("tools", [])]} if tools else merged


def describe_api_tools(api: str, request: Request) -> list[dict[str, Any]]:
    """Return the tools of a conversation in the format of the API."""
    tools = request.conversation.tools
    return [_flat(tool) for tool in tools] if api == "responses" else describe_tools(tools)


def format_chat_calls(message: Message) -> dict[str, Any]:
    """Return the fields besides content of an assistant turn with calls, or of a tool result."""
    if message.answers is not None:
        return {"tool_call_id": message.answers}
    if not message.calls:
        return {}
    signed = json.loads(message.carried) if message.carried else []
    signed += [None] * len(message.calls)
    return {
        "tool_calls": [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
                **({_EXTRA: extra} if extra else {}),
            }
            for call, extra in zip(message.calls, signed, strict=False)
        ]
    }


def add_chat_calls(message: Json, response: Response) -> Response:
    """Add to a response the calls of its message, and the fields that the server wants back."""
    calls = read_chat_calls(message)
    if not calls:
        return response
    signed = [call.get(_EXTRA) for call in as_objects(message.get("tool_calls"))[:MOST_CALLS]]
    carried = json.dumps(signed) if any(signed) else None
    return response.model_copy(update={"calls": calls, "carried": carried})


def list_call_items(message: Message) -> Iterator[dict[str, Any]]:
    """Return the calls of an assistant turn as items of the Responses API."""
    for call in message.calls:
        yield {
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.arguments,
        }


def read_item_calls(items: Sequence[Json]) -> tuple[ToolCall, ...]:
    """Read the calls in the output of the Responses API."""
    called = [item for item in items if item.get("type") == "function_call"]
    return tuple(
        parse_call(as_text(item.get("call_id")) or item.get("id"), item.get("name"), arguments)
        for item in called[:MOST_CALLS]
        for arguments in [item.get("arguments")]
    )


def _flat(tool: ToolSpec) -> dict[str, Any]:
    return {"type": "function", **tool.model_dump(), "strict": False}
