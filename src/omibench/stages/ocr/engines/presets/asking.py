"""Shared parts of presets: requests, and pictures derived from a page's."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from omibench.prompts.catalogue import PromptEntry
from omibench.prompts.wording import Wording, read_wording
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
"""Sends requests through the store; the responses have the order of the requests."""


class PresetPage(NamedTuple):
    """A page to read: its name (`SOURCE#p2`), picture, and size in pixels."""

    name: str
    image: ImagePart
    width: int
    height: int


class PageJob(NamedTuple):
    """The model that reads pages, and further inputs of the requests."""

    ask: Ask
    folder: Path
    """The folder of pictures derived from a page's."""
    study: str = ""
    prompts: Mapping[str, str] = {}
    """Files that replace prompts, by their names."""

    def choose_wording(self, prompt: PromptEntry) -> Wording:
        """Return the wording of a prompt: that of its file, or else the built-in one.

        Raises:
            ParamsError: The file cannot be read or is invalid.
        """
        file = self.prompts.get(prompt.name)
        return read_wording(file, prompt) if file else Wording("", prompt.text)


ReadPages = Callable[[Sequence[PresetPage], PageJob], list[ReadPage | None]]
"""Reads pages; None for one without a complete answer."""


def build_request(
    page: PresetPage, parts: Sequence[Part], job: PageJob, decoding: Decoding, system: str = ""
) -> Request:
    """Return a request of a page reader.

    Args:
        page: Page to read.
        parts: Pictures and text to send, in order.
        job: Job with study and model.
        decoding: Decoding parameters.
        system: System message; empty for none.
    """
    head = (Message(role="system", parts=(TextPart(text=system),)),) if system else ()
    return Request(
        conversation=Conversation(messages=(*head, Message(role="user", parts=tuple(parts)))),
        decoding=decoding,
        tags=Tags(role="page_reader", problem=page.name, study=job.study),
    )


def open_picture(page: PresetPage) -> Image:
    """Return the RGB pixels of a page."""
    from PIL import Image

    with Image.open(page.image.path, formats=("PNG",)) as file:
        return file.convert("RGB")


def keep_picture(picture: Image, job: PageJob) -> ImagePart:
    """Save a picture as PNG in the job's folder, named by its SHA-256."""
    stream = io.BytesIO()
    picture.save(stream, "PNG")
    data = stream.getvalue()
    digest = hashlib.sha256(data).hexdigest()
    path = job.folder / f"{digest}.png"
    path.write_bytes(data)
    return ImagePart(sha256=digest, path=str(path))


def turn_clockwise(picture: Image, degrees: int) -> Image:
    """Return a picture turned by a multiple of 90 degrees, without resampling."""
    from PIL.Image import Transpose

    turns = {90: Transpose.ROTATE_270, 180: Transpose.ROTATE_180, 270: Transpose.ROTATE_90}
    return picture.transpose(turns[degrees]) if degrees in turns else picture
