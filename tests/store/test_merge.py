"""Merging copies what is missing, once, and nothing that is damaged."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from tests.store.filling import (
    IDENTITY,
    SHA256,
    expected,
    fill,
    partition_folder,
    request,
    segments,
    texts,
)

from omibench.errors import MissingInputError, StoreError
from omibench.schemas.request import Response
from omibench.store.compaction import compact_partition
from omibench.store.merge import merge_store
from omibench.store.segments import build_body, encode_line
from omibench.store.store import Store, partition_name
from omibench.store.verify import verify_store

OTHER: dict[str, object] = {"provider": "test", "id": "other"}


@pytest.mark.parametrize("packed", [False, True])
def test_what_is_missing_is_copied_and_the_source_is_left_as_it_is(
    tmp_path: Path, packed: bool
) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    keys = fill(ours, range(4)) + fill(theirs, range(4, 7))
    fill(theirs, range(2, 4))
    fill(theirs, range(2), OTHER)
    if packed:
        compact_partition(partition_folder(theirs))
    shutil.rmtree(ours / "images")
    before = {path: path.read_bytes() for path in theirs.rglob("*") if path.is_file()}
    merged = merge_store(theirs, ours)
    assert (merged.copied, merged.present, merged.conflicts) == (5, 2, 0)
    assert (merged.images, merged.faults) == (1, [])
    assert texts(ours, keys) == expected(range(7))
    found = verify_store(ours, [partition_folder(ours), ours / partition_name(OTHER)])
    assert (found.responses, found.faults) == (9, [])
    after = {path: path.read_bytes() for path in theirs.rglob("*") if path.is_file()}
    assert {path: after[path] for path in before} == before
    again = merge_store(theirs, ours)
    assert (again.copied, again.present, again.images) == (0, 7, 0)


def test_of_two_answers_ours_is_kept_and_counted(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    keys = fill(ours, range(2))
    with Store(theirs) as store:
        partition = store.open_partition(IDENTITY)
        partition.append(keys[1], request(1), Response(text="another"))
    merged = merge_store(theirs, ours)
    assert (merged.copied, merged.present, merged.conflicts) == (0, 0, 1)
    assert texts(ours, keys)[1] == "answer 1 é"


def test_nothing_damaged_is_copied(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    fill(theirs, range(4))
    (segment,) = segments(theirs)
    segment.write_bytes(segment.read_bytes().replace(b"answer 1", b"answer 8"))
    (theirs / "images" / SHA256[:2] / SHA256).write_bytes(b"other")
    with Store(theirs) as store:
        line = encode_line("ab" * 32, build_body(request(9), Response(text="misplaced")))
        store.open_partition(IDENTITY).append_line(line)
    merged = merge_store(theirs, ours)
    assert (merged.copied, merged.images) == (3, 0)
    whys = sorted(fault.why.split(" (")[0] for fault in merged.faults)
    assert whys == [
        "corrupt: its checksum does not match",
        "its content does not match its name",
        "its request has another key",
    ]


def test_our_own_damage_is_reported_too(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    keys = fill(ours, range(3))
    fill(theirs, range(3))
    (segment,) = segments(ours)
    segment.write_bytes(segment.read_bytes()[:-4])
    merged = merge_store(theirs, ours)
    assert [fault.where for fault in merged.faults] == ["line 3"]
    assert merged.copied == 1
    assert texts(ours, keys) == expected(range(3))


def test_a_partition_of_nobody_is_left_out_and_named(tmp_path: Path) -> None:
    fill(tmp_path / "theirs", range(2))
    (partition_folder(tmp_path / "theirs") / "model.json").unlink()
    merged = merge_store(tmp_path / "theirs", tmp_path / "ours")
    assert merged.copied == 0
    assert [fault.where for fault in merged.faults] == ["model.json"]


def test_a_folder_of_other_things_is_no_store(tmp_path: Path) -> None:
    project = tmp_path / "project"
    fill(project / "store", range(1))
    said = f"project: is not a store: it contains no partition; is {project}/store meant?"
    with pytest.raises(MissingInputError, match=re.escape(said)):
        merge_store(project, tmp_path / "ours")
    (tmp_path / "other" / "store").mkdir(parents=True)
    with pytest.raises(MissingInputError, match=r"contains no partition$"):
        merge_store(tmp_path / "other", tmp_path / "ours")
    assert not (tmp_path / "ours").exists()


@pytest.mark.parametrize("held", [".gitkeep", "images/", "claims/", "ledger.sqlite3"])
def test_a_store_without_responses_is_one(tmp_path: Path, held: str) -> None:
    store = tmp_path / "store"
    store.mkdir()
    if held.endswith("/"):
        (store / held).mkdir()
    else:
        (store / held).touch()
    assert merge_store(store, tmp_path / "ours").copied == 0


def test_mistakes_are_one_line(tmp_path: Path) -> None:
    fill(tmp_path / "ours", range(1))
    with pytest.raises(MissingInputError, match="there is no store"):
        merge_store(tmp_path / "nowhere", tmp_path / "ours")
    with pytest.raises(StoreError, match="into itself"):
        merge_store(tmp_path / "ours", tmp_path / "x" / ".." / "ours")
