"""Tools for local engines: offered through the chat template, parsed from the output.

Calls have the form `<tool_call>{"name": ..., "arguments": ...} </tool_call>` (Hermes), which the
templates of Qwen and many others request.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any, NamedTuple

from omibench.errors import ModelError
from omibench.models.http.tool_turns import MOST_CALLS, parse_call
from omibench.models.local.runs import SampleRun
from omibench.schemas.request import Message, ToolCall

OPENING, CLOSING = "<tool_call>", "</tool_call>"


class Spoken(NamedTuple):
    """A reply: its text, and the calls in it."""

    words: str
    calls: tuple[ToolCall, ...]


def group_by_tools(runs: Iterable[SampleRun]) -> list[list[SampleRun]]:
    """Group runs by the tools that they offer, since one call of an engine offers one set."""
    ordered = sorted(runs, key=_names)
    return [list(group) for _, group in groupby(ordered, key=_names)]


def check_template(template: object, name: str) -> None:
    """Raise ModelError if a chat template does not offer tools in the supported form."""
    if OPENING not in str(template):
        raise ModelError(
            f"model {name!r}: its chat template does not offer tools in the supported form "
            f"({OPENING}); set `style: text` under the setting's `tools`"
        )


def template_calls(message: Message, safe: Callable[[str], str]) -> dict[str, Any]:
    """Return the fields besides content of a turn with calls or tool results in a chat template."""
    if message.answers is not None:
        return {"tool_call_id": message.answers}
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": json.loads(safe(call.arguments))},
        }
        for call in message.calls
    ]
    return {"tool_calls": calls} if calls else {}


def parse_reply(text: str) -> Spoken:
    """Parse the text and calls of a reply. Never raises; an invalid call has the name ""."""
    head, *blocks = text.split(OPENING)
    words: list[str] = [head]
    calls: list[ToolCall] = []
    for block in blocks[:MOST_CALLS]:
        body, _, after = block.partition(CLOSING)
        calls.append(_call(f"call_{len(calls) + 1}", body))
        words.append(after)
    return Spoken("".join(words).strip() if calls else text, tuple(calls))


def _call(id: str, body: str) -> ToolCall:
    try:
        call = json.loads(body)
    except (ValueError, RecursionError):
        call = None
    if not isinstance(call, dict) or not isinstance(call.get("name"), str):
        return ToolCall(id=id, name="", arguments='it is no object {"name": ..., "arguments": ...}')
    return parse_call(id, call["name"], call.get("arguments"))


def _names(run: SampleRun) -> list[str]:
    return [tool.name for tool in run.conversation.tools]
