"""Claims: no two at once, none of the dead, and none left behind."""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from omibench.errors import StoreError
from omibench.store.store import claim

HOLDER = """
import sys
from pathlib import Path
from omibench.store.store import claim
with claim(Path(sys.argv[1]), {"a", "b"}) as ours:
    print(sorted(ours), flush=True)
    sys.stdin.read()
"""


def test_what_one_has_claimed_the_other_has_not(tmp_path: Path) -> None:
    folder = tmp_path / "claims" / "model"
    with claim(folder, {"a", "b"}) as first, claim(folder, {"b", "c"}) as second:
        assert (first, second) == ({"a", "b"}, {"c"})
        with claim(folder, {"a", "c"}) as third:
            assert third == set()
    with claim(folder, {"a", "c"}) as later:
        assert later == {"a", "c"}
    assert list(folder.glob("*.keys")) == []


def test_an_error_lets_go(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), claim(tmp_path, {"a"}):
        raise RuntimeError
    with claim(tmp_path, {"a"}) as ours:
        assert ours == {"a"}


def test_a_claim_dies_with_its_process(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "['a', 'b']"
        with claim(tmp_path, {"b", "c"}) as ours:
            assert ours == {"c"}
        process.kill()
    assert len(list(tmp_path.glob("*.keys"))) == 1, "the dead left its claim behind"
    with claim(tmp_path, {"b"}) as ours:
        assert ours == {"b"}
    assert list(tmp_path.glob("*.keys")) == []


def failing_with(number: int) -> Callable[..., None]:
    def flock(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    return flock


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_file_system_that_says_it_has_no_locks_holds_nobody_up(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    number: int,
) -> None:
    monkeypatch.setattr(fcntl, "flock", failing_with(number))
    monkeypatch.setattr("omibench.files.locks._warned_reasons", set())
    with (
        caplog.at_level(logging.WARNING, "omibench"),
        claim(tmp_path, {"a"}),
        claim(tmp_path, {"a"}) as ours,
    ):
        assert ours == {"a"}
    assert len(caplog.records) == 1
    assert "the same decision twice" in caplog.text


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EIO, errno.EBADF])
def test_a_lock_that_fails_for_another_reason_lets_nobody_buy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(fcntl, "flock", failing_with(number))
    monkeypatch.setattr("omibench.files.locks.UNKNOWN_S", 0.0)
    with (
        pytest.raises(
            StoreError,
            match=r"cannot be locked .* two processes may send and pay for the same requests",
        ),
        claim(tmp_path, {"a"}),
    ):
        pass


def test_a_claim_whose_lock_is_in_doubt_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other.keys").write_text("a")
    real = fcntl.flock

    def flock(file: int, how: int) -> None:
        if Path(f"/proc/self/fd/{file}").readlink().name == "other.keys":
            raise OSError(errno.EIO, "Input/output error")
        real(file, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    with claim(tmp_path, {"a", "b"}) as ours:
        assert ours == {"b"}
    assert (tmp_path / "other.keys").read_text() == "a"


def test_on_nfs_one_buys_and_the_other_waits(tmp_path: Path, nfs: None) -> None:
    with claim(tmp_path, {"a", "b"}) as first, claim(tmp_path, {"b", "c"}) as second:
        assert (first, second) == ({"a", "b"}, {"c"})
    with claim(tmp_path, {"a", "b"}) as again:
        assert again == {"a", "b"}, "and nothing of the first is left"


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(StoreError, match=r"file/model: cannot be used"),
        claim(tmp_path / "file" / "model", {"a"}),
    ):
        pass
