"""Jobs that run at once: what they share is bought by the first, and found by the others."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from omibench.ask import Asker
from omibench.errors import StoreError
from omibench.infer.sharing import LOCKS, ask_shared
from omibench.models.provider import FREE, Gate
from omibench.request import Conversation, Message, Request, Response, Tags, TextPart
from omibench.store.liveness import hold
from omibench.store.store import Store

PATIENCE_S = 120


class Eyes:
    """A captioner that answers when it is let go."""

    simulated = True
    max_images = None
    identity: dict[str, Any] = {"provider": "simulated", "id": "eyes"}

    def __init__(self, begun: threading.Event, go: threading.Event) -> None:
        self.begun, self.go, self.asked = begun, go, 0

    def answer(
        self, requests: Sequence[Request], gate: Gate = FREE
    ) -> Iterator[tuple[Request, Response]]:
        self.begun.set()
        assert self.go.wait(PATIENCE_S)
        for request in requests:
            self.asked += 1
            yield request, Response(text="a cart")


def captions(count: int) -> list[Request]:
    return [
        Request(
            conversation=Conversation(
                messages=(Message(role="user", parts=(TextPart(text=f"describe {n}"),)),)
            ),
            tags=Tags(role="captioner", problem=f"p{n}"),
        )
        for n in range(count)
    ]


def job(folder: Path, eyes: Eyes) -> list[str]:
    """What a job of its own process does: its own view of the store."""
    with Store(folder) as store:
        told = ask_shared(Asker(eyes, store, None), captions(3))
    return [response.text for _, response in told]


def test_the_second_job_waits_and_buys_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go, waiting = threading.Event(), threading.Event(), threading.Event()
    first, second = Eyes(begun, go), Eyes(threading.Event(), go)

    def pause(_: float) -> None:
        waiting.set()
        go.wait(PATIENCE_S)

    monkeypatch.setattr("omibench.infer.sharing.sleep", pause)
    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(job, tmp_path, first)
        assert begun.wait(PATIENCE_S)
        other = pool.submit(job, tmp_path, second)
        assert waiting.wait(PATIENCE_S), "it has seen that somebody asks"
        go.set()
        assert one.result(PATIENCE_S) == other.result(PATIENCE_S) == ["a cart"] * 3
    assert (first.asked, second.asked) == (3, 0)


def test_what_is_in_the_store_is_waited_for_by_nobody(tmp_path: Path) -> None:
    go = threading.Event()
    go.set()
    job(tmp_path, Eyes(threading.Event(), go))
    (lock,) = (tmp_path / LOCKS).iterdir()
    with lock.open("a") as file:
        assert hold(file.fileno())
        again = Eyes(threading.Event(), go)
        assert job(tmp_path, again) == ["a cart"] * 3
    assert again.asked == 0


def test_a_store_without_room_for_locks_is_one_line(tmp_path: Path) -> None:
    (tmp_path / LOCKS).write_text("a file")
    with pytest.raises(StoreError, match=r"shared/.*: cannot be used"):
        job(tmp_path, Eyes(threading.Event(), threading.Event()))
