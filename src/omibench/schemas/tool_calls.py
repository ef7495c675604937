"""Tool calls that a model writes as text: fenced blocks, each with one JSON object.

The form is strict: a line ```` ```tool ````, an object with `tool` and `arguments` and nothing
else, a line ```` ``` ````. The calls of a reply are the first run of such blocks; what follows
them was written before any result was seen, and is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from omibench.schemas.request import ToolCall
from omibench.text.surrogates import replace_surrogates

OPENING, CLOSING = "```tool", "```"
NOT_YET = "do not solve the problem yet"
"""Stands in what is said at a stage that only reads the pictures."""
LONGEST = 8000
"""Characters of one call; nothing longer is read."""


class ReplyWithCalls(NamedTuple):
    """A reply with calls: the words before them, and the calls.

    A block that is no call has the name "" and, as arguments, why it is none.
    """

    before: str
    calls: list[ToolCall]


def write_call(name: str, arguments: str) -> str:
    """A call as a model writes it; `arguments` is JSON text."""
    return f'{OPENING}\n{{"tool": {json.dumps(name)}, "arguments": {arguments}}}\n{CLOSING}'


def read_calls(text: str) -> ReplyWithCalls | None:
    """The calls in a reply, or None when it makes none. Never raises, takes linear time."""
    lines = text.splitlines()
    first = next((n for n, line in enumerate(lines) if line.rstrip() == OPENING), None)
    if first is None:
        return None
    blocks = _blocks(lines[first:])
    calls = [_call(f"call_{n}", body) for n, body in enumerate(blocks, start=1)]
    return ReplyWithCalls("\n".join(lines[:first]).strip(), calls)


def _blocks(lines: list[str]) -> Iterator[str]:
    """The bodies of the first run of blocks; a block that nobody closed ends with the text."""
    body: list[str] | None = None
    for line in lines:
        stripped = line.rstrip()
        if body is not None and stripped == CLOSING:
            yield "\n".join(body)
            body = None
        elif body is not None:
            body.append(line)
        elif stripped == OPENING:
            body = []
        elif stripped:
            return
    if body is not None:
        yield "\n".join(body)


def _call(id: str, body: str) -> ToolCall:
    try:
        name, arguments = _parts(body)
    except (ValueError, RecursionError) as error:
        return ToolCall(id=id, name="", arguments=str(error))
    return ToolCall(id=id, name=name, arguments=json.dumps(arguments))


def _parts(body: str) -> tuple[str, dict[str, Any]]:
    if len(body) > LONGEST:
        raise ValueError(f"it has {len(body)} characters, and {LONGEST} are read")
    try:
        call = json.loads(body)
    except json.JSONDecodeError as error:
        raise ValueError(f"it is no JSON: {error.msg} at character {error.pos}") from None
    is_call = isinstance(call, dict) and set(call) == {"tool", "arguments"}
    if not is_call or not isinstance(call["tool"], str) or not isinstance(call["arguments"], dict):
        raise ValueError('it is no object {"tool": "<name>", "arguments": {...}}')
    return replace_surrogates(call["tool"]), replace_surrogates(call["arguments"])
