"""Participants of exams, estimated from cut-offs, beside models."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import pytest
from tests.stages.analyze.conftest import Folders, study_values

from omibench.params.study import parse_study
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.figures.people import draw_people_by_year

CUTOFFS = """exam,year,percentile,score,of,simulated
national,2024,50,27,60,
national,2024,90,44,60,
local,2024,50,30,60,true
local,2023,90,50,60,
"""


def open_analysis(folders: Folders, folder: Path, dated: bool = True) -> Analysis:
    """Items of two exams in turn, all of 2024."""
    file = folder / "cutoffs.csv"
    file.write_text(CUTOFFS, "utf-8")
    study = parse_study(study_values(people_cutoffs=str(file)), "test")
    results = folders.load(study)
    if dated:
        answers = {
            id: answer.model_copy(
                update={"attributes": {"exam": ("local", "national")[place % 2], "year": "2024"}}
            )
            for place, (id, answer) in enumerate(results.answers.items())
        }
        results = replace(results, answers=answers)
    return Analysis(study, results, folders.freeze.parent, folders.out / "report.html")


def test_estimates_are_marked_and_models_stand_beside(
    made: Folders, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "omibench"):
        table = open_analysis(made, tmp_path).table("people-estimates")
    assert table is not None
    assert "one cut-off of local 2023 does not determine the mean" in caplog.text
    people = table.filter(kind="estimated people")
    assert people.select("value", "estimate", "cutoffs", "n", "simulated").rows() == [
        ("local × 2024", 0.5, 1, None, True),
        ("national × 2024", 0.45, 2, None, False),
    ]
    place = {"model": "sim-strong", "setting": "cot", "rules": "robust"}
    models = table.filter(kind="model", value="national × 2024", **place)
    (accuracy,) = models.filter(metric="accuracy").to_dicts()
    (difference,) = models.filter(metric="difference").to_dicts()
    assert (accuracy["n"], accuracy["slice"]) == (14, "exam × year")
    for name in ("estimate", "low", "high"):
        assert difference[name] == pytest.approx(accuracy[name] - 0.45, abs=2e-6)
    assert "gptscore" not in table["rules"].to_list()


def test_models_and_estimates_are_drawn(made: Folders, tmp_path: Path) -> None:
    table = open_analysis(made, tmp_path).table("people-estimates")
    assert table is not None
    chart = draw_people_by_year(table)
    assert chart is not None
    text = chart.to_json()
    assert "sim-strong" in text
    assert "SIMULATED" in text
    assert draw_people_by_year(table.filter(kind="estimated people")) is None


def test_without_years_there_are_estimates_alone(
    made: Folders, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "omibench"):
        table = open_analysis(made, tmp_path, dated=False).table("people-estimates")
    assert table is not None
    assert set(table["kind"]) == {"estimated people"}
    assert "no attribute 'year'" in caplog.text
