"""Locks keep others out, are shared where they may be, and fail loudly where there are none."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest
from tests.store.network_disk import lock_as_nfs

from omibench.files.locks import LockError, hold, open_lock, try_lock, wait_lock


def test_a_lock_is_held_until_its_file_is_closed(tmp_path: Path) -> None:
    first, second = open_lock(tmp_path / "lock"), open_lock(tmp_path / "lock")
    assert try_lock(first)
    assert not try_lock(second)
    os.close(first)
    assert try_lock(second)
    os.close(second)


def test_a_shared_lock_keeps_out_only_who_wants_it_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock_as_nfs(monkeypatch)
    files = [open_lock(tmp_path / "lock") for _ in range(3)]
    wait_lock(files[0], shared=True)
    wait_lock(files[1], shared=True)
    assert not try_lock(files[2])
    for file in files:
        os.close(file)


def test_who_waits_gets_the_lock_when_it_is_free(tmp_path: Path) -> None:
    first, second = open_lock(tmp_path / "lock"), open_lock(tmp_path / "lock")
    assert try_lock(first)
    waiting = threading.Thread(target=wait_lock, args=(second,))
    waiting.start()
    waiting.join(0.05)
    assert waiting.is_alive()
    os.close(first)
    waiting.join(30)
    assert not waiting.is_alive()
    third = open_lock(tmp_path / "lock")
    assert not try_lock(third)
    os.close(second)
    os.close(third)


@pytest.mark.parametrize(("number", "is_ours"), [(errno.ENOSYS, True), (errno.EIO, False)])
def test_only_a_file_system_without_locks_lets_everybody_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, is_ours: bool
) -> None:
    def refuse(file: int, how: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("fcntl.flock", refuse)
    file = open_lock(tmp_path / "lock")
    with pytest.raises(LockError, match=os.strerror(number)):
        try_lock(file)
    with pytest.raises(LockError, match=os.strerror(number)):
        wait_lock(file)
    assert hold(file) is is_ours
    os.close(file)
