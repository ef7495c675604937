"""Pictures of a study as data URLs, and its conversations as Inspect chat messages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    Content,
    ContentImage,
    ContentReasoning,
    ContentText,
)
from inspect_ai.tool import ToolCall
from pydantic import TypeAdapter

from omibench.errors import FileFormatError, MissingInputError, ModelError
from omibench.files.reading import Container, parse_json
from omibench.models.api.replies import PictureCache
from omibench.results.study_files import StudyFiles
from omibench.schemas.problem import Choice, Question, pair_with_pictures, write_image_mark
from omibench.schemas.request import ImagePart
from omibench.stages.analyze.explorer.requests import Trail
from omibench.store.store import ImageStore
from omibench.text.masking import replace_surrogates

_SHOWN_DIGITS: Final = 12
_MESSAGE: Final[TypeAdapter[ChatMessage]] = TypeAdapter(ChatMessage)


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

    def show(self, sha256: str, patch: tuple[int, int, int] | None = None) -> Content:
        """Return the part that shows a picture, or that reports its file as missing.

        Args:
            sha256: Hash of its bytes.
            patch: (x, y, side) in pixels of a black square, or None.
        """
        for path in self._list_places(sha256):
            part = ImagePart(sha256=sha256, path=str(path), patch=patch)
            try:
                picture = self._cache.inline(part)
            except (MissingInputError, ModelError):
                continue
            return ContentImage(image=f"data:{picture.media_type};base64,{picture.data}")
        return ContentText(text=f"[missing picture file: {sha256[:_SHOWN_DIGITS]}]")

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


# Conversations as Inspect chat messages: the request and the response.


def write_sent_messages(request: Mapping[str, Any], pictures: PictureSource) -> list[ChatMessage]:
    """Return the messages of a request as they were sent.

    Args:
        request: Request from the store as plain values.
        pictures: Source of the pictures of the messages.

    Returns:
        Messages of `system`, `user`, `assistant` and `tool`, in order; lone surrogates, which
        UTF-8 does not have, are U+FFFD.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: If the store has other content.
    """
    request = replace_surrogates(request)
    turns = request.get("turns", {})
    return [
        _write_message(place, message, turns.get(str(place), {}), pictures)
        for place, message in enumerate(request["messages"])
    ]


def write_problem_message(question: Question, pictures: PictureSource) -> ChatMessage:
    """Return a problem with its pictures as one message, if its request is not available.

    Args:
        question: The problem.
        pictures: Source of its pictures.
    """
    hashes = [figure.sha256 for figure in question.images]
    choices = question.choices or []
    texts = [question.question, *(f"{one.label}. {write_choice(one)}" for one in choices)]
    content: list[Content] = []
    for run, sha256 in pair_with_pictures("\n".join(texts), hashes):
        content += [ContentText(text=run)] if run.strip() else []
        content += [pictures.show(sha256)] if sha256 is not None else []
    return ChatMessageUser(id="0", content=content)


def write_choice(choice: Choice) -> str:
    """Format a choice without its label: text and mark of its picture."""
    mark = "" if choice.image is None else write_image_mark(choice.image)
    return f"{choice.text or ''}{mark}"


def write_answer_message(
    text: str, reasoning: str | None, drawn: Sequence[str], model: str, pictures: PictureSource
) -> ChatMessage:
    """Return the response of a model as a message.

    Args:
        text: Visible text.
        reasoning: Reasoning that the provider returned separately; can be None or empty.
        drawn: SHA-256 of the pictures drawn by the model.
        model: Name of the model.
        pictures: Source of the pictures.
    """
    content: list[Content] = []
    if reasoning:
        content.append(ContentReasoning(reasoning=reasoning))
    content += [ContentText(text=text), *map(pictures.show, drawn)]
    is_plain = len(content) == 1
    return ChatMessageAssistant(
        id="said", content=text if is_plain else content, source="generate", model=model
    )


def _write_message(
    place: int, message: Mapping[str, Any], turn: Mapping[str, Any], pictures: PictureSource
) -> ChatMessage:
    return _MESSAGE.validate_python({
        "id": str(place),  # Inspect would give a random one
        "role": message["role"],
        "content": [_write_part(part, pictures) for part in message["parts"]],
        "tool_call_id": turn.get("answers"),
        "tool_calls": [_write_call(call) for call in turn.get("calls", [])] or None,
    })  # fmt: skip


def _write_part(part: Mapping[str, Any], pictures: PictureSource) -> Content:
    if "image" not in part:
        return ContentText(text=str(part["text"]))
    return pictures.show(str(part["image"]), part.get("patch"))


def _write_call(call: Mapping[str, Any]) -> ToolCall:
    """Return a tool call; arguments that are not a JSON object are kept as their text.

    So are those that a log cannot represent: NaN, infinity, lone surrogates, deep nesting.
    """
    arguments: object = None
    error = None
    try:
        parsed = parse_json(call["arguments"], "arguments", twins=True)
        json.dumps(parsed, allow_nan=False)  # 1e999 is parsed as infinity
        arguments = parsed
    except (FileFormatError, ValueError) as wrong:
        error = str(wrong).partition(";")[0]
    return ToolCall(
        id=str(call["id"]),
        function=str(call["name"]),
        arguments=arguments if isinstance(arguments, dict) else {"arguments": call["arguments"]},
        parse_error=error,
    )
