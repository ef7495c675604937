"""Printed tables: both layouts, which dataset is meant, and which cells differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from types import SimpleNamespace
from typing import cast

import polars as pl
import pytest
from tests.papers.print import list_sizes, make_printed, read_results
from tests.stages.analyze.conftest import Folders, make_study

from omibench.errors import FileFormatError, MissingInputError
from omibench.papers.comparison import compare_with_print
from omibench.papers.layouts import AVERAGE, TOTAL
from omibench.papers.study import PrintedResult, find_row, find_rows, read_print
from omibench.params.setting import Cell
from omibench.params.study import parse_study_file
from omibench.results.load import Results
from omibench.schemas.tables import AggregateRow, write_parquet


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """A study of 28 problems, read-only."""
    return make_study(tmp_path_factory.mktemp("made"))


@pytest.fixture(scope="module")
def rehearsed(made: Folders) -> Results:
    return made.load()


@pytest.fixture(scope="module")
def results(rehearsed: Results) -> Results:
    """The same as if nobody had been simulated."""
    return replace(
        rehearsed,
        responses=rehearsed.responses.with_columns(simulated=False),
        verdicts=rehearsed.verdicts.with_columns(responded_simulated=False, judge_simulated=False),
    )


def compare(
    results: Results, rows: Sequence[PrintedResult], aggregate: Path | None = None
) -> list[SimpleNamespace]:
    """The rows of the comparison; `measured` is ours in per cent."""
    table = compare_with_print(results, rows, aggregate)
    return [
        SimpleNamespace(**row, measured=100 * row["estimate"])
        for row in table.iter_rows(named=True)
    ]


@pytest.mark.parametrize(("problems", "total"), [(400, 36.0), (405, 36.0), (2788, 32.71)])
def test_emma_layout_takes_the_dataset_of_that_size(
    root: Path, problems: int, total: float
) -> None:
    rows = read_results(root / "published/emma_main.csv", "emma", problems)
    row = next(r for r in rows if (r.model, r.strategy) == ("GPT-4o", "cot"))
    assert row.values[TOTAL, "acc"] == total
    assert set(row.values) == {(s, "acc") for s in list_sizes(row)}
    assert set(list_sizes(row)) == {"mathematics", "physics", "chemistry", "coding", TOTAL}
    experts = [r for r in rows if r.model == "Human Expert"]
    assert bool(experts) == (problems < 1000)  # people answered only the reduced set


def test_other_datasets_are_named_by_freeze_name(tmp_path: Path) -> None:
    file = tmp_path / "printed.csv"
    file.write_text("model,strategy,ours_physics,theirs_physics\nM,cot,1.5,2.5\n", "utf-8")
    assert read_results(file, "theirs", 3)[0].values == {("physics", "acc"): 2.5}
    with pytest.raises(FileFormatError, match=r"ours, theirs.*freeze\.name"):
        read_results(file, "third", 3)


def test_the_two_tables_of_usnco_v(root: Path) -> None:
    row = read_results(root / "published/usnco_v_proprietary.csv", "usnco-v", 473)[0]
    assert row.values["local", "acc"] == 93.7
    assert row.values["national", "cons5"] == 96.6
    assert (row.values[AVERAGE, "acc"], row.digits, row.settings) == (93.2, 1, ("zero-shot-5",))
    assert list_sizes(row) == {"local": 204, "national": 269}
    opened = read_results(root / "published/usnco_v_open.csv", "usnco-v", 473)
    assert {r.settings for r in opened} == {("zero-shot",)}
    assert set(opened[0].values) == {("local", "acc"), ("national", "acc"), (AVERAGE, "acc")}


def test_the_two_tables_of_mathreal(root: Path) -> None:
    rows = read_results(root / "published/mathreal_main.csv", "mathreal", 480)
    row = next(r for r in rows if r.model == "GPT-4o")
    assert row.values[TOTAL, "acc"] == 23.0
    assert row.values["Plane Geometry", "strict"] == 13.4
    assert row.settings == ("i", "qg-dg")
    six = read_results(root / "published/mathreal_six_settings.csv", "mathreal", 480)
    assert len(six) == 17 * 7
    ours = {r.strategy: (r.values, r.settings) for r in six if r.model == "GPT-4o"}
    assert ours["I+QG+DG"] == ({(TOTAL, "acc"): 38.7}, ("i-qg-dg",))
    assert set(ours[""][0]) == {(TOTAL, "accocr")}
    pairs = read_results(root / "published/mathreal_real_vs_clean.csv", "mathreal", 480)
    assert len(pairs) == 24
    grok = next(r for r in pairs if r.model == "Grok-4")
    assert grok.values == {("real", "acc"): 5.6, ("clean", "acc"): 12.7}
    assert (grok.settings, list_sizes(grok)["real"]) == (("i",), 175)
    assert {cell.metric_name for cell in grok.cells} == {"credit"}


def test_ready_made_studies_name_rows_that_are_printed(root: Path) -> None:
    """Every cell of a ready-made study that its tables print finds its row."""
    counts = {
        "emma": (16, 16 * 5), "emma_mini": (30, 153), "omibench": (49, 62),
        "usnco_v": (12 + 28, 12 + 28), "mathreal": (44 + 17 * 5, 44 * 4 + 17 * 6 + 24),
    }  # fmt: skip
    nobody = {"Random choice", "Human Expert"}
    for name, (cells, values) in counts.items():
        study = parse_study_file(root / "studies" / f"{name}.yaml")
        tables = [str(root / path) for path in study.analyze.published]
        beside = read_print(tables, study.freeze.name, 2788 if name == "emma" else 400)
        assert not beside.errors
        asked = SimpleNamespace(
            label=lambda model, s=study: s.models[model].label or model,
            setting_label=lambda setting, s=study: s.settings[setting].label or setting,
        )
        found = [find_rows(cast("Results", asked), cell, beside.rows) for cell in study.cells]
        assert (sum(map(bool, found)), sum(map(len, found))) == (cells, values), name
        matched = {id(row) for rows in found for row in rows}
        missing = [row for row in beside.rows if id(row) not in matched and row.settings != ()]
        assert not missing, name
        people = {row.model for row in beside.rows if id(row) not in matched and row.strategy != ""}
        assert people <= nobody, name


def test_parts_averages_and_strict_values_are_recomputed(results: Results, made: Folders) -> None:
    """Parts are those that the frozen answers' attributes tell."""
    names = sorted(results.answers)
    parts = {id: "local" if n % 2 else "national" for n, id in enumerate(names)}
    answers = {
        id: answer.model_copy(
            update={
                "attributes": {"exam": parts[id], "category": "Odd Ones"}
                | ({"pair": "real"} if parts[id] == "local" else {})
            }
        )
        for id, answer in results.answers.items()
    }
    split = replace(results, answers=answers)
    rows = split.select_verdicts("robust", Cell("sim-strong", "cot"))
    verdicts = dict(rows.select("id", "verdict").iter_rows())

    def mean(part: str) -> float:
        return 100 * fmean(verdicts[id] for id in names if parts[id] == part)

    values = {
        ("exam=local", "acc"): mean("local"), ("exam=national", "acc"): mean("national"),
        ("category=ODD ones", "strict"): 1.0,
        ("exam=local", "pass5"): 1.0,
        ("exam × category=local × Odd Ones", "acc"): mean("local"),
    }  # fmt: skip
    row = make_printed(values)
    found = compare(split, [row], made.score.parent / "aggregate")
    ours = {(c.subject, c.printed_metric): c for c in found}
    assert ours["local", "acc"].measured == pytest.approx(mean("local"))
    assert ours["local × Odd Ones", "acc"].measured == pytest.approx(mean("local"))
    strict = ours["ODD ones", "strict"]
    assert strict.measured == pytest.approx(100 * fmean(verdicts.values()))
    assert strict.low < strict.estimate < strict.high
    assert strict.inside is False
    assert [c.subject for c in found if c.differs] == ["ODD ones"]
    half = split.verdicts.with_columns(credit=pl.lit(0.5))
    pair = make_printed({("pair=real", "loose"): 50.0, ("pair=clean", "loose"): 1.0})
    graded = compare(replace(split, verdicts=half), [pair])
    assert [(c.subject, c.printed_metric, c.measured, c.n) for c in graded] == [
        ("real", "acc", 50.0, len(names) // 2)
    ]
    fewer = make_printed(values, {"exam=local": 1})
    assert {c.subject for c in compare(split, [fewer])} == {
        "national",
        "ODD ones",
        "local × Odd Ones",
    }
    assert not compare(split, [make_printed({("exam=nowhere", "acc"): 1.0})])
    assert not compare(split, [make_printed({("mood=good", "acc"): 1.0})])
    assert not compare(split, [make_printed({("exam=local", "elegance"): 1.0})])


def test_an_average_weighs_the_parts_of_its_row_the_same(results: Results) -> None:
    names = sorted(results.answers)
    answers = {
        id: answer.model_copy(update={"attributes": {"exam": "national" if n else "local"}})
        for n, (id, answer) in enumerate(sorted(results.answers.items()))
    }
    split = replace(results, answers=answers)
    verdicts = dict(
        split.select_verdicts("robust", Cell("sim-strong", "cot"))
        .select("id", "verdict")
        .iter_rows()
    )
    expected = 50 * (verdicts[names[0]] + fmean(verdicts[name] for name in names[1:]))
    values = {("exam=local", "acc"): 60.0, ("exam=national", "acc"): 50.0, (AVERAGE, "acc"): 55.0}
    average = compare(split, [make_printed(values)])[-1]
    assert (average.subject, average.n) == (AVERAGE, len(names))
    assert average.measured == pytest.approx(expected)
    assert 100 * average.low < expected < 100 * average.high
    assert average.inside == (average.low <= 0.55 <= average.high)
    assert len(compare(split, [make_printed(values, {"exam=local": 204})])) == 1


def test_pass_at_five_is_that_of_the_aggregated_samples(results: Results, tmp_path: Path) -> None:
    cell = Cell("sim-strong", "cot")
    rows = [
        AggregateRow(id=id, rules="robust", metric=metric, k=5, value=float(n % 2))
        for n, id in enumerate(results.answers) for metric in ("pass", "consistency")
    ]  # fmt: skip
    write_parquet(tmp_path / cell.model / "cot.parquet", rows, AggregateRow)
    row = make_printed({(TOTAL, "acc"): 1.0, (TOTAL, "pass5"): 50.0, (TOTAL, "cons5"): 51.0})
    compared = compare(results, [row], tmp_path)
    assert [c.printed_metric for c in compared] == ["acc", "pass5", "cons5"]
    assert [(c.printed_metric, c.measured, c.differs) for c in compared[1:]] == [
        ("pass5", 50.0, False), ("cons5", 50.0, True),
    ]  # fmt: skip


def test_a_missing_table_gets_one_line(tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match=r"analyze\.published.*it does not exist"):
        read_results(tmp_path / "none.csv", "any", 1)


def test_wrong_layouts_are_one_error_for_all_tables_of_their_folder(tmp_path: Path) -> None:
    (tmp_path / "tables.yaml").write_text("[]", "utf-8")
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("model,total_acc\nM,1\n", "utf-8")
    beside = read_print([str(tmp_path / "a.csv"), str(tmp_path / "b.csv")], "d", 1)
    assert [str(error).partition(": ")[2][:19] for error in beside.errors] == [
        "contains no layouts"
    ]
    assert not beside.rows


def test_rows_match_by_label_and_strategy(results: Results) -> None:
    row = make_printed({})
    assert find_row(results, Cell("sim-strong", "cot"), [row]) is row
    assert find_row(results, Cell("sim-strong", "direct"), [row]) is None
    assert find_row(results, Cell("sim-weak", "cot"), [row]) is None
    unnamed = row._replace(strategy="")
    assert find_row(results, Cell("sim-strong", "cot"), [unnamed]) is unnamed


def test_only_a_cell_that_rounding_cannot_explain_differs(results: Results) -> None:
    third = replace(results, verdicts=results.verdicts.with_columns(verdict=pl.lit(1 / 3)))
    nearest = 33.33
    for value, differs in ((nearest, False), (nearest - 0.01, True), (nearest + 0.01, True)):
        (found,) = compare(third, [make_printed({(TOTAL, "acc"): value})])
        assert found.differs is differs
        assert found.inside


def test_a_cell_without_all_responses_is_not_compared(results: Results) -> None:
    values = {("physics", "acc"): 12.0, (TOTAL, "acc"): 13.0}
    assert {c.subject for c in compare(results, [make_printed(values)])} == {"physics", TOTAL}
    larger = make_printed(values, {"physics": 424, TOTAL: len(results.answers)})
    assert {c.subject for c in compare(results, [larger])} == {TOTAL}


def test_a_chosen_sample_is_compared_at_the_k_of_its_column(
    results: Results, tmp_path: Path
) -> None:
    cell = Cell("sim-strong", "cot")
    how = results.study.settings["cot"].aggregate.how
    rows = [
        AggregateRow(id=id, rules="robust", metric=how, k=k, value=float(n % k == 0))
        for n, id in enumerate(results.answers) for k in (2, 4)
    ]  # fmt: skip
    write_parquet(tmp_path / cell.model / "cot.parquet", rows, AggregateRow)
    (found,) = compare(results, [make_printed({(TOTAL, "acc"): 25.0}, k=4)], tmp_path)
    assert (found.measured, found.metric, found.differs) == (25.0, f"{how}@4", False)


def test_gptscore_is_compared_with_the_judge(results: Results) -> None:
    found = compare(results, [make_printed({(TOTAL, "gptscore"): 50.0})])
    assert [c.rules for c in found] == ["gptscore"]


def test_what_is_simulated_is_not_held_against_print(results: Results, rehearsed: Results) -> None:
    row = make_printed({(TOTAL, "acc"): 12.0, (TOTAL, "gptscore"): 50.0})

    def differs(of: Results) -> list[bool | None]:
        return [c.differs for c in compare(of, [row])]

    assert differs(results) == [True, True]
    assert differs(rehearsed) == [None, None]
    judged = results.verdicts["rules"] == "gptscore"
    judge = replace(results, verdicts=results.verdicts.with_columns(judge_simulated=judged))
    assert differs(judge) == [True, None]
    made_up = results.manifest.model_copy(update={"synthetic": "synthetic:emma"})
    assert differs(replace(results, manifest=made_up)) == [None, None]
