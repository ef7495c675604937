"""Tools for local engines: through the chat template, and out of the words that come back.

The calls that are read are those of the form `<tool_call>{"name": ..., "arguments": ...}
</tool_call>` (Hermes), which the templates of Qwen and of many others ask for.
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
    """A reply: its words, and the calls that stood among them."""

    words: str
    calls: tuple[ToolCall, ...]


def group_by_tools(runs: Iterable[SampleRun]) -> list[list[SampleRun]]:
    """Runs that offer the same tools together, since one call of an engine offers one set."""
    ordered = sorted(runs, key=_names)
    return [list(group) for _, group in groupby(ordered, key=_names)]


def check_template(template: object, name: str) -> None:
    """Raise ModelError for a chat template that offers no tools in the form that is read here."""
    if OPENING not in str(template):
        raise ModelError(
            f"model {name!r}: its chat template takes no tools in the form that is read here "
            f"({OPENING}): set `style: text` under the setting's `tools`"
        )


def template_calls(message: Message, safe: Callable[[str], str]) -> dict[str, Any]:
    """What a turn that calls, or answers a call, has besides content in a chat template."""
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
    """The words and calls of a reply. Never raises; what is no call has the name ""."""
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
