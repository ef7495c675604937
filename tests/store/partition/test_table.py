"""The table of a large partition: the same answers, in little memory, and never trusted."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.store.filling import (
    IDENTITY,
    answer,
    fill,
    packs,
    partition_folder,
    request,
    segments,
    texts,
)

from omibench.store.contents import count_responses, summarise
from omibench.store.partition import covered_files as covered
from omibench.store.partition import table_build
from omibench.store.partition.compact import compact_partition
from omibench.store.partition.index import index_path
from omibench.store.partition.partition import Partition
from omibench.store.partition.table import TABLE, open_table
from omibench.store.store import Store
from omibench.store.verify import verify_store

FORK = multiprocessing.get_context("fork")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Partitions of more than 20 responses are large, and sorted 50 at a time."""
    monkeypatch.setattr(covered, "TAIL_MOST", 20)
    monkeypatch.setattr(table_build, "CHUNK", 50)


def many(folder: Path, numbers: range, size: int = 10) -> list[str]:
    """Answers in segments of some each."""
    return [
        key
        for start in range(numbers.start, numbers.stop, size)
        for key in fill(folder, range(start, min(start + size, numbers.stop)))
    ]


def expected(numbers: range) -> list[str]:
    return [f"answer {n} é" for n in numbers]


def opened(folder: Path) -> Partition:
    return Partition(partition_folder(folder), IDENTITY)


def test_a_large_partition_answers_from_its_table(tmp_path: Path) -> None:
    keys = many(tmp_path, range(300))
    assert texts(tmp_path, keys) == expected(range(300))
    found = open_table(partition_folder(tmp_path))
    assert found is not None
    assert (found.count, found.duplicates, len(found.files)) == (300, 0, 30)
    partition = opened(tmp_path)
    assert (len(partition), len(partition._index)) == (300, 0), "nothing is kept in memory"
    assert sorted(partition) == sorted(keys)
    assert len(partition.files) == 30
    assert "ab" * 32 not in partition
    assert partition.get("ab" * 32) is None
    assert (partition_folder(tmp_path) / TABLE).stat().st_mode & 0o777 == 0o600


def test_what_is_written_since_is_found_and_later_covered(tmp_path: Path) -> None:
    keys = many(tmp_path, range(100))
    texts(tmp_path, [])
    keys += fill(tmp_path, range(100, 115))
    partition = opened(tmp_path)
    assert (len(partition), len(partition._index)) == (115, 15)
    assert sorted(partition) == sorted(keys)
    assert texts(tmp_path, keys) == expected(range(115))
    keys += fill(tmp_path, range(115, 150))
    partition.refresh()
    assert (len(partition), len(partition._index)) == (150, 0)
    assert [partition.get(key) is not None for key in keys] == [True] * 150


def test_one_that_is_open_sees_what_others_write_and_compact(tmp_path: Path) -> None:
    keys = many(tmp_path, range(100))
    with Store(tmp_path) as store:
        partition = store.open_partition(IDENTITY)
        partition.append(partition.key(request(500)), request(500), answer(500))
        keys += many(tmp_path, range(100, 140))
        compact_partition(partition_folder(tmp_path))
        assert partition.get(keys[3]) == answer(3)
        partition.refresh()
        assert [partition.get(key) for key in keys] == [answer(n) for n in range(140)]
        assert partition.get(partition.key(request(500))) == answer(500)
        assert (len(partition), partition.duplicates) == (141, 0)


@pytest.mark.parametrize("packed", [False, True])
def test_of_two_lines_with_one_key_the_first_counts_as_ever(tmp_path: Path, packed: bool) -> None:
    keys = many(tmp_path, range(60))
    twice = many(tmp_path, range(30))
    assert keys[:30] == twice
    if packed:
        partition = opened(tmp_path)
        assert (len(partition), partition.duplicates) == (60, 30)
        assert summarise(partition_folder(tmp_path)).counts.responses == 60
        compact_partition(partition_folder(tmp_path))
    fill(tmp_path, range(5))
    partition = opened(tmp_path)
    assert (len(partition), partition.duplicates) == (60, 5 if packed else 35)
    assert len(list(partition)) == 60
    first = partition.entry(keys[0])
    assert first is not None
    holders = [path for path in segments(tmp_path) if keys[0].encode() in path.read_bytes()]
    assert first.file.path == (packs(tmp_path) if packed else holders)[0]


def test_counts_come_from_the_indexes_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many(tmp_path, range(60))
    compact_partition(partition_folder(tmp_path))
    many(tmp_path, range(60, 100))
    fill(tmp_path, range(100, 103))

    def refuse(*_: object) -> bytes:
        raise AssertionError("a response was read")

    folder = partition_folder(tmp_path)
    monkeypatch.setattr("omibench.store.partition.segment.SegmentFile.response", refuse)
    monkeypatch.setattr("omibench.store.partition.pack.PackFile.response", refuse)
    found = summarise(folder)
    assert (found.counts.responses, found.counts.cost_usd) == (103, 51.5)
    assert found.counts.tokens["output_tokens"] == sum(range(103))
    assert found.counts.outcomes == {"answered": 103}
    assert (found.packs, found.segments) == (1, 5)
    assert count_responses(folder) == 103
    assert count_responses(folder, since=time.time() + 60) == 0


def hurt(at: float) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        data = bytearray(path.read_bytes())
        data[int(at * (len(data) - 1))] ^= 0x10
        path.write_bytes(data)

    return change


@pytest.mark.parametrize(
    "change",
    [
        *(hurt(at / 10) for at in range(11)),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:-1000]),
        lambda path: path.write_bytes(b"[" * 100_000),
        lambda path: (path.unlink(), os.mkfifo(path)),
        lambda path: (path.unlink(), path.mkdir()),
        lambda path: path.unlink(),
    ],
)
def test_a_broken_table_is_made_anew(tmp_path: Path, change: Callable[[Path], None]) -> None:
    keys = many(tmp_path, range(100))
    texts(tmp_path, [])
    path = partition_folder(tmp_path) / TABLE
    change(path)
    assert texts(tmp_path, keys) == expected(range(100))
    assert verify_store(tmp_path, [partition_folder(tmp_path)]).faults == []


@pytest.mark.parametrize("packed", [False, True])
def test_a_flipped_answer_is_named_and_another_copy_is_used(tmp_path: Path, packed: bool) -> None:
    keys = many(tmp_path, range(60))
    if packed:
        compact_partition(partition_folder(tmp_path))
    texts(tmp_path, [])
    (path, *_) = packs(tmp_path) if packed else segments(tmp_path)
    state = path.stat()
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 0x10
    path.write_bytes(data)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    found = texts(tmp_path, keys)
    lost = [n for n, text in enumerate(found) if text is None]
    assert (0 < len(lost) < 3) is not packed
    assert [t for t in found if t is not None] == [
        f"answer {n} é" for n in range(60) if n not in lost
    ]
    partition = opened(tmp_path)
    assert len(partition.damaged_lines) >= 1
    copies = fill(tmp_path, lost)
    assert [partition.get(key) is None for key in copies] == [True] * len(lost)
    partition.refresh()
    assert texts(tmp_path, keys) == expected(range(60))


def test_a_store_that_cannot_be_written_gets_a_table_that_lasts_as_long_as_it_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = many(tmp_path, range(100))
    monkeypatch.setattr(
        table_build, "open_new", lambda *_: (_ for _ in ()).throw(PermissionError("read-only"))
    )
    (partition_folder(tmp_path) / TABLE).unlink()
    partition = opened(tmp_path)
    assert (len(partition._index), partition.get(keys[7])) == (0, answer(7))
    assert not (partition_folder(tmp_path) / TABLE).exists()


def test_old_indexes_are_read_as_they_are(tmp_path: Path) -> None:
    keys = many(tmp_path, range(100))
    for path in segments(tmp_path):
        index_path(path).unlink()
        os.utime(path, (0, 0))
    assert texts(tmp_path, keys) == expected(range(100))
    assert len(opened(tmp_path)._index) == 0
    assert summarise(partition_folder(tmp_path)).counts.responses == 100


def work(folder: Path, first: int) -> None:
    rng = random.Random(first)
    for start in range(first, first + 10**6, 40):
        keys = many(folder, range(start, start + 40), size=rng.randint(3, 40))
        assert texts(folder, keys) == expected(range(start, start + 40))
        with (folder / f"counted{first}").open("a") as done:
            done.write(f"{start}\n")
        if rng.random() < 0.3:
            compact_partition(partition_folder(folder))


def test_writers_and_sorters_killed_at_random_lose_nothing(tmp_path: Path) -> None:
    firsts = [0, 10**7]
    rng = random.Random(3)
    known: set[int] = set()
    for round_ in range(3):
        begins = [first + round_ * 10**6 for first in firsts]
        jobs = [FORK.Process(target=work, args=(tmp_path, begin)) for begin in begins]
        for job in jobs:
            job.start()
        time.sleep(rng.uniform(0.8, 1.6))
        for job in jobs:
            assert job.pid is not None
            os.kill(job.pid, signal.SIGKILL)
            job.join()
        for begin in begins:
            path = tmp_path / f"counted{begin}"
            starts = path.read_text().split("\n")[:-1] if path.exists() else []
            known |= {n for start in map(int, starts) for n in range(start, start + 40)}
        partition = opened(tmp_path)
        for n in known:
            assert partition.get(partition.key(request(n))) == answer(n)
    assert known
