"""Recorded responses are replayed as they were published, and nothing is made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.models.conftest import request

from omibench.errors import FileFormatError, MissingInputError, ModelError, ParamsError
from omibench.models.provider import Provider
from omibench.models.registry import open_provider
from omibench.params.models.providers import RecordedModel

ROWS = [
    {"pid": "a", "response": "It is B.", "published_true_false": True},
    {"pid": "b", "response": "", "published_true_false": False},
    {"pid": "c", "response": None, "published_true_false": None},
]


def recorded(folder: Path, *files: str, setting: str = "cot") -> Provider:
    model = RecordedModel(provider="recorded", responses={setting: list(files)})
    return open_provider("gpt", model, str(folder))


def write_jsonl(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_responses_come_back_with_their_published_verdicts(tmp_path: Path, suffix: str) -> None:
    if suffix == "parquet":
        pl.DataFrame(ROWS).write_parquet(tmp_path / "r.parquet")
    else:
        write_jsonl(tmp_path / "r.jsonl", ROWS)
    provider = recorded(tmp_path, f"r.{suffix}")
    found = [response for _, response in provider.answer([request(p) for p in "cba"])]
    assert [r.outcome for r in found] == ["empty", "empty", "answered"]
    assert [r.published_verdict for r in found] == [None, 0.0, 1.0]
    assert found[2].text == "It is B."
    assert not any(r.simulated for r in found)


def test_the_identity_is_the_content_of_the_files(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "r.jsonl", ROWS)
    one = recorded(tmp_path, "r.jsonl").identity
    (tmp_path / "moved").mkdir()
    write_jsonl(tmp_path / "moved" / "r.jsonl", ROWS)
    assert recorded(tmp_path / "moved", "r.jsonl").identity == one
    write_jsonl(tmp_path / "r.jsonl", ROWS[:2])
    assert recorded(tmp_path, "r.jsonl").identity != one


def test_what_was_not_recorded_is_counted_and_named(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "r.jsonl", ROWS)
    provider = recorded(tmp_path, "r.jsonl")
    with pytest.raises(
        ModelError, match=r"'gpt': 2 of 3 responses .* are missing, the first is 'x'"
    ):
        list(provider.answer([request(p) for p in "axy"]))
    with pytest.raises(ModelError, match=r"no recorded .* the setting 'direct' \(only f"):
        list(provider.answer([request("a", setting="direct")]))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"pid": "a"}], "the column 'response' is missing"),
        ([{"response": "a"}], "the column 'pid' is missing"),
        ([{"pid": "a", "response": 7}], r"response is not text \(got 7\)"),
        ([ROWS[0], ROWS[0]], "a second response to 'a'"),
        ([{"pid": "a", "response": "x", "outcome": "happy"}], r"outcome: .*got 'happy'"),
    ],
)
def test_files_that_are_wrong_are_named(
    tmp_path: Path, rows: list[dict[str, Any]], message: str
) -> None:
    write_jsonl(tmp_path / "r.jsonl", rows)
    with pytest.raises(FileFormatError, match=rf"r\.jsonl.*{message}"):
        recorded(tmp_path, "r.jsonl")


def test_files_that_are_absent_or_of_another_kind_are_named(tmp_path: Path) -> None:
    with pytest.raises(
        MissingInputError, match=r"r\.jsonl: this file of recorded responses does not exist"
    ):
        recorded(tmp_path, "r.jsonl")
    (tmp_path / "r.csv").write_text("pid,response\n")
    with pytest.raises(ParamsError, match=r"must be \.parquet or \.jsonl"):
        recorded(tmp_path, "r.csv")
    (tmp_path / "r.parquet").write_text("no parquet")
    with pytest.raises(FileFormatError, match="is not a Parquet file"):
        recorded(tmp_path, "r.parquet")
