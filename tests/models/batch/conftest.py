"""A server of both batch APIs, and providers that ask it through batches."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.models.apis import PRICE, provider

from model_server.handle import ServerHandle
from omibench.models.anthropic import AnthropicBatches
from omibench.models.api.batch_run import PollInterval
from omibench.models.api.provider import ApiProvider
from omibench.models.openai import OpenAIBatches
from omibench.models.provider import Folders

FAST = PollInterval(first_s=0.02, growth=1.2, most_s=0.1, look_again_s=(0.0, 0.05))
SHAPES = {kind: kind.shape for kind in (AnthropicBatches, OpenAIBatches)}
Make = Callable[..., ApiProvider[Any]]


@pytest.fixture
def make(server: ServerHandle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Make a provider, as every new process does; `lines` and `size` limit a batch."""

    def made(api: str, lines: int = 1000, size: int = 10**7, **block: Any) -> ApiProvider[Any]:
        block = {"batch": True, "price": PRICE, "limits": {"timeout_s": 5, "attempts": 3}} | block
        kind = AnthropicBatches if api == "messages" else OpenAIBatches
        small = SHAPES[kind]._replace(most_lines=lines, most_bytes=size)
        monkeypatch.setattr(kind, "shape", small)
        made_up = provider(server, api, Folders(batches=tmp_path / "batches"), **block)
        made_up.poll_interval = FAST
        return made_up

    return made


def batches(server: ServerHandle) -> list[dict[str, Any]]:
    """Every batch that the server ever made."""
    found: list[dict[str, Any]] = server.stats()["batches"]
    return found


def bought(server: ServerHandle) -> dict[str, int]:
    """How often the answer to each text was paid."""
    return {entry["text"]: entry["paid"] for entry in server.stats()["contents"].values()}


def notes(tmp_path: Path) -> list[Path]:
    """What is on the desks."""
    return [p for p in (tmp_path / "batches").rglob("*") if p.is_file() and p.name != ".lock"]
