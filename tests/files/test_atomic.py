"""A file is replaced whole or stays as it was, whatever happens while it is written."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from omibench.files import outputs as atomic
from omibench.files.outputs import replace_atomically, write_atomically, write_private


def test_the_old_content_stays_until_the_block_has_ended(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("old")
    with replace_atomically(path) as partial:
        partial.write_text("new")
        assert path.read_text() == "old"
        assert partial.parent == tmp_path, "a rename is atomic within one file system alone"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_block_that_fails_leaves_the_old_content_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("old")

    def fail_halfway() -> None:
        with replace_atomically(path) as partial:
            partial.write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_halfway()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_block_that_writes_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), replace_atomically(tmp_path / "table.csv"):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("write", [write_atomically, write_private])
def test_threads_may_race_for_one_file_in_a_folder_that_is_not_there(
    tmp_path: Path, write: Callable[[Path, bytes], None]
) -> None:
    path = tmp_path / "a" / "b" / "file"
    contents = [bytes([n]) * 10_000 for n in range(16)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda data: write(path, data), contents))
    assert path.read_bytes() in contents
    assert list(path.parent.iterdir()) == [path]


def test_a_private_file_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "store" / "note.json"
    before = os.umask(0)
    try:
        write_private(path, b"{}")
    finally:
        os.umask(before)
    assert [stat.S_IMODE(p.stat().st_mode) for p in (path, path.parent)] == [0o600, 0o700]


def test_a_durable_file_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "note.json"
    synced: list[bool] = []
    monkeypatch.setattr(os, "fsync", lambda _: synced.append(path.exists()))
    write_private(path, b"{}")
    assert synced == []
    path.unlink()
    write_private(path, b"{}", durable=True)
    assert synced == [False, True], "first the content, then the name in the folder"


def test_a_folder_that_cannot_be_synced_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Path) -> None:
        raise OSError("Invalid argument")

    monkeypatch.setattr(atomic, "sync_folder", refuse)
    write_private(tmp_path / "note.json", b"{}", durable=True)
    assert (tmp_path / "note.json").read_bytes() == b"{}"
