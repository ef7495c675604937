"""What guessing gives: by item, by slice, beside the cells that it explains, and in the report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tests.stages.analyze.conftest import Folders, make_study

from omibench.datasets.registry import BENCHMARKS
from omibench.params.benchmark import BenchmarkParams
from omibench.results.statistics.people import guess_accuracy
from omibench.schemas.problem import Answer, Choice
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.chance import guess_chance

pytestmark = pytest.mark.usefixtures("undrawn")


def open_analysis(folders: Folders) -> Analysis:
    results = folders.load()
    return Analysis(folders.study, results, folders.freeze.parent, folders.out / "report.html")


def make_answer(gold: list[str], choices: int) -> Answer:
    labels = [Choice(label=label, text=f"{label}.") for label in "ABCDEFGH"[:choices]]
    return Answer(
        id="p",
        answer=gold,
        answer_type="mcq" if choices else "open",
        choices=labels or None,
    )


@pytest.mark.parametrize(
    ("gold", "choices", "chance"),
    [(["B"], 4, 1 / 4), (["b"], 5, 1 / 5), (["A", "C"], 4, 1 / 15), (["BD"], 4, 1 / 15)],
)
def test_a_guess_picks_one_choice_or_one_set_of_them(
    gold: list[str], choices: int, chance: float
) -> None:
    assert guess_chance(make_answer(gold, choices)) == chance


def test_an_open_answer_is_not_guessed() -> None:
    assert guess_chance(make_answer(["42"], 0)) == 0


def test_slices_have_the_chance_of_their_items(made: Folders) -> None:
    analysis = open_analysis(made)
    table = analysis.table("chance")
    assert table is not None
    answers = list(analysis.results.answers.values())
    for name, subject in [("", ""), ("subject", "physics")]:
        part = [a for a in answers if subject in ("", a.subject)]
        expected = guess_accuracy([guess_chance(answer) for answer in part])
        (row,) = table.filter(metric="chance", slice=name, value=subject).to_dicts()
        assert (row["estimate"], row["upper"]) == pytest.approx(
            (expected.mean, expected.upper), abs=1e-6
        )
        assert (row["n"], row["model"]) == (len(part), "")
        assert row["low"] < row["estimate"] < row["high"]
    values = table.filter(metric="chance", slice="n_images")["value"].to_list()
    assert values == sorted(values, key=lambda value: int(value.rstrip("+")))


def test_the_share_of_cells_at_chance_is_that_of_their_intervals(made: Folders) -> None:
    analysis = open_analysis(made)
    model, rules = "sim-weak", "robust"
    answers = analysis.results.answers
    at_chance = []
    for score in analysis.scores.filter(model=model, setting="cot", rules=rules).to_dicts():
        part = [a for a in answers.values() if score["subject"] in ("total", a.subject)]
        chance = guess_accuracy([guess_chance(a) for a in part]).mean
        at_chance.append(score["low"] <= chance <= score["high"])
    study = analysis.study.model_copy(
        update={"analyze": analysis.study.analyze.model_copy(update={"slices": ["subject"]})}
    )
    table = Analysis(study, analysis.results, analysis.folder, analysis.report).table("chance")
    assert table is not None
    (row,) = table.filter(metric="at chance", model=model, setting="cot", rules=rules).to_dicts()
    assert row["n"] == len(at_chance) == 5
    assert row["estimate"] == pytest.approx(sum(at_chance) / 5)
    assert row["simulated"]
    assert "gptscore" not in table["rules"].to_list()


def test_a_cell_stands_beside_the_chance_of_the_items_that_it_answered(made: Folders) -> None:
    analysis = open_analysis(made)
    results = analysis.results
    opened = [id for id, answer in results.answers.items() if not answer.choices]
    cell = (pl.col("model") == "sim-weak") & (pl.col("setting") == "cot")
    verdicts = results.verdicts.filter(~cell | pl.col("id").is_in(opened))
    partial = replace(analysis, results=replace(results, verdicts=verdicts))
    table = partial.table("chance")
    assert table is not None
    at_chance = table.filter(metric="at chance", model="sim-weak", rules="robust")
    assert at_chance["setting"].to_list() == ["direct", "first-image", ""], "open items alone"
    assert at_chance["n"][-1] == at_chance["n"][:2].sum()


def test_a_study_of_open_answers_has_no_chance(made: Folders) -> None:
    analysis = open_analysis(made)
    opened = {
        id: answer.model_copy(update={"choices": None})
        for id, answer in analysis.results.answers.items()
    }
    bare = replace(analysis, results=replace(analysis.results, answers=opened))
    assert bare.table("chance") is None


def test_the_main_table_has_a_row_of_guessing(tmp_path: Path) -> None:
    folders = make_study(tmp_path, simulated=False, explorer=False)
    html = folders.analyze().report.read_text("utf-8")
    assert "Random choice" in html
    assert "contain the accuracy of guessing" in html
    table = pl.read_csv(folders.out / "tables" / "chance.csv")
    whole = table.filter(pl.col("metric") == "chance", pl.col("slice") == "")
    assert f"{100 * whole['estimate'][0]:.1f}" in html


def test_the_random_choice_that_is_printed_is_a_likely_draw(
    shared_data: Path, tmp_path: Path
) -> None:
    """EMMA, table 2, EMMA-mini: whole counts out of 100, as one draw gives them."""
    params = BenchmarkParams(name="emma-mini")
    answers = BENCHMARKS.get("emma-mini").load(shared_data / "emma", tmp_path, params).answers
    printed = {"mathematics": 0.13, "physics": 0.23, "chemistry": 0.27, "coding": 0.28}
    for subject, share in printed.items():
        guessed = guess_accuracy([guess_chance(a) for a in answers if a.subject == subject])
        assert guessed.lo <= share <= guessed.hi
    total = guess_accuracy([guess_chance(answer) for answer in answers])
    assert total.lo <= 0.2275 <= total.hi
