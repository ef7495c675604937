"""Accuracy by the year of the exam."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.stages.analyze.results.curves.made import Draw, make_analysis, make_answers

STUDY = {"settings": {"cot": {}}, "infer": {"models": ["m"], "settings": ["cot"]}}


def test_each_year_has_its_accuracy_and_its_questions(tmp_path: Path) -> None:
    answers = make_answers(6, year=["2001", "2010", "2010"])
    draws = [Draw("m", "cot", f"p{i}", float(i in (0, 1))) for i in range(6)]
    table = make_analysis(tmp_path, STUDY, answers, draws).table("accuracy-by-year")
    assert table is not None
    rows = {(r["metric"], r["year"]): r for r in table.iter_rows(named=True)}
    assert rows["accuracy", 2001]["estimate"] == 0.5
    assert rows["accuracy", 2010]["estimate"] == 0.25
    assert rows["questions", 2010]["estimate"] == 4
    assert rows["questions", 2001]["model"] == ""
    assert rows["accuracy", 2010]["slice"] == "year"


def test_exams_are_told_apart(tmp_path: Path) -> None:
    answers = make_answers(8, year=["2001", "2001", "2002", "2002"], exam=["local", "national"])
    draws = [Draw("m", "cot", f"p{i}", float(i % 2)) for i in range(8)]
    table = make_analysis(tmp_path, STUDY, answers, draws).table("accuracy-by-year")
    assert table is not None
    national = table.filter(exam="national", year=2002).sort("metric")
    assert national["slice"].unique().to_list() == ["exam × year"]
    assert national["value"].unique().to_list() == ["national × 2002"]
    assert national["estimate"].to_list() == [1.0, 2.0]


@pytest.mark.parametrize("years", [["2001"], ["n/a", "2003"]])
def test_one_year_or_none_that_is_a_number_makes_no_table(tmp_path: Path, years: list[str]) -> None:
    answers = make_answers(4, year=years)
    draws = [Draw("m", "cot", f"p{i}", 1.0) for i in range(4)]
    assert make_analysis(tmp_path, STUDY, answers, draws).table("accuracy-by-year") is None


def test_without_the_attribute_there_is_no_table(tmp_path: Path) -> None:
    analysis = make_analysis(tmp_path, STUDY, make_answers(1), [Draw("m", "cot", "p0", 1.0)])
    assert analysis.table("accuracy-by-year") is None
