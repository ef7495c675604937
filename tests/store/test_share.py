"""An archive grows by increments that never change, and what is in it comes back whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.store.filling import SHA256, expected, fill, packs, segments, texts

from omibench.errors import MissingInputError
from omibench.store.share import absorb, increments, pointers, write_increment
from omibench.store.store import partition_folders
from omibench.store.verify import verify_store

OTHER: dict[str, object] = {"provider": "test", "id": "other"}


def test_an_increment_holds_what_no_earlier_one_does_and_never_changes(tmp_path: Path) -> None:
    store, archive = tmp_path / "store", tmp_path / "archive"
    fill(store, range(3))
    first = write_increment(store, archive)
    assert first is not None
    assert (first.responses, first.images) == (3, 1)
    before = {path: path.read_bytes() for path in first.folder.rglob("*") if path.is_file()}
    assert write_increment(store, archive) is None
    fill(store, range(3, 5))
    fill(store, range(1), OTHER)
    second = write_increment(store, archive)
    assert second is not None
    assert (second.responses, second.images) == (3, 0)
    assert increments(archive) == sorted([first.folder, second.folder])
    assert {path: path.read_bytes() for path in before} == before
    assert not list(archive.glob(".*"))
    assert packs(second.folder)
    assert not segments(second.folder)


def test_two_people_end_with_all_answers_and_their_own_where_both_asked(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    keys = fill(tmp_path / "mine", range(4))
    fill(tmp_path / "theirs", range(2, 6))
    fill(tmp_path / "theirs", range(6), OTHER)
    for store in ("mine", "theirs"):
        write_increment(tmp_path / store, archive)
    for store in ("mine", "theirs", "a third"):
        absorb(archive, tmp_path / store)
        assert absorb(archive, tmp_path / store) == []
        assert texts(tmp_path / store, keys) == expected(range(4))
        found = verify_store(tmp_path / store, partition_folders(tmp_path / store))
        assert (found.responses, found.faults) == (12, [])
        assert (tmp_path / store / "images" / SHA256[:2] / SHA256).is_file()
    assert write_increment(tmp_path / "a third", archive) is None


def test_a_damaged_increment_is_named_and_looked_at_again(tmp_path: Path) -> None:
    store, archive = tmp_path / "store", tmp_path / "archive"
    fill(store, range(3))
    increment = write_increment(store, archive)
    assert increment is not None
    picture = increment.folder / "images" / SHA256[:2] / SHA256
    picture.write_bytes(b"other")
    (merged,) = absorb(archive, tmp_path / "new")
    assert merged.faults
    assert merged.copied == 3
    picture.write_bytes((store / "images" / SHA256[:2] / SHA256).read_bytes())
    (merged,) = absorb(archive, tmp_path / "new")
    assert not merged.faults
    assert merged.images == 1


def test_an_archive_without_anything_says_what_to_do(tmp_path: Path) -> None:
    assert increments(tmp_path / "none") == []
    with pytest.raises(MissingInputError, match="omibench store push"):
        pointers(tmp_path)
    with pytest.raises(MissingInputError, match="there is no store"):
        write_increment(tmp_path / "none", tmp_path / "archive")
