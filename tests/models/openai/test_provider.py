"""Providers against a server of both APIs that behaves, and misbehaves in one way at a time."""

from __future__ import annotations

import logging
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.asks import answers, ask
from tests.models.apis import APIS, JPEG, KEY_ENV, PRICE, every_api, openai_model, picture, provider
from tests.models.traffic.simulated import Books

from model_server.handle import ServerHandle
from omibench.errors import ImageCountError, MissingInputError, ModelError
from omibench.models.openai import OpenAIProvider
from omibench.schemas.request import ImagePart


def meet(server: ServerHandle, *faults: str | dict[str, Any]) -> None:
    """Let the first attempts at "q" meet these faults."""
    server.configure(script=[{"match": "q", "steps": faults}])


def seen(server: ServerHandle) -> list[dict[str, Any]]:
    return list(server.stats()["contents"].values())


@every_api
def test_an_answer_with_all_that_is_known_of_it(
    server: ServerHandle, api: str, tmp_path: Path
) -> None:
    a, b = picture(tmp_path, "a.png"), picture(tmp_path, "b.jpg", head=JPEG)
    server.configure(replies={"and": "It is \\boxed{7}."}, cached_fraction=0.5)
    model = provider(server, api, price=PRICE)
    (response,) = answers(model, ask(a, "and", b, a))
    assert (response.text, response.outcome) == ("It is \\boxed{7}.", "answered")
    assert response.usage.input_tokens == 769
    assert response.usage.cached_tokens == 384
    assert response.cost_usd == pytest.approx((385 * 2 + 384 * 0.5 + 4 * 10) / 1e6)
    assert response.latency_s is not None
    assert response.provider_id
    (content,) = seen(server)
    assert content["images"] == [a.sha256, b.sha256, a.sha256]


ENDS = {
    **dict.fromkeys(("rate_limit", "server_error", "unavailable", "overloaded"), "given back"),
    **dict.fromkeys(("reset", "reset_mid", "truncated_json", "malformed_json"), "unknown"),
    "broken_off": "paid",
}
"""What becomes of the reservation of an attempt that meets a fault."""


@every_api
@pytest.mark.parametrize("kind", ENDS)
def test_a_failed_attempt_is_settled_and_made_again(
    server: ServerHandle, api: str, kind: str
) -> None:
    meet(server, kind, kind)
    books = Books()
    ((_, response),) = provider(server, api, price=PRICE).answer([ask("q")], books)
    assert response.outcome == "answered"
    assert seen(server)[0]["outcomes"] == {kind: 2, "ok": 1}
    assert books.ends == Counter([ENDS[kind], ENDS[kind], "paid"])


@every_api
@pytest.mark.parametrize("kind", ["hang", "hang_mid"])
def test_a_hang_ends_after_the_timeout(server: ServerHandle, api: str, kind: str) -> None:
    meet(server, kind)
    begun = time.monotonic()
    (response,) = answers(provider(server, api, limits={"timeout_s": 0.5}), ask("q"))
    assert response.outcome == "answered"
    assert 0.5 <= time.monotonic() - begun < 60


@pytest.mark.parametrize("api", ["chat", "messages"])
def test_an_endpoint_is_left_alone_as_long_as_it_asks(server: ServerHandle, api: str) -> None:
    meet(server, {"kind": "rate_limit", "retry_after_s": 0.8})
    begun = time.monotonic()
    (response,) = answers(provider(server, api), ask("q"))
    assert response.outcome == "answered"
    assert 0.8 <= time.monotonic() - begun < 60


@every_api
def test_a_content_filter_refuses(server: ServerHandle, api: str) -> None:
    meet(server, "content_filter")
    (response,) = answers(provider(server, api), ask("q"), budget=(books := Books()))
    assert (response.outcome, response.text) == ("refused", "")
    assert books.ends == {"unknown": 1}, "without a price the cost is unknown"


@every_api
def test_another_model_is_marked_and_told_once(
    server: ServerHandle, api: str, caplog: pytest.LogCaptureFixture
) -> None:
    server.configure(faults={"wrong_model": 1.0})
    with caplog.at_level(logging.WARNING, logger="omibench"):
        found = answers(provider(server, api), ask("q1"), ask("q2"))
    assert {(r.outcome, r.served_model) for r in found} == {("answered", "another-model")}
    (record,) = caplog.records
    assert "requested 'stub-model', but the endpoint reports 'another-model'" in record.getMessage()


@every_api
def test_max_tokens_truncate(server: ServerHandle, api: str) -> None:
    (response,) = answers(provider(server, api), ask("q", max_tokens=2))
    assert (response.outcome, response.text) == ("truncated", "The answ"[: len(response.text)])


@pytest.mark.parametrize("api", ["responses", "messages"])
def test_reasoning_is_an_item_of_its_own(server: ServerHandle, api: str) -> None:
    reply = {"text": "42", "reasoning": "hm"}
    server.configure(replies={"q": reply}, reasoning_field="reasoning")
    thinking = {"thinking": "adaptive"} if api == "messages" else {}
    (response,) = answers(provider(server, api, **thinking), ask("q"))
    assert (response.text, response.reasoning) == ("42", "hm")
    assert response.usage.reasoning_tokens == 1


def test_samples_in_one_request_where_the_endpoint_takes_them(server: ServerHandle) -> None:
    server.configure(replies={"q": ["a", "b", "c", "d"]})
    requests = [ask("q", index=i, temperature=0.6, samples=4) for i in range(4)]
    model = provider(server, "chat", can={"samples": True})
    assert [r.text for r in answers(model, *requests)] == ["a", "b", "c", "d"]
    assert server.stats()["requests"] == 1
    plain = provider(server, "chat", can={"seed": True})
    answers(plain, *requests)
    assert server.stats()["requests"] == 5
    assert server.stats()["distinct"] == 5, "each sample has a seed of its own"


def test_missing_samples_are_asked_for_again(server: ServerHandle) -> None:
    server.configure(opening=["fewer_choices"])
    model = provider(server, "chat", can={"samples": True})
    found = answers(model, *[ask("q", index=i, temperature=0.6) for i in range(3)])
    assert {r.outcome for r in found} == {"answered"}
    assert [c["n"] for c in seen(server)] == [3, 1]


def test_an_empty_account_ends_the_run(server: ServerHandle) -> None:
    server.configure(faults={"quota": 1.0})
    for api in ("chat", "messages"):
        with pytest.raises(ModelError, match="rejects every request"):
            answers(provider(server, api), *[ask(f"q{i}") for i in range(200)])
    assert server.stats()["requests"] <= 4 * 32


@pytest.mark.usefixtures("key")
def test_a_server_that_is_not_there() -> None:
    limits = {"attempts": 2, "outage_s": 0.2}
    block = openai_model(id="not-there", base_url="http://127.0.0.1:9/v1", limits=limits)
    books = Books()
    with pytest.raises(ModelError, match=r"has not answered once .* nothing listens there"):
        list(OpenAIProvider("gone", block).answer([ask("q")], books))
    assert (set(books.ends), books.open) == ({"given back"}, set())


def test_nothing_is_sent_before_all_is_checked(
    server: ServerHandle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = picture(tmp_path, "a.png"), picture(tmp_path, "b.png", size=90_000)
    page = tmp_path / "c.pdf"
    page.write_bytes(b"%PDF-1.7 not a picture")
    odd, gone = ImagePart(sha256="c", path=str(page)), ImagePart(sha256="d", path="no.png")
    cases: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
        (ask(a, b), {"can": {"images": 1}}, ImageCountError, "has 2 images"),
        (ask(b), {"can": {"image_mb": 0.05}}, ModelError, "b.png has 0.09 MB"),
        (ask(odd), {}, ModelError, "is not a PNG, JPEG, GIF or WebP"),
        (ask(gone), {}, MissingInputError, "no.png"),
        (ask("q", top_p=0.9), {"can": {"temperature": False}}, ModelError, "top_p is set"),
    ]
    for request, block, error, words in cases:
        for api in APIS:
            with pytest.raises(error, match=words):
                answers(provider(server, api, **block), ask("fine"), request)
    with pytest.raises(ModelError, match=r"Anthropic API .* does not accept it"):
        answers(provider(server, "messages"), ask("q", top_p=0.5))
    monkeypatch.delenv(KEY_ENV)
    monkeypatch.delenv("OMIBENCH_KEYS", raising=False)
    with pytest.raises(ModelError, match=f"the key {KEY_ENV} is missing"):
        answers(provider(server, "chat"), ask("q"))
    assert server.stats()["requests"] == server.stats()["rejected"] == 0
