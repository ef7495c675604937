"""Conversations as Inspect chat messages: the request and the response."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from omibench.eval_logs.attachments import Attachments
from omibench.schemas.image_marks import pair_with_pictures, write_image_mark
from omibench.schemas.problem import Choice, Question

Message = dict[str, Any]
Content = dict[str, Any]


def write_sent_messages(request: Mapping[str, Any], attachments: Attachments) -> list[Message]:
    """Return the messages of a request as they were sent.

    Args:
        request: Request from the store as plain values.
        attachments: Collects the pictures of the messages.

    Returns:
        Messages of `system`, `user`, `assistant` and `tool`, in order.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: If the store has other content.
    """
    turns = request.get("turns", {})
    return [
        _write_message(message, turns.get(str(place), {}), attachments)
        for place, message in enumerate(request["messages"])
    ]


def write_problem_message(question: Question, attachments: Attachments) -> Message:
    """Return a problem with its pictures as one message, if its request is not available.

    Args:
        question: The problem.
        attachments: Collects its pictures.
    """
    hashes = [figure.sha256 for figure in question.images]
    texts = [question.question, *map(write_choice, question.choices or [])]
    content: list[Content] = []
    for run, sha256 in pair_with_pictures("\n".join(texts), hashes):
        content += [_write_text(run)] if run.strip() else []
        content += [attachments.show(sha256)] if sha256 is not None else []
    return {"role": "user", "content": content}


def write_choice(choice: Choice) -> str:
    """Format a choice as a line: label, text and mark of its picture."""
    mark = "" if choice.image is None else write_image_mark(choice.image)
    return f"{choice.label}. {choice.text or ''}{mark}"


def write_answer_message(
    text: str, reasoning: str | None, drawn: Sequence[str], model: str, attachments: Attachments
) -> Message:
    """Return the response of a model as a message.

    Args:
        text: Visible text.
        reasoning: Reasoning that the provider returned separately; can be None or empty.
        drawn: SHA-256 of the pictures drawn by the model.
        model: Name of the model.
        attachments: Collects the pictures.
    """
    content: list[Content] = []
    if reasoning:
        content.append({"type": "reasoning", "reasoning": reasoning})
    content += [_write_text(text), *(attachments.show(sha256) for sha256 in drawn)]
    is_plain = len(content) == 1
    return {
        "role": "assistant",
        "content": text if is_plain else content,
        "source": "generate",
        "model": model,
    }


def _write_message(
    message: Mapping[str, Any], turn: Mapping[str, Any], attachments: Attachments
) -> Message:
    written: Message = {
        "role": str(message["role"]),
        "content": [_write_part(part, attachments) for part in message["parts"]],
    }
    if written["role"] != "assistant":
        answers = {"tool_call_id": str(turn["answers"])} if turn.get("answers") else {}
        return written | answers
    calls = [_write_call(call) for call in turn.get("calls", [])]
    return written | ({"tool_calls": calls} if calls else {})


def _write_part(part: Mapping[str, Any], attachments: Attachments) -> Content:
    if "image" not in part:
        return _write_text(str(part["text"]))
    patch = part.get("patch")
    return attachments.show(str(part["image"]), _read_patch(patch) if patch else None)


def _read_patch(patch: Sequence[Any]) -> tuple[int, int, int]:
    x, y, side = patch
    return int(x), int(y), int(side)


def _write_text(text: str) -> Content:
    return {"type": "text", "text": text}


def _write_call(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool call; arguments that are not a JSON object are kept unchanged."""
    arguments: object = None
    error = None
    try:
        arguments = json.loads(call["arguments"])
    except ValueError as wrong:
        error = f"arguments are not JSON: {wrong}"
    is_object = isinstance(arguments, dict)
    return {
        "id": str(call["id"]),
        "function": str(call["name"]),
        "arguments": arguments if is_object else {"arguments": call["arguments"]},
        **({"parse_error": error} if error else {}),
        "type": "function",
    }
