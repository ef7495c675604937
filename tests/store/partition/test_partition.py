"""A partition of many files: what others write and compact, and what is damaged meanwhile."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
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

from omibench.store.compaction import compact_partition
from omibench.store.contents import count_responses, summarise
from omibench.store.segments import CLOSED, OpenFiles, SegmentFile, is_closed
from omibench.store.store import Partition, Store


def opened(folder: Path) -> Partition:
    return Partition(partition_folder(folder), IDENTITY)


def many(folder: Path, numbers: range) -> list[str]:
    """The keys of answers in segments of ten."""
    starts = range(numbers.start, numbers.stop, 10)
    return [key for n in starts for key in fill(folder, range(n, min(n + 10, numbers.stop)))]


@pytest.mark.parametrize(
    "text", [b"", b"null", b"x" * 99, b"[" * 9999, b'{"closed": true}', b'0 {"closed": true}\n']
)
def test_a_mark_that_is_wrong_closes_nothing(tmp_path: Path, text: bytes) -> None:
    fill(tmp_path, range(2))
    (segment,) = segments(tmp_path)
    segment.with_name(segment.name + CLOSED).write_bytes(text)
    assert not is_closed(segment)
    segment.with_name(segment.name + CLOSED).write_text(f"{segment.stat().st_size + 1}\n")
    assert not is_closed(segment)


def test_a_segment_that_grows_is_read_from_where_it_ended(tmp_path: Path) -> None:
    fill(tmp_path, range(50))
    (segment,) = segments(tmp_path)
    file = SegmentFile(segment, OpenFiles())
    file.load()
    more = tmp_path / "more"
    fill(more, range(50, 53))
    data = segments(more)[0].read_bytes()
    with segment.open("ab") as end:
        end.write(data + b'{"v":1,"half')
    assert not file.is_current()
    file.load()
    assert (len(file.places), file.lines) == (53, 53)
    assert [(d.line, d.reason[:4]) for d in file.damaged] == [(54, "torn")]
    assert file.is_current()
    segment.write_bytes(data)
    file.load()
    assert (len(file.places), file.damaged) == (3, [])


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
def test_a_key_counts_once(tmp_path: Path, packed: bool) -> None:
    keys = many(tmp_path, range(60))
    assert many(tmp_path, range(30)) == keys[:30]
    if packed:
        compact_partition(partition_folder(tmp_path))
    fill(tmp_path, range(5))
    partition = opened(tmp_path)
    assert (len(partition), partition.duplicates) == (60, 5 if packed else 35)
    assert sorted(partition) == sorted(keys)
    assert summarise(partition_folder(tmp_path)).counts.responses == 60
    assert count_responses(partition_folder(tmp_path)) == (65 if packed else 95)
    assert count_responses(partition_folder(tmp_path), since=time.time() + 60) == 0


@pytest.mark.parametrize("packed", [False, True])
def test_a_flipped_answer_is_named_and_another_copy_is_used(tmp_path: Path, packed: bool) -> None:
    keys = many(tmp_path, range(60))
    if packed:
        compact_partition(partition_folder(tmp_path))
    before = opened(tmp_path)
    (path, *_) = packs(tmp_path) if packed else segments(tmp_path)
    flip(path, path.stat().st_size // 3)
    found = texts(tmp_path, keys)
    assert [before.get(key) is None for key in keys] == [text is None for text in found]
    lost = [n for n, text in enumerate(found) if text is None]
    assert (0 < len(lost) < 3) is not packed
    partition = opened(tmp_path)
    assert len(partition.damaged_lines) >= (not packed)
    fill(tmp_path, lost)
    partition.refresh()
    assert [partition.get(key) for key in keys] == [answer(n) for n in range(60)]


def test_a_folder_that_cannot_be_written_is_read_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError("read-only")

    monkeypatch.setattr("omibench.store.segments.write_private", refuse)
    keys = fill(tmp_path, range(3))
    assert texts(tmp_path, keys) == expected(range(3))
    assert not list(partition_folder(tmp_path).glob(f"*{CLOSED}"))
