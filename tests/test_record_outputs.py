"""scripts/record_outputs.py compares two records of what users get."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

ROWS = [
    ["model", "setting", "acc"],
    ["a", "cot", "0.5"],
    ["a", "direct", "0.5"],
    ["b", "cot", "0.25"],
]
Save = Callable[..., Path]


@pytest.fixture(scope="module")
def script(module_at: Callable[[str], ModuleType]) -> ModuleType:
    return module_at("scripts/record_outputs.py")


@pytest.fixture
def save(script: ModuleType, tmp_path: Path) -> Save:
    """Record a folder of results with a table, a document and a page."""

    def save(name: str, rows: list[list[str]] = ROWS, seconds: float = 1.0, **files: str) -> Path:
        results = tmp_path / name / "results"
        (results / "ocr").mkdir(parents=True)
        with (results / "main.csv").open("w", newline="") as file:
            csv.writer(file).writerows(rows)
        report = {"files": [{"source": "a.pdf", "seconds": seconds}]}
        (results / "ocr/report.json").write_text(json.dumps(report))
        for stem, text in {"page": "<p>One</p>", **files}.items():
            (results / f"{stem}.html").write_text(text)
        tables = script.read_folder(results, "sample/results")
        script.write_part(tmp_path / name / "sample.json.gz", tables)
        return tmp_path / name

    return save


@pytest.fixture
def compare(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Return what the command prints about records that differ."""

    def compare(old: Path, new: Path) -> str:
        assert script.compare_records(old, new, script.PARTS) == 1
        return capsys.readouterr().out

    return compare


def test_equal_records_are_accepted(
    script: ModuleType, save: Save, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script.compare_records(save("old"), save("new", seconds=2.0), script.PARTS) == 0
    assert capsys.readouterr().out == "sample: the same\n"


def test_a_changed_value_is_named_by_row_and_column(
    save: Save, compare: Callable[..., str]
) -> None:
    rows = [*ROWS[:3], ["b", "cot", "0.75"]]
    said = compare(save("old"), save("new", rows))
    assert "sample/results/main.csv" in said
    assert "value differs: 1\n      b, cot: acc: '0.25' -> '0.75'" in said


def test_lost_files_columns_and_rows_are_named(save: Save, compare: Callable[..., str]) -> None:
    old = save("old", extra="<p>Two</p>")
    said = compare(old, save("new", [ROWS[0], *ROWS[2:]]))
    assert "file gone: 1\n    sample/results/extra.html" in said
    assert "row gone: 1\n      a, cot" in said
    said = compare(old, save("narrow", [row[:2] for row in ROWS], extra="<p>Two</p>"))
    assert "column gone: 1\n      acc" in said
    assert "row gone" not in said


def test_rows_in_another_order_and_changed_pages_differ(
    save: Save, compare: Callable[..., str]
) -> None:
    rows = [ROWS[0], *reversed(ROWS[1:])]
    said = compare(save("old"), save("new", rows, page="<p>One</p><p>Two</p>"))
    assert "rows are in another order" in said
    assert "      Two\n" in said


def test_a_part_without_a_record_differs(
    script: ModuleType, save: Save, compare: Callable[..., str], tmp_path: Path
) -> None:
    assert f"not recorded in {tmp_path / 'none'}" in compare(save("old"), tmp_path / "none")


def test_long_values_and_numbers_keep_their_differences(script: ModuleType) -> None:
    assert script.shorten(0.1 + 0.2) != script.shorten(0.3)
    assert script.shorten("a" * 500 + "b") != script.shorten("a" * 501)
    assert len(script.shorten("a" * 5000)) < 200
