"""Replies without end, and bombs: a bounded part is read, for a bounded time."""

from __future__ import annotations

import gzip
import itertools
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.models.apis import KEY_ENV, anthropic_model, ask, openai_model
from tests.models.batch.conftest import FAST
from tests.security.hostile import Answer, Hostile, drip, drip_head, hostile

from model_server.handle import KEY
from omibench.errors import ModelError, PassingError
from omibench.models.anthropic.provider import AnthropicProvider
from omibench.models.api import batch_api
from omibench.models.api import http as bounds
from omibench.models.api.failures import Failure
from omibench.models.api.http import Gauge, call_with_timeout, size_text
from omibench.models.openai.provider import OpenAIProvider
from omibench.params.reevaluate import EndpointWatch
from omibench.schemas.request import Response
from omibench.stages.ocr.engines import mathpix
from omibench.stages.ocr.engines.mathpix import Client, read_image
from omibench.study.reevaluate import changes as webhook
from omibench.study.reevaluate import poll
from omibench.study.reevaluate.changes import post
from omibench.study.reevaluate.poll import list_models

JSON = {"content-type": "application/json"}
MOST = 2 * 2**20


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds of a few seconds and mebibytes, so that tests take no longer than they must."""
    monkeypatch.setenv(KEY_ENV, KEY)
    monkeypatch.setattr("omibench.models.api.http.MOST_REPLY", MOST)


def endless() -> Iterator[bytes]:
    yield b'{"choices": "'
    yield from itertools.repeat(b"x" * 2**16)


def bomb() -> bytes:
    """128 MiB in 130 kB: four times what may be held."""
    return gzip.compress(b" " * 2**27, 9)


def asked(server: Hostile, api: str, **block: object) -> Response:
    model = (
        AnthropicProvider("m", anthropic_model(base_url=server.url, **block))
        if api == "messages"
        else OpenAIProvider("m", openai_model(base_url=server.url, api=api, **block))
    )
    ((_, response),) = model.answer([ask("q")])
    return response


@pytest.mark.parametrize("api", ["chat", "responses", "messages"])
def test_an_endless_answer_is_cut_off(api: str) -> None:
    with hostile(lambda got: Answer(headers=JSON, pieces=endless())) as server:
        response = asked(server, api)
    assert response.outcome == "provider_error"
    assert "the reply is larger than 2 MiB and was cut off" in (response.error or "")
    assert len(server.got) == 1, "what is too long once is not asked for again"


@pytest.mark.parametrize("api", ["chat", "messages"])
def test_a_bomb_is_counted_as_it_unfolds(api: str) -> None:
    packed = JSON | {"content-encoding": "gzip"}
    data = bomb()
    with hostile(lambda got: Answer(headers=JSON, pieces=[b"{}"])) as server:
        # The client library is imported before memory is counted.
        asked(server, api, limits={"attempts": 1})
    tracemalloc.start()
    try:
        with hostile(lambda got: Answer(headers=packed, pieces=[data])) as server:
            response = asked(server, api)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "larger than 2 MiB" in (response.error or "")
    assert peak < 32 * 2**20


def test_an_endless_error_is_cut_off() -> None:
    with hostile(lambda got: Answer(400, JSON, endless())) as server:
        response = asked(server, "chat")
    assert "larger than 1 MiB" in (response.error or "")


def test_packed_answers_are_read() -> None:
    body = b'{"choices":[{"message":{"content":"7"},"finish_reason":"stop"}]}'
    packed = JSON | {"content-encoding": "gzip"}
    with hostile(lambda got: Answer(headers=packed, pieces=[gzip.compress(body)])) as server:
        assert asked(server, "chat").text == "7"
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
        response = asked(server, "chat", limits={"timeout_s": 0.3, "attempts": 1})
    assert "no answer within 0.3 s" in (response.error or "")
    assert time.monotonic() - begun < 20


def test_dripping_and_endless_replies_about_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_api, "CALL_S", 0.3)
    monkeypatch.setattr(batch_api, "TRANSFER_S", 0.3)
    cases = (
        (Answer(headers=JSON, pieces=drip(30)), "no complete reply within 0.3 s"),
        (Answer(0, {}, drip_head(30)), "no complete reply within 0.3 s"),
        (Answer(headers=JSON, pieces=endless()), "larger than 2 MiB"),
    )
    for n, (answer, words) in enumerate(cases):
        with hostile(lambda got, answer=answer: answer) as server:  # type: ignore[misc]
            block = openai_model(base_url=server.url, batch=True, limits={"attempts": 1})
            model = OpenAIProvider("m", block, tmp_path / str(n))
            model.poll_interval = FAST
            begun = time.monotonic()
            ((_, response),) = model.answer([ask("q")])
        assert words in (response.error or "")
        assert time.monotonic() - begun < 20


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_lists_of_models(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(poll, "CALL_S", 0.3)
    block = {"provider": provider, "key_env": KEY_ENV}
    for pieces, words in ((drip(30), "no complete reply within"), (endless(), "larger than")):
        with hostile(lambda got, body=pieces: Answer(headers=JSON, pieces=body)) as server:  # type: ignore[misc]
            watch = EndpointWatch.model_validate(
                {"kind": "endpoint", "match": ["*"], "model": block | {"base_url": server.url}}
            )
            with pytest.raises(ModelError, match=words):
                list_models("lab", watch)


def test_mathpix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mathpix, "_ATTEMPTS", 1)
    monkeypatch.setattr(mathpix, "MOST_REPLY", MOST)
    for pieces, words, most_s in (
        (drip(30), "no complete reply", 0.3),
        (endless(), "larger than 2 MiB", 30.0),
    ):
        monkeypatch.setattr(mathpix, "MOST_S", most_s)
        with hostile(lambda got, body=pieces: Answer(headers=JSON, pieces=body)) as server:  # type: ignore[misc]
            client = Client(server.url, "an-app", KEY, tmp_path, pause=0.0)
            with pytest.raises(ModelError, match=words):
                read_image(client, b"png", "abc")


def test_a_webhook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook, "MOST_S", 0.3)
    with hostile(lambda got: Answer(0, {}, drip_head(30))) as server:
        monkeypatch.setenv("HOOK", f"{server.url}/planted-path")
        with pytest.raises(PassingError, match="HOOK cannot be reached"):
            post({}, "HOOK")
    with hostile(lambda got: Answer(pieces=endless())) as server:
        monkeypatch.setenv("HOOK", server.url)
        assert post({}, "HOOK"), "what it says is not even read"
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
