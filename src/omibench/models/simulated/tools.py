"""Simulated respondents with tools: they use a tool once, if instructed, before they answer."""

from __future__ import annotations

import json
import re
from random import Random

from omibench.schemas.request import Conversation, Message, TextPart, ToolCall
from omibench.schemas.tool_calls import NOT_YET, OPENING, write_call

_LISTED = re.compile(r"^- ([a-z_]+): ", re.MULTILINE)
_WORDS = "One detail is too small to be read as it stands, so I look closer."


def first_call(conversation: Conversation, rng: Random) -> tuple[str, tuple[ToolCall, ...]] | None:
    """Return a reply's text and tool calls; None if no tool is offered or one was used.

    Under the text protocol the call is part of the text.
    """
    turns = conversation.messages
    if any(map(_calls, turns)):
        return None
    rules = "\n".join(_text(m) for m in turns if m.role == "system")
    native = [tool.name for tool in conversation.tools]
    names = native or (_LISTED.findall(rules) if OPENING in rules else [])
    if not names:
        return None
    name = next((n for n in ("crop", "zoom", "look") if n in names), names[0])
    arguments = json.dumps({"image": "image_1"} | ({} if name == "look" else {"box": _box(rng)}))
    if native:
        return _WORDS, (ToolCall(id="call_1", name=name, arguments=arguments),)
    return f"{_WORDS}\n\n{write_call(name, arguments)}", ()


def reads_first(conversation: Conversation) -> bool:
    """Return whether the current stage reads the pictures without requesting an answer.

    A stage begins with a user turn that contains no tool result.
    """
    before = (None, *conversation.messages)
    pairs = zip(before, conversation.messages, strict=False)
    begun = [m for old, m in pairs if m.role == "user" and not (old and _calls(old))]
    return bool(begun) and NOT_YET in _text(begun[-1])


def _calls(message: Message) -> bool:
    """Return whether a turn calls a tool or contains a tool result."""
    written = message.role == "assistant" and OPENING in _text(message)
    return message.role == "tool" or bool(message.calls) or written


def _text(message: Message) -> str:
    return "\n".join(part.text for part in message.parts if isinstance(part, TextPart))


def _box(rng: Random) -> list[float]:
    left, top = round(0.5 * rng.random(), 2), round(0.5 * rng.random(), 2)
    return [left, top, round(left + 0.4, 2), round(top + 0.4, 2)]
