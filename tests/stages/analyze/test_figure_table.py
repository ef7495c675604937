"""The table behind a figure: bounded, and without columns that say nothing."""

from __future__ import annotations

import polars as pl

from omibench.stages.analyze.report import MOST_COLUMNS, MOST_ROWS, preview_table


def test_columns_that_differ_and_the_first_rows_are_shown() -> None:
    table = pl.DataFrame(
        {
            "result": ["r"] * 30,
            "model": [f"m{i}" for i in range(30)],
            "estimate": [1 / 3] * 30,
            "low": [None] * 30,
            "n": range(30),
        },
        schema_overrides={"low": pl.Float64},
    )
    preview = preview_table(table)
    assert preview.columns == ["model", "estimate", "low", "n"]
    assert preview.rows[1] == ["m1", "0.3333", "", "1"]
    assert (len(preview.rows), preview.height) == (MOST_ROWS, 30)


def test_a_wide_table_is_bounded() -> None:
    table = pl.DataFrame({f"c{i}": [1, 2] for i in range(40)})
    assert len(preview_table(table).columns) == MOST_COLUMNS


def test_scorer_measure_and_person_stand_first_and_shares_are_in_per_cent() -> None:
    table = pl.DataFrame(
        {
            "model": ["m", "", "m"], **{f"c{i}": [1, 2, 3] for i in range(40)},
            "estimate": [0.125, 0.5, 3.5], "score": [0.5, None, None],
            "metric": ["accuracy", "accuracy", "ability"], "measure": ["accuracy", "strict", ""],
            "respondent": ["", "Ada", ""], "rules": ["robust", "emma", "robust"],
            "significant": [True, False, None],
        }
    )  # fmt: skip
    preview = preview_table(table)
    assert preview.columns[:6] == ["model", "respondent", "scorer", "measure", "metric", "estimate"]
    shown = [row[5].replace("\N{NO-BREAK SPACE}", " ") for row in preview.rows]
    assert shown == ["12.5 %", "50.0 %", "3.5"]


def test_every_share_is_in_per_cent_whatever_its_metric_and_source() -> None:
    metrics = ["pass@k", "majority@k", "slope", "agreement on verified", "accuracy", "spearman"]
    table = pl.DataFrame(
        {
            "metric": metrics, "estimate": [0.5, 0.4, -0.05, 0.9, 71.5, 0.5],
            "right": [0.25] * 5 + [0.5],
            "source": ["measured"] * 4 + ["printed", "measured"],
        }
    )  # fmt: skip
    rows = [
        [text.replace("\N{NO-BREAK SPACE}", " ") for text in row]
        for row in preview_table(table).rows
    ]
    assert [row[1] for row in rows] == ["50.0 %", "40.0 %", "-5.0 %", "90.0 %", "71.5 %", "0.5"]
    assert rows[0][2] == "25.0 %"
