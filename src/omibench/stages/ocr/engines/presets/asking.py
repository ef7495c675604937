"""What the presets of document readers share: requests, and pictures made of a page's."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from omibench.schemas.request import (
    Conversation,
    Decoding,
    ImagePart,
    Message,
    Part,
    Request,
    Response,
    Tags,
    TextPart,
)
from omibench.stages.ocr.engines.recorded import ReadPage

if TYPE_CHECKING:
    from PIL.Image import Image

Ask = Callable[[Sequence[Request]], list[Response]]
"""Asks a model through the store; the responses come in the order of the requests."""


class PresetPage(NamedTuple):
    """A page to read: a name for it (`SOURCE#p2`), its picture, and its size in pixels."""

    name: str
    image: ImagePart
    width: int
    height: int


class PageJob(NamedTuple):
    """Who is asked for pages, and what the requests need beside a page's picture."""

    ask: Ask
    folder: Path
    """Where pictures are kept that are made of a page's."""
    study: str = ""
    prompts: Mapping[str, str] = {}
    """Files that take the place of prompts, by their names."""


ReadPages = Callable[[Sequence[PresetPage], PageJob], list[ReadPage | None]]
"""Reads pages; None for one that was not answered whole."""


def build_request(
    page: PresetPage, parts: Sequence[Part], job: PageJob, decoding: Decoding, system: str = ""
) -> Request:
    """A request of a page reader.

    Args:
        page: The page that it is about.
        parts: What is sent, pictures and words in their order.
        job: The study that asks.
        decoding: How the reply is decoded.
        system: The system message; empty for none.
    """
    head = (Message(role="system", parts=(TextPart(text=system),)),) if system else ()
    return Request(
        conversation=Conversation(messages=(*head, Message(role="user", parts=tuple(parts)))),
        decoding=decoding,
        tags=Tags(role="page_reader", problem=page.name, study=job.study),
    )


def open_picture(page: PresetPage) -> Image:
    """The pixels of a page in RGB."""
    from PIL import Image

    with Image.open(page.image.path, formats=("PNG",)) as file:
        return file.convert("RGB")


def keep_picture(picture: Image, job: PageJob) -> ImagePart:
    """A picture as a PNG in the job's folder, named by its SHA-256."""
    stream = io.BytesIO()
    picture.save(stream, "PNG")
    data = stream.getvalue()
    digest = hashlib.sha256(data).hexdigest()
    path = job.folder / f"{digest}.png"
    path.write_bytes(data)
    return ImagePart(sha256=digest, path=str(path))


def turn_clockwise(picture: Image, degrees: int) -> Image:
    """A picture turned by a multiple of 90 degrees; nothing is resampled."""
    from PIL.Image import Transpose

    turns = {90: Transpose.ROTATE_270, 180: Transpose.ROTATE_180, 270: Transpose.ROTATE_90}
    return picture.transpose(turns[degrees]) if degrees in turns else picture
