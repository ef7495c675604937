"""Heat maps of differences: which rows they draw, and what they say of the others."""

from __future__ import annotations

from typing import Any

import pytest

from omibench.stages.analyze.figures.heat_maps import MOST_SQUARES, _draw


def squares(rows: int, columns: int) -> list[dict[str, object]]:
    return [
        {
            "row": f"model {row}", "column": f"setting {column}", "text": "+1.0", "points": 1.0,
            "measure": "accuracy", "rules": "robust", "simulated": False, "dataset": "unused",
        }
        for row in range(rows)
        for column in range(columns)
    ]  # fmt: skip


@pytest.mark.parametrize(("rows", "columns", "drawn"), [(51, 6, 51), (300, 6, 200), (90, 60, 40)])
def test_rows_that_do_not_fit_are_counted_and_found_in_the_table(
    rows: int, columns: int, drawn: int
) -> None:
    chart = _draw(squares(rows, columns), "Differences", "points").to_dict()
    assert sum("row" in row for row in _list_data(chart)) == drawn * columns
    said = " ".join(chart["title"]["subtitle"])
    assert (f"the first {drawn} of {rows} rows; its table has all" in said) == (drawn < rows)
    assert drawn * columns <= max(MOST_SQUARES, 40 * columns)


def test_a_square_holds_what_is_shown_alone() -> None:
    chart = _draw(squares(1, 2), "Differences", "points").to_dict()
    assert "dataset" not in _list_data(chart)[0]


def _list_data(chart: dict[str, Any]) -> list[dict[str, Any]]:
    (rows,) = chart["datasets"].values()
    return list(rows)
