"""JSON that others wrote: every way of being wrong is one line that says where."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from omibench.errors import FileFormatError
from omibench.files.reading import parse_json, read_json, read_json_lines


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[" * 100_000, "is nested more than 100 deep"),
        ('{"a":' * 5_000 + "1" + "}" * 5_000, "is nested more than 100 deep"),
        ("[" * 101 + "]" * 101, "is nested more than 100 deep"),
        ("[NaN]", "NaN is not a number"),
        ("[-Infinity]", "-Infinity is not a number"),
        (r'{"a": ["\ud83d"]}', "half a character"),
        (r'{"\ud83d": 1}', "half a character"),
        (r'["\uDE00"]', "half a character"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "the key 'c' occurs twice"),
        ("[1,", r"is not JSON: .*column 4"),
        ("1" * 5_000, "is not JSON"),
        (b"\xff", "not UTF-8"),
        ("", "is not JSON"),
    ],
)
def test_what_is_wrong_is_told(text: str | bytes, why: str) -> None:
    with pytest.raises(FileFormatError, match=f"^a.json.*{why}"):
        parse_json(text, "a.json")


def test_what_is_right_is_read() -> None:
    value = {"a": [1, 2.5, None, "x \U0001f600 é"], "b": {"c": [{}] * 300}}
    assert parse_json(json.dumps(value), "a") == value
    assert parse_json("[" * 100 + "]" * 100, "a")
    assert parse_json(r'"\ud83d\ude00"', "a") == "\U0001f600"
    assert parse_json('{"a": 1, "a": 2}', "a", twins=True) == {"a": 2}


def test_logs_of_other_tools_are_read_leniently() -> None:
    text = r'{"a": NaN, "b": "\ud83d", "c": 1, "c": 2}'
    value = parse_json(text, "a", lenient=True)
    assert value["a"] != value["a"]
    assert (value["b"], value["c"]) == ("\ufffd", 2)
    with pytest.raises(FileFormatError, match="nested more than 100 deep"):
        parse_json("[" * 101 + "]" * 101, "a", lenient=True)


def test_files(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"a": 1}\n\n[NaN]\n', "utf-8")
    rows = read_json_lines(file)
    assert next(rows) == (1, {"a": 1})
    with pytest.raises(FileFormatError, match=r"a\.jsonl, line 3: is not JSON: NaN"):
        next(rows)
    (tmp_path / "b.json").write_text("[1]", "utf-8")
    assert read_json(tmp_path / "b.json") == [1]
