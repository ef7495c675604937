"""What figures draw and what they say of the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.stages.analyze.results.saliency_study import open_saliency_study

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
from omibench.stages.analyze.figures.figure import FIGURES, label_cells
from omibench.stages.analyze.figures.heat_maps import MOST_SQUARES, _draw
from omibench.stages.analyze.figures.scatter_plots import count_correlations, pair_series
from omibench.stages.analyze.figures.theme import apply_theme, describe_chart, render_specification

# Heat maps of differences: which rows they draw, and what they say of the others.


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


# Which rows figures of curves draw, and what they are called.


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


# The figures of saliency are drawn from its tables alone.

NAMES = ("saliency-confidence", "saliency-gains", "saliency-wins", "saliency-impact")


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_shows_the_rows_of_its_table(tmp_path: Path, name: str) -> None:
    analysis, figure = open_saliency_study(tmp_path), FIGURES.get(name)
    table = analysis.table(figure.table)
    assert table is not None
    chart = figure.draw(table)
    assert chart is not None
    specification = describe_chart(chart)
    svg = render_specification(specification)
    assert "SIMULATED" in svg
    assert "local" in svg
    apply_theme(svg, "A figure")
    rows = [row for rows in specification["datasets"].values() for row in rows]
    assert {row["row"].split(" · ")[-1] for row in rows} == {
        "all (n = 4)", "local (n = 2)", "national (n = 2)",
    }  # fmt: skip
    assert figure.draw(table.filter(metric="none")) is None


# Our metrics beside other benchmarks: which series are paired, and what is said of them.

MODELS = "abcdefgh"


def scores(**values: list[float]) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {"series": name, "benchmark": name, "metric": "accuracy", "model": model,
             "estimate": value}
            for name, series in values.items()
            for model, value in zip(MODELS, series, strict=False)
        ]
    )  # fmt: skip


def test_series_over_three_models_are_paired_with_the_first() -> None:
    first, pairs = pair_series(scores(ours=[1, 2, 3, 4], theirs=[4, 3, 2], few=[1, 2]))
    assert first == "ours"
    assert [(pair.name, pair.models) for pair in pairs] == [("theirs", ["a", "b", "c"])]
    assert pairs[0].rank.value == -1


def test_only_intervals_off_zero_are_counted() -> None:
    near = [1, 2, 3, 4, 5, 6, 8, 7]
    table = scores(
        ours=[1, 2, 3, 4, 5, 6, 7, 8],
        near=near,
        mixed=[4, 1, 7, 2, 8, 3, 6, 5],
        against=[-value for value in near],
    )
    assert count_correlations(table) == (
        "Spearman's correlation of ours with 3 other series has an interval above zero for 1 and "
        "below for 1. The intervals are not corrected for their number."
    )


def test_three_models_have_no_interval_and_nothing_is_claimed() -> None:
    found = count_correlations(scores(ours=[1, 2, 3], same=[1, 2, 3]))
    assert found is not None
    assert "for an interval" in found
    assert count_correlations(scores(ours=[1, 2, 3])) is None


# How figures are drawn.

SETTINGS = {"cot": "Chain of thought"}

LABELS = {"strong": "Strong", "weak": "Weak", "old": "GPT", "new": "GPT"}


def test_models_and_settings_stand_under_their_labels_in_every_column_that_holds_them() -> None:
    table = pl.DataFrame(
        {
            "model": ["strong", "weak", ""],
            "baseline_model": ["weak", "strong", "print"],
            "kind": ["model", "setting", "model"],
            "baseline": ["weak", "cot", None],
            "setting": ["weak", "cot", "cot"],
        }
    )
    assert label_cells(table, LABELS, SETTINGS).to_dict(as_series=False) == {
        "model": ["Strong", "Weak", ""],
        "baseline_model": ["Weak", "Strong", "print"],
        "kind": ["model", "setting", "model"],
        "baseline": ["Weak", "Chain of thought", None],
        "setting": ["weak", "Chain of thought", "Chain of thought"],
    }


def test_two_models_of_one_label_stay_apart() -> None:
    table = pl.DataFrame({"model": ["old", "new"]})
    assert label_cells(table, LABELS, SETTINGS)["model"].to_list() == [
        "GPT (old)",
        "GPT (new)",
    ]


def test_a_table_without_models_is_as_it_was() -> None:
    table = pl.DataFrame({"value": ["strong"], "estimate": [0.5]})
    assert label_cells(table, LABELS, SETTINGS).equals(table)


def test_a_baseline_without_a_kind_is_a_setting() -> None:
    table = pl.DataFrame({"setting": ["direct", ""], "baseline": ["cot", "cot"]})
    labels = {"cot": "Plain", "direct": "Plain"}
    assert label_cells(table, {}, labels).to_dict(as_series=False) == {
        "setting": ["Plain (direct)", ""],
        "baseline": ["Plain (cot)", "Plain (cot)"],
    }
