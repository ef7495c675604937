"""Pages to show to document readers, and a model that answers from a script."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

from PIL import Image

from omibench.schemas.request import ImagePart, Request, Response
from omibench.stages.ocr.engines.page_models import PageJob, PresetPage


def draw_page(folder: Path, width: int = 800, height: int = 1000) -> PresetPage:
    """A white page with a black corner, so that its turns can be told apart."""
    picture = Image.new("RGB", (width, height), "white")
    picture.paste("black", (0, 0, width // 4, height // 10))
    path = folder / f"page-{width}-{height}.png"
    picture.save(path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return PresetPage("paper#p1", ImagePart(sha256=digest, path=str(path)), width, height)


class ScriptedModel:
    """Answers each request by the last words of its prompt; it notes what it was asked."""

    def __init__(self, answer: Callable[[str, int], str | Response]) -> None:
        self.answer = answer
        self.requests: list[Request] = []

    def __call__(self, requests: Sequence[Request]) -> list[Response]:
        replies = []
        for request in requests:
            words = request.conversation.text
            count = sum(r.conversation.text == words for r in self.requests)
            self.requests.append(request)
            reply = self.answer(words, count)
            replies.append(Response(text=reply) if isinstance(reply, str) else reply)
        return replies

    def sizes(self) -> list[tuple[int, int]]:
        """Sizes of the pictures that it was shown."""
        paths = [image.path for r in self.requests for image in r.conversation.images]
        return [Image.open(path).size for path in paths]


def build_job(model: ScriptedModel, folder: Path) -> PageJob:
    """A job that asks the model."""
    return PageJob(model, folder)
