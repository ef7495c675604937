"""Checks of printed values: rounded counts, totals, averages and differences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.papers.checks import (
    check_averages,
    check_counts,
    check_differences,
    check_totals,
    find_count,
)
from omibench.papers.layouts import TableLayout
from omibench.papers.tables import PrintedCell, PrintedNumber, PrintedTable, make_table

SIZES = {"a": 10, "b": 30, "total": 40}


def cell(
    value: float, n: int, part: str = "physics", row: str = "m", digits: int = 2
) -> PrintedCell:
    number = PrintedNumber(value, digits)
    return PrintedCell("t.csv", row, "d", "", part, "acc", "count", n, number)


@given(n=st.integers(1, 3000), digits=st.integers(0, 3), data=st.data())
def test_a_rounded_count_is_found(n: int, digits: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, n))
    number = PrintedNumber(round(100 * count / n, digits), digits)
    found = find_count(number, n)
    assert found is not None
    assert number.admits(100 * found / n)


@given(value=st.floats(0, 100), n=st.integers(1, 400))
def test_a_count_that_is_found_gives_the_value(value: float, n: int) -> None:
    number = PrintedNumber(round(value, 2), 2)
    found = find_count(number, n)
    near = [c for c in range(n + 1) if abs(100 * c / n - number.value) <= 0.005 + 1e-9]
    assert (found is None) == (not near)
    assert found is None or found in near


def test_the_number_of_problems_that_all_values_of_a_column_fit_is_named() -> None:
    cells = [cell(round(100 * count / 249, 2), 251, row=str(count)) for count in (151, 131, 47)]
    notes = [finding.note for finding in check_counts(cells)]
    assert notes == [f"no count of 251 gives it; {count} of 249 would" for count in (151, 131, 47)]


def test_a_row_of_ratios_is_checked_only_where_it_is_one_of_counts() -> None:
    def ratios(values: list[float]) -> list[PrintedCell]:
        parts = zip(values, ("a", "b", "c", "d"), strict=True)
        return [cell(value, 50, part)._replace(kind="ratio") for value, part in parts]

    assert not list(check_counts(ratios([10.55, 20.13, 30.0, 7.77])))
    findings = list(check_counts(ratios([10.0, 20.0, 30.0, 7.77])))
    assert [finding.agrees for finding in findings] == [True, True, True, False]


def row(values: dict[str, float], digits: int = 2) -> list[PrintedCell]:
    return [
        PrintedCell(
            "t.csv", "m", "d", "", part, "acc", "ratio", SIZES[part], PrintedNumber(v, digits)
        )
        for part, v in values.items()
    ]


@given(a=st.floats(0, 100), b=st.floats(0, 100), digits=st.integers(0, 3))
def test_a_total_of_unrounded_parts_agrees(a: float, b: float, digits: int) -> None:
    total = (10 * a + 30 * b) / 40
    printed = {"a": round(a, digits), "b": round(b, digits), "total": round(total, digits)}
    (finding,) = check_totals(row(printed, digits))
    assert finding.agrees


def test_a_total_that_the_parts_cannot_give_is_found() -> None:
    (finding,) = check_totals(row({"a": 50.0, "b": 10.0, "total": 30.0}))
    assert (finding.recomputed, finding.n) == (20.0, 40)
    assert "the parts, weighted by problems, give another total" in finding.note


def test_a_row_without_all_parts_is_not_checked() -> None:
    assert not list(check_totals(row({"a": 50.0, "total": 30.0})))


def make(rows: list[dict[str, str]], **keys: Any) -> PrintedTable:
    layout = TableLayout.model_validate({"source": "s", "row": ["model"], "columns": []} | keys)
    return make_table(Path("t.csv"), [{"model": "m"} | row for row in rows], layout)


@pytest.mark.parametrize(("average", "agrees"), [("30.0", True), ("30.1", True), ("30.2", False)])
def test_an_average_weighs_parts_the_same(average: str, agrees: bool) -> None:
    group = {
        "dataset": "d", "names": "{part}_acc", "metrics": {"acc": "count"},
        "parts": {"a": 10, "b": 30}, "average": "mean",
    }  # fmt: skip
    table = make([{"a_acc": "50.0", "b_acc": "10.0", "mean": average}], columns=[group])
    (finding,) = check_averages(table)
    assert finding.agrees is agrees
    assert not list(
        check_averages(make([{"a_acc": "", "b_acc": "1", "mean": "1"}], columns=[group]))
    )


def test_a_difference_is_that_of_its_operands() -> None:
    rows = [
        {"x": "12.7", "y": "5.6", "delta": "+7.1"}, {"x": "9", "y": "5", "delta": "7"},
        {"x": "9", "y": "", "delta": "7"}, {"x": "", "y": "", "delta": ""},
    ]  # fmt: skip
    findings = list(check_differences(make(rows, differences={"delta": ("x", "y")})))
    assert [finding.agrees for finding in findings] == [True, False]
    assert findings[1].recomputed == 4
