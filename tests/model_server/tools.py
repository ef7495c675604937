"""Tools on the server: histories of calls are held to the rules of each API."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from model_server.asked import bad

Json = Mapping[str, Any]


def called(name: object, arguments: object) -> str:
    """A call as a model sees it in its history."""
    return f"[call {name} {arguments}]"


def may_call(body: Json, named: Sequence[str]) -> bool:
    """Whether tools are on offer; each must have a name and a schema. Raises Refused."""
    tools = body.get("tools") or []
    for tool in tools:
        at: Any = tool
        for name in named[:-1]:
            at = at.get(name) or {}
        own = at.get("name")
        if not isinstance(own, str) or not isinstance(at.get(named[-1]), dict):
            raise bad(f"tools: a tool needs a name and '{named[-1]}'", "tools")
    choice = body.get("tool_choice")
    return bool(tools) and choice not in ("none", {"type": "none"})


def chat_rounds(messages: Sequence[Json]) -> int:
    """Turns with calls of a chat; every call is answered at once, in text. Raises Refused."""
    rounds, open_calls = 0, set[str]()
    for message in messages:
        if message.get("role") == "tool":
            _answer(open_calls, message.get("tool_call_id"), "tool_call_id")
            if not isinstance(message.get("content"), str):
                raise bad("Invalid content of a tool message: text is served here", "messages")
            continue
        _all_answered(open_calls, "tool_calls")
        calls = message.get("tool_calls") or []
        rounds += bool(calls)
        open_calls = {call["id"] for call in calls}
        for call in calls:
            _object(call["function"]["arguments"])
    _all_answered(open_calls, "tool_calls")
    return rounds


def response_rounds(items: Sequence[Json]) -> int:
    """Outputs of functions in a history of items, each after its call. Raises Refused."""
    open_calls, rounds = set[str](), 0
    for item in items:
        if item.get("type") == "function_call":
            open_calls.add(item["call_id"])
            _object(item["arguments"])
        if item.get("type") == "function_call_output":
            _answer(open_calls, item.get("call_id"), "call_id")
            rounds += not open_calls
    _all_answered(open_calls, "function_call")
    return rounds


def message_rounds(messages: Sequence[Json], tools: object, thinks: bool) -> int:
    """Turns with calls of a Claude conversation: results come first in the turn that follows.

    Tools must be named wherever they were used; a model that `thinks` gets the signed thinking
    back that led to a call. Raises Refused.
    """
    rounds, open_calls = 0, set[str]()
    for message in messages:
        blocks = message["content"] if isinstance(message["content"], list) else []
        kinds = [block.get("type") for block in blocks]
        results = kinds.count("tool_result")
        if kinds[:results] != ["tool_result"] * results:
            raise bad("messages: tool_result blocks come first in their turn", "messages")
        for block in blocks[:results]:
            _answer(open_calls, block.get("tool_use_id"), "tool_use_id")
        _all_answered(open_calls, "tool_use")
        open_calls = {block["id"] for block in blocks if block.get("type") == "tool_use"}
        rounds += bool(open_calls)
        if open_calls and thinks and kinds[0] != "thinking":
            raise bad("messages: a turn with tool_use begins with its thinking", "messages")
    _all_answered(open_calls, "tool_use")
    if rounds and not tools:
        raise bad("tools: must be given where messages hold tool_use blocks", "tools")
    return rounds


def _answer(open_calls: set[str], call: object, field: str) -> None:
    if call not in open_calls:
        raise bad(f"'{field}' {call!r} answers no call of the turn before", "messages")
    open_calls.discard(str(call))


def _all_answered(open_calls: set[str], field: str) -> None:
    if open_calls:
        raise bad(f"'{field}' without an answer: {', '.join(sorted(open_calls))}", "messages")


def _object(arguments: object) -> None:
    try:
        known = isinstance(json.loads(str(arguments)), dict)
    except ValueError:
        known = False
    if not known:
        raise bad("the arguments of a call are the text of a JSON object", "messages")
