"""A server of the models' APIs, and the key that it must never show."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.models.apis import KEY_ENV

from model_server.handle import ServerHandle, running_server

KEY = "planted-key-0123456789"


@pytest.fixture(scope="package")
def process() -> Iterator[ServerHandle]:
    with running_server() as handle:
        yield handle


@pytest.fixture
def server(process: ServerHandle, monkeypatch: pytest.MonkeyPatch) -> ServerHandle:
    process.reset()
    monkeypatch.setenv(KEY_ENV, KEY)
    return process
