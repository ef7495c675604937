"""What is hurt is found by its content, restored from a good copy, and kept aside."""

from __future__ import annotations

import hashlib
import logging
import shutil
from pathlib import Path

import pytest
from tests.store.filling import (
    PICTURE,
    SHA256,
    expected,
    fill,
    flip,
    packs,
    partition_folder,
    texts,
)

from omibench.schemas.request import DrawnPart, ImagePart, Response
from omibench.store import packs as pack
from omibench.store.compaction import compact_partition
from omibench.store.merge import merge_store
from omibench.store.segments import ASIDE
from omibench.store.store import ImageStore
from omibench.store.verify import verify_store


def faults(store: Path) -> list[str]:
    return [fault.why for fault in verify_store(store, [partition_folder(store)]).faults]


def test_a_flipped_picture_is_restored_by_a_merge(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    fill(ours, range(2))
    fill(theirs, range(2))
    hurt = ours / "images" / SHA256[:2] / SHA256
    flip(hurt, 2)
    broken = hurt.read_bytes()
    assert faults(ours) == ["its content does not match its name"]
    merged = merge_store(theirs, ours)
    assert (merged.restored_images, merged.images, merged.faults) == (1, 0, [])
    assert hurt.read_bytes() == PICTURE
    (aside,) = (ours / ASIDE).iterdir()
    assert aside.name.startswith(SHA256)
    assert aside.read_bytes() == broken
    assert faults(ours) == []
    again = merge_store(theirs, ours)
    assert (again.restored_images, again.images) == (0, 0)


def test_a_flipped_picture_never_replaces_a_good_one(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    fill(ours, range(2))
    fill(theirs, range(2))
    flip(theirs / "images" / SHA256[:2] / SHA256, 2)
    merged = merge_store(theirs, ours)
    assert [fault.why for fault in merged.faults] == ["its content does not match its name"]
    assert faults(ours) == []
    assert not (ours / ASIDE).exists()


def test_a_run_restores_a_flipped_picture_from_the_dataset(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a.png").write_bytes(PICTURE)
    image = ImagePart(sha256=SHA256, path=str(tmp_path / "a.png"))
    ImageStore(tmp_path / "store" / "images").keep(image)
    kept = ImageStore(tmp_path / "store" / "images")
    flip(kept.path(SHA256), 1)
    with caplog.at_level(logging.WARNING, "omibench.store"):
        kept.keep(image)
    assert "was damaged and is restored; the damaged file is now" in caplog.text
    assert kept.path(SHA256).read_bytes() == PICTURE
    assert len(list((tmp_path / "store" / ASIDE).iterdir())) == 1


def test_a_picture_that_is_drawn_again_restores_a_flipped_one(tmp_path: Path) -> None:
    kept = ImageStore(tmp_path / "images")
    data = b"drawn"
    drawn = DrawnPart(sha256=hashlib.sha256(data).hexdigest(), data=data)
    kept.with_drawn(Response(text="", drawn=(drawn,)))
    flip(kept.path(drawn.sha256), 0)
    kept.with_drawn(Response(text="", drawn=(drawn,)))
    assert kept.path(drawn.sha256).read_bytes() == data


def packed(folder: Path, numbers: range) -> list[str]:
    keys = fill(folder, numbers)
    compact_partition(partition_folder(folder))
    return keys


@pytest.fixture
def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pack, "GROUP_ROWS", 4)


def hurt_group(path: Path, column: str) -> None:
    import pyarrow.parquet as pq

    metadata = pq.read_metadata(path)
    chunk = metadata.row_group(1)
    names = [chunk.column(i).path_in_schema for i in range(chunk.num_columns)]
    found = chunk.column(names.index(column))
    flip(path, found.data_page_offset + found.total_compressed_size // 2)


@pytest.mark.parametrize("column", ["response", "request", "key"])
def test_a_hurt_pack_is_written_anew_from_a_good_copy(
    tmp_path: Path, small_groups: None, column: str
) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    keys = packed(ours, range(12))
    shutil.copytree(ours, theirs)
    (path,) = packs(ours)
    hurt_group(path, column)
    assert faults(ours) != []
    merged = merge_store(theirs, ours)
    assert merged.restored + merged.copied == 4
    assert merged.replaced == [path.name]
    assert merged.faults == []
    assert faults(ours) == []
    assert texts(ours, keys) == expected(range(12))
    assert verify_store(ours, [partition_folder(ours)]).responses == 12
    (aside,) = (ours / ASIDE).iterdir()
    assert aside.name.startswith(path.name)


def test_an_answer_that_nobody_else_has_stays_where_it_is(
    tmp_path: Path, small_groups: None
) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    keys = packed(ours, range(12))
    fill(theirs, range(2))
    (path,) = packs(ours)
    hurt_group(path, "request")
    merged = merge_store(theirs, ours)
    assert (merged.replaced, packs(ours)) == ([], [path])
    assert texts(ours, keys) == expected(range(12))


def test_a_pack_that_is_no_pack_any_more_is_replaced_whole(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    keys = packed(ours, range(6))
    shutil.copytree(ours, theirs)
    (path,) = packs(ours)
    path.write_bytes(b"no pack")
    merged = merge_store(theirs, ours)
    assert (merged.copied, merged.replaced, merged.faults) == (6, [path.name], [])
    assert faults(ours) == []
    assert texts(ours, keys) == expected(range(6))
