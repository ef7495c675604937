"""The table of reviewers' agreement (OMIBench, A.4.3)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.stages.analyze.conftest import Folders, make_study, study_values

from omibench.params.study import parse_study
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.figures.judgements import draw_agreement
from review.builders import GOOD, write_lines
from review.sampling.test_residual import judge_samples


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    return make_study(tmp_path_factory.mktemp("agreement"))


def open_analysis(folders: Folders, **review: Any) -> Analysis:
    study = parse_study(study_values() | {"review": review}, "test")
    results = folders.load(study)
    return Analysis(study, results, folders.freeze.parent, folders.out / "report.html")


def test_agreement_and_remaining_errors_are_rows(folders: Folders, tmp_path: Path) -> None:
    tasks, decisions = judge_samples(2)
    write_lines(tmp_path / "tasks.jsonl", *tasks)
    simulated = [decision.model_copy(update={"simulated": True}) for decision in decisions]
    write_lines(tmp_path / "decisions.jsonl", *simulated)
    table = open_analysis(folders, folder=str(tmp_path)).table("agreement")
    assert table is not None
    assert set(table["slice"]) == {"task"}
    assert table["simulated"].all()
    valid = table.filter(field="valid", metric="agreement").row(0, named=True)
    assert (valid["value"], valid["estimate"], valid["n"], valid["people"]) == ("item", 1, 80, 2)
    assert valid["low"] < 1
    error = table.filter(metric="residual error rate").row(0, named=True)
    assert (error["estimate"], error["n"], error["field"]) == (0.1, 20, "")
    assert table.filter(metric="cohen kappa").select("between").row(0) == ("ann and bob",)
    undefined = table.filter(field="valid", metric="fleiss kappa")
    assert undefined["estimate"].to_list() == [None]


def test_a_study_without_tasks_has_no_such_table(folders: Folders, tmp_path: Path) -> None:
    assert open_analysis(folders).table("agreement") is None
    assert open_analysis(folders, folder=str(tmp_path)).table("agreement") is None


def test_people_who_read_nothing_twice_have_no_rows(folders: Folders, tmp_path: Path) -> None:
    tasks, _ = judge_samples(0)
    write_lines(tmp_path / "tasks.jsonl", *tasks)
    assert open_analysis(folders, folder=str(tmp_path)).table("agreement") is None


def test_columns_are_typed(folders: Folders, tmp_path: Path) -> None:
    tasks, decisions = judge_samples(0)
    write_lines(tmp_path / "tasks.jsonl", *tasks)
    write_lines(tmp_path / "decisions.jsonl", *decisions)
    table = open_analysis(folders, folder=str(tmp_path)).table("agreement")
    assert table is not None
    assert table.schema["people"] == pl.Int64
    assert table.schema["low"] == pl.Float64


def test_the_figure_has_a_row_a_field_and_is_marked(folders: Folders, tmp_path: Path) -> None:
    tasks, decisions = judge_samples(0)
    wrong = {"valid": "invalid", "quality": 2}
    decisions = [
        decision.model_copy(
            update={"simulated": True, "fields": wrong if i in (0, 1, 2, 9) else GOOD}
        )
        for i, decision in enumerate(decisions)
    ]
    write_lines(tmp_path / "tasks.jsonl", *tasks)
    write_lines(tmp_path / "decisions.jsonl", *decisions)
    table = open_analysis(folders, folder=str(tmp_path)).table("agreement")
    assert table is not None
    chart = draw_agreement(table)
    assert chart is not None
    specification = json.dumps(chart.to_dict())
    assert '"item: valid"' in specification
    assert '"item: quality"' in specification
    assert "SIMULATED" in specification
    assert draw_agreement(table.filter(metric="agreement")) is None
