"""Which rows figures of curves draw, and what they are called."""

from __future__ import annotations

from typing import Any

import polars as pl

from omibench.stages.analyze.figures.chart_parts import (
    MOST_LINES,
    describe_selection,
    head_lines,
    join_names,
    name_lines,
    pick_rules,
    scale_up,
    select_lines,
)


def make_row(**values: Any) -> dict[str, Any]:
    return {"label": "Apex", "series": "", "setting": "cot", "simulated": False, **values}


def test_gptscore_is_drawn_where_there_is_a_judge_else_the_first_scorer() -> None:
    books = pl.DataFrame({"rules": ["", "robust", "omibench", "gptscore/a", "gptscore"]})
    assert pick_rules(books) == "gptscore"
    assert pick_rules(books.head(4)) == "robust"
    assert pick_rules(books.head(1)) == ""


def test_a_name_holds_what_differs_and_a_mark() -> None:
    rows = [make_row(series="images none"), make_row(series="images one", simulated=True)]
    named = name_lines(rows, "label", "series", "setting")
    assert [r["line"] for r in named] == [
        "Apex · images none",
        "Apex · images one · SIMULATED",
    ]
    assert join_names(make_row(series=None), "label", "series", "setting") == "Apex · cot"


def test_a_figure_draws_the_highest_lines_and_says_so() -> None:
    rows = [make_row(line=f"l{n}", estimate=float(n)) for n in range(MOST_LINES + 4)]
    drawn = select_lines(rows)
    assert {r["line"] for r in drawn} == {f"l{n}" for n in range(4, MOST_LINES + 4)}
    assert describe_selection(drawn, rows) == "the 16 of 20 lines with the highest mean"
    assert describe_selection(rows, rows) == ""
    assert len(head_lines([make_row(line=str(n)) for n in range(60)])) == 40


def test_shares_become_per_cent_and_nothing_stays_nothing() -> None:
    assert scale_up([{"low": None, "estimate": 0.5, "n": 3}], "low", "estimate") == [
        {"low": None, "estimate": 50.0, "n": 3}
    ]


def test_a_name_holds_only_what_tells_lines_apart() -> None:
    rows = [
        {"label": "A", "series": "T 1", "value": "local", "simulated": False},
        {"label": "A", "series": "T 1", "value": "national", "simulated": False},
        {"label": "B", "series": "T 0", "value": "local", "simulated": False},
    ]
    named = name_lines(rows, "label", "series", "value")
    assert [row["line"] for row in named] == ["A · local", "A · national", "B · local"]
    same = name_lines([*rows, {**rows[0], "series": "T 2"}], "label", "series", "value")
    assert same[0]["line"] == "A · T 1 · local"
