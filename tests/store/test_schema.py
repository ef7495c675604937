"""Stores that were written before stay readable, and a new form of keys buys nothing again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.asks import ask

from omibench.schemas.request import Request, Response, Usage
from omibench.store import key as keys
from omibench.store.compaction import compact_partition
from omibench.store.store import Store, partition_name
from omibench.store.verify import verify_store

IDENTITY = {"provider": "test", "id": "model", "seed": 1}
OLD = (
    '{"v":1,"key":"d6475654417e1add3de8b7dd8b969e2f6d7120d18b812da59df6266ec28c5e9a",'
    '"crc":"5c3cc5fa","tags":{"role":"respondent","problem":"p1"},"response":{"text":"kept 1 '
    '\\u00e9","finish_reason":"stop","usage":{"input_tokens":5,"output_tokens":2}},"request":'
    '{"messages":[{"role":"user","parts":[{"text":"question 1"}]}],"decoding":{"temperature":0.0,'
    '"max_tokens":4096},"index":0}}\n'
    '{"v":1,"key":"118f304a7368ba91f65d5e9105ec985f0de38906def5ebb9f4d967f8e3ad9c8a",'
    '"crc":"d072100d","tags":{"role":"respondent","problem":"p2"},"response":{"text":"kept 2 '
    '\\u00e9","finish_reason":"stop","usage":{"input_tokens":5,"output_tokens":2}},"request":'
    '{"messages":[{"role":"user","parts":[{"text":"question 2"}]}],"decoding":{"temperature":0.0,'
    '"max_tokens":4096},"index":0}}\n'
)
"""Two lines as the first version of the store wrote them: they do not name their schema."""


def request(n: int) -> Request:
    return ask(f"question {n}", problem=f"p{n}")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """The partition's folder of a store that the first version wrote."""
    folder = tmp_path / partition_name(IDENTITY)
    folder.mkdir()
    (folder / "model.json").write_text(json.dumps(IDENTITY))
    (folder / "20250101T000000-elsewhere-77-0a1b2c3d.jsonl").write_text(OLD)
    return folder


def schema_2(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a later version keyed requests in another form."""
    form = keys.FORMS[1]
    monkeypatch.setitem(keys.FORMS, 2, lambda *asked: "2" + form(*asked))
    for module in ("key", "segments", "store"):
        monkeypatch.setattr(f"omibench.store.{module}.KEY_SCHEMA", 2)


@pytest.mark.parametrize("packed", [False, True])
def test_lines_of_the_first_version_are_read(
    old: Path, packed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if packed:
        monkeypatch.setattr("omibench.store.segments.ABANDONED_S", -1.0)
        assert compact_partition(old).responses == 2
    with Store(old.parent) as store:
        partition = store.open_partition(IDENTITY)
        found = partition.get(partition.key(request(1)))
    usage = Usage(input_tokens=5, output_tokens=2)
    assert found == Response(text="kept 1 é", finish_reason="stop", usage=usage)
    checked = verify_store(old.parent, [old])
    assert (checked.responses, checked.faults, checked.without_key) == (2, [], 0)


@pytest.mark.parametrize("packed", [False, True])
def test_a_new_schema_lives_beside_the_old_one(
    old: Path, packed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if packed:
        monkeypatch.setattr("omibench.store.segments.ABANDONED_S", -1.0)
        compact_partition(old)
    schema_2(monkeypatch)
    with Store(old.parent) as store:
        partition = store.open_partition(IDENTITY)
        assert [partition.key(request(n)) in partition for n in (1, 2, 3)] == [True, True, False]
        assert partition.get(partition.key(request(2))) is not None
        partition.append(partition.key(request(3)), request(3), Response(text="new"))
    with Store(old.parent) as store:
        partition = store.open_partition(IDENTITY)
        assert partition.schemas == {1, 2}
        found = [partition.get(partition.key(request(n))) for n in (1, 3)]
        assert [response.text for response in found if response] == ["kept 1 é", "new"]
        assert partition.key(request(3)) == keys.request_key(IDENTITY, request(3), 2)
    assert verify_store(old.parent, [old]).faults == []


def test_a_schema_of_a_later_version_is_kept_and_its_keys_are_not_judged(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as later:
        schema_2(later)
        with Store(old.parent) as store:
            partition = store.open_partition(IDENTITY)
            partition.append(partition.key(request(3)), request(3), Response(text="new"))
    checked = verify_store(old.parent, [old])
    assert (checked.responses, checked.without_key, checked.faults) == (3, 1, [])
