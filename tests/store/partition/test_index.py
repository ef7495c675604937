"""Indexes save reading, and are never believed when the file has changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.store.filling import IDENTITY, fill, request, segments, texts

from omibench.store.files import OpenFiles
from omibench.store.partition.index import index_path, read_index, read_state
from omibench.store.partition.segment import SegmentFile, load_segment
from omibench.store.store import Store


def test_a_closed_segment_is_opened_without_reading_its_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, range(5))
    monkeypatch.setattr(
        "omibench.store.partition.segment.line_fault", None
    )  # whoever reads a line fails
    with Store(tmp_path) as store:
        assert len(store.open_partition(IDENTITY)) == 5


@pytest.mark.parametrize("spoil", ["missing", "torn", "flipped", "of another version"])
def test_an_index_that_cannot_be_used_is_made_again(tmp_path: Path, spoil: str) -> None:
    keys = fill(tmp_path, range(5))
    (segment,) = segments(tmp_path)
    path = index_path(segment)
    data = bytearray(path.read_bytes())
    if spoil == "missing":
        path.unlink()
    elif spoil == "torn":
        path.write_bytes(data[:-7])
    elif spoil == "flipped":
        data[-20] ^= 1
        path.write_bytes(data)
    else:
        path.write_bytes(data.replace(b'"index": 1', b'"index": 9'))
    assert read_index(segment) is None
    assert texts(tmp_path, keys) == [f"answer {n} é" for n in range(5)]


def test_an_index_of_another_file_misleads_nobody(tmp_path: Path) -> None:
    keys = fill(tmp_path, range(5))
    fill(tmp_path / "other", range(5, 10))
    (one,), (other,) = segments(tmp_path), segments(tmp_path / "other")
    stat = other.stat()
    os.truncate(one, 0)
    one.write_bytes(other.read_bytes())
    os.utime(one, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    # The index of `one` fits neither in size nor in time, or else its places hold other keys.
    assert texts(tmp_path, keys) == [None] * 5


def test_a_forged_index_is_found_out_when_a_line_is_read(tmp_path: Path) -> None:
    keys = fill(tmp_path, range(4))
    (segment,) = segments(tmp_path)
    before = read_state(segment)
    lines = segment.read_bytes().splitlines(keepends=True)
    segment.write_bytes(b"".join(reversed(lines)))
    os.utime(segment, ns=(before.modified_ns, before.modified_ns))
    assert read_state(segment) == before
    assert texts(tmp_path, keys) == [f"answer {n} é" for n in range(4)]


def test_a_segment_that_grows_is_scanned_from_where_the_index_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, range(50))
    (segment,) = segments(tmp_path)
    more = tmp_path / "more"
    fill(more, range(50, 53))
    with segment.open("ab") as file:
        file.write(segments(more)[0].read_bytes() + b'{"v":1,"half')
    read: list[int] = []
    monkeypatch.setattr(
        "omibench.store.partition.segment.scan",
        lambda lines, name, index: read.append(index.covered),
    )
    load_segment(segment)
    monkeypatch.undo()
    assert read[0] > 0
    index = load_segment(segment)
    assert (len(index), index.lines) == (53, 53)
    assert [(d.line, d.reason[:4]) for d in index.damaged] == [(54, "torn")]


def test_damage_is_reported_again_by_those_who_trust_the_index(tmp_path: Path) -> None:
    fill(tmp_path, range(4))
    (segment,) = segments(tmp_path)
    segment.write_bytes(segment.read_bytes().replace(b"answer 2", b"answer 7"))
    SegmentFile(segment, OpenFiles()).load(thorough=True)
    saved = read_index(segment)
    assert saved is not None
    assert saved[1] == read_state(segment)
    with Store(tmp_path) as store:
        partition = store.open_partition(IDENTITY)
        assert [(d.segment, d.line) for d in partition.damaged_lines] == [(segment.name, 3)]
        assert partition.key(request(2)) not in partition


def test_a_folder_that_cannot_be_written_is_read_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = fill(tmp_path, range(3))
    (segment,) = segments(tmp_path)
    index_path(segment).unlink()
    monkeypatch.setattr("omibench.store.partition.segment.INDEX_WORTH", 0)

    def refuse(*_: object) -> None:
        raise PermissionError("read-only")

    monkeypatch.setattr("omibench.store.partition.index.write_private", refuse)
    assert texts(tmp_path, keys) == ["answer 0 é", "answer 1 é", "answer 2 é"]
    assert not index_path(segment).exists()
