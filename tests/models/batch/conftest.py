"""A server of both batch APIs, and providers that ask it through batches."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.models.apis import PRICE, anthropic_model, openai_model

from model_server.handle import ServerHandle
from omibench.models.anthropic import batch as anthropic_batch
from omibench.models.batch.provider import BatchProvider
from omibench.models.batch.submit import PollInterval
from omibench.models.openai import batch as openai_batch

FAST = PollInterval(first_s=0.02, growth=1.2, most_s=0.1, look_again_s=(0.0, 0.05))
APIS = ("chat", "responses", "messages")
every_api = pytest.mark.parametrize("api", APIS)
Make = Callable[..., BatchProvider]


@pytest.fixture
def make(server: ServerHandle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Make a provider, as every new process does; `lines` and `size` limit a batch."""

    def made(api: str, lines: int = 1000, size: int = 10**7, **block: Any) -> BatchProvider:
        block = {"batch": True, "price": PRICE, "limits": {"timeout_s": 5, "attempts": 3}} | block
        module = anthropic_batch if api == "messages" else openai_batch
        small = module.LIMITS._replace(most_lines=lines, most_bytes=size)
        sdk = anthropic_batch.AnthropicBatches, openai_batch.OpenAIBatches
        for kind in sdk:
            if kind.__module__ == module.__name__:
                monkeypatch.setattr(kind, "shape", small)
        provider: BatchProvider
        if api == "messages":
            provider = anthropic_batch.AnthropicBatchProvider(
                "claude", anthropic_model(server, **block), tmp_path / "batches"
            )
        else:
            provider = openai_batch.OpenAIBatchProvider(
                "gpt", openai_model(server, api=api, **block), tmp_path / "batches"
            )
        provider.pace = FAST
        return provider

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
