"""Whose results a printed row holds."""

from __future__ import annotations

from typing import Any

import pytest

from omibench.errors import FileFormatError
from omibench.printed_tables.cells import PrintedCell, read_cells
from omibench.printed_tables.layouts import TableLayout
from omibench.printed_tables.rows import PrintedNumber, PrintedRow, name_rows


def make_layout(**keys: Any) -> TableLayout:
    return TableLayout.model_validate({"source": "s", "row": ["name"], "columns": []} | keys)


def read(names: list[str], layout: TableLayout) -> list[PrintedRow]:
    return name_rows("t.csv", [{"name": name} for name in names], layout)


def test_two_rows_of_one_name_are_told_apart_by_the_row_above() -> None:
    rows = read(["A", "+ X", "B", "+ X"], make_layout())
    assert [row.model for row in rows] == ["A", "A + X", "B", "B + X"]
    assert {row.setting for row in rows} == {""}


def test_what_is_added_may_be_a_setting() -> None:
    rows = read(["A", "+ X"], make_layout(added="setting"))
    assert [(row.name, row.model, row.setting) for row in rows] == [
        ("A", "A", ""), ("A + X", "A", "+ X"),
    ]  # fmt: skip


def test_models_and_settings_have_one_name_over_all_tables() -> None:
    layout = make_layout(
        row=["name", "how"], setting="{how}", same={"A": "B"}, settings={"one": "cot"}
    )
    (row,) = name_rows("t.csv", [{"name": "A", "how": "one"}], layout)
    assert (row.name, row.model, row.setting) == ("B, cot", "B", "cot")


def test_a_table_without_models_keeps_the_names_of_its_rows() -> None:
    (row,) = read(["problems"], make_layout(model="", metric="{name}"))
    assert (row.name, row.model, row.metric) == ("problems", "", "problems")


def test_a_number_that_is_none_is_named_with_what_a_terminal_may_show() -> None:
    layout = make_layout(
        columns=[{"dataset": "d", "names": "{part}", "metrics": {"x": "count"}, "parts": {"a": 1}}]
    )
    with pytest.raises(FileFormatError, match=r"t\.csv: A.*, a: 'x.*' is not a number") as caught:
        name_rows("t.csv", [{"name": "A\x1b[2J", "a": "x\x1b"}], layout)
    assert "\x1b" not in str(caught.value)


def read_one(columns: dict[str, Any], texts: dict[str, str]) -> list[PrintedCell]:
    group = {"dataset": "d", "metrics": {"acc": "ratio"}} | columns
    layout = make_layout(columns=[group])
    return read_cells("t.csv", name_rows("t.csv", [{"name": "A"} | texts], layout), layout)


def test_printed_intervals_and_deviations_are_kept() -> None:
    columns = {
        "names": "{part}", "parts": {"a": 10}, "interval": ["{part}_low", "{part}_high"],
        "deviation": "{part}_sd",
    }  # fmt: skip
    texts = {"a": "50.0", "a_low": "40.1", "a_high": "59.9", "a_sd": "1.25"}
    (cell,) = read_one(columns, texts)
    assert cell.interval == (PrintedNumber(40.1, 1), PrintedNumber(59.9, 1))
    assert cell.deviation == PrintedNumber(1.25, 2)


def test_an_average_is_a_value_of_its_own_and_no_total() -> None:
    columns = {"names": "{part}", "parts": {"a": 10, "b": 30}, "slice": "exam", "average": "mean"}
    cells = read_one(columns, {"a": "50", "b": "10", "mean": "30"})
    assert [(cell.part, cell.kind, cell.n) for cell in cells] == [
        ("a", "ratio", 10), ("b", "ratio", 30), ("average", "mean", 0),
    ]  # fmt: skip
    assert [cell.slice for cell in cells] == ["exam"] * 3


def test_metrics_have_the_names_of_our_tables() -> None:
    columns = {"names": "{part}", "parts": {"a": 10}, "metrics": {"loose": "ratio"}}
    assert [cell.metric_name for cell in read_one(columns, {"a": "5"})] == ["credit"]
    columns["metrics"], columns["k"] = {"pass": "count"}, 4
    assert [cell.metric_name for cell in read_one(columns, {"a": "5"})] == ["pass@4"]
