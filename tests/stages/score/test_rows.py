from __future__ import annotations

import gzip
import json
from pathlib import Path

import polars as pl
import pytest

from omibench.errors import FileFormatError, MissingInputError
from omibench.stages.score.rows import read_rows

ROW = {"id": "q1", "prediction": "B", "gold": ["B"], "answer_type": "mcq", "choices": ["x", "y"]}


def write(path: Path, *rows: object) -> Path:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, "utf-8")
    return path


def test_the_three_formats_say_the_same(tmp_path: Path) -> None:
    plain = write(tmp_path / "a.jsonl", ROW)
    zipped = write(tmp_path / "a.jsonl.gz", ROW)
    parquet = tmp_path / "a.parquet"
    pl.DataFrame([ROW]).write_parquet(parquet)
    rows = read_rows([plain, zipped, parquet])
    assert [row.item for row in rows] == [rows[0].item] * 3
    assert [c.label for c in rows[0].item.choices or []] == ["A", "B"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gold": {"a": "B"}}, r"row 2, column 'gold'.*got \{'a'"),
        ({"gold": None}, "row 2, column 'gold'"),
        ({"gold": []}, "row 2, column 'gold'"),
        ({"answer_type": "essay"}, r"row 2, column 'answer_type'.*'essay'"),
        ({"prediction": 7}, "row 2, column 'prediction'"),
        ({"choices": "xy"}, "row 2, column 'choices'"),
        ({"choices": [1, 2]}, "row 2, column 'choices'"),
        ({"id": None}, "row 2, column 'id'"),
    ],
)
def test_a_bad_value_is_named_by_file_row_and_column(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    path = write(tmp_path / "in.jsonl", ROW, {**ROW, **change})
    with pytest.raises(FileFormatError, match=f"in.jsonl, {message}"):
        read_rows([path])


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "in.jsonl", {k: v for k, v in ROW.items() if k != "gold"})
    with pytest.raises(FileFormatError, match="row 1: lacks the column 'gold'"):
        read_rows([path])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", b"{not json}\n", "row 1: is not JSON"),
        ("a.jsonl", b"[1]\n", "row 1: is not a JSON object"),
        ("a.jsonl", b"\xff\xfe\n", "row 1, line 1: it is not UTF-8"),
        ("a.jsonl.gz", b"no gzip", "cannot be read"),
        ("a.parquet", b"no parquet", "is not a Parquet file"),
        (
            "a.csv",
            b"id\n1\n",
            r"row 1: lacks the column 'prediction'; it has id; map the columns with",
        ),
    ],
)
def test_a_file_of_another_kind_gets_one_line(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileFormatError, match=message):
        read_rows([tmp_path / name])


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match="it does not exist"):
        read_rows([tmp_path / "none.jsonl"])


def test_null_predictions_are_empty_and_blank_lines_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text("\n" + json.dumps({**ROW, "prediction": None, "choices": None}) + "\n\n")
    (row,) = read_rows([path])
    assert row.item.prediction == ""
    assert row.item.choices is None
