"""A disk that another program fills while requests are in flight: every paid answer is stored."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.asks import ask
from tests.models.apis import PRICE

from model_server.handle import KEY_ENV, ServerHandle
from omibench.errors import StoreError
from omibench.models.client.ask import open_asker
from omibench.params.study import parse_study
from omibench.schemas.request import Request

QUESTIONS, IN_FLIGHT = 300, 28
OTHERS = 1_500_000
"""Bytes that the other program writes for each answer of ours."""


class Disk:
    """A disk of which another program takes some for each line that the store writes."""

    def __init__(self, free: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.free = free
        self._usage, self._write = shutil.disk_usage, os.write
        monkeypatch.setattr("omibench.store.segments.shutil.disk_usage", self.usage)
        monkeypatch.setattr("omibench.store.segments.os.write", self.write)

    def usage(self, path: Path) -> Any:
        return self._usage(path)._replace(free=self.free)

    def write(self, file: int, data: bytes) -> int:
        if len(data) > 200:  # a line, not the byte that wakes a thread
            self.free = max(0, self.free - OTHERS)
            if self.free < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self._write(file, data)


@pytest.fixture(scope="module")
def server_config() -> dict[str, Any]:
    return {"latency_s": 0.05, "latency_sigma": 0.5}


def requests() -> list[Request]:
    texts = [f"Question {n:03}?" for n in range(QUESTIONS)]
    return [ask(text, problem=text) for text in texts]


@pytest.mark.parametrize(
    "budget", [{}, pytest.param({"budget_usd": 100.0}, marks=pytest.mark.slow)]
)
def test_sending_stops_while_the_answers_in_flight_still_fit(
    budget: dict[str, Any], server: ServerHandle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(250_000_000, monkeypatch)
    model = {"provider": "openai", "id": "stub-model", "base_url": server.openai_url}
    model |= {"key_env": KEY_ENV, "price": PRICE, "image_tokens": "openai-tiles"}
    model |= {"limits": {"concurrency": IN_FLIGHT}}
    study = {"name": "full", "store": str(tmp_path / "store"), **budget}
    values = parse_study({"study": study, "models": {"m": model}}, "test")
    said = r"MB free, but \d+ answers need .*, and the answers in flight were kept; then run again"
    with open_asker(values, "m") as asker, pytest.raises(StoreError, match=said):
        asker(requests())
    paid = server.stats(contents=False)["paid"]
    with open_asker(values, "m") as asker:
        kept = len(asker.store.open_partition(asker.provider.identity))
        assert kept == paid
        assert IN_FLIGHT < kept < QUESTIONS
        assert disk.free > 10_000_000, "it was noticed too late"
        with pytest.raises(StoreError, match="Nothing was sent"):
            asker(requests())
        disk.free = 10**12
        asker(requests())
    assert server.stats(contents=False)["paid"] == QUESTIONS
