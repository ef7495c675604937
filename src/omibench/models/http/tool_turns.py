"""Turns with tools in the format of the APIs, and the calls in replies."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from omibench.models.http.replies import Json, as_object, as_objects, as_text
from omibench.schemas.request import ImagePart, Message, TextPart, ToolCall, ToolSpec

MOST_CALLS = 64
"""Maximum calls kept per reply."""


def move_pictures(messages: Sequence[Message]) -> Iterator[Message]:
    """Rearrange turns for APIs with text-only tool turns.

    The pictures of neighbouring tool turns follow in a user turn, each with its text, before the
    user's next words.
    """
    waiting: list[Message] = []
    for message in messages:
        if message.role == "tool":
            yield message.model_copy(update={"parts": _texts(message)})
            waiting += [message] if len(_texts(message)) < len(message.parts) else []
            continue
        parts = tuple(part for turn in waiting for part in turn.parts)
        waiting = []
        if parts and message.role == "user":
            yield message.model_copy(update={"parts": (*parts, *message.parts)})
            continue
        if parts:
            yield Message(role="user", parts=parts)
        yield message
    if waiting:
        yield Message(role="user", parts=tuple(part for turn in waiting for part in turn.parts))


def join_texts(message: Message) -> str:
    """Return the text of a turn."""
    return "\n".join(part.text for part in _texts(message))


def describe_tools(tools: Sequence[ToolSpec]) -> list[dict[str, Any]]:
    """Return tools in the format of chat completions and chat templates."""
    return [{"type": "function", "function": tool.model_dump()} for tool in tools]


def read_chat_calls(message: Json) -> tuple[ToolCall, ...]:
    """Return the calls in a message of a chat completion."""
    return tuple(
        parse_call(call.get("id"), function.get("name"), function.get("arguments"))
        for call in as_objects(message.get("tool_calls"))[:MOST_CALLS]
        for function in [as_object(call.get("function"))]
    )


def parse_call(id: object, name: object, arguments: object) -> ToolCall:
    """Parse a call of a server: its arguments are JSON text or, against the specification, JSON."""
    written = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    return ToolCall(id=as_text(id), name=as_text(name), arguments=written)


def _texts(message: Message) -> tuple[TextPart, ...]:
    return tuple(part for part in message.parts if not isinstance(part, ImagePart))
