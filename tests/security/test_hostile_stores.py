"""Stores of strangers and broken ones: bounded, named by verify, contained when merged."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.store.filling import (
    IDENTITY,
    SHA256,
    fill,
    partition_folder,
    segments,
    texts,
)

from omibench.errors import OmibenchError, StoreError
from omibench.store import segments as segment
from omibench.store.merge import merge_store
from omibench.store.segments import CLOSED, Body, encode_line
from omibench.store.store import Store, partition_folders
from omibench.store.verify import verify_store

DEEP = b"[" * 50_000 + b"]" * 50_000
EXPECTED = ["answer 0 é", "answer 1 é"]


def whys(store: Path) -> list[str]:
    return [fault.why for fault in verify_store(store, partition_folders(store)).faults]


@pytest.mark.parametrize("what", ["mark", "segment", "pack", "card", "picture"])
def test_a_named_pipe_is_never_waited_for(tmp_path: Path, what: str) -> None:
    keys = fill(tmp_path, range(2))
    folder, (whole,) = partition_folder(tmp_path), segments(tmp_path)
    path = {
        "mark": whole.with_name(whole.name + CLOSED), "segment": folder / "a.jsonl",
        "pack": folder / "a.parquet",
        "card": folder / "model.json", "picture": tmp_path / "images" / "ab" / ("ab" * 32),
    }[what]  # fmt: skip
    path.unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True)
    os.mkfifo(path)
    found = whys(tmp_path)
    assert bool(found) is (what != "mark")
    if what == "card":
        with pytest.raises(StoreError, match=r"cannot be used: .* named pipe"):
            texts(tmp_path, keys)
    else:
        assert texts(tmp_path, keys) == EXPECTED


@pytest.mark.parametrize("card", [DEEP, b"\xff", b"[]", b"NaN", b'{"a":' + b'"x' * 2**20 + b'"}'])
def test_a_hostile_card_is_one_line(tmp_path: Path, card: bytes) -> None:
    keys = fill(tmp_path, range(1))
    (partition_folder(tmp_path) / "model.json").write_bytes(card)
    with pytest.raises(StoreError, match=r"model\.json: cannot be used") as caught:
        texts(tmp_path, keys)
    assert "\n" not in str(caught.value)
    assert len(whys(tmp_path)) == 1
    assert len(merge_store(tmp_path, tmp_path.parent / "other").faults) == 1


HOSTILE = [
    Body(1, b"{}", DEEP, b"{}"), Body(1, b"{}", b"{}", DEEP), Body(1, DEEP, b"{}", b"{}"),
    Body(1, b"[]", b"7", b'"x"'), Body(1, b"{}", b"{}", b'{"messages":[{"parts":7}]}'),
    Body(1, b"{}", b'{"text":[]}', b"{}"), Body(9**9, b"{}", b"null", b"null"),
    Body(1, b"{}", b'{"text":"a"}', b'{"messages":[[]]}'),
]  # fmt: skip


@pytest.mark.parametrize("body", HOSTILE)
def test_hostile_json_in_a_line_is_named_and_not_copied(tmp_path: Path, body: Body) -> None:
    theirs = tmp_path / "theirs"
    fill(theirs, range(2))
    with segments(theirs)[0].open("ab") as file:
        file.write(encode_line("ab" * 32, body))
    assert len(whys(theirs)) == 1
    merged = merge_store(theirs, tmp_path / "ours")
    if body.schema == 1:
        assert (merged.copied, len(merged.faults)) == (2, 1)
    with Store(theirs) as store:
        partition = store.open_partition(IDENTITY)
        for read in (partition.get, partition.body, partition.response, partition.line):
            try:
                read("ab" * 32)
            except OmibenchError as error:
                said = str(error)
                assert "\n" not in said


def test_a_line_without_an_end_is_damage_and_not_taken_into_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segment, "LINE_BYTES", 10_000)
    keys = fill(tmp_path, range(2))
    (path,) = segments(tmp_path)
    first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + b"x" * 95_000 + b"\n" + second)
    assert whys(tmp_path) == ["longer than 0 MiB"]
    assert texts(tmp_path, keys) == EXPECTED


def pack_with(path: Path, columns: dict[str, Any], **options: Any) -> None:
    pq.write_table(pa.table(columns), path, compression="zstd", **options)


def bomb(path: Path) -> None:
    """A megabyte that a dictionary repeats 60,000 times."""
    rows = 60_000
    pack_with(
        path,
        {
            "key": [f"{n:064x}" for n in range(rows)],
            "schema": pa.array([1] * rows, pa.int32()),
            "crc": pa.array([1] * rows, pa.uint32()),
            "tags": ["{}"] * rows,
            "response": pa.DictionaryArray.from_arrays(
                pa.array([0] * rows, pa.int32()), pa.array(["x" * 2**20])
            ).cast(pa.dictionary(pa.int32(), pa.large_string())),
            "request": ["{}"] * rows,
            "extra": pa.array([None] * rows, pa.string()),
        },
        use_dictionary=True,
        dictionary_pagesize_limit=2**22,
    )


PACKS: dict[str, Callable[[Path], None]] = {
    "bomb": bomb,
    "no columns": lambda path: pack_with(path, {"a": [1]}),
    "numbers for keys": lambda path: pack_with(path, {"key": [7], "schema": [1], "crc": [1]}),
    "short keys": lambda path: pack_with(
        path, {"key": ["xy"], "schema": [1], "response": ["{}"], "crc": [1]}
    ),
    "nothing": lambda path: path.write_bytes(b""),
    "magic alone": lambda path: path.write_bytes(b"PAR1\xff\xff\xff\x7fPAR1"),
    "a folder": lambda path: path.mkdir(),
}

VERIFY = """
import resource, sys
from pathlib import Path
resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
from omibench.store.store import Store, partition_folders
from omibench.store.verify import verify_store
from omibench.store.merge import merge_store
store = Path(sys.argv[1])
found = verify_store(store, partition_folders(store))
merged = merge_store(store, store.parent / "merged")
# `ru_maxrss` would count the process that started this one.
status = Path("/proc/self/status").read_text().splitlines()
peak = next(line.split()[1] for line in status if line.startswith("VmHWM"))
print(len(found.faults), found.responses, merged.copied, peak)
"""


@pytest.mark.parametrize("name", PACKS)
def test_a_hostile_pack_is_named_in_bounded_memory(tmp_path: Path, name: str) -> None:
    store = tmp_path / "store"
    keys = fill(store, range(2))
    PACKS[name](partition_folder(store) / "hostile.parquet")
    done = subprocess.run(
        [sys.executable, "-c", VERIFY, str(store)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    faults, responses, copied, peak = map(int, done.stdout.split())
    assert (faults >= 1, responses, copied) == (True, 2, 2)
    assert peak < 1_000_000, "kB"
    assert texts(store, keys) == EXPECTED


def test_what_leads_out_of_a_strangers_store_is_not_read(tmp_path: Path) -> None:
    theirs, secret = tmp_path / "theirs", tmp_path / "secret"
    fill(theirs, range(2))
    fill(tmp_path / "mine", range(2, 5))
    (partition_folder(theirs) / "a.jsonl").symlink_to(segments(tmp_path / "mine")[0])
    merged = merge_store(theirs, tmp_path / "ours")
    assert merged.copied == 0
    assert [(fault.where, fault.why) for fault in merged.faults] == [
        ("a.jsonl", "it leads out of the store")
    ]
    (partition_folder(theirs) / "a.jsonl").unlink()
    secret.write_bytes(b"mine")
    picture = theirs / "images" / SHA256[:2] / SHA256
    picture.unlink()
    picture.symlink_to(secret)
    merged = merge_store(theirs, tmp_path / "later")
    assert merged.copied == 2
    assert [fault.why for fault in merged.faults] == ["it leads out of the store"]
    assert not (tmp_path / "later" / "images").exists()
