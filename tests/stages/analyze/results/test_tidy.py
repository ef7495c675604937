"""Tables of results: their columns, their types, and the files that hold them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from omibench.errors import PluginError
from omibench.stages.analyze.results.result import COLUMNS, complete_table, write_table


def test_what_a_result_leaves_out_is_filled_in() -> None:
    frame = pl.DataFrame({"odds": [2.0], "estimate": [1 / 3], "value": [None]})
    table = complete_table(frame, "mine", "set")
    assert table.columns == [*COLUMNS, "odds"]
    row = table.row(0, named=True)
    assert (row["result"], row["dataset"], row["value"], row["model"]) == ("mine", "set", "", "")
    assert row["estimate"] == 0.333333
    assert row["low"] is None
    assert row["n"] is None


def test_no_number_is_a_null() -> None:
    table = complete_table(pl.DataFrame({"estimate": [float("nan")]}), "mine", "set")
    assert table["estimate"].to_list() == [None]


def test_a_column_of_another_type_is_one_line() -> None:
    with pytest.raises(PluginError, match=r"^result 'mine': .*\b(conversion|casting)\b"):
        complete_table(pl.DataFrame({"n": ["many"]}), "mine", "set")


def test_both_files_hold_the_table(tmp_path: Path) -> None:
    table = complete_table(pl.DataFrame({"model": ["=1+1", "m"], "n": [1, 2]}), "mine", "set")
    write_table(table, tmp_path / "tables", "mine")
    assert pl.read_parquet(tmp_path / "tables/mine.parquet").equals(table)
    csv = pl.read_csv(tmp_path / "tables/mine.csv")
    assert csv.columns == table.columns
    assert csv["model"].to_list() == ["'=1+1", "m"]
