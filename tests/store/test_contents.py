"""What a store holds, counted; and taken out of it."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.store.filling import (
    IDENTITY,
    PICTURE,
    expected,
    fill,
    partition_folder,
    request,
    segments,
)

from omibench.errors import MissingInputError, ParamsError
from omibench.schemas.request import Response
from omibench.store.compaction import compact_partition
from omibench.store.contents import choose, count_images, find_key, summarise
from omibench.store.share import export
from omibench.store.store import Store, partition_name

OTHER: dict[str, object] = {"provider": "test", "id": "other"}


@pytest.mark.parametrize("packed", [False, True])
def test_a_summary_counts_everything(tmp_path: Path, packed: bool) -> None:
    fill(tmp_path, range(4))
    fill(tmp_path, range(3, 5))
    with Store(tmp_path) as store:
        partition = store.open_partition(IDENTITY)
        refused = Response(text="no", outcome="refused", simulated=True)
        partition.append(partition.key(request(9)), request(9), refused)
    if packed:
        compact_partition(partition_folder(tmp_path))
    found = summarise(partition_folder(tmp_path))
    assert (found.counts.responses, found.counts.simulated) == (6, 1)
    assert found.counts.outcomes == {"answered": 5, "refused": 1}
    assert (found.counts.tokens["input_tokens"], found.counts.tokens["output_tokens"]) == (50, 10)
    assert (found.counts.cost_usd, found.counts.without_cost) == (2.5, 1)
    expected = (0, 1, 0) if packed else (3, 0, 1)
    assert (found.segments, found.packs, found.duplicates) == expected
    assert found.model == IDENTITY


def test_damage_is_counted_before_and_after_it_is_set_aside(tmp_path: Path) -> None:
    fill(tmp_path, range(3))
    (segment,) = segments(tmp_path)
    segment.write_bytes(segment.read_bytes()[:-4])
    found = summarise(partition_folder(tmp_path))
    assert ([d.line for d in found.damaged], found.set_aside) == ([3], 0)
    import os

    os.utime(segment, (0, 0))
    compact_partition(partition_folder(tmp_path))
    found = summarise(partition_folder(tmp_path))
    assert (found.damaged, found.set_aside) == ([], 1)


def test_images_are_counted(tmp_path: Path) -> None:
    fill(tmp_path, range(1))
    found = count_images(tmp_path)
    assert (found.images, found.bytes) == (1, len(PICTURE))


def test_a_model_is_chosen_by_id_or_folder(tmp_path: Path) -> None:
    fill(tmp_path, range(1))
    fill(tmp_path, range(1), OTHER)
    assert len(choose(tmp_path, None)) == 2
    for name in ("other", partition_name(OTHER)):
        assert choose(tmp_path, name) == [tmp_path / partition_name(OTHER)]
    with pytest.raises(MissingInputError, match="did you mean 'other'"):
        choose(tmp_path, "othr")
    with pytest.raises(MissingInputError, match="there is no store"):
        choose(tmp_path / "nowhere", None)


def test_a_key_is_found_by_its_first_digits(tmp_path: Path) -> None:
    keys = fill(tmp_path, range(30))
    folder, key, body = find_key(tmp_path, keys[4][:12].upper())
    assert (folder, key) == (partition_folder(tmp_path), keys[4])
    assert json.loads(body.response)["text"] == "answer 4 é"
    with pytest.raises(MissingInputError, match=r"30 responses with a key .*give more digits"):
        find_key(tmp_path, "")
    with pytest.raises(MissingInputError, match="no response with a key"):
        find_key(tmp_path, "zz")
    (tmp_path / "other").mkdir()
    with pytest.raises(MissingInputError, match="is a folder: use --store "):
        find_key(tmp_path, str(tmp_path / "other"))


@pytest.mark.parametrize("packed", [False, True])
def test_an_export_holds_all_that_was_asked_and_answered(tmp_path: Path, packed: bool) -> None:
    keys = fill(tmp_path / "store", range(3))
    if packed:
        compact_partition(partition_folder(tmp_path / "store"))
    folders = choose(tmp_path / "store", None)
    assert export(folders, tmp_path / "out" / "all.jsonl") == (3, [])
    rows = [json.loads(line) for line in (tmp_path / "out" / "all.jsonl").open(encoding="utf-8")]
    assert sorted(row["key"] for row in rows) == sorted(keys)
    assert all(row["model"] == IDENTITY and row["schema"] == 1 for row in rows)
    assert rows[0]["request"]["messages"][0]["parts"][0]["text"].startswith("question")
    assert export(folders, tmp_path / "out" / "all.parquet") == (3, [])
    frame = pl.read_parquet(tmp_path / "out" / "all.parquet").sort("problem")
    assert frame["text"].to_list() == expected(range(3))
    assert frame["prompt"].to_list() == [f"question {n}\n[image]" for n in range(3)]
    assert frame["output_tokens"].to_list() == [0, 1, 2]
    assert frame["setting"].to_list() == ["cot", "direct", "cot"]
    assert [len(images) for images in frame["images"]] == [1, 1, 1]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "all.jsonl",
        "all.parquet",
    ]


def test_an_export_of_nothing_has_its_columns(tmp_path: Path) -> None:
    assert export([], tmp_path / "none.parquet") == (0, [])
    assert "text" in pl.read_parquet(tmp_path / "none.parquet").columns


def test_other_formats_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ParamsError, match=r"\.jsonl or \.parquet"):
        export([], tmp_path / "all.csv")
