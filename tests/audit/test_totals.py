from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.audit.totals import check_averages, check_differences, check_totals
from omibench.printed_tables.cells import PrintedCell
from omibench.printed_tables.layouts import ColumnGroup
from omibench.printed_tables.rows import PrintedNumber, PrintedRow

SIZES = {"a": 10, "b": 30, "total": 40}


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


@pytest.mark.parametrize(("average", "agrees"), [("30.0", True), ("30.1", True), ("30.2", False)])
def test_an_average_weighs_parts_the_same(average: str, agrees: bool) -> None:
    group = ColumnGroup(
        dataset="d", names="{part}_acc", metrics={"acc": "count"}, parts={"a": 10, "b": 30},
        average="mean",
    )  # fmt: skip
    cells = {"a_acc": "50.0", "b_acc": "10.0", "mean": average}
    (finding,) = check_averages("t.csv", [PrintedRow("m", cells)], [group])
    assert finding.agrees is agrees


def test_a_difference_is_that_of_its_operands() -> None:
    rows = [
        PrintedRow("m", {"x": "12.7", "y": "5.6", "delta": "+7.1"}),
        PrintedRow("k", {"x": "9", "y": "5", "delta": "7"}),
    ]
    findings = list(check_differences("t.csv", rows, {"delta": ("x", "y")}))
    assert [finding.agrees for finding in findings] == [True, False]
    assert findings[1].recomputed == 4
