"""The store keeps what was written, in one place for all, and reports what it cannot read."""

from __future__ import annotations

import hashlib
import json
import logging
import multiprocessing
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO

import pytest
from tests.store.filling import IDENTITY, SHA256, answer, fill, request, segments

from omibench.errors import StoreError
from omibench.schemas.request import (
    ImagePart,
    Response,
)
from omibench.store import segments as segments_module
from omibench.store.segments import open_stored
from omibench.store.store import Store, partition_name


def test_what_was_written_is_read_by_the_next_process(tmp_path: Path) -> None:
    keys = fill(tmp_path, range(5))
    with Store(tmp_path) as store:
        partition = store.open_partition(IDENTITY)
        assert len(partition) == 5
        assert keys[3] in partition
        assert partition.get(keys[3]) == answer(3)
        assert partition.get("0" * 64) is None


def test_every_writer_has_its_own_segment_and_the_first_line_of_a_key_counts(
    tmp_path: Path,
) -> None:
    with Store(tmp_path) as one, Store(tmp_path) as other:
        for store, text in ((one, "first"), (other, "second")):
            partition = store.open_partition(IDENTITY)
            partition.append(partition.key(request(1)), request(1), Response(text=text))
    assert len(segments(tmp_path)) == 2
    with Store(tmp_path) as store:
        partition = store.open_partition(IDENTITY)
        assert (len(partition), partition.duplicates) == (1, 1)


def test_a_line_names_no_path_and_the_partition_names_its_model(tmp_path: Path) -> None:
    fill(tmp_path, range(1))
    (segment,) = segments(tmp_path)
    line = json.loads(segment.read_text())
    assert line["request"]["messages"][0]["parts"][1] == {"image": SHA256}
    assert "somewhere" not in segment.read_text()
    assert line["tags"] == {"role": "respondent", "problem": "p0", "setting": "cot"}
    assert json.loads((segment.parent / "model.json").read_text()) == IDENTITY


def test_looking_leaves_no_trace(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.open_partition(IDENTITY)
    assert list(tmp_path.iterdir()) == []


def test_a_torn_tail_is_skipped_and_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    keys = fill(tmp_path, range(3))
    (segment,) = segments(tmp_path)
    segment.write_bytes(segment.read_bytes()[:-20])
    with caplog.at_level(logging.WARNING), Store(tmp_path) as store:
        partition = store.open_partition(IDENTITY)
        assert [key in partition for key in keys] == [True, True, False]
        assert [(d.line, d.reason.split(":")[0]) for d in partition.damaged_lines] == [(3, "torn")]
    assert f"{segment.name}, line 3: torn" in caplog.text


def test_corrupt_lines_are_counted_and_named_and_the_others_read(tmp_path: Path) -> None:
    keys = fill(tmp_path, range(4))
    (segment,) = segments(tmp_path)
    lines = segment.read_bytes().splitlines(keepends=True)
    lines[0] = lines[0].replace(b"answer 0", b"answer 9")
    lines[1] = b"not json at all\n"
    lines[2] = lines[2].replace(b'{"v":1,', b'{"v":7,')
    segment.write_bytes(b"".join(lines))
    with Store(tmp_path) as store:
        partition = store.open_partition(IDENTITY)
        assert [key in partition for key in keys] == [False, False, False, True]
        assert [d.line for d in partition.damaged_lines] == [1, 2, 3]
        reasons = [d.reason for d in partition.damaged_lines]
    assert "checksum" in reasons[0]
    assert "not a response" in reasons[1]
    assert "another version" in reasons[2]


def test_a_folder_of_another_model_is_refused(tmp_path: Path) -> None:
    fill(tmp_path, range(1))
    card = tmp_path / partition_name(IDENTITY) / "model.json"
    card.write_text('{"provider": "other"}')
    with Store(tmp_path) as store, pytest.raises(StoreError, match="another model"):
        store.open_partition(IDENTITY)


def test_a_place_that_cannot_be_written_is_a_plain_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        Store(tmp_path / "file") as store,
        pytest.raises(StoreError, match="cannot be written"),
    ):
        store.open_partition(IDENTITY).append("0" * 64, request(0), Response(text=""))


def test_partition_names_are_safe_for_any_id() -> None:
    name = partition_name({"provider": "openai", "id": "org/model:1 ../x"})
    assert name.startswith("openai-org_model_1_.._x-")
    assert "/" not in name


def write_for_ever(folder: Path) -> None:
    with Store(folder) as store:
        partition = store.open_partition(IDENTITY)
        for n in range(10**9):
            partition.append(partition.key(request(n)), request(n), Response(text=f"answer {n}"))
            (folder / "counted").write_text(str(n + 1))


def test_a_kill_loses_nothing_that_counted_as_done(tmp_path: Path) -> None:
    process = multiprocessing.get_context("fork").Process(target=write_for_ever, args=(tmp_path,))
    process.start()
    counted = tmp_path / "counted"
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and not (counted.exists() and counted.read_text() > "2"):
        time.sleep(0.01)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    done = int(counted.read_text() or 0)
    with Store(tmp_path) as store:
        partition = store.open_partition(IDENTITY)
        assert len(partition) >= max(done, 3)
        assert len(partition.damaged_lines) <= 1
        for n in range(done):
            response = partition.get(partition.key(request(n)))
            assert response is not None
            assert response.text == f"answer {n}"


def test_threads_may_write_at_once(tmp_path: Path) -> None:
    picture = tmp_path / "a.png"
    picture.write_bytes(b"pixels")
    image = ImagePart(sha256=hashlib.sha256(b"pixels").hexdigest(), path=str(picture))

    def write(n: int) -> None:
        with Store(tmp_path / "store") as store:
            store.images.keep(image)
            partition = store.open_partition(IDENTITY)
            partition.append(partition.key(request(n)), request(n), Response(text=str(n)))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(40)))
    with Store(tmp_path / "store") as store:
        partition = store.open_partition(IDENTITY)
        assert [partition.get(partition.key(request(n))) for n in range(40)] == [
            Response(text=str(n)) for n in range(40)
        ]
    assert not list((tmp_path / "store").rglob("*.part"))


def write_some(folder: Path, numbers: range) -> None:
    with Store(folder) as store:
        partition = store.open_partition(IDENTITY)
        for n in numbers:
            partition.append(partition.key(request(n)), request(n), Response(text=f"answer {n}"))


def test_a_line_that_is_finished_while_it_is_read_is_not_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer's `write` may reach the disk in two parts, with a reader's `readline` between."""
    keys = fill(tmp_path, range(3))
    [segment] = segments(tmp_path)
    whole = segment.read_bytes()
    cut = len(whole) - 40
    segment.write_bytes(whole[:cut])

    class Growing:
        def __init__(self, file: BinaryIO) -> None:
            self._file = file

        def __enter__(self) -> Growing:
            return self

        def __exit__(self, *_: object) -> None:
            self._file.close()

        def __getattr__(self, name: str) -> object:
            return getattr(self._file, name)

        def readline(self, size: int) -> bytes:
            line = self._file.readline(size)
            if line and not line.endswith(b"\n"):
                segment.write_bytes(whole)
            return line

    with monkeypatch.context() as patch:
        patch.setattr(segments_module, "open_stored", lambda path: Growing(open_stored(path)))
        store = Store(tmp_path)
        partition = store.open_partition(IDENTITY)
    assert segment.read_bytes() == whole
    partition.refresh()
    assert (len(partition), partition.damaged_lines) == (3, [])
    assert partition.get(keys[2]) == answer(2)
    store.close()


def test_processes_write_at_once_and_a_reader_sees_them_when_it_looks_again(
    tmp_path: Path,
) -> None:
    fork = multiprocessing.get_context("fork")
    with Store(tmp_path) as store:
        partition = store.open_partition(IDENTITY)
        jobs = [
            fork.Process(target=write_some, args=(tmp_path, range(first, first + 120)))
            for first in (0, 100, 200)
        ]
        for job in jobs:
            job.start()
        deadline, seen = time.monotonic() + 30, 0
        while seen < 320 and time.monotonic() < deadline:
            partition.refresh()
            assert len(partition) >= seen
            seen = len(partition)
        for job in jobs:
            job.join()
        partition.refresh()
        assert (len(partition), partition.duplicates, partition.damaged_lines) == (320, 40, [])
        for n in range(320):
            response = partition.get(partition.key(request(n)))
            assert response is not None
            assert response.text == f"answer {n}"
    assert len(segments(tmp_path)) == 3
