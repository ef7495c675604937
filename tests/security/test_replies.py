"""Replies without end, and bombs: a bounded part is read, for a bounded time."""

from __future__ import annotations

import gzip
import itertools
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.models.apis import KEY_ENV
from tests.security.hostile import Answer, drip, drip_head, hostile
from tests.security.surfaces import ask_model, find_error

from model_server.handle import KEY
from omibench.errors import PassingError
from omibench.models.api import http as bounds
from omibench.models.api.failures import Failure
from omibench.models.api.http import Gauge, call_with_timeout, size_text
from omibench.stages.ocr.engines import mathpix
from omibench.study.reevaluate.changes import post

JSON = {"content-type": "application/json"}
MOST = 2 * 2**20


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds of a few seconds and mebibytes, so that tests take no longer than they must."""
    monkeypatch.setenv(KEY_ENV, KEY)
    monkeypatch.setattr("omibench.models.api.http.MOST_REPLY", MOST)


def endless(seconds: float = 0.0) -> Iterator[bytes]:
    yield b'{"choices": "'
    yield from itertools.repeat(b"x" * 2**16)


def bomb() -> bytes:
    """128 MiB in 130 kB: four times what may be held."""
    return gzip.compress(b" " * 2**27, 9)


@pytest.mark.parametrize("api", ["chat", "responses", "messages"])
def test_an_endless_answer_is_cut_off(api: str) -> None:
    with hostile(lambda got: Answer(headers=JSON, pieces=endless())) as server:
        response = ask_model(server.url, api)
    assert response.outcome == "provider_error"
    assert "the reply is larger than 2 MiB and was cut off" in (response.error or "")
    assert len(server.got) == 1, "what is too long once is not asked for again"


@pytest.mark.parametrize("api", ["chat", "messages"])
def test_a_bomb_is_counted_as_it_unfolds(api: str) -> None:
    packed = JSON | {"content-encoding": "gzip"}
    data = bomb()
    with hostile(lambda got: Answer(headers=JSON, pieces=[b"{}"])) as server:
        # The client library is imported before memory is counted.
        ask_model(server.url, api, limits={"attempts": 1})
    tracemalloc.start()
    try:
        with hostile(lambda got: Answer(headers=packed, pieces=[data])) as server:
            response = ask_model(server.url, api)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "larger than 2 MiB" in (response.error or "")
    assert peak < 32 * 2**20


def test_an_endless_error_is_cut_off() -> None:
    with hostile(lambda got: Answer(400, JSON, endless())) as server:
        response = ask_model(server.url, "chat")
    assert "larger than 1 MiB" in (response.error or "")


def test_packed_answers_are_read() -> None:
    body = b'{"choices":[{"message":{"content":"7"},"finish_reason":"stop"}]}'
    packed = JSON | {"content-encoding": "gzip"}
    with hostile(lambda got: Answer(headers=packed, pieces=[gzip.compress(body)])) as server:
        assert ask_model(server.url, "chat").text == "7"
    assert "accept-encoding: gzip, deflate\n" in server.got[0].head.lower()


def test_a_form_that_nobody_asked_for_is_refused() -> None:
    with pytest.raises(Failure, match="not requested"):
        Gauge("br", MOST, 1.0)
    with pytest.raises(Failure, match="not requested"):
        Gauge("gzip, gzip", MOST, 1.0)
    with pytest.raises(Failure, match="cannot be decompressed"):
        list(Gauge("gzip", MOST, 1.0).pieces(b"no gzip"))


def test_a_dripping_answer_ends_with_its_attempt() -> None:
    with hostile(lambda got: Answer(headers=JSON, pieces=drip(30))) as server:
        begun = time.monotonic()
        response = ask_model(server.url, "chat", limits={"timeout_s": 0.3, "attempts": 1})
    assert "no answer within 0.3 s" in (response.error or "")
    assert time.monotonic() - begun < 20


SECONDS = {
    "batch of openai": ("omibench.models.api.batch_api.CALL_S",
                        "omibench.models.api.batch_api.TRANSFER_S"),
    "models of openai": ("omibench.study.reevaluate.poll.CALL_S",),
    "models of anthropic": ("omibench.study.reevaluate.poll.CALL_S",),
    "mathpix of a picture": ("omibench.stages.ocr.engines.mathpix.MOST_S",),
    "webhook": ("omibench.study.reevaluate.changes.MOST_S",),
}  # fmt: skip
"""Where each surface has its bounds of time."""


@pytest.mark.parametrize(
    ("surface", "body", "words"),
    [
        ("batch of openai", drip, "no complete reply within 0.3 s"),
        ("batch of openai", drip_head, "no complete reply within 0.3 s"),
        ("batch of openai", endless, "larger than 2 MiB"),
        ("models of openai", drip, "no complete reply within"),
        ("models of openai", endless, "larger than"),
        ("models of anthropic", drip, "no complete reply within"),
        ("models of anthropic", endless, "larger than"),
        ("mathpix of a picture", drip, "no complete reply"),
        ("mathpix of a picture", endless, "larger than 2 MiB"),
        ("webhook", drip_head, "HOOK cannot be reached"),
    ],
)
def test_a_dripping_or_endless_reply_is_given_up(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    surface: str,
    body: Callable[[float], Iterator[bytes]],
    words: str,
) -> None:
    monkeypatch.setattr(mathpix, "_ATTEMPTS", 1)
    monkeypatch.setattr(mathpix, "MOST_REPLY", MOST)
    for bound in SECONDS[surface] if body is not endless else ():
        monkeypatch.setattr(bound, 0.3)
    status = 0 if body is drip_head else 200
    with hostile(lambda got: Answer(status, JSON, body(30))) as server:
        monkeypatch.setenv("HOOK", f"{server.url}/planted-path")
        begun = time.monotonic()
        error = find_error(surface, server.url, tmp_path)
    assert words in str(error)
    if surface == "webhook":
        assert isinstance(error, PassingError), "news are sent again later"
    assert time.monotonic() - begun < 20


def test_what_a_webhook_says_is_not_even_read(monkeypatch: pytest.MonkeyPatch) -> None:
    with hostile(lambda got: Answer(pieces=endless())) as server:
        monkeypatch.setenv("HOOK", server.url)
        assert post({}, "HOOK")
    assert server.sent < 64 * 2**20


def test_results_of_batches_are_read_line_by_bounded_line(monkeypatch: pytest.MonkeyPatch) -> None:
    from io import BytesIO

    from omibench.models.api import batch_run as run

    monkeypatch.setattr(run, "MOST_REPLY", 100)
    lines = b'{"custom_id":"a"}\n' + b'{"x":"' + b"y" * 250 + b'"}\n{"custom_id":"b"}\n'
    rows = list(run.read_rows(BytesIO(lines)))
    assert [row for row in rows if row] == [{"custom_id": "a"}, {"custom_id": "b"}]
    assert None in rows


def test_a_call_that_ends_in_time_gives_what_it_gives() -> None:
    assert call_with_timeout(5.0, lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        call_with_timeout(5.0, lambda: 1 // 0)
    with pytest.raises(Failure, match=r"no complete reply within 0\.05 s"):
        call_with_timeout(0.05, lambda: time.sleep(2))


def test_sizes_are_said_in_units() -> None:
    assert [size_text(n) for n in (5, 2048, bounds.MOST_ERROR, bounds.MOST_RESULTS)] == [
        "5 bytes", "2 KiB", "1 MiB", "16 GiB",
    ]  # fmt: skip
