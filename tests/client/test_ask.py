"""Asking: what the store holds is never sent again, and what is bought is kept."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from tests.asks import ask

from omibench.errors import ImageCountError, MissingInputError, ModelError, StoreError
from omibench.models.client import ask as client
from omibench.models.client.ask import open_asker
from omibench.models.provider import NO_BUDGET, Budget
from omibench.params.study import parse_study
from omibench.schemas.request import (
    ImagePart,
    Outcome,
    Request,
    Response,
)
from omibench.store.store import Store, claim


class Counting:
    """A model that answers with its question, backwards in order, and counts what it is sent."""

    identity = {"provider": "counting", "id": "one"}
    simulated = False

    def __init__(self, outcome: Outcome = "answered", max_images: int | None = None) -> None:
        self.sent: list[str] = []
        self.outcome: Outcome = outcome
        self.max_images = max_images
        self.stop_after = 10**9

    def answer(
        self, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        for done, request in enumerate(reversed(requests)):
            if done == self.stop_after:
                raise KeyboardInterrupt
            self.sent.append(f"{request.conversation.text}/{request.index}")
            text = f"reply to {self.sent[-1]}"
            yield request, Response(text=text, outcome=self.outcome)


def request(text: str, *images: ImagePart, **more: Any) -> Request:
    return ask(text, *images, problem=text, **more)


def replies(store: Path, provider: Counting, requests: Sequence[Request]) -> list[str]:
    with Store(store) as opened:
        return [response.text for response in client.ask(requests, provider, opened)]


def test_answers_come_in_the_order_asked_and_duplicates_are_sent_once(tmp_path: Path) -> None:
    provider = Counting()
    found = replies(tmp_path, provider, [request("a"), request("b"), request("a")])
    assert found == ["reply to a/0", "reply to b/0", "reply to a/0"]
    assert sorted(provider.sent) == ["a/0", "b/0"]


def test_what_another_process_buys_just_before_the_claim_is_not_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, other = Counting(), Counting()

    def claim_late(folder: Path, keys: Iterable[str]) -> AbstractContextManager[set[str]]:
        monkeypatch.setattr("omibench.models.client.ask.claim", claim)
        replies(tmp_path, other, [request("a")])
        return claim(folder, keys)

    monkeypatch.setattr("omibench.models.client.ask.claim", claim_late)
    assert replies(tmp_path, first, [request("a"), request("b")]) == [
        "reply to a/0",
        "reply to b/0",
    ]
    assert (first.sent, other.sent) == (["b/0"], ["a/0"])


@pytest.mark.parametrize("outcome", ["provider_error", "budget_stop"])
def test_a_failure_to_answer_is_returned_and_tried_again(tmp_path: Path, outcome: Outcome) -> None:
    provider = Counting(outcome)
    with Store(tmp_path) as store:
        (response,) = client.ask([request("a")], provider, store)
    assert response.outcome == outcome
    replies(tmp_path, provider, [request("a")])
    assert provider.sent == ["a/0", "a/0"]


@pytest.mark.parametrize("outcome", ["truncated", "refused", "empty"])
def test_other_outcomes_are_bought(tmp_path: Path, outcome: Outcome) -> None:
    provider = Counting(outcome)
    for _ in range(2):
        replies(tmp_path, provider, [request("a")])
    assert provider.sent == ["a/0"]


def test_an_interrupted_run_keeps_what_it_got(tmp_path: Path) -> None:
    provider = Counting()
    provider.stop_after = 2
    asked = [request(text) for text in "abc"]
    with pytest.raises(KeyboardInterrupt):
        replies(tmp_path, provider, asked)
    provider.stop_after = 10**9
    replies(tmp_path, provider, asked)
    assert provider.sent == ["c/0", "b/0", "a/0"]


def picture(path: Path, content: bytes) -> ImagePart:
    path.write_bytes(content)
    return ImagePart(sha256=hashlib.sha256(content).hexdigest(), path=str(path))


def test_images_are_kept_once_and_checked_before_anything_is_sent(tmp_path: Path) -> None:
    image = picture(tmp_path / "a.png", b"pixels")
    provider = Counting()
    replies(tmp_path / "store", provider, [request("a", image), request("b", image)])
    kept = [p for p in (tmp_path / "store" / "images").rglob("*") if p.is_file()]
    assert [p.name for p in kept] == [image.sha256]
    (tmp_path / "a.png").write_bytes(b"changed")
    with pytest.raises(ModelError, match="differs from the dataset"):
        replies(tmp_path / "store", provider, [request("first"), request("c", image)])
    assert len(provider.sent) == 2


def test_a_full_disk_is_seen_before_anything_is_bought(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = Counting()
    replies(tmp_path / "store", provider, [request("a")])
    usage = shutil.disk_usage(tmp_path)._replace(free=150_000_000)
    monkeypatch.setattr("omibench.store.segments.shutil.disk_usage", lambda _: usage)
    replies(tmp_path / "store", provider, [request("a"), request("b")])
    many = [request(f"{n}") for n in range(1000)]
    line = "has 150 MB free, but 1,000 answers need 164 MB .*Nothing was sent"
    with pytest.raises(StoreError, match=line):
        replies(tmp_path / "store", provider, many)
    assert provider.sent == ["a/0", "b/0"]
    assert replies(tmp_path / "store", provider, [request("a")]) == ["reply to a/0"]


def test_a_stored_answer_needs_no_image(tmp_path: Path) -> None:
    image = picture(tmp_path / "a.png", b"pixels")
    replies(tmp_path / "store", Counting(), [request("a", image)])
    (tmp_path / "a.png").unlink()
    assert replies(tmp_path / "store", Counting(), [request("a", image)]) == [
        "reply to a\n[image]/0"
    ]
    with pytest.raises(MissingInputError, match="never sent without its pictures"):
        replies(tmp_path / "store", Counting(), [request("b", image)])


def test_more_images_than_the_model_takes_are_an_error_and_never_cut(tmp_path: Path) -> None:
    images = [picture(tmp_path / f"{n}.png", b"%d" % n) for n in range(3)]
    provider = Counting(max_images=2)
    with pytest.raises(ImageCountError, match="'a': the conversation has 3 images, but the model"):
        replies(tmp_path / "store", provider, [request("a", *images)])
    assert provider.sent == []


def test_a_provider_that_goes_silent_is_reported(tmp_path: Path) -> None:
    class Silent(Counting):
        def answer(
            self, requests: Sequence[Request], budget: Budget = NO_BUDGET
        ) -> Iterator[tuple[Request, Response]]:
            yield from super().answer(requests[1:])

    with pytest.raises(ModelError, match="1 of 2 requests got no response, the first for 'a'"):
        replies(tmp_path, Silent(), [request("a"), request("b")])


def test_a_provider_that_answers_something_else_is_reported(tmp_path: Path) -> None:
    class Confused(Counting):
        def answer(
            self, requests: Sequence[Request], budget: Budget = NO_BUDGET
        ) -> Iterator[tuple[Request, Response]]:
            yield request("other"), Response(text="x")

    with pytest.raises(ModelError, match="response for 'other' without a request"):
        replies(tmp_path, Confused(), [request("a")])


def test_a_study_opens_its_models_by_name(tmp_path: Path) -> None:
    (tmp_path / "oracle.jsonl").write_text('{"id": "a", "answer": ["7"]}\n')
    block = {"provider": "simulated", "oracle": str(tmp_path / "oracle.jsonl")}
    values = {"study": {"store": str(tmp_path / "store")}, "models": {"sim": block}}
    with open_asker(parse_study(values, "test"), "sim") as asker:
        (response,) = asker([request("a")])
        ((key, answered),) = asker.ask_with_keys([request("a")])
        kept = asker.store.open_partition(asker.provider.identity).get(key)
        assert kept == answered
    assert kept == response
    assert response.simulated
