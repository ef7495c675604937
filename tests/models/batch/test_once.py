"""Nothing is submitted twice: not after lost replies, deaths, or by two at once."""

from __future__ import annotations

import gc
import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.asks import ask
from tests.models.apis import every_api
from tests.models.batch.conftest import Make, batches, bought, notes
from tests.models.traffic.simulated import Books

from model_server.handle import ServerHandle, wait_until
from omibench.errors import ModelError
from omibench.models.anthropic import AnthropicBatches
from omibench.models.api.batch_api import Submission, SubmissionFolder
from omibench.models.api.provider import ApiProvider
from omibench.models.openai import OpenAIBatches
from omibench.models.provider import NO_BUDGET, Budget, Folders
from omibench.models.registry import open_provider
from omibench.schemas.request import Request, Response

QUESTIONS = [ask(f"Question {i}") for i in range(6)]


class Killed(BaseException):
    """Stands for kill -9 at one place; no handler of ours catches it."""


def outcomes(
    asked: ApiProvider[Any], requests: list[Request], budget: Budget = NO_BUDGET
) -> set[str]:
    found = list(asked.answer(requests, budget))
    assert sorted(id(q) for q, _ in found) == sorted(map(id, requests))
    return {response.outcome for _, response in found}


@contextmanager
def patched(api: str, method: str, before: Callable[[int], None]) -> Iterator[None]:
    """Within the block `before` is called with 1, 2, ... before each call of the API's method."""
    kind = AnthropicBatches if api == "messages" else OpenAIBatches
    original, calls = getattr(kind, method), itertools.count(1)

    def wrapped(*arguments: Any) -> Any:
        before(next(calls))
        return original(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kind, method, wrapped)
        yield


def die_at_the_second(call: int) -> None:
    if call == 2:
        raise Killed


@every_api
@pytest.mark.parametrize("kind", ["reset_mid", "hang_mid", "truncated_json", "server_error"])
def test_a_lost_reply_is_not_a_reason_to_submit_again(
    server: ServerHandle, make: Make, api: str, kind: str
) -> None:
    server.configure(batch_create=["ok", kind])
    asked = make(api, lines=3, limits={"timeout_s": 1, "attempts": 3})
    assert outcomes(asked, QUESTIONS) == {"answered"}
    assert [batch["lines"] for batch in batches(server)] == [3, 3]
    assert set(bought(server).values()) == {1}


@pytest.mark.slow
@every_api
@pytest.mark.parametrize("where", ["upload", "create", "status", "download"])
def test_a_death_costs_nothing(server: ServerHandle, make: Make, api: str, where: str) -> None:
    books = Books()
    with patched(api, where, die_at_the_second), pytest.raises(Killed):
        outcomes(make(api, lines=3), QUESTIONS, books)
    assert outcomes(make(api, lines=3), QUESTIONS, books) == {"answered"}
    assert [batch["lines"] for batch in batches(server)] == [3, 3]
    assert set(bought(server).values()) == {1}
    assert (books.open, books.ends["paid"]) == (set(), 6)


@every_api
def test_a_batch_that_was_made_when_the_process_died_is_found(
    server: ServerHandle, make: Make, api: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The provider made it; nobody noted its id."""
    server.configure(batch_s=0.5)
    dying = make(api)
    save = SubmissionFolder.save

    def killed(folder: SubmissionFolder, submission: Submission) -> Submission:
        if submission.batch is not None:
            raise Killed
        return save(folder, submission)

    monkeypatch.setattr(SubmissionFolder, "save", killed)
    books = Books()
    with pytest.raises(Killed):
        outcomes(dying, QUESTIONS, books)
    monkeypatch.setattr(SubmissionFolder, "save", save)
    # Another program's batch of as many lines, made at the same time, is not taken for ours.
    other = make(api)
    assert other.folders.batches
    other.folders = Folders(batches=other.folders.batches.parent / "elsewhere")
    server.configure(batch_s=0.1)
    assert outcomes(other, [ask(f"Other {i}") for i in range(6)]) == {"answered"}
    assert outcomes(make(api), QUESTIONS, books) == {"answered"}
    assert [batch["lines"] for batch in batches(server)] == [6, 6]
    assert set(bought(server).values()) == {1}
    assert (books.open, dict(books.ends)) == (set(), {"paid": 6})


@every_api
def test_two_at_once_submit_once(server: ServerHandle, make: Make, api: str) -> None:
    server.configure(batch_s=0.3)
    found: list[set[str]] = []
    asked = [make(api, lines=4) for _ in range(3)]
    threads = [
        threading.Thread(target=lambda a=a: found.append(outcomes(a, QUESTIONS)))  # type: ignore[misc]
        for a in asked
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [{"answered"}] * 3
    assert [batch["lines"] for batch in batches(server)] == [4, 2]
    assert set(bought(server).values()) == {1}


@pytest.mark.slow
@every_api
def test_a_run_that_asks_for_a_part_leaves_the_others_answers(
    server: ServerHandle, make: Make, api: str
) -> None:
    stream: Iterator[tuple[Request, Response]] = make(api).answer(QUESTIONS)
    next(stream)
    del stream
    gc.collect()
    assert outcomes(make(api), QUESTIONS[:2]) == {"answered"}
    assert outcomes(make(api), QUESTIONS[2:]) == {"answered"}
    # A store that lost its last lines to a power cut finds them here.
    assert outcomes(make(api), QUESTIONS) == {"answered"}
    assert [batch["lines"] for batch in batches(server)] == [6]


@every_api
def test_a_provider_that_cannot_be_asked_leaves_the_question_open(
    server: ServerHandle, make: Make, api: str
) -> None:
    server.configure(batch_create=["reset_mid"])
    books = Books()
    with patched(api, "find", lambda _: server.configure(api_keys=["another"])):
        ((_, response),) = make(api).answer(QUESTIONS[:1], books)
    assert response.outcome == "provider_error"
    assert "the next run checks again and sends nothing twice" in str(response.error)
    assert len(books.open) == 1
    server.configure(api_keys=None)
    assert outcomes(make(api), QUESTIONS[:1], books) == {"answered"}
    assert len(batches(server)) == 1
    assert books.ends == {"paid": 1}


@every_api
def test_a_batch_that_another_account_made_is_not_bought_again(
    server: ServerHandle, make: Make, api: str
) -> None:
    assert outcomes(make(api), QUESTIONS) == {"answered"}
    server.reset()
    with pytest.raises(
        ModelError, match=r"does not exist at the endpoint .* another key or base_url"
    ):
        outcomes(make(api), QUESTIONS)
    assert not batches(server)


def test_a_note_that_cannot_be_read_stops_before_anything_is_sent(
    server: ServerHandle, make: Make, tmp_path: Path
) -> None:
    assert outcomes(make("chat"), QUESTIONS) == {"answered"}
    (note,) = notes(tmp_path)
    note.write_text("{}")
    with pytest.raises(ModelError, match=f"{note.name}: cannot be read"):
        outcomes(make("chat"), QUESTIONS[:1])
    assert len(batches(server)) == 1


@every_api
def test_a_batch_of_another_program_is_told_from_one_that_was_never_made(
    server: ServerHandle, make: Make, api: str
) -> None:
    """Ours was lost on its way there, while the other of as many lines is still running."""
    server.configure(batch_create=["ok", "reset"], batch_s=0.5)
    other = make(api)
    assert other.folders.batches
    other.folders = Folders(batches=other.folders.batches.parent / "elsewhere")
    thread = threading.Thread(target=lambda: list(other.answer([ask("a"), ask("b")])))
    thread.start()
    wait_until(lambda: bool(batches(server)))
    assert outcomes(make(api), [ask("c"), ask("d")], books := Books()) == {"answered"}
    thread.join()
    assert [batch["lines"] for batch in batches(server)] == [2, 2]
    assert bought(server) == dict.fromkeys("abcd", 1)
    assert (books.open, books.ends["paid"]) == (set(), 2)


@every_api
def test_asking_directly_while_batches_are_out_is_warned_of(
    server: ServerHandle, make: Make, api: str, caplog: pytest.LogCaptureFixture
) -> None:
    asked = make(api)
    direct = asked.model.model_copy(update={"batch": False})
    open_provider("m", direct, batches=asked.folders.batches)
    with patched(api, "status", lambda _: _kill()), pytest.raises(Killed):
        outcomes(asked, QUESTIONS)
    assert "not collected" not in caplog.text
    open_provider("m", direct, batches=asked.folders.batches)
    assert "6 requests in 1 batches are not collected yet" in caplog.text
    caplog.clear()
    assert outcomes(make(api), QUESTIONS) == {"answered"}
    open_provider("m", direct, batches=asked.folders.batches)
    assert "not collected" not in caplog.text


def _kill() -> None:
    raise Killed
