"""Answers that come through batches are those that the endpoint gives directly, at half price."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.asks import answers, ask
from tests.models.apis import JPEG, PRICE, every_api, picture, provider
from tests.models.batch.conftest import Make, batches, bought, notes
from tests.models.traffic.simulated import Books

from model_server.handle import ServerHandle
from omibench.errors import ImageCountError, ModelError
from omibench.models.provider import NO_FOLDERS


@every_api
def test_the_answer_of_the_endpoint_at_half_its_price(
    server: ServerHandle, make: Make, api: str, tmp_path: Path
) -> None:
    a, b = picture(tmp_path, "a.png"), picture(tmp_path, "b.jpg", head=JPEG)
    requests = [ask(a, "and", b, a), ask("How much is 1 + 1?", system="Be brief.")]
    through = answers(make(api), *requests)
    direct = dict(provider(server, api, price=PRICE).answer(requests))
    for request, response in zip(requests, through, strict=True):
        other = next(r for q, r in direct.items() if q is request)
        assert (response.text, response.usage) == (other.text, other.usage)
        assert other.cost_usd
        assert response.cost_usd == pytest.approx(other.cost_usd / 2)
        assert (response.outcome, response.latency_s) == ("answered", None)
    images = {image for e in server.stats()["contents"].values() for image in e["images"]}
    assert images == {a.sha256, b.sha256}


def test_samples_of_one_conversation_are_one_line_where_the_endpoint_can(
    server: ServerHandle, make: Make
) -> None:
    many = [ask("roll", index=i, temperature=0.7) for i in range(10)]
    responses = answers(make("chat", can={"samples": True}), *many)
    assert [batch["lines"] for batch in batches(server)] == [2]
    assert len({response.text for response in responses}) > 1
    more = [ask("roll", index=i, temperature=0.7) for i in range(12)]
    assert answers(make("chat", can={"samples": True}), *more)[:10] == responses
    assert [batch["lines"] for batch in batches(server)] == [2, 1]
    assert server.stats()["samples"] == 12


@every_api
def test_chunks_keep_the_limits(server: ServerHandle, make: Make, api: str, tmp_path: Path) -> None:
    requests = [ask(f"Question {i}") for i in range(10)]
    assert all(r.outcome == "answered" for r in answers(make(api, lines=4), *requests))
    assert [batch["lines"] for batch in batches(server)] == [4, 4, 2]
    image = picture(tmp_path, "large.png", size=3000)
    answers(make(api, size=10_000), *[ask(image, f"Large {i}") for i in range(5)])
    assert [batch["lines"] for batch in batches(server)][3:] == [2, 2, 1]
    assert set(bought(server).values()) == {1}


@every_api
def test_answers_come_as_their_batches_end(server: ServerHandle, make: Make, api: str) -> None:
    server.configure(batch_s=0.3)
    stream = make(api, lines=2).answer([ask(f"Question {i}") for i in range(4)])
    next(stream)
    server.configure(batch_s=60)
    assert len(list(stream)) == 3


@every_api
def test_lines_that_fail_or_expire_are_errors_and_asked_again(
    server: ServerHandle, make: Make, api: str
) -> None:
    server.configure(batch_bad=["poison"], batch_expires=0.3, seed=9)
    requests = [ask(f"Question {i}") for i in range(12)] + [ask("poison")]
    first = answers(make(api), *requests)
    failed = [r for r in first if r.outcome == "provider_error"]
    assert "expired" in str([r.error for r in failed])
    assert first[-1].outcome == "provider_error"
    assert all(r.text == "" and r.error and r.cost_usd is None for r in failed)
    assert 2 < len(failed) < 12
    server.configure(batch_bad=[], batch_expires=0)
    again = [q for q, r in zip(requests, first, strict=True) if r.outcome != "answered"]
    assert {r.outcome for r in answers(make(api), *again)} == {"answered"}
    assert [batch["lines"] for batch in batches(server)] == [13, len(failed)]
    assert set(bought(server).values()) == {1}


@every_api
def test_every_line_passes_the_gate_before_and_is_settled_after(
    server: ServerHandle, make: Make, api: str
) -> None:
    server.configure(batch_bad=["poison"])
    books = Books(dollars=4.0, worst=1.0)
    requests = [ask("poison"), *[ask(f"Question {i}") for i in range(6)]]
    responses = answers(make(api, lines=2), *requests, budget=books)
    outcomes = [response.outcome for response in responses]
    assert outcomes == ["provider_error", *["answered"] * 3, *["budget_stop"] * 3]
    assert (books.open, dict(books.ends)) == (set(), {"paid": 3, "given back": 1})
    spent = sum(response.cost_usd or 0 for response in responses)
    assert books.left == pytest.approx(4.0 - spent)
    assert sum(batch["lines"] for batch in batches(server)) == 4


@pytest.mark.slow
@every_api
def test_refusals_of_the_endpoint(server: ServerHandle, make: Make, api: str) -> None:
    server.configure(batch_create=["rate_limit", "ok"])
    books = Books()
    assert answers(make(api), ask("one"), budget=books)[0].outcome == "answered"
    server.reset()
    server.configure(batch_create=["rate_limit"] * 3)
    (response,) = answers(make(api), ask("two"), budget=books)
    assert response.outcome == "provider_error"
    assert "the batch was rejected: HTTP 429" in str(response.error)
    assert books.ends == {"paid": 1, "given back": 1}
    server.reset()
    server.configure(api_keys=["another"])
    with pytest.raises(ModelError, match="rejects every call to its batch API: HTTP 401"):
        answers(make(api), ask("three"), budget=books)
    assert (books.open, books.ends["given back"]) == (set(), 2)
    assert server.stats()["batch_lines"] == 0


def test_what_cannot_be_asked_is_said_before_anything_is_sent(
    server: ServerHandle, make: Make, tmp_path: Path
) -> None:
    image = picture(tmp_path, "a.png")
    with pytest.raises(ImageCountError, match="accepts 1"):
        answers(make("chat", can={"images": 1}), ask(image, image, "?"))
    with pytest.raises(ModelError, match="remove `decoding"):
        answers(make("messages"), ask("?", top_p=0.5))
    homeless = make("chat")
    homeless.folders = NO_FOLDERS
    with pytest.raises(ModelError, match="need a folder"):
        answers(homeless, ask("?"))
    assert not server.stats()["calls"]


@every_api
def test_nothing_is_written_that_holds_the_key(
    server: ServerHandle, make: Make, api: str, tmp_path: Path, caplog: Any
) -> None:
    caplog.set_level("DEBUG")
    answers(make(api), ask("one"))
    texts = [path.read_text("utf-8") for path in notes(tmp_path)]
    assert texts
    assert "planted-key" not in "".join([*texts, caplog.text])
    assert "next run collects it" in caplog.text
