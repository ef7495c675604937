"""A run against a scripted batch API: crowded queues, lost results, failing polls."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from tests.asks import ask
from tests.models.apis import provider
from tests.models.batch.conftest import FAST
from tests.models.traffic.simulated import Books

from omibench.errors import ModelError
from omibench.models.api.batch_api import (
    BatchStatus,
    InputShape,
    Submission,
    SubmissionFolder,
)
from omibench.models.api.batch_run import BatchRun
from omibench.models.api.failures import Failure
from omibench.schemas.request import Request, Response

CROWDED = Failure("too many tokens wait", transient=True, maybe_paid=False, congestion=True)


class Scripted:
    """Batches that end at once. `script` has what happens to the first calls of a method."""

    shape = InputShape(b"", b"\n", b"\n", 100, 10**6)

    def __init__(self, room: int = 100, **script: list[Any]) -> None:
        self.room, self.script = room, script
        self.provider = provider(None, "chat", limits={"attempts": 4})
        self.provider.poll_interval = FAST
        self.made: list[list[str]] = []

    def _next(self, method: str) -> Any:
        steps = self.script.get(method)
        step = steps.pop(0) if steps else None
        if isinstance(step, Failure):
            raise step
        return step

    def line(self, name: str, requests: Sequence[Request]) -> bytes:
        return name.encode()

    def upload(self, lines: BinaryIO, size: int) -> str:
        self._next("upload")
        return "file-1"

    def create(self, lines: BinaryIO, size: int, submission: Submission) -> str:
        self._next("create")
        self.made.append(lines.read(size).decode().split())
        return str(len(self.made) - 1)

    def find(self, submission: Submission, claimed: set[str]) -> tuple[list[str], bool]:
        self._next("find")
        return [], False

    def status(self, batch: str) -> BatchStatus:
        self._next("status")
        crowded = CROWDED if len(self.made[int(batch)]) > self.room else None
        return BatchStatus(batch, ended=True, sources=(batch,), turned_down=crowded)

    def download(self, source: str, to: BinaryIO) -> None:
        rows = self._next("download")
        ids = self.made[int(source)]
        lines = [json.dumps({"custom_id": i}) for i in ids] if rows is None else rows
        to.write("\n".join(lines).encode())

    def read_line(self, row: Any, samples: int) -> list[Response]:
        return [Response(text="x", cost_usd=0.25)] * samples


def run(api: Scripted, folder: Path, books: Books, n: int = 8) -> list[Response]:
    made = BatchRun(api, SubmissionFolder(folder), books)  # type: ignore[arg-type]
    requests = [ask(f"Question {i}") for i in range(n)]
    found = {id(q): r for q, r in made.answers(requests)}
    assert len(found) == n
    return [found[id(request)] for request in requests]


def test_a_batch_without_room_is_halved_until_it_fits(tmp_path: Path) -> None:
    api, books = Scripted(room=2), Books()
    assert {r.outcome for r in run(api, tmp_path, books)} == {"answered"}
    assert [len(lines) for lines in api.made] == [8, 4, 4, 2, 2, 2, 2]
    assert (books.open, books.ends["paid"]) == (set(), 8)


def test_a_queue_that_never_has_room_ends_as_an_error(tmp_path: Path) -> None:
    api, books = Scripted(room=0), Books()
    responses = run(api, tmp_path, books, n=1)
    assert [r.error for r in responses] == ["batch 3: too many tokens wait"]
    assert (books.open, dict(books.ends)) == (set(), {"given back": 4})


def test_results_that_come_late_or_never(tmp_path: Path) -> None:
    torn = Failure("HTTP 503", status=503, transient=True)
    books = Books()
    assert run(Scripted(download=[torn, torn]), tmp_path / "a", books, 1)[0].text == "x"
    (lost,) = run(Scripted(download=[torn] * 4), tmp_path / "b", books, 1)
    assert lost.error == "batch 0: HTTP 503"
    assert len(SubmissionFolder(tmp_path / "b").submissions()) == 1
    gone = Failure("HTTP 404", status=404)
    (lost,) = run(Scripted(download=[gone]), tmp_path / "c", books, 1)
    assert lost.error == "the provider no longer has the results: HTTP 404"
    assert SubmissionFolder(tmp_path / "c").submissions() == []
    assert (len(books.open), dict(books.ends)) == (1, {"paid": 1, "unknown": 1})


def test_a_line_without_a_result_and_one_that_cannot_be_read(tmp_path: Path) -> None:
    books = Books()
    (lost,) = run(Scripted(download=[[]]), tmp_path / "a", books, 1)
    assert (lost.outcome, books.ends["given back"]) == ("provider_error", 1)
    (lost,) = run(Scripted(download=[['{"custom_id": ']]), tmp_path / "b", books, 1)
    assert (lost.outcome, books.ends["unknown"]) == ("provider_error", 1)


def test_polls_that_fail(tmp_path: Path) -> None:
    busy = Failure("HTTP 500", status=500, transient=True)
    books = Books()
    assert run(Scripted(status=[busy] * 3), tmp_path / "a", books, 1)[0].text == "x"
    (silent,) = run(Scripted(status=[busy] * 4), tmp_path / "b", books, 1)
    assert (silent.outcome, silent.error) == ("provider_error", "batch 0: HTTP 500")
    assert len(SubmissionFolder(tmp_path / "b").submissions()) == 1
    assert len(books.open) == 1
    wrong = Failure("HTTP 401", status=401, fatal=True)
    with pytest.raises(ModelError, match="HTTP 401"):
        run(Scripted(status=[wrong]), tmp_path / "c", books, 1)


def test_uploads_are_tried_again_and_reserve_once(tmp_path: Path) -> None:
    busy = Failure("HTTP 503", status=503, transient=True, maybe_paid=False)
    api, books = Scripted(upload=[busy, busy]), Books()
    assert {r.outcome for r in run(api, tmp_path / "a", books)} == {"answered"}
    assert books.ends == {"paid": 8}
    api = Scripted(upload=[busy] * 4)
    assert {r.outcome for r in run(api, tmp_path / "b", books)} == {"provider_error"}
    assert (books.open, dict(books.ends)) == (set(), {"paid": 8, "given back": 8})


def test_dead_processes_drafts_are_given_back(tmp_path: Path) -> None:
    books, folder = Books(), SubmissionFolder(tmp_path)
    ticket = books.reserve([ask("?")])
    assert ticket is not None
    folder.draft().note(ticket)
    run(Scripted(), tmp_path, books, 1)
    assert (books.open, books.ends["given back"]) == (set(), 1)
    assert folder.drafts() == []


def test_two_requests_for_one_draw_cost_one(tmp_path: Path) -> None:
    api = Scripted()
    made = BatchRun(api, SubmissionFolder(tmp_path), Books())  # type: ignore[arg-type]
    found = list(made.answers([ask("?"), ask("?")]))
    assert [response.text for _, response in found] == ["x", "x"]
    assert len(api.made[0]) == 1
