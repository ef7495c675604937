"""A body holds every picture of its conversation, and makes its bytes only as they are sent."""

from __future__ import annotations

import asyncio
import hashlib
import json
from base64 import b64decode
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tests.asks import ask
from tests.models.apis import picture, provider

from omibench.errors import ImageCountError, ModelError
from omibench.models.api.replies import PictureCache, RequestBody, Show, assemble_body
from omibench.schemas.request import ImagePart, Request

OPENAI = provider(None, "chat")


def sent(body: RequestBody) -> bytes:
    async def collect() -> bytes:
        return b"".join([piece async for piece in body])

    return asyncio.run(collect())


def test_the_bytes_are_the_body(tmp_path: Path) -> None:
    images = [picture(tmp_path, f"{i}.png", size=100 + i) for i in range(3)]
    request = ask("öne <0>", images[0], images[1], "\ud800 two", images[0], images[2])
    pictures = PictureCache()

    def build(show: Show) -> dict[str, Any]:
        return OPENAI.build_body(OPENAI.model, [request], show)

    body = assemble_body(build, request, pictures)
    assert json.loads(sent(body)) == build(pictures.inline)
    assert sent(body) == body.read()
    assert len(sent(body)) == body.length == int(body.headers["content-length"])


def test_a_picture_too_few_or_in_the_wrong_place_is_never_sent(tmp_path: Path) -> None:
    a, b = picture(tmp_path, "a.png"), picture(tmp_path, "b.png")
    request = ask(a, "and", b)

    def build(kept: Request, show: Show) -> dict[str, Any]:
        return OPENAI.build_body(OPENAI.model, [kept], show)

    for other in (ask(a), ask(b, a), ask(a, b, b), ask("none")):
        with pytest.raises(ImageCountError, match="the conversation has 2 images"):
            assemble_body(lambda show, other=other: build(other, show), request, PictureCache())


def test_each_place_of_a_patch_is_another_picture(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    Image.new("RGB", (20, 10), "white").save(path)
    whole = ImagePart(sha256=hashlib.sha256(path.read_bytes()).hexdigest(), path=str(path))
    places = [(0, 0, 4), (10, 0, 4), (10, 0, 8)]
    pictures = PictureCache()
    for place in places * 2:
        data = b64decode(pictures.encode(whole.model_copy(update={"patch": place})))
        x, y, side = place
        with Image.open(BytesIO(data)) as image:
            black = image.convert("L").point(lambda value: 255 - value).getbbox()
        assert black == (x, y, x + side, y + side)
    assert b64decode(pictures.encode(whole)) == path.read_bytes()


def test_a_file_that_changed_is_never_sent(tmp_path: Path) -> None:
    image = picture(tmp_path, "a.png")
    request = ask(image)
    body = assemble_body(
        lambda show: OPENAI.build_body(OPENAI.model, [request], show), request, PictureCache()
    )
    path = Path(image.path)
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.raises(ModelError, match="differs from the dataset"):
        sent(body)


def test_the_cache_keeps_to_its_size(tmp_path: Path) -> None:
    images = [picture(tmp_path, f"{i}.png", size=3000) for i in range(5)]
    pictures = PictureCache(cache_bytes=9000)
    for image in [*images, images[-1]]:
        assert len(pictures.encode(image)) == 4 * ((pictures.size(image) + 2) // 3)
    assert pictures._held <= 9000
    assert list(pictures._encoded) == [image.sha256 for image in images[-2:]]
