"""People beside models on the same problems."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.stages.analyze.conftest import Folders, make_study, table_of

from omibench.results.statistics.intervals import clustered_wilson
from omibench.results.statistics.people import estimate_crossed_mean, estimate_crossed_share
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.figures.people import draw_people_by_year

# People beside models on the same problems.

PEOPLE = {"a": ("experts", 2), "b": ("experts", 3), "c": ("novices", 5)}
"""Person -> the group, and how many problems the person gets right before one is wrong."""


def write_people(
    folder: Path, analysis: Analysis, seconds: bool = True, simulated: bool = False
) -> dict[tuple[str, str], float]:
    """Answers of three people to all problems; person and problem -> whether it is right."""
    answers = analysis.results.answers
    rows, verdicts = [], {}
    for number, (person, (group, period)) in enumerate(PEOPLE.items()):
        for place, (id, gold) in enumerate(answers.items()):
            right = place % period != 0
            said = "; ".join(gold.answer) if right else "none of it"
            verdicts[person, id] = float(right)
            time = 10 * number + place if seconds else ""
            rows.append((person, group, id, said, time, simulated))
    with (folder / "people.csv").open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(("person", "group", "problem", "answer", "seconds", "simulated"))
        writer.writerows(rows)
    return verdicts


class Tables:
    """The study with people: its table, and the verdicts that were written."""

    def __init__(self, folder: Path, folders: Folders, **analyze: object) -> None:
        self.verdicts = write_people(folder, folders.open())
        self.analysis = folders.open(people=str(folder / "people.csv"), **analyze)
        self.table = table_of(self.analysis, "people")

    def row(self, **values: object) -> Mapping[str, Any]:
        filled = {"slice": "", "rules": "robust", "metric": "accuracy", **values}
        (row,) = self.table.filter(**filled).to_dicts()
        return row

    def cluster(self, id: str) -> str:
        return self.analysis.results.answers[id].group or id


@pytest.fixture(scope="module")
def people(made: Folders, tmp_path_factory: pytest.TempPathFactory) -> Tables:
    return Tables(tmp_path_factory.mktemp("people"), made)


def test_a_person_has_the_interval_of_the_problems(people: Tables) -> None:
    row = people.row(kind="person", respondent="b")
    ids = list(people.analysis.results.answers)
    alone = clustered_wilson(
        [people.verdicts["b", id] for id in ids], [people.cluster(id) for id in ids]
    )
    assert (row["estimate"], row["low"], row["high"]) == pytest.approx(alone[:3], abs=1e-6)
    assert (row["n"], row["problems"], row["people"]) == (28, 28, 1)
    assert (row["variance"], row["model"], row["simulated"]) == ("problems", "", False)


def test_a_group_has_the_variance_of_people_and_problems(people: Tables) -> None:
    row = people.row(kind="group", respondent="experts")
    pairs = [(p, id) for p in ("a", "b") for id in people.analysis.results.answers]
    both = estimate_crossed_share(
        [people.verdicts[pair] for pair in pairs],
        [person for person, _ in pairs],
        [people.cluster(id) for _, id in pairs],
    )
    assert (row["estimate"], row["low"], row["high"]) == pytest.approx(both[:3], abs=1e-6)
    assert (row["variance"], row["people"], row["n"]) == ("people and problems", 2, 56)
    assert row["low"] < row["problems_low"] < row["problems_high"] < row["high"]
    assert row["few_people"]
    assert not people.row(kind="everybody")["few_people"]


def test_everybody_has_a_row_and_each_subject(people: Tables) -> None:
    assert people.row(kind="everybody")["people"] == 3
    row = people.row(kind="everybody", slice="subject", value="physics")
    ids = [id for id, a in people.analysis.results.answers.items() if a.subject == "physics"]
    expected = sum(people.verdicts[person, id] for person in PEOPLE for id in ids) / 21
    assert row["estimate"] == pytest.approx(expected, abs=1e-6)
    assert (row["n"], row["problems"]) == (21, 7)


def test_slices_stand_in_their_order(people: Tables) -> None:
    rows = people.table.filter(kind="person", respondent="a", rules="robust", metric="accuracy")
    assert rows["slice"].unique(maintain_order=True).to_list() == [
        "", "subject", "n_images", "answer_type",
    ]  # fmt: skip
    subjects = rows.filter(slice="subject")["value"].to_list()
    assert subjects == sorted(subjects)


def test_people_are_scored_by_every_scorer_but_the_judge(people: Tables) -> None:
    persons = people.table.filter(kind="person")
    assert set(persons["rules"]) - {""} == {"robust", "omibench", "emma"}
    models = people.table.filter(kind="model")
    assert "gptscore" in models["rules"].to_list()


def test_models_have_their_accuracy_on_the_same_problems(people: Tables) -> None:
    row = people.row(kind="model", model="sim-strong", setting="cot")
    (score,) = people.analysis.scores.filter(
        model="sim-strong", setting="cot", rules="robust", subject="total"
    ).to_dicts()
    assert row["estimate"] == pytest.approx(score["estimate"], abs=1e-6)
    assert row["simulated"]
    assert row["respondent"] == "sim-strong"


def test_differences_are_over_the_same_problems(people: Tables) -> None:
    row = people.row(metric="difference", model="sim-weak", setting="cot", baseline="experts")
    part = people.analysis.item_values.filter(model="sim-weak", setting="cot", rules="robust")
    verdicts = dict(part.select("id", "verdict").iter_rows())
    pairs = [(p, id) for p in ("a", "b") for id in verdicts]
    expected = estimate_crossed_mean(
        [verdicts[id] - people.verdicts[p, id] for p, id in pairs],
        [p for p, _ in pairs],
        [people.cluster(id) for _, id in pairs],
    )
    assert (row["estimate"], row["low"], row["high"]) == pytest.approx(expected[:3], abs=1e-6)
    assert (row["kind"], row["n"], row["problems"]) == ("group", 56, 28)
    alone = people.row(metric="difference", model="sim-weak", setting="cot", baseline="novices")
    assert alone["variance"] == "problems"


def test_the_majority_of_three_is_a_ceiling_and_their_agreement_stands_beside_it(
    people: Tables,
) -> None:
    ids = list(people.analysis.results.answers)
    right = {id: [people.verdicts[person, id] for person in PEOPLE] for id in ids}
    majority = {id: float(sum(right[id]) >= 2) for id in ids}
    row = people.row(kind="majority")
    clusters = [people.cluster(id) for id in ids]
    alone = clustered_wilson([*majority.values()], clusters)
    assert (row["estimate"], row["low"], row["high"]) == pytest.approx(alone[:3], abs=1e-6)
    assert row["estimate"] > people.row(kind="everybody")["estimate"]
    distance = people.row(metric="difference", model="sim-weak", setting="cot", kind="majority")
    model = people.row(kind="model", model="sim-weak", setting="cot")
    assert distance["estimate"] == pytest.approx(model["estimate"] - row["estimate"], abs=2e-6)
    assert distance["low"] < distance["estimate"] < distance["high"]
    agreement = people.row(metric="agreement")
    pairs = sum((sum(values) in (0, 3)) + (sum(values) in (1, 2)) / 3 for values in right.values())
    assert agreement["estimate"] == pytest.approx(pairs / 28, abs=1e-6)
    assert (agreement["kind"], agreement["n"], agreement["people"]) == ("everybody", 28, 3)
    assert people.row(metric="ac1")["low"] < people.row(metric="ac1")["estimate"]


def test_two_people_agree_but_have_no_majority(made: Folders, tmp_path: Path) -> None:
    write_people(tmp_path, made.open())
    lines = (tmp_path / "people.csv").read_text("utf-8").splitlines(keepends=True)
    (tmp_path / "people.csv").write_text("".join(x for x in lines if x[:2] != "c,"), "utf-8")
    table = table_of(made.open(people=str(tmp_path / "people.csv")), "people")
    assert "majority" not in set(table["kind"])
    assert table.filter(metric="agreement", rules="robust")["n"].to_list() == [28]


def test_the_median_time_of_each_group(people: Tables) -> None:
    row = people.row(metric="median seconds", kind="person", respondent="c", rules="")
    assert row["estimate"] == 20 + 13.5
    assert row["low"] < row["estimate"] < row["high"]
    assert people.row(metric="median seconds", kind="group", respondent="experts", rules="")


def test_only_problems_of_the_subset_count(made: Folders, tmp_path: Path) -> None:
    subset = {"size": 8, "familiarisation": 4}
    people = Tables(tmp_path, made, people_subset=subset)
    drawn = table_of(people.analysis, "people-subset")
    scored = drawn.filter(use="scored")["problem"].to_list()
    first = drawn.filter(use="familiarisation")["problem"].to_list()
    assert (len(scored), len(first)) == (8, 4)
    assert not set(scored) & set(first)
    assert drawn["estimate"].null_count() == 12
    row = people.row(kind="person", respondent="a")
    assert row["n"] == 8
    assert row["estimate"] == pytest.approx(sum(people.verdicts["a", id] for id in scored) / 8)
    assert people.row(kind="model", model="sim-strong", setting="cot")["n"] == 8


def test_models_are_scored_on_the_subset_before_people_are(made: Folders) -> None:
    analysis = made.open(people_subset={"size": 8, "familiarisation": 4})
    table = table_of(analysis, "people")
    assert set(table["kind"]) == {"model"}
    assert table.filter(slice="", model="sim-strong", setting="cot")["n"].to_list() == [8] * 4


@pytest.mark.parametrize(
    ("subset", "reason"),
    [
        ({"size": 8, "by": "subjekt"}, "no attribute 'subjekt'; did you mean 'subject'"),
        ({"size": 20}, "draws 20 problems and 10 for familiarisation, but the dataset has 28"),
    ],
)
def test_a_subset_that_cannot_be_drawn_is_one_line_and_the_rest_is_done(
    made: Folders, caplog: pytest.LogCaptureFixture, subset: object, reason: str
) -> None:
    analysis = made.open(people_subset=subset)
    assert analysis.table("people") is None
    assert analysis.table("people-subset") is None
    (message,) = caplog.messages
    assert reason in message


@pytest.mark.slow
def test_the_stage_writes_tables_and_figures(tmp_path: Path) -> None:
    folders = make_study(tmp_path, simulated=False, explorer=False)
    write_people(tmp_path, folders.open(), simulated=True)
    scores = tmp_path / "scores.csv"
    rows = "".join(
        f"{model},MMIU,acc,{v}\n" for v, model in enumerate(("Strong", "Middle", "Weak"))
    )
    scores.write_text("model,benchmark,metric,value\n" + rows, "utf-8")
    files = {"people": str(tmp_path / "people.csv"), "external_scores": str(scores)}
    folders.analyze(**files, explorer=False)
    table = pl.read_csv(folders.out / "tables" / "people.csv")
    assert {"person", "group", "everybody", "model"} <= set(table["kind"])
    assert table.filter(pl.col("kind") != "model")["simulated"].all()
    assert (folders.out / "tables" / "correlations.csv").is_file()
    svg = (folders.out / "figures" / "people.svg").read_text("utf-8")
    assert "experts" in svg
    assert "SIMULATED" in svg
    assert "MMIU" in (folders.out / "figures" / "correlations.svg").read_text("utf-8")


def test_a_file_of_other_problems_is_one_line_and_the_rest_is_done(
    made: Folders, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "people.csv"
    file.write_text("person,problem,answer\na,elsewhere-1,B\n", "utf-8")
    assert made.open(people=str(file)).table("people") is None
    (message,) = caplog.messages
    assert "no row is usable; line 2, column 'problem'" in message
    assert message.endswith("the report omits this file")


def test_answers_outside_of_the_subset_alone_are_said(
    made: Folders, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    subset = {"size": 4, "familiarisation": 0}
    analysis = made.open(people_subset=subset)
    drawn = table_of(analysis, "people-subset")
    other = next(id for id in analysis.results.answers if id not in set(drawn["problem"]))
    file = tmp_path / "people.csv"
    file.write_text(f"person,problem,answer\na,{other},B\n", "utf-8")
    table = table_of(made.open(people=str(file), people_subset=subset), "people")
    assert set(table["kind"]) == {"model"}
    assert "no answer is to a problem of analyze.people_subset" in caplog.text


# Participants of exams, estimated from cut-offs, beside models.

CUTOFFS = """exam,year,percentile,score,of,simulated
national,2024,50,27,60,
national,2024,90,44,60,
local,2024,50,30,60,true
local,2023,90,50,60,
"""


def open_estimates(folders: Folders, folder: Path, dated: bool = True) -> Analysis:
    """Items of two exams in turn, all of 2024."""
    file = folder / "cutoffs.csv"
    file.write_text(CUTOFFS, "utf-8")
    analysis = folders.open(people_cutoffs=str(file))
    results = analysis.results
    if dated:
        answers = {
            id: answer.model_copy(
                update={"attributes": {"exam": ("local", "national")[place % 2], "year": "2024"}}
            )
            for place, (id, answer) in enumerate(results.answers.items())
        }
        results = replace(results, answers=answers)
    return replace(analysis, results=results)


def test_estimates_are_marked_and_models_stand_beside(
    made: Folders, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    table = table_of(open_estimates(made, tmp_path), "people-estimates")
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
    table = table_of(open_estimates(made, tmp_path), "people-estimates")
    chart = draw_people_by_year(table)
    assert chart is not None
    text = chart.to_json()
    assert "sim-strong" in text
    assert "SIMULATED" in text
    assert draw_people_by_year(table.filter(kind="estimated people")) is None


def test_without_years_there_are_estimates_alone(
    made: Folders, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    table = table_of(open_estimates(made, tmp_path, dated=False), "people-estimates")
    assert set(table["kind"]) == {"estimated people"}
    assert "no attribute 'year'" in caplog.text
