"""CSV files for people: no text is calculated by a spreadsheet, numbers stay numbers."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.files.outputs import mark_formula, unmark_cell, unmark_formula, write_csv

FORMULAS = (
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "＝1+1",
    "＠a",
)


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_is_text(text: str) -> None:
    assert mark_formula(text) == f"'{text}"


@pytest.mark.parametrize(
    "value", ["gpt-5", "a=b", "", "-5", "+1.5e-3", "-.5", -0.25, 3, None, True]
)
def test_what_no_spreadsheet_calculates_stays(value: object) -> None:
    assert mark_formula(value) is value


@given(st.text())
def test_every_text_comes_back(text: str) -> None:
    cell = mark_formula(text)
    assert unmark_formula(cell) == text
    assert cell[:1] not in ("=", "@", "\t", "\r", "\n")
    assert cell[:1] not in ("+", "-") or math.isfinite(float(cell)) or "e" in cell.lower()


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0")), min_size=1))
def test_a_file_gives_back_what_was_written(tmp_path_factory: object, texts: list[str]) -> None:
    path = tmp_path_factory.mktemp("csv") / "a.csv"  # type: ignore[attr-defined]
    write_csv(path, [{"n": k, "text": text} for k, text in enumerate(texts)])
    with path.open(encoding="utf-8", newline="") as file:
        read = list(csv.DictReader(file))
    assert [unmark_formula(row["text"]).replace("\r\n", "\n") for row in read] == [
        text.replace("\r\n", "\n") for text in texts
    ]
    assert [row["n"] for row in read] == [str(k) for k in range(len(texts))]


def test_numbers_are_read_as_numbers(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.csv"
    write_csv(path, [{"model": "=x", "acc": -0.25, "n": 3}, {"model": "b", "acc": None, "n": -1}])
    assert path.read_text() == "model,acc,n\n'=x,-0.25,3\nb,,-1\n"
    assert pl.read_csv(path)["acc"].to_list() == [-0.25, None]


def test_a_table_without_rows_has_its_heading(tmp_path: Path) -> None:
    write_csv(tmp_path / "a.csv", [], ["model", "acc"])
    assert (tmp_path / "a.csv").read_text() == "model,acc\n"


def test_every_csv_is_written_by_this_module(root: Path) -> None:
    ways = (".write_csv(", "csv.writer", "DictWriter")
    odd = [
        path.name
        for path in (root / "src").rglob("*.py")
        if path.name != "outputs.py" and any(way in path.read_text("utf-8") for way in ways)
    ]
    assert odd == []


@pytest.mark.parametrize("text", ["=1+1", "-3 m", "'=1", "'tis", "-3", "plain", ""])
def test_a_cell_that_people_or_we_wrote_is_read_back(text: str) -> None:
    assert unmark_cell(str(mark_formula(text))) == text


def test_an_apostrophe_that_marks_nothing_stays() -> None:
    assert unmark_cell("'tis") == "'tis"
