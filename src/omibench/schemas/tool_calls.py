"""Tool calls that a model writes as text: fenced blocks, each with one JSON object.

The form is strict: a line ```` ```tool ````, an object with only `tool` and `arguments`, a line
```` ``` ````. The calls of a reply are the first run of such blocks; text after them was written
before any result was known and is ignored.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from omibench.schemas.request import ToolCall
from omibench.text.surrogates import replace_surrogates

OPENING, CLOSING = "```tool", "```"
NOT_YET = "do not solve the problem yet"
"""Part of the instructions in a turn that only reads the pictures."""
LONGEST = 8000
"""Maximum characters of one call; longer ones are not parsed."""


class ReplyWithCalls(NamedTuple):
    """A reply with calls: the text before them, and the calls.

    An invalid block has the name "" and the reason as its arguments.
    """

    before: str
    calls: list[ToolCall]


def write_call(name: str, arguments: str) -> str:
    """Format a call as a model writes it; `arguments` is JSON text."""
    return f'{OPENING}\n{{"tool": {json.dumps(name)}, "arguments": {arguments}}}\n{CLOSING}'


def read_calls(text: str) -> ReplyWithCalls | None:
    """Parse the calls in a reply; None if it makes none. Never raises, takes linear time."""
    lines = text.splitlines()
    first = next((n for n, line in enumerate(lines) if line.rstrip() == OPENING), None)
    if first is None:
        return None
    blocks = _blocks(lines[first:])
    calls = [_call(f"call_{n}", body) for n, body in enumerate(blocks, start=1)]
    return ReplyWithCalls("\n".join(lines[:first]).strip(), calls)


def _blocks(lines: list[str]) -> Iterator[str]:
    """Return the bodies of the first run of blocks; an unclosed block ends with the text."""
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
