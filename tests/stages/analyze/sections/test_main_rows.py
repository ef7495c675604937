"""The main table: which printed values stand below a row of ours."""

from __future__ import annotations

from dataclasses import replace

from tests.stages.analyze.conftest import Folders

from omibench.results.load import Results, load_results
from omibench.stages.analyze.sections.main_rows import PrintedCells, group_rows
from omibench.stages.analyze.tables.accuracy import scores
from omibench.stages.analyze.tables.printed import Printed

PAIR = Printed(
    "Strong", "cot", "", {("real", "acc"): 5.6, ("clean", "acc"): 12.7}, {}, digits=1, loose=True
)


def below(results: Results) -> list[PrintedCells]:
    found = group_rows(results, scores(results), [PAIR])
    rows = [row for group in found for model in group.models for row in model.rows]
    return [row.printed for row in rows if row.printed]


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
