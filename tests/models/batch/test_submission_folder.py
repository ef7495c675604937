"""The folder of submissions."""

from __future__ import annotations

import errno
import fcntl
import multiprocessing
import time
from pathlib import Path
from typing import Any

import pytest
from tests.asks import ask
from tests.models.apis import picture

from omibench.errors import ModelError
from omibench.models.api.batch_api import (
    KEPT_S,
    BatchLine,
    InputShape,
    Submission,
    SubmissionFolder,
    name_draw,
)
from omibench.models.api.batch_run import Chunk
from omibench.models.provider import Reservation

IDENTITY = {"provider": "openai", "id": "m"}


def submission(asked_at: float, **more: Any) -> Submission:
    line = BatchLine(id="a-1", draws=("a", "b"), ticket=(7, 0.25))
    return Submission(fingerprint="f" * 64, asked_at=asked_at, lines=(line,), **more)


def test_only_what_was_collected_is_ever_forgotten(tmp_path: Path) -> None:
    folder = SubmissionFolder(tmp_path)
    folder.save(submission(time.time() - 2 * KEPT_S))
    assert len(folder.submissions()) == 1
    folder.save(submission(time.time() - 2 * KEPT_S, collected=True))
    assert folder.submissions() == []
    assert not list(tmp_path.glob("*.json"))


def hold(folder: Path, held: Any) -> None:
    with SubmissionFolder(folder).lock():
        held.set()
        time.sleep(60)


def test_the_lock_is_one_processes_and_ends_with_it(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    held = context.Event()
    process = context.Process(target=hold, args=(tmp_path, held))
    process.start()
    assert held.wait(60)
    with (tmp_path / ".lock").open("wb") as file, pytest.raises(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    process.kill()
    with SubmissionFolder(tmp_path).lock():
        pass
    process.join()


def test_a_file_system_without_locks_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: Any) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)
    with pytest.raises(ModelError, match="No locks available"), SubmissionFolder(tmp_path).lock():
        pass


def test_a_draft_survives_a_torn_line_and_knows_what_is_unused(tmp_path: Path) -> None:
    draft = SubmissionFolder(tmp_path).draft()
    draft.note(Reservation(0, 0.0))
    assert not draft.path.exists()
    draft.note(Reservation(7, 0.25))
    draft.note(Reservation(8, 0.5))
    draft.drop_submitted(submission(0.0))
    assert draft.unused == {8: Reservation(8, 0.5)}
    with draft.path.open("a") as file:
        file.write("9 0.")
    (found,) = SubmissionFolder(tmp_path).drafts()
    assert found.read() == [Reservation(7, 0.25), Reservation(8, 0.5)]


def test_a_draw_is_named_by_what_is_asked(tmp_path: Path) -> None:
    a, b = picture(tmp_path, "a.png"), picture(tmp_path, "b.png")
    base = name_draw(IDENTITY, ask(a, "?", temperature=0.5))
    moved = a.model_copy(update={"path": "elsewhere.png"})
    assert name_draw(IDENTITY, ask(moved, "?", temperature=0.5, samples=4)) == base
    others = [
        name_draw(IDENTITY | {"effort": "low"}, ask(a, "?", temperature=0.5)),
        *[
            name_draw(IDENTITY, request)
            for request in (
                ask(b, "?", temperature=0.5),
                ask("?", a, temperature=0.5),
                ask(a, "?", temperature=0.6),
                ask(a, "?", temperature=0.5, index=1),
                ask(a, "?", temperature=0.5, max_tokens=9),
                ask(a, "?", temperature=0.5, top_p=0.9),
                ask(a, "?", temperature=0.5, system="s"),
                ask(a.sha256, "?", temperature=0.5),
            )
        ],
    ]
    assert len({base, *others}) == 1 + len(others)
    assert len(f"{base}-0123abcd") <= 64, "the longest custom id that Anthropic takes"
    # Batches that are out while omibench is upgraded are found by these for ever.
    pinned = name_draw(IDENTITY, ask("How much is 1 + 1?"))
    assert pinned == "f55a4cead4a89f823b812941c3d0f0b145c4f131"


def test_a_chunk_is_framed_and_limited(tmp_path: Path) -> None:
    shape = InputShape(b"[", b",", b"]", most_lines=3, most_bytes=9)
    chunk = Chunk(tmp_path, shape, 2)
    line = BatchLine(id="x", draws=("x",))
    assert chunk.fits(b"1" * 99)
    chunk.add(line, b"11")
    assert chunk.fits(b"1234")
    assert not chunk.fits(b"12345")
    chunk.add(line, b"22")
    assert not chunk.fits(b"")
    chunk.write(shape.tail)
    assert chunk.rewind().read() == b"[11,22]"
    assert chunk.rewind().read() == b"[11,22]"
    assert chunk.size == 7
    chunk.close()
