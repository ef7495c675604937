"""The calibration test: 30 items at 80 % (OMIBench, A.3.2)."""

from __future__ import annotations

import pytest

from omibench.params.review import CalibrationParams
from omibench.review.calibration import list_qualified, measure_calibration
from omibench.review.people import Reviewer
from omibench.schemas.review import ReviewDecision, ReviewTask
from review.builders import GOOD, decide, make_task

RULE = CalibrationParams()


def make_set(number: int, name: str = "first") -> list[ReviewTask]:
    return [
        make_task(f"p{i}", id=f"item:p{i}@{name}", purpose="calibration", gold=GOOD)
        for i in range(number)
    ]


def answer(
    tasks: list[ReviewTask], person: str, right: int, start: int = 0
) -> list[ReviewDecision]:
    """Decisions of which the first `right` are the gold ones."""
    return [
        decide(start + i, person, "annotator", task, None if i < right else {"valid": "invalid"})
        for i, task in enumerate(tasks)
    ]


@pytest.mark.parametrize(("right", "status"), [(24, "passed"), (23, "failed"), (30, "passed")])
def test_four_in_five_of_thirty_items_pass(right: int, status: str) -> None:
    tasks = make_set(30)
    (result,) = measure_calibration(tasks, answer(tasks, "ann", right), RULE)
    assert (result.status, result.decided, result.agreeing) == (status, 30, right)
    assert (result.set_name, result.share) == ("first", right / 30)


def test_too_few_items_show_nothing() -> None:
    tasks = make_set(30)
    (result,) = measure_calibration(tasks, answer(tasks[:29], "ann", 29), RULE)
    assert (result.status, result.needed) == ("not done", 30)


def test_the_first_decision_counts_and_a_rating_may_be_next_to_gold() -> None:
    (task,) = tasks = make_set(1)
    rule = CalibrationParams(items=1)
    near = decide(1, "ann", "annotator", task, {"valid": "valid", "quality": 5})
    far = decide(2, "bob", "annotator", task, {"valid": "valid", "quality": 2})
    mended = decide(3, "bob", "annotator", task)
    results = measure_calibration(tasks, [mended, far, near], rule)
    assert [(r.person, r.status) for r in results] == [("ann", "passed"), ("bob", "failed")]


def test_decisions_on_other_content_and_imported_ones_do_not_count() -> None:
    (task,) = tasks = make_set(1)
    stale = decide(1, "ann", "annotator", task, content_hash="0" * 64)
    imported = decide(2, "bob", "imported", task)
    assert not measure_calibration(tasks, [stale, imported], CalibrationParams(items=1))


def test_who_has_not_passed_is_not_given_work() -> None:
    first, second = make_set(30), make_set(30, "second")
    people = [Reviewer(name=name, roles=["annotator"]) for name in ("ann", "bob", "cyd", "dan")]
    people.append(Reviewer(name="eve", roles=["senior"]))
    decisions = [
        *answer(first, "ann", 30),
        *answer(first, "bob", 20),
        *answer(first, "cyd", 20),
        *answer(second, "cyd", 29, start=100),
    ]
    tasks = [*first, *second]

    def names(rule: CalibrationParams | None, kind: str = "item") -> list[str]:
        return [p.name for p in list_qualified(people, kind, tasks, decisions, rule)]

    assert names(None) == ["ann", "bob", "cyd", "dan", "eve"]
    assert names(RULE) == ["ann", "cyd", "eve"]
    assert names(RULE, "label") == ["ann", "bob", "cyd", "dan", "eve"]
    assert names(CalibrationParams(kinds=["label"]), "label") == ["eve"]
