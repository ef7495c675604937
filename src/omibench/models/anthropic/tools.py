"""Tools in the Anthropic messages API."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from omibench.models.http.replies import Json
from omibench.models.http.tool_turns import MOST_CALLS, parse_call
from omibench.schemas.request import Conversation, Message, ToolCall

_SIGNED = ("thinking", "redacted_thinking")


def tool_fields(conversation: Conversation) -> dict[str, Any]:
    """Return the fields that offer tools; empty for a conversation that never had any.

    This API accepts a history of tool calls only with the definitions of the tools. If tools are no
    longer offered, their definitions are sent and calls are disabled.
    """
    if conversation.tools:
        tools = [
            {"name": t.name, "description": t.description, "input_schema": t.parameters}
            for t in conversation.tools
        ]
        return {"tools": tools}
    called = dict.fromkeys(call.name for m in conversation.messages for call in m.calls)
    if not called:
        return {}
    placeholders = [{"name": name, "input_schema": {"type": "object"}} for name in called]
    return {"tools": placeholders, "tool_choice": {"type": "none"}}


def list_call_blocks(message: Message) -> list[dict[str, Any]]:
    """Return the calls of an assistant turn as blocks. `arguments` is a JSON object."""
    return [
        {"type": "tool_use", "id": c.id, "name": c.name, "input": json.loads(c.arguments)}
        for c in message.calls
    ]


def make_result_block(call: str, content: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a tool result as a block of the user turn."""
    return {"type": "tool_result", "tool_use_id": call, "content": content}


def list_signed_blocks(message: Message) -> list[dict[str, Any]]:
    """Return the signed thinking that this API requires before the calls that followed it."""
    return list(json.loads(message.carried)) if message.carried else []


def read_calls(blocks: Sequence[Json]) -> tuple[ToolCall, ...]:
    """Return the calls in the blocks of a message."""
    called = [block for block in blocks if block.get("type") == "tool_use"]
    return tuple(
        parse_call(b.get("id"), b.get("name"), b.get("input")) for b in called[:MOST_CALLS]
    )


def read_signed_thinking(blocks: Sequence[Json]) -> str | None:
    """Return the signed thinking of a message as JSON text."""
    signed = [dict(block) for block in blocks if block.get("type") in _SIGNED]
    return json.dumps(signed) if signed else None
