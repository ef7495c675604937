"""The main table: printed values below a row of ours, the columns, and the scorers below it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import polars as pl
import pytest
from tests.papers.print import list_sizes, make_printed, read_results
from tests.stages.analyze.conftest import Folders, analysis_of, make_study, rewrite_verdicts

from omibench.papers.comparison import compare_with_print
from omibench.papers.layouts import AVERAGE
from omibench.papers.study import PrintedResult
from omibench.params.setting import Cell
from omibench.results.load import Results
from omibench.stages.analyze.formatting import NO_VALUE, format_decimals
from omibench.stages.analyze.results.accuracy import TOTAL
from omibench.stages.analyze.sections.accuracy import RulesSection
from omibench.stages.analyze.sections.leaderboard import MainSection

pytestmark = pytest.mark.usefixtures("undrawn")

PAIR = make_printed({("pair=real", "loose"): 5.6, ("pair=clean", "loose"): 12.7}, digits=1)


def view(results: Results, *printed: PrintedResult, compared: bool = False) -> Mapping[str, Any]:
    analysis = analysis_of(results)
    comparisons = compare_with_print(results, printed if compared else [])
    vars(analysis).update(printed_rows=list(printed), printed_comparisons=comparisons)
    return MainSection(analysis).view()


def list_rows(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = values["rows"]
    return rows


def below(results: Results) -> list[dict[str, Any]]:
    return [row["printed"] for row in list_rows(view(results, PAIR)) if row["printed"]]


def test_strict_accuracy_has_a_column_with_the_printed_value_below(made: Folders) -> None:
    results = made.load()
    main = results.main_rules
    verdicts = results.verdicts.with_columns(
        strict=pl.when((pl.col("rules") == main) & (pl.col("outcome") == "scored")).then(0.0)
    )
    printed = make_printed({("total", "acc"): 53.9, ("total", "strict"): 41.0}, digits=1)
    changed = view(replace(results, verdicts=verdicts), printed)
    assert changed["strict"]
    assert not view(results)["strict"]
    lines = list_rows(changed)
    assert {line["total"]["strict"] for line in lines} == {0.0}
    (cells,) = [line["printed"] for line in lines if line["printed"]]
    assert (cells["total"], cells["strict"]) == ("53.9", "41.0")


def test_the_ratio_of_equation_6_stands_below_the_accuracy_of_its_scorer(made: Folders) -> None:
    results = made.load()
    ratio = pl.when(pl.col("rules") == "omibench").then(0.8 * pl.col("verdict"))
    printed = replace(results, verdicts=results.verdicts.with_columns(ratio=ratio))
    values = RulesSection(analysis_of(printed)).view()
    assert values is not None
    table = values["table"]
    names = [column.text for column in table.columns]
    assert len(table.rows) == len(results.study.cells)
    for row in table.body:
        parts = {
            column.text for column, entry in row if entry.lines and entry.lines[-1][:5] == "ratio"
        }
        assert parts == {"omibench"}
        assert row[names.index("omibench")][1].lines[1].startswith("ratio ")


@pytest.mark.slow
def test_the_page_shows_the_strict_column_only_where_there_is_one(tmp_path: Path) -> None:
    folders = make_study(tmp_path, simulated=False, explorer=False)
    assert "<th>Strict</th>" not in folders.analyze().report.read_text("utf-8")
    scored = (pl.col("rules") == "robust") & (pl.col("outcome") == "scored")
    rewrite_verdicts(folders, lambda f: f.with_columns(strict=pl.when(scored).then(0.0)))
    html = folders.analyze().report.read_text("utf-8")
    assert "<th>Strict</th>" in html
    assert "Strict is the share with all parts right." in html
    assert "strict 0.0" in html


def test_the_total_of_a_study_of_one_part_is_that_part(made: Folders) -> None:
    results = made.load()
    (cells,) = below(results)
    assert {cells["total"], *cells["subjects"]} == {"–"}, "nothing of the row is of these problems"
    clean = {
        id: answer.model_copy(update={"attributes": {"pair": "clean"}})
        for id, answer in results.answers.items()
    }
    (cells,) = below(replace(results, answers=clean))
    assert cells["total"] == "12.7"
    assert set(cells["subjects"]) == {"–"}


def test_a_printed_macro_average_stands_beside_ours_and_not_under_a_total(made: Folders) -> None:
    """As USNCO-V prints it: the mean of two subsets of different sizes."""
    results = made.load()
    names = sorted(results.answers)
    answers = {
        id: answer.model_copy(update={"attributes": {"exam": "national" if n else "local"}})
        for n, (id, answer) in enumerate(sorted(results.answers.items()))
    }
    split = replace(results, answers=answers)
    values = {("exam=local", "acc"): 60.0, ("exam=national", "acc"): 50.0, (AVERAGE, "acc"): 55.0}
    row = make_printed(values, digits=1)
    verdicts = split.select_verdicts("robust", Cell("sim-strong", "cot"))
    own = dict(verdicts.group_by("id").agg(pl.col("verdict").mean()).iter_rows())
    macro = 50 * (own[names[0]] + fmean(own[name] for name in names[1:]))
    (line,) = [r for r in list_rows(view(split, row, compared=True)) if r["printed"]]
    assert line["printed"]["total"] == NO_VALUE
    expected = f"macro average of local and national: 55.0, ours {format_decimals(macro, 1)}"
    assert line["printed"]["macro"] == expected
    assert 100 * line["total"]["estimate"] != pytest.approx(macro), (
        "the total is a mean over problems"
    )
    fewer = make_printed(values, {"exam=local": 204}, digits=1)
    (line,) = [r for r in list_rows(view(split, fewer, compared=True)) if r["printed"]]
    assert line["printed"]["macro"] == "macro average of local and national: 55.0"


@pytest.mark.parametrize(("name", "size"), [("emma", 2788), ("emma-mini", 400)])
def test_the_totals_that_emma_prints_are_means_over_problems(
    root: Path, name: str, size: int
) -> None:
    rows = read_results(root / "published/emma_main.csv", name, size)
    for row in rows:
        parts = {part: value for (part, _), value in row.values.items() if part != TOTAL}
        if parts:
            total = sum(list_sizes(row)[part] * value for part, value in parts.items()) / size
            assert row.values[TOTAL, "acc"] == pytest.approx(total, abs=0.02)
