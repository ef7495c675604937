"""Verification finds what is wrong, and only that."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.store.filling import (
    IDENTITY,
    PICTURE,
    SHA256,
    answer,
    fill,
    partition_folder,
    request,
    segments,
)

from omibench.store.compaction import compact_partition
from omibench.store.segments import build_body, encode_line
from omibench.store.store import Store
from omibench.store.verify import Fault, StoreCheck, verify_store


def verify(folder: Path) -> StoreCheck:
    return verify_store(folder, [partition_folder(folder)])


def put(folder: Path, line: bytes) -> None:
    with Store(folder) as store:
        store.open_partition(IDENTITY).append_line(line)


@pytest.mark.parametrize("packed", [False, True])
def test_a_sound_store_is_sound(tmp_path: Path, packed: bool) -> None:
    fill(tmp_path, range(4))
    if packed:
        compact_partition(partition_folder(tmp_path))
    found = verify(tmp_path)
    assert (found.responses, found.images, found.faults) == (4, 1, [])


@pytest.mark.parametrize("packed", [False, True])
def test_a_response_under_another_requests_key_is_found(tmp_path: Path, packed: bool) -> None:
    fill(tmp_path, range(2))
    put(tmp_path, encode_line("ab" * 32, build_body(request(5), answer(5))))
    if packed:
        compact_partition(partition_folder(tmp_path))
    (fault,) = verify(tmp_path).faults
    assert fault.where == "response abababababab"
    assert "its request has another key" in fault.why


@pytest.mark.parametrize(
    "change",
    [
        {"request": b'{"messages":[{"role":"user"}],"decoding":{},"index":0}'},
        {"request": b'{"messages":"none","decoding":{},"index":0}'},
        {"request": b"[]"},
        {"response": b'{"outcome":"answered"}'},
        {"response": b"{never json}"},
        {"tags": b'{"role":"cook","problem":"p"}'},
    ],
)
def test_what_is_no_request_or_response_is_found(tmp_path: Path, change: dict[str, bytes]) -> None:
    fill(tmp_path, range(1))
    body = build_body(request(5), answer(5))._replace(**change)
    put(tmp_path, encode_line("cd" * 32, body))
    found = verify(tmp_path)
    assert [fault.where for fault in found.faults] == ["response cdcdcdcdcdcd"]
    assert "cannot be understood" in found.faults[0].why


def test_damaged_lines_are_found_by_their_checksums(tmp_path: Path) -> None:
    fill(tmp_path, range(3))
    (segment,) = segments(tmp_path)
    import os

    stat = segment.stat()
    segment.write_bytes(segment.read_bytes().replace(b"answer 1", b"answer 8"))
    os.utime(segment, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    name = f"{partition_folder(tmp_path).name}/{segment.name}"
    why = "corrupt: its checksum does not match"
    assert verify(tmp_path).faults == [Fault(name, "line 2", why)]
    with Store(tmp_path) as store:
        assert len(store.open_partition(IDENTITY).damaged_lines) == 1


def test_pictures_are_hashed_and_missed(tmp_path: Path) -> None:
    fill(tmp_path, range(3))
    picture = tmp_path / "images" / SHA256[:2] / SHA256
    picture.write_bytes(PICTURE[::-1])
    (fault,) = verify(tmp_path).faults
    assert fault == Fault("images", SHA256[:12], "its content does not match its name")
    picture.unlink()
    (fault,) = verify(tmp_path).faults
    assert "missing in the store" in fault.why


@pytest.mark.parametrize("card", [None, "{", "[]"])
def test_a_partition_without_its_card_is_named_and_read(tmp_path: Path, card: str | None) -> None:
    fill(tmp_path, range(3))
    path = partition_folder(tmp_path) / "model.json"
    path.unlink()
    if card is not None:
        path.write_text(card)
    found = verify(tmp_path)
    assert [fault.where for fault in found.faults] == ["model.json"]
    assert (found.responses, found.without_key) == (3, 3)


def test_a_card_of_another_model_is_found_by_the_keys(tmp_path: Path) -> None:
    fill(tmp_path, range(2))
    path = partition_folder(tmp_path) / "model.json"
    path.write_text(json.dumps({**IDENTITY, "seed": 2}))
    assert [fault.why.split(" (")[0] for fault in verify(tmp_path).faults] == [
        "its request has another key"
    ] * 2
