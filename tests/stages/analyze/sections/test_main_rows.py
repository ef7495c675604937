"""The main table: which printed values stand below a row of ours."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
from tests.stages.analyze.conftest import Folders, make_study, rewrite_cells

from omibench.results.load import Results, load_results
from omibench.stages.analyze.sections.main_rows import PrintedCells, group_rows, has_strict
from omibench.stages.analyze.tables.accuracy import scores
from omibench.stages.analyze.tables.printed import Printed

PAIR = Printed(
    "Strong", "cot", "", {("real", "acc"): 5.6, ("clean", "acc"): 12.7}, {}, digits=1, loose=True
)


def below(results: Results) -> list[PrintedCells]:
    found = group_rows(results, scores(results), [PAIR])
    rows = [row for group in found for model in group.models for row in model.rows]
    return [row.printed for row in rows if row.printed]


def test_strict_accuracy_has_a_column_with_the_printed_value_below(made: Folders) -> None:
    results = load_results(*made[:3], made.study)
    main = results.main_rules
    verdicts = results.verdicts.with_columns(
        strict=pl.when((pl.col("rules") == main) & (pl.col("outcome") == "scored")).then(0.0)
    )
    values = {("total", "acc"): 53.9, ("total", "strict"): 41.0}
    printed = PAIR._replace(values=values)
    changed = replace(results, verdicts=verdicts)
    rows = scores(changed)
    assert has_strict(changed, rows)
    assert not has_strict(results, scores(results))
    lines = [r for g in group_rows(changed, rows, [printed]) for m in g.models for r in m.rows]
    assert {line.strict for line in lines} == {"0.0"}
    (cells,) = [line.printed for line in lines if line.printed]
    assert (cells.total, cells.strict) == ("53.9", "41.0")


def test_the_page_shows_the_strict_column_only_where_there_is_one(tmp_path: Path) -> None:
    folders = make_study(tmp_path, simulated=False, explorer=False)
    assert "<th>Strict</th>" not in folders.analyze().report.read_text("utf-8")
    scored = (pl.col("rules") == "robust") & (pl.col("outcome") == "scored")
    rewrite_cells(
        folders,
        lambda frame: (
            frame.with_columns(strict=pl.when(scored).then(0.0))
            if "rules" in frame.columns
            else frame
        ),
    )
    html = folders.analyze().report.read_text("utf-8")
    assert "<th>Strict</th>" in html
    assert "Strict, the share with all parts right." in html
    assert "strict 0.0" in html


def test_the_total_of_a_study_of_one_part_is_that_part(made: Folders) -> None:
    results = load_results(*made[:3], made.study)
    assert below(results) == [], "nothing of the row is of these problems"
    clean = {
        id: answer.model_copy(update={"attributes": {"pair": "clean"}})
        for id, answer in results.answers.items()
    }
    (cells,) = below(replace(results, answers=clean))
    assert cells.total == "12.7"
    assert set(cells.subjects) == {"–"}
