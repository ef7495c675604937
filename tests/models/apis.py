"""Pictures, requests and models for tests against the local server of both APIs."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from model_server.handle import KEY_ENV, ServerHandle
from omibench.models.anthropic import AnthropicProvider
from omibench.models.api.provider import ApiProvider
from omibench.models.api.replies import PicturePayload
from omibench.models.openai import OpenAIProvider
from omibench.models.provider import NO_FOLDERS, Folders
from omibench.params.models.providers import AnthropicModel, OpenAIModel
from omibench.schemas.request import (
    ImagePart,
    Request,
    Response,
)

PNG = b"\x89PNG\r\n\x1a\n"
JPEG = b"\xff\xd8\xff\xe0"
APIS = ("chat", "responses", "messages")
every_api = pytest.mark.parametrize("api", APIS)
PRICE = {"input": 2.0, "output": 10.0, "cached_input": 0.5, "as_of": "2026-11-01"}


def picture(folder: Path, name: str, size: int = 200, head: bytes = PNG) -> ImagePart:
    """A file that begins like a picture."""
    data = head + hashlib.sha256(name.encode()).digest() * (size // 32)
    path = folder / name
    path.write_bytes(data)
    return ImagePart(sha256=hashlib.sha256(data).hexdigest(), path=str(path))


def openai_model(server: ServerHandle | None = None, **block: Any) -> OpenAIModel:
    """A block of the `openai` provider."""
    return OpenAIModel.model_validate(
        {"provider": "openai", "id": "stub-model", "key_env": KEY_ENV}
        | ({"base_url": server.openai_url} if server else {})
        | block
    )


def anthropic_model(server: ServerHandle | None = None, **block: Any) -> AnthropicModel:
    """A block of the `anthropic` provider."""
    return AnthropicModel.model_validate(
        {"provider": "anthropic", "id": "stub-model", "key_env": KEY_ENV}
        | ({"base_url": server.anthropic_url} if server else {})
        | block
    )


def provider(
    server: ServerHandle | None, api: str, folders: Folders = NO_FOLDERS, **block: Any
) -> ApiProvider[Any]:
    """A provider for `chat`, `responses` or `messages` at the server."""
    if api == "messages":
        return AnthropicProvider("m", anthropic_model(server, **block), folders)
    return OpenAIProvider("m", openai_model(server, api=api, **block), folders)


def show(image: ImagePart) -> PicturePayload:
    """A picture by its hash."""
    return PicturePayload("image/png", image.sha256)


def write_body(api: str, *requests: Request, **block: Any) -> dict[str, Any]:
    """The body of samples of one conversation."""
    made = provider(None, api, **block)
    return made.build_body(made.model, requests, show)


def read(
    api: str, reply: object, samples: int = 1, *, by_batch: bool = False, **block: Any
) -> list[Response]:
    """The responses in a reply."""
    return provider(None, api, **block).read_reply(reply, samples, batch=by_batch)
