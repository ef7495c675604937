"""Figures of agreement from decisions: which of them count, and which measures a field has."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.metrics import cohen_kappa_score

from omibench.review.agreement import measure_agreement
from omibench.review.agreement.figures import measure_masi_distance
from omibench.review.report import AgreementFigure
from omibench.schemas.review import ReviewDecision, ReviewTask
from review.builders import GOOD, decide, make_task

VALID = "1110111011"
AUDITED = "1110110111"
QUALITY = (5, 4, 4, 3, 2, 5, 1, 4, 3, 2)
AUDITED_QUALITY = (5, 4, 3, 3, 2, 4, 1, 4, 5, 2)


def judge_item(valid: str, quality: int, defects: list[str] | None = None) -> dict[str, Any]:
    return {"valid": ["invalid", "valid"][int(valid)], "quality": quality, "defects": defects}


def review_items() -> tuple[list[ReviewTask], list[ReviewDecision]]:
    """Ten items, read by an annotator and an auditor: three people in all."""
    tasks = [make_task(f"p{i}") for i in range(10)]
    decisions = []
    for i, task in enumerate(tasks):
        first, second = ("ann", "bob") if i % 2 else ("bob", "cyd")
        defects = ["other"] if i == 3 else None
        decisions += [
            decide(2 * i, first, "annotator", task, judge_item(VALID[i], QUALITY[i], defects)),
            decide(2 * i + 1, second, "auditor", task, judge_item(AUDITED[i], AUDITED_QUALITY[i])),
        ]
    return tasks, decisions


def find(figures: list[AgreementFigure], field: str, measure: str, option: str = "") -> Any:
    return next(f for f in figures if (f.field, f.measure, f.option) == (field, measure, option))


def test_a_choice_has_the_kappas_and_alpha() -> None:
    figures = measure_agreement(*review_items())
    agreement = find(figures, "valid", "agreement")
    assert (agreement.value, agreement.tasks, agreement.units, agreement.people) == (0.8, 10, 10, 3)
    assert agreement.low < 0.8 < agreement.high
    cohen = find(figures, "valid", "cohen kappa")
    assert cohen.value == pytest.approx(cohen_kappa_score(list(VALID), list(AUDITED)), abs=1e-6)
    assert cohen.between == "annotator and auditor"
    for measure in ("fleiss kappa", "krippendorff alpha"):
        figure = find(figures, "valid", measure)
        assert figure.low < figure.value < figure.high <= 1
    assert {f.kind for f in figures} == {"item"}


def test_a_rating_is_weighted_by_distance() -> None:
    figures = measure_agreement(*review_items())
    weighted = find(figures, "quality", "cohen kappa (quadratic)")
    expected = cohen_kappa_score(QUALITY, AUDITED_QUALITY, weights="quadratic")
    assert weighted.value == pytest.approx(expected, abs=1e-6)
    assert weighted.low < weighted.value < weighted.high
    measures = {f.measure for f in figures if f.field == "quality"}
    assert measures == {
        "agreement",
        "cohen kappa (quadratic)",
        "krippendorff alpha (ordinal)",
        "krippendorff alpha (interval)",
    }


def test_options_that_somebody_picked_are_compared_by_themselves() -> None:
    figures = measure_agreement(*review_items())
    assert {f.option for f in figures if f.field == "defects"} == {"", "other"}
    assert find(figures, "defects", "agreement", "other").value == 0.9
    assert find(figures, "defects", "krippendorff alpha (MASI)").value < 0.5


def test_the_same_seed_gives_the_same_figures() -> None:
    assert measure_agreement(*review_items()) == measure_agreement(*review_items())


def test_only_independent_readings_count() -> None:
    tasks, decisions = review_items()
    figures = measure_agreement(tasks, decisions)
    task, wrong = tasks[0], judge_item("0", 1)
    noise = [
        decide(100, "bob", "annotator", task, wrong),  # corrected later
        decide(101, "eve", "senior", task, wrong),
        decide(102, "dan", "imported", task, wrong),
        decide(103, "fay", "annotator", task, wrong, content_hash="0" * 64),
        decide(104, "fay", "auditor", task, wrong, simulated=True),
    ]
    sample = make_task("p0", id="item:p0@2026-W47", purpose="sample", of="item:p0")
    noise += [decide(105 + i, who, "auditor", sample, wrong) for i, who in enumerate("xy")]
    assert measure_agreement([*tasks, sample], [*noise, *decisions]) == figures


def test_simulated_readings_are_marked() -> None:
    tasks, decisions = review_items()
    simulated = [decision.model_copy(update={"simulated": True}) for decision in decisions]
    figures = measure_agreement(tasks, simulated)
    assert figures
    assert all(figure.simulated for figure in figures)


def test_a_task_that_one_person_read_says_nothing() -> None:
    task = make_task()
    assert measure_agreement([task], [decide(1, "ann", "annotator", task)]) == []


def test_two_people_without_an_auditor_are_the_two_sides() -> None:
    tasks = [make_task(f"p{i}") for i in range(4)]
    decisions = [
        decide(10 * j + i, who, "annotator", task, {**GOOD, "valid": ["valid", "invalid"][i % 2]})
        for j, who in enumerate(("ann", "bob"))
        for i, task in enumerate(tasks)
    ]
    cohen = find(measure_agreement(tasks, decisions), "valid", "cohen kappa")
    assert (cohen.value, cohen.between) == (1, "ann and bob")
    assert cohen.low < 1


def test_steps_are_units_of_one_problem() -> None:
    tasks = [
        make_task(f"p{i}", "steps", {"steps": ["a", "b", "c"]}, id=f"steps:m/s/p{i}#0")
        for i in range(6)
    ]
    marks = {"ann": ["right", "right", "wrong"], "bob": ["right", "wrong", "wrong"]}
    decisions = [
        decide(i, who, role, task, {"validation": "right", "steps": marks[who]})
        for i, task in enumerate(tasks)
        for who, role in (("ann", "annotator"), ("bob", "auditor"))
    ]
    figures = measure_agreement(tasks, decisions)
    agreement = find(figures, "steps", "agreement")
    assert (agreement.units, agreement.tasks) == (18, 6)
    assert agreement.value == pytest.approx(2 / 3, abs=1e-6)
    # Nobody was asked for a type of error, since nobody found the response wrong.
    assert {f.field for f in figures} == {"validation", "steps"}


@pytest.mark.parametrize(
    ("first", "second", "distance"),
    [
        ("ab", "ab", 0), ("", "", 0), ("ab", "a", 2 / 3), ("ab", "bc", 8 / 9), ("a", "b", 1),
        ("a", "", 1),
    ],
)  # fmt: skip
def test_masi_distance(first: str, second: str, distance: float) -> None:
    assert measure_masi_distance(frozenset(first), frozenset(second)) == pytest.approx(distance)
