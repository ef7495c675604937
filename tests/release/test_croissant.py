"""Croissant metadata: valid by mlcroissant, every column described, records read offline."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from omibench.datasets.release.build import build_release
from omibench.datasets.release.splits import ReleaseOptions, SplitPlan
from omibench.datasets.release.tables import describe_columns
from omibench.schemas.problem import Answer
from omibench.schemas.tables import (
    FrozenManifest,
    content_hash,
    read_jsonl,
    read_typed_json,
    write_json,
    write_jsonl,
)
from small_freeze import write_sources

pytestmark = pytest.mark.filterwarnings("ignore:ConjunctiveGraph:DeprecationWarning")


@pytest.fixture
def croissant() -> Any:
    return pytest.importorskip("mlcroissant")


def name_attributes(freeze: Path) -> None:
    """Give the items attributes whose names are no parts of an address."""
    answers = [
        answer.model_copy(update={"attributes": {"glare/shadow (0-3)": "2", "noise groups": ["a"]}})
        for answer in read_jsonl(freeze / "answers.jsonl", Answer)
    ]
    write_jsonl(freeze / "answers.jsonl", answers)
    manifest = read_typed_json(freeze / "manifest.json", FrozenManifest)
    hashes = {"answers_sha256": content_hash(answers)}
    write_json(freeze / "manifest.json", manifest.model_copy(update=hashes))


def test_every_column_is_a_field_that_can_be_read(
    freeze: Path, sources: Path, tmp_path: Path, croissant: Any, caplog: pytest.LogCaptureFixture
) -> None:
    name_attributes(freeze)
    split = SplitPlan("mini", 2)
    build_release(freeze, tmp_path / "out", ReleaseOptions(sources=sources, split=split))
    dataset = croissant.Dataset(str(tmp_path / "out/croissant.json"))
    assert not dataset.metadata.issues.errors
    caplog.clear()
    records = {r["default/id"]: r for r in dataset.records("default")}
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(records) == 6
    columns = describe_columns({"glare/shadow (0-3)": False, "noise groups": True})
    assert len(records[b"item-1"]) == len(columns) + 1
    first = records[b"item-1"]
    assert [picture.size for picture in first["default/images"]] == [(10, 6), (11, 6)]
    assert first["default/attribute_glare%2Fshadow%20%280-3%29"] == b"2"
    assert first["default/attribute_noise%20groups"] == [b"a"]
    assert first["default/choices"][1] == {
        "default/choices/label": b"B",
        "default/choices/text": None,
        "default/choices/image": 1,
    }
    assert first["default/figures"][0]["default/figures/bbox"] == [1, 2, 3, 4]
    splits = [record["default/split"] for record in records.values()]
    assert (splits.count(b"mini"), splits.count(b"test")) == (2, 4)
    assert list(dataset.records("splits")) == [{"splits/name": "mini"}, {"splits/name": "test"}]
    assert len(list(dataset.records("sample"))) == 6


def test_items_without_texts_are_records_too(freeze: Path, tmp_path: Path, croissant: Any) -> None:
    sources = write_sources(tmp_path / "sources.yaml", beta=False)
    build_release(freeze, tmp_path / "out", ReleaseOptions(sources=sources))
    dataset = croissant.Dataset(str(tmp_path / "out/croissant.json"))
    assert not dataset.metadata.issues.errors
    records = {r["default/id"]: r for r in dataset.records("default")}
    withheld = records[b"item-1"]
    assert (withheld["default/question"], withheld["default/images"]) == (None, [])
    assert withheld["default/answer"] == [b"A"]
