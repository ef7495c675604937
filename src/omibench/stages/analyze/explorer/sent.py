"""The messages sent to models, from the store: roles, text, pictures in place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from omibench.stages.analyze.explorer.steps import Link, Trail, TrailStep, write_call
from omibench.stages.analyze.explorer.view import shorten_response

Values = dict[str, Any]


def describe_sent(
    trail: Trail, key: str, before: Sequence[str], images: Sequence[str], link: Link
) -> Values:
    """Return the messages of a request, and the previous steps.

    Args:
        trail: The store.
        key: The key of the request in the store: of a response, a step or a judgement.
        before: The keys of the requests that led to it, in order.
        images: SHA-256 of the problem's pictures.
        link: Returns the address of a picture.

    Returns:
        `{sent: {messages, tools, pictures} or None, said, steps}`, as plain values for JSON. `sent`
        is None if the store does not contain the request.
    """
    request = trail.request(key)
    steps = trail.steps([*before, key], images, link)
    try:
        sent = describe_conversation(request, link) if request else None
    except (KeyError, TypeError, ValueError, AttributeError):  # stores may be external
        sent = None
    said = next((step for step in steps if step.key == key), None)
    return {
        "sent": sent,
        "said": _describe_step(said) if said else None,
        "steps": [_describe_step(step) for step in steps if step.key != key],
    }


def describe_conversation(request: Mapping[str, Any], link: Link) -> Values:
    """Return a request of the store as plain values for JSON.

    Args:
        request: The request.
        link: Returns the address of a picture.

    Returns:
        `{messages: [{role, parts, calls, answers}], tools, pictures}`; a part is
        `{text}` or `{picture: {sha256, src}, note}`, of which `note` describes a change of the
        picture.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: The stored request is malformed.
    """
    turns = request.get("turns", {})
    messages = [
        {
            "role": str(message["role"]),
            "parts": [_describe_part(part, link) for part in message["parts"]],
            "calls": [write_call(call) for call in turns.get(str(place), {}).get("calls", [])],
            "answers": str(turns.get(str(place), {}).get("answers") or ""),
        }
        for place, message in enumerate(request["messages"])
    ]
    parts = [part for message in messages for part in message["parts"]]
    return {
        "messages": messages,
        "tools": [str(tool.get("name", "")) for tool in request.get("tools", [])],
        "pictures": sum("picture" in part for part in parts),
    }


def _describe_part(part: Mapping[str, Any], link: Link) -> Values:
    if "image" not in part:
        return {"text": shorten_response(str(part["text"]))}
    patch = part.get("patch")
    picture = {"sha256": part["image"], "src": link(part["image"])}
    return {"picture": picture, "note": f"covered at {patch}" if patch else ""}


def _describe_step(step: TrailStep) -> Values:
    values = step._asdict()
    for name in ("pictures", "drawn"):
        values[name] = [picture._asdict() for picture in values[name]]
    return values
