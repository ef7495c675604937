"""Pictures of a sample, stored once as data URLs that messages refer to."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from omibench.errors import MissingInputError, ModelError
from omibench.files.reading import Container
from omibench.models.api.bodies import PictureCache
from omibench.results.study_files import StudyFiles
from omibench.schemas.problem import Choice, Question, pair_with_pictures, write_image_mark
from omibench.schemas.request import ImagePart
from omibench.stages.analyze.explorer.requests import Trail
from omibench.store.images import ImageStore

REFERENCE: Final = "attachment://"
"""Inspect's mark of content stored under `attachments` of its sample."""
_SHOWN_DIGITS: Final = 12


class PictureSource:
    """Pictures of a study by SHA-256: from the dataset, from settings, and drawn by models."""

    def __init__(self, files: StudyFiles, trail: Trail, store: Path) -> None:
        """Prepare the lookup; files are opened on first use.

        Args:
            files: The study, with its frozen dataset.
            trail: Source of the pictures made by settings.
            store: Store of responses, with the pictures drawn by models.
        """
        self._files, self._trail = files, trail
        self._drawn = ImageStore(store / "images")
        self._cache = PictureCache()

    def encode(self, sha256: str, patch: tuple[int, int, int] | None = None) -> str | None:
        """Encode a picture as a data URL, with its patch if it was shown with one.

        Args:
            sha256: Hash of its bytes.
            patch: (x, y, side) in pixels of a black square, or None.

        Returns:
            None if no file with these bytes exists.
        """
        for path in self._list_places(sha256):
            part = ImagePart(sha256=sha256, path=str(path), patch=patch)
            try:
                picture = self._cache.inline(part)
            except (MissingInputError, ModelError):
                continue
            return f"data:{picture.media_type};base64,{picture.data}"
        return None

    def _list_places(self, sha256: str) -> list[Path]:
        places = [self._of_dataset.get(sha256), self._trail.locate_picture(sha256)]
        if (
            sha256.isalnum()
        ):  # the hash can be any text from another source: it must not lead out of the folder
            places.append(self._drawn.path(sha256))
        return [path for path in places if path is not None]

    @cached_property
    def _of_dataset(self) -> dict[str, Path]:
        container = Container(self._files.locate("freeze"))
        return {
            figure.sha256: container.path(figure.file)
            for question in self._files.questions.values()
            for figure in question.images
            if figure.sha256
        }


class Attachments:
    """Pictures of one sample."""

    def __init__(self, source: PictureSource) -> None:
        """Start without pictures.

        Args:
            source: Source of the pictures.
        """
        self._source = source
        self.contents: dict[str, str] = {}
        """Data URLs by the name used in messages."""

    def show(self, sha256: str, patch: tuple[int, int, int] | None = None) -> dict[str, str]:
        """Return the message part that shows a picture, or that reports its file as missing.

        Args:
            sha256: Hash of its bytes.
            patch: See `PictureSource.encode`.
        """
        key = ImagePart(sha256=sha256, patch=patch).content_key
        name = hashlib.sha256(key.encode()).hexdigest()
        if name not in self.contents:
            content = self._source.encode(sha256, patch)
            if content is None:
                shown = sha256[:_SHOWN_DIGITS]
                return {"type": "text", "text": f"[missing picture file: {shown}]"}
            self.contents[name] = content
        return {"type": "image", "image": f"{REFERENCE}{name}", "detail": "auto"}


# Conversations as Inspect chat messages: the request and the response.

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
