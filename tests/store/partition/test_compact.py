"""Compaction: the same answers in less room, nothing lost whatever happens at whatever moment."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.store.filling import (
    IDENTITY,
    answer,
    expected,
    fill,
    flip,
    packs,
    partition_folder,
    request,
    segments,
    texts,
)

from omibench.errors import StoreError
from omibench.files.locks import lock_path
from omibench.store import packs as pack
from omibench.store.compaction import LOCK, Compacted, compact_partition
from omibench.store.store import Partition, Store
from omibench.store.verify import verify_store

FORK = multiprocessing.get_context("fork")
LATE = 40
"""More steps than any compaction of these stores takes."""


def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pack, "GROUP_ROWS", 4)


def compact(folder: Path) -> Compacted:
    return compact_partition(partition_folder(folder))


def forsake(segment: Path) -> None:
    """As if nobody had written to a segment for long."""
    os.utime(segment, (0, 0))


def test_a_compacted_partition_answers_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_groups(monkeypatch)
    keys = fill(tmp_path, range(10)) + fill(tmp_path, range(10, 13))
    with Store(tmp_path) as store:
        before = [store.open_partition(IDENTITY).line(key) for key in keys]
    done = compact(tmp_path)
    assert (done.responses, done.segments, done.packs, done.duplicates) == (13, 2, 0, 0)
    assert (segments(tmp_path), len(packs(tmp_path))) == ([], 1)
    assert sorted(path.name for path in partition_folder(tmp_path).glob("[!.]*")) == sorted(
        ["model.json", packs(tmp_path)[0].name]
    )
    with Store(tmp_path) as store:
        partition = store.open_partition(IDENTITY)
        assert [partition.line(key) for key in keys] == before
        assert [partition.get(key) for key in keys] == [answer(n) for n in range(13)]
    assert texts(tmp_path, keys) == expected(range(13))
    assert compact(tmp_path) == Compacted(done.partition)


def test_a_cell_is_in_one_place(tmp_path: Path) -> None:
    import polars as pl

    keys = fill(tmp_path, range(9))
    compact(tmp_path)
    frame = pl.read_parquet(packs(tmp_path)[0])
    settings = frame["tags"].str.json_path_match("$.setting").to_list()
    assert settings == ["cot"] * 5 + ["direct"] * 4
    assert frame["key"].to_list() == sorted(keys[::2]) + sorted(keys[1::2])


def test_of_two_lines_with_one_key_the_first_stays(tmp_path: Path) -> None:
    keys = fill(tmp_path, range(4))
    fill(tmp_path, range(2, 6))
    done = compact(tmp_path)
    assert (done.responses, done.duplicates) == (6, 2)
    assert texts(tmp_path, keys) == expected(range(4))


def test_small_packs_are_packed_again_and_large_ones_left(tmp_path: Path) -> None:
    fill(tmp_path, range(10))
    compact(tmp_path)
    (large,) = packs(tmp_path)
    fill(tmp_path, range(10, 13))
    compact(tmp_path)
    fill(tmp_path, range(13, 17))
    done = compact(tmp_path)
    assert (done.packs, done.responses) == (1, 7)
    assert len(packs(tmp_path)) == 2
    assert large in packs(tmp_path)


def test_damaged_lines_are_set_aside_and_not_lost(tmp_path: Path) -> None:
    keys = fill(tmp_path, range(5))
    (segment,) = segments(tmp_path)
    data = segment.read_bytes().replace(b"answer 1", b"answer 8")
    segment.write_bytes(data[:-9])
    forsake(segment)
    done = compact(tmp_path)
    assert (done.responses, done.set_aside) == (3, 2)
    (aside,) = partition_folder(tmp_path).glob("*.damaged")
    assert aside.name == f"{segment.name}.damaged"
    assert b"answer 8" in aside.read_bytes()
    assert aside.read_bytes().count(b"\n") == 2
    assert texts(tmp_path, keys) == ["answer 0 é", None, "answer 2 é", "answer 3 é", None]


def test_a_segment_with_nothing_sound_leaves_no_pack(tmp_path: Path) -> None:
    fill(tmp_path, range(1))
    (segment,) = segments(tmp_path)
    segment.write_bytes(b"noise\n")
    forsake(segment)
    assert compact(tmp_path).set_aside == 1
    assert (segments(tmp_path), packs(tmp_path)) == ([], [])


def test_what_is_being_written_is_left_alone(tmp_path: Path) -> None:
    keys = fill(tmp_path, range(3))
    with Store(tmp_path) as store:
        partition = store.open_partition(IDENTITY)
        keys.append(partition.key(request(3)))
        partition.append(keys[-1], request(3), answer(3))
        done = compact(tmp_path)
        assert (done.responses, done.still_written) == (3, 1)
        keys.append(partition.key(request(4)))
        partition.append(keys[-1], request(4), answer(4))
        assert [partition.get(key) for key in keys] == [answer(n) for n in range(5)]
    assert texts(tmp_path, keys) == expected(range(5))


def test_an_open_reader_finds_what_was_packed_meanwhile(tmp_path: Path) -> None:
    keys = fill(tmp_path, range(3))
    with Store(tmp_path) as store:
        partition = store.open_partition(IDENTITY)
        compact(tmp_path)
        assert partition.get(keys[1]) == answer(1)
        later = fill(tmp_path, range(3, 5))
        assert later[0] not in partition
        partition.refresh()
        assert partition.get(later[0]) == answer(3)
        assert len(partition) == 5


def test_a_writer_whose_segment_was_removed_says_so(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        partition = store.open_partition(IDENTITY)
        partition.append(partition.key(request(1)), request(1), answer(1))
        segments(tmp_path)[0].unlink()
        with pytest.raises(StoreError, match="was removed while it was being written"):
            partition.sync()
        with pytest.raises(StoreError, match="was removed"):
            partition.close()


def test_two_compactions_at_once_are_one(tmp_path: Path) -> None:
    fill(tmp_path, range(3))
    with lock_path(partition_folder(tmp_path) / LOCK) as ours:
        assert ours
        with pytest.raises(StoreError, match="another process is compacting"):
            compact(tmp_path)


def test_on_nfs_a_writer_at_work_is_left_alone_and_one_compacts(tmp_path: Path, nfs: None) -> None:
    fill(tmp_path, range(3))
    with Store(tmp_path) as store:
        partition = store.open_partition(IDENTITY)
        partition.append(partition.key(request(9)), request(9), answer(9))
        for segment in segments(tmp_path):
            os.utime(segment, (0, 0))
        done = compact(tmp_path)
        assert (done.segments, done.still_written) == (1, 1)
    with (
        lock_path(partition_folder(tmp_path) / LOCK),
        pytest.raises(StoreError, match="another process is compacting"),
    ):
        compact(tmp_path)
    assert compact(tmp_path).segments == 1


def die_at(step: int, folder: Path) -> None:
    """Compact, and die just before the `step`-th change to the folder."""
    left = step

    def count(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & os.O_CREAT
        if writes or event in ("os.rename", "os.remove"):
            left -= 1
            if left < 0:
                os._exit(9)

    sys.addaudithook(count)
    compact(folder)
    os._exit(0)


@pytest.mark.slow
@pytest.mark.parametrize("kept_pack", [False, True])
def test_a_death_at_any_step_loses_nothing(tmp_path: Path, kept_pack: bool) -> None:
    died = 0
    for step in range(LATE):
        folder = tmp_path / str(step)
        keys = fill(folder, range(3))
        if kept_pack:
            compact(folder)
        keys += fill(folder, range(3, 6)) + fill(folder, range(6, 8))
        process = FORK.Process(target=die_at, args=(step, folder))
        process.start()
        process.join()
        assert texts(folder, keys) == expected(range(8)), f"after a death at step {step}"
        compact(folder)
        assert texts(folder, keys) == expected(range(8))
        assert verify_store(folder, [partition_folder(folder)]).faults == []
        died += process.exitcode == 9
        if process.exitcode == 0:
            break
    assert LATE > died >= 6, "the deaths did not cover the compaction"


def write_for_ever(folder: Path, first: int, step: int) -> None:
    with Store(folder) as store, (folder / f"counted{first}").open("ab", buffering=0) as done:
        partition = store.open_partition(IDENTITY)
        for n in range(first, 10**9, step):
            partition.append(partition.key(request(n)), request(n), answer(n))
            done.write(b"%d\n" % n)


def counted(folder: Path, first: int) -> int:
    """The last request that a writer is known to have written; 0 before the first."""
    path = folder / f"counted{first}"
    whole = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    return int(whole[-1]) if whole else 0


def compact_for_ever(folder: Path) -> None:
    while True:
        compact(folder)


@pytest.mark.slow
def test_writers_and_compactions_killed_at_random_lose_nothing(tmp_path: Path) -> None:
    fill(tmp_path, range(2))
    chance = random.Random(7)
    last: dict[int, int] = {}
    for round_ in range(3):
        firsts = [100 + round_ * 10**6, 101 + round_ * 10**6]
        jobs = [FORK.Process(target=write_for_ever, args=(tmp_path, n, 2)) for n in firsts]
        jobs.append(FORK.Process(target=compact_for_ever, args=(tmp_path,)))
        for job in jobs:
            job.start()
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and not all(map(partial(counted, tmp_path), firsts)):
            time.sleep(0.01)
        time.sleep(chance.uniform(0.05, 0.3))
        for job in jobs:
            assert job.pid is not None
            os.kill(job.pid, signal.SIGKILL)
            job.join()
        last |= {first: counted(tmp_path, first) for first in firsts}
    assert all(last.values())
    assert compact(tmp_path).still_written == 0
    partition = Partition(partition_folder(tmp_path), IDENTITY)
    for first, end in last.items():
        for n in range(first, end + 1, 2):
            assert partition.get(partition.key(request(n))) == answer(n)
    partition.close()


def test_a_flipped_bit_in_a_pack_costs_a_row_group_at_most_and_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow.parquet as pq

    small_groups(monkeypatch)
    keys = fill(tmp_path, range(12))
    compact(tmp_path)
    (path,) = packs(tmp_path)
    column = pq.ParquetFile(path).metadata.row_group(1).column(4)
    assert column.path_in_schema == "response"
    flip(path, column.data_page_offset + column.total_compressed_size - 5)
    with Store(tmp_path) as store:
        partition = store.open_partition(IDENTITY)
        found = [partition.get(key) for key in keys]
        assert found.count(None) == 4
        assert all(f in (None, answer(n)) for n, f in enumerate(found))
        assert len(partition) == 8
        assert {(d.segment, d.line, d.lines) for d in partition.damaged_lines} == {
            (path.name, 5, 4)
        }
        assert "row group 1 cannot be read" in partition.damaged_lines[0].reason
    fill(tmp_path, range(20, 60))
    assert compact(tmp_path).packs == 0, "a damaged pack is kept as it is"
    assert path.exists()


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str], bytes]:
    """A store of 300 responses in one pack, their keys, and the pack's bytes."""
    folder = tmp_path_factory.mktemp("packed")
    keys = fill(folder, range(300))
    compact(folder)
    return folder, keys, packs(folder)[0].read_bytes()


@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
@example(place=0.999, bit=0)
def test_a_flipped_bit_anywhere_costs_64_of_many_responses_at_most(
    packed: tuple[Path, list[str], bytes], place: float, bit: int
) -> None:
    folder, keys, whole = packed
    data = bytearray(whole)
    data[int(place * len(data))] ^= 1 << bit
    (path,) = packs(folder)
    path.write_bytes(data)
    said = texts(folder, keys)
    assert said.count(None) <= 64
    assert {text for text in said if text is not None} <= set(expected(range(300)))


@pytest.mark.parametrize("tail", [1, 6, 100], ids=["magic", "length", "inside"])
def test_a_damaged_footer_costs_nothing_and_is_named(tmp_path: Path, tail: int) -> None:
    keys = fill(tmp_path, range(300))
    compact(tmp_path)
    (path,) = packs(tmp_path)
    data = bytearray(path.read_bytes())
    data[-tail] ^= 64
    path.write_bytes(data)
    assert texts(tmp_path, keys) == expected(range(300))
    (fault,) = verify_store(tmp_path, [partition_folder(tmp_path)]).faults
    assert (fault.where, fault.why) == (
        "footer", "its footer is damaged; the copy of it in the file was read"
    )  # fmt: skip


def test_a_pack_of_an_earlier_version_without_a_copy_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pack, "copy_footer", lambda file: None)
    monkeypatch.setattr(pack, "GROUP_ROWS", 512)
    keys = fill(tmp_path, range(300))
    compact(tmp_path)
    assert texts(tmp_path, keys) == expected(range(300))
    assert verify_store(tmp_path, [partition_folder(tmp_path)]).faults == []


def test_damaged_requests_buy_no_answer_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow.parquet as pq

    small_groups(monkeypatch)
    keys = fill(tmp_path, range(8))
    compact(tmp_path)
    (path,) = packs(tmp_path)
    column = pq.ParquetFile(path).metadata.row_group(0).column(5)
    assert column.path_in_schema == "request"
    flip(path, column.data_page_offset + column.total_compressed_size - 5)
    faults = verify_store(tmp_path, [partition_folder(tmp_path)]).faults
    assert any("the requests in its row group 0" in fault.why for fault in faults)
    assert texts(tmp_path, keys) == expected(range(8))
    with Store(tmp_path) as store:
        partition = store.open_partition(IDENTITY)
        assert sum(partition.body(key) is None for key in keys) == 4


def test_a_pack_without_its_end_is_named(tmp_path: Path) -> None:
    keys = fill(tmp_path, range(3))
    compact(tmp_path)
    (path,) = packs(tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    assert texts(tmp_path, keys) == [None] * 3
    with Store(tmp_path) as store:
        (damage,) = store.open_partition(IDENTITY).damaged_lines
    assert damage.segment == path.name
    assert "no row can be read" in damage.reason


def test_members_of_later_versions_survive(tmp_path: Path) -> None:
    (key,) = fill(tmp_path, range(1))
    with Store(tmp_path) as store:
        partition = store.open_partition(IDENTITY)
        body = partition.body(key)
        assert body is not None
        from omibench.store.segments import encode_line

        line = encode_line("ab" * 32, body._replace(extra=b'{"signed":{"by":"x"}}'))
        partition.append_line(line)
    compact(tmp_path)
    with Store(tmp_path) as store:
        found = store.open_partition(IDENTITY).line("ab" * 32)
    assert found == line
    assert json.loads(found)["signed"] == {"by": "x"}
