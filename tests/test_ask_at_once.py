"""Processes that ask at once: what one is buying the others wait for, and find in the store."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests import asks
from tests.store.network_disk import lock_as_nfs

from omibench.models.client.ask import ask
from omibench.models.provider import NO_BUDGET, Budget
from omibench.schemas.request import Request, Response
from omibench.store.store import CLAIMS, Store, claim, partition_name

PATIENCE_S = 120


class Slow:
    """A model that answers when it is let go, and may fail."""

    simulated = True
    max_images = None
    identity: dict[str, Any] = {"provider": "simulated", "id": "slow"}

    def __init__(self, go: threading.Event, response: Response | None = None) -> None:
        self.go, self.response = go, response or Response(text="a cart")
        self.begun, self.asked = threading.Event(), 0

    def answer(
        self, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        self.begun.set()
        assert self.go.wait(PATIENCE_S)
        for request in requests:
            self.asked += 1
            yield request, self.response


def samples(count: int, text: str = "which?") -> list[Request]:
    return [asks.ask(text, index=index) for index in range(count)]


def job(folder: Path, model: Slow, requests: Sequence[Request]) -> list[str]:
    """What a job of its own process does: its own view of the store."""
    with Store(folder) as store:
        return [response.text for response in ask(requests, model, store)]


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set once somebody waits for others."""
    event, pause = threading.Event(), threading.Event()

    def wait(_: float) -> None:
        event.set()
        pause.wait(0.01)

    monkeypatch.setattr("omibench.models.client.ask.pause", wait)
    return event


@pytest.mark.parametrize(("first", "second"), [(3, 3), (8, 4), (4, 8)])
def test_samples_that_two_settings_share_are_bought_once(
    tmp_path: Path, waiting: threading.Event, first: int, second: int
) -> None:
    go = threading.Event()
    one, other = Slow(go), Slow(go)
    with ThreadPoolExecutor(2) as pool:
        early = pool.submit(job, tmp_path, one, samples(first))
        assert one.begun.wait(PATIENCE_S)
        late = pool.submit(job, tmp_path, other, samples(second))
        # The larger number of samples asks for those that nobody asks, before it waits.
        assert (waiting if second <= first else other.begun).wait(PATIENCE_S)
        go.set()
        assert early.result(PATIENCE_S) == ["a cart"] * first
        assert late.result(PATIENCE_S) == ["a cart"] * second
    assert (one.asked, other.asked) == (first, max(0, second - first))


def test_on_a_network_disk_too_each_is_bought_once(
    tmp_path: Path, waiting: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NFS locks nothing through a descriptor that only reads: 120 were paid for 60."""
    lock_as_nfs(monkeypatch)
    go = threading.Event()
    one, other = Slow(go), Slow(go)
    with ThreadPoolExecutor(2) as pool:
        early = pool.submit(job, tmp_path, one, samples(60))
        assert one.begun.wait(PATIENCE_S)
        late = pool.submit(job, tmp_path, other, samples(60))
        while not (waiting.is_set() or other.begun.is_set()):
            waiting.wait(0.01)
        go.set()
        assert early.result(PATIENCE_S) == late.result(PATIENCE_S) == ["a cart"] * 60
    assert (one.asked, other.asked) == (60, 0)


def test_what_the_first_does_not_get_the_second_asks(
    tmp_path: Path, waiting: threading.Event
) -> None:
    go = threading.Event()
    one, other = Slow(go, Response(text="", outcome="provider_error", error="503")), Slow(go)
    with ThreadPoolExecutor(2) as pool:
        early = pool.submit(job, tmp_path, one, samples(2))
        assert one.begun.wait(PATIENCE_S)
        late = pool.submit(job, tmp_path, other, samples(2))
        assert waiting.wait(PATIENCE_S)
        go.set()
        early.result(PATIENCE_S)
        assert late.result(PATIENCE_S) == ["a cart"] * 2
    assert other.asked == 2


def test_what_is_in_the_store_is_waited_for_by_nobody(tmp_path: Path) -> None:
    go = threading.Event()
    go.set()
    job(tmp_path, Slow(go), samples(3))
    with Store(tmp_path) as store:
        partition = store.open_partition(Slow.identity)
        keys = {partition.key(request) for request in samples(3)}
    with claim(tmp_path / CLAIMS / partition_name(Slow.identity), keys):
        again = Slow(go)
        assert job(tmp_path, again, samples(3)) == ["a cart"] * 3
    assert again.asked == 0
