"""Whether a segment's writer may still be at work."""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path

import pytest
from tests.store.filling import IDENTITY, answer, fill, request, segments

from omibench.store.segments import ABANDONED_S, host_name, is_closed, new_name, remove_mark
from omibench.store.store import Store

FORK = multiprocessing.get_context("fork")


def write_and_die(folder: Path) -> None:
    store = Store(folder)
    partition = store.open_partition(IDENTITY)
    partition.append(partition.key(request(1)), request(1), answer(1))
    os._exit(9)


def test_a_writer_that_closed_has_said_so(tmp_path: Path) -> None:
    fill(tmp_path, range(2))
    (segment,) = segments(tmp_path)
    assert is_closed(segment)
    remove_mark(segment)
    assert not is_closed(segment), "without its word the living process counts as writing"


def test_a_writer_at_work_is_seen(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        partition = store.open_partition(IDENTITY)
        partition.append(partition.key(request(1)), request(1), answer(1))
        (segment,) = segments(tmp_path)
        assert not is_closed(segment)
        os.utime(segment, (0, 0))
        assert not is_closed(segment), "its lock outweighs its age"


def test_a_dead_writer_of_this_host_is_known(tmp_path: Path) -> None:
    process = FORK.Process(target=write_and_die, args=(tmp_path,))
    process.start()
    process.join()
    (segment,) = segments(tmp_path)
    assert f"-{host_name()}-{process.pid}-" in segment.name
    assert is_closed(segment)


@pytest.mark.parametrize("name", ["20250101T000000-elsewhere-1-0a1b2c3d.jsonl", "renamed.jsonl"])
def test_what_came_from_elsewhere_is_closed_when_it_is_old(tmp_path: Path, name: str) -> None:
    segment = tmp_path / name
    segment.write_bytes(b"")
    assert not is_closed(segment)
    age = segment.stat().st_mtime - ABANDONED_S - 1
    os.utime(segment, (age, age))
    assert is_closed(segment)


def test_names_are_never_chosen_twice() -> None:
    assert len({new_name(".jsonl") for _ in range(1000)}) == 1000
