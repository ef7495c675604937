"""The messages sent to models, from the store: roles, text, pictures in place."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from omibench.stages.analyze.explorer.steps import StoredPicture, Trail
from omibench.stages.analyze.explorer.view import shorten_response

FOLDED_FROM = 1_500
"""Longer conversations are folded on a page."""
OPEN_AT_MOST = 3
"""The number of conversations up to which a page shows short ones open."""
LONGEST_CALL = 2_000


class SentPart(NamedTuple):
    """A run of text, or a picture in place; `note` describes how the picture was changed."""

    text: str
    picture: StoredPicture | None = None
    note: str = ""


class SentMessage(NamedTuple):
    """One turn: its role, text, pictures and tool calls or results."""

    role: str
    parts: Sequence[SentPart]
    calls: Sequence[str]
    answers: str


class SentConversation(NamedTuple):
    """A conversation as sent, and its receiver; equal ones are shown once per page."""

    anchor: str
    to: list[str]
    messages: Sequence[SentMessage]
    tools: Sequence[str]
    pictures: int
    length: int

    @property
    def is_folded(self) -> bool:
        """Whether it is longer than the limit for unfolded conversations."""
        return self.length >= FOLDED_FROM


class SentConversations:
    """The distinct conversations of one page, in order of first occurrence."""

    def __init__(self, trail: Trail, page: Path) -> None:
        self._trail, self._page = trail, page
        self._sent: dict[str, SentConversation] = {}

    def anchor(self, key: str, to: str) -> str:
        """Return the anchor of the request with a key; empty if the store has no valid request for
        it."""
        try:
            return self._anchor(key, to)
        except (KeyError, TypeError, ValueError, AttributeError):
            return ""

    def _anchor(self, key: str, to: str) -> str:
        request = self._trail.request(key)
        if request is None:
            return ""
        content = {name: request.get(name) for name in ("messages", "turns", "tools")}
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]
        if digest not in self._sent:
            find_picture = lambda sha256: self._trail.find_picture(sha256, self._page)  # noqa: E731
            self._sent[digest] = read_conversation(f"sent-{digest}", request, find_picture)
        conversation = self._sent[digest]
        if to not in conversation.to:
            conversation.to.append(to)
        return conversation.anchor

    def all(self) -> list[SentConversation]:
        """Return every conversation with an anchor."""
        return list(self._sent.values())


def read_conversation(
    anchor: str, request: Mapping[str, Any], find_picture: Callable[[str], StoredPicture]
) -> SentConversation:
    """Prepare a request of the store for a page.

    Args:
        anchor: Anchor of the request on the page.
        request: The request, as plain values.
        find_picture: Function that finds a picture by its SHA-256.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: The stored request is malformed.
    """
    turns = request.get("turns", {})
    messages = [
        SentMessage(
            role=str(message["role"]),
            parts=[_part(part, find_picture) for part in message["parts"]],
            calls=[_call(call) for call in turns.get(str(place), {}).get("calls", [])],
            answers=str(turns.get(str(place), {}).get("answers") or ""),
        )
        for place, message in enumerate(request["messages"])
    ]
    parts = [part for message in messages for part in message.parts]
    return SentConversation(
        anchor=anchor,
        to=[],
        messages=messages,
        tools=[str(tool.get("name", "")) for tool in request.get("tools", [])],
        pictures=sum(part.picture is not None for part in parts),
        length=sum(len(part.text) for part in parts),
    )


def _part(part: Mapping[str, Any], find_picture: Callable[[str], StoredPicture]) -> SentPart:
    if "image" not in part:
        return SentPart(shorten_response(str(part["text"])))
    patch = part.get("patch")
    return SentPart("", find_picture(part["image"]), f"covered at {patch}" if patch else "")


def _call(call: Mapping[str, Any]) -> str:
    return f"{call['name']} {call['arguments'][:LONGEST_CALL]}"
