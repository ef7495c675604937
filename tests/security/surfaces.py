"""All that asks a server of others: the same attacks are tried on each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.asks import ask
from tests.models.apis import KEY_ENV, provider
from tests.models.batch.conftest import FAST

from model_server.handle import KEY
from omibench.errors import ModelError
from omibench.models.provider import Folders
from omibench.params.reevaluate import EndpointWatch
from omibench.schemas.request import Response
from omibench.stages.ocr.engines.mathpix import Client, read_image, read_pdf
from omibench.study.reevaluate.changes import post
from omibench.study.reevaluate.poll import list_models

ONE_BATCH = {"batch": True, "limits": {"attempts": 1}}


def ask_model(url: str, api: str, folder: Path | None = None, **block: Any) -> Response:
    """The response of a model behind an address."""
    model = provider(None, api, Folders(batches=folder), base_url=url, **block)
    model.poll_interval = FAST
    ((_, response),) = model.answer([ask("Problem")])
    return response


def list_models_of(url: str, api: str) -> object:
    block = {"provider": api, "base_url": url, "key_env": KEY_ENV}
    watch = {"kind": "endpoint", "match": ["*"], "model": block}
    return list_models("lab", EndpointWatch.model_validate(watch))


def open_mathpix(url: str, folder: Path) -> Client:
    return Client(url, "an-app-id", KEY, folder, pause=0.0)


SURFACES: dict[str, Callable[[str, Path], object]] = {
    "chat": lambda url, folder: ask_model(url, "chat").error,
    "messages": lambda url, folder: ask_model(url, "messages").error,
    "batch of openai": lambda url, folder: ask_model(url, "chat", folder, **ONE_BATCH).error,
    "batch of anthropic": lambda url, folder: ask_model(url, "messages", folder, **ONE_BATCH).error,
    "models of openai": lambda url, folder: list_models_of(url, "openai"),
    "models of anthropic": lambda url, folder: list_models_of(url, "anthropic"),
    "mathpix": lambda url, folder: read_pdf(open_mathpix(url, folder), b"%PDF-1.7", "abc"),
    "mathpix of a picture": lambda url, folder: read_image(
        open_mathpix(url, folder), b"png", "def"
    ),
    "webhook": lambda url, folder: post({"text": "news"}, "HOOK"),
}
"""Each by its name; it gets the address of the server, which is in `HOOK` as well."""


def find_error(surface: str, url: str, folder: Path) -> object:
    """What the user is told of the server's answer: the error raised, or that of the response."""
    try:
        return SURFACES[surface](url, folder)
    except ModelError as error:
        return error
