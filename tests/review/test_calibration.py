"""The calibration test: 30 items at 80 % (OMIBench, A.3.2)."""

from __future__ import annotations

import pytest
from pydantic import JsonValue
from sklearn.metrics import cohen_kappa_score

from omibench.params.review import CalibrationParams
from omibench.review.calibration import list_qualified, measure_calibration
from omibench.review.people import Reviewer
from omibench.review.progress import measure_people
from omibench.schemas.review import ReviewDecision, ReviewTask
from review.builders import GOOD, decide, make_task

RULE = CalibrationParams()


INVALID = {"valid": "invalid"}


def make_set(number: int, name: str = "first") -> list[ReviewTask]:
    """A set of which a third is not valid."""
    return [
        make_task(
            f"p{i}", id=f"item:p{i}@{name}", purpose="calibration", gold=GOOD if i % 3 else INVALID
        )
        for i in range(number)
    ]


def other(task: ReviewTask) -> dict[str, JsonValue]:
    return INVALID if task.gold == GOOD else GOOD


def answer(
    tasks: list[ReviewTask], person: str, right: int, start: int = 0
) -> list[ReviewDecision]:
    """Decisions of which the first `right` are the gold ones."""
    return [
        decide(start + i, person, "annotator", task, task.gold if i < right else other(task))
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
    first, task, last = tasks = make_set(3)
    rule = CalibrationParams(items=3)
    rest = [
        decide(10 + n, name, "annotator", one, one.gold)
        for n, (name, one) in enumerate((n, t) for n in ("ann", "bob") for t in (first, last))
    ]
    near = decide(1, "ann", "annotator", task, {"valid": "valid", "quality": 5})
    far = decide(2, "bob", "annotator", task, {"valid": "valid", "quality": 2})
    mended = decide(3, "bob", "annotator", task)
    results = measure_calibration(tasks, [mended, far, near, *rest], rule)
    assert [(r.person, r.status) for r in results] == [("ann", "passed"), ("bob", "failed")]
    assert results[1].missed == ((task.id, "quality", 2, 4),)


def test_one_answer_to_every_task_does_not_pass_and_a_set_that_it_would_pass_is_no_test() -> None:
    tasks = make_set(30)
    same = [decide(i, "ann", "annotator", task, GOOD) for i, task in enumerate(tasks)]
    (result,) = measure_calibration(tasks, same, RULE)
    assert (result.status, result.agreeing, result.kappa) == ("failed", 20, 0)
    assert {miss.task for miss in result.missed} == {t.id for t in tasks if t.gold == INVALID}
    plain = [task.model_copy(update={"gold": GOOD}) for task in tasks]
    (result,) = measure_calibration(plain, same, RULE)
    assert (result.status, result.agreeing) == ("no test", 30)
    people = [Reviewer(name="ann", roles=["annotator"])]
    assert list_qualified(people, "item", plain, same, RULE) == []


def test_decisions_in_hardly_any_time_are_counted() -> None:
    tasks = make_set(30)
    times = [
        decide(i, "ann", "annotator", task, task.gold, seconds=[0.9, 5.0, None][i % 3])
        for i, task in enumerate(tasks)
    ]
    (result,) = measure_calibration(tasks, times, RULE, shortest_seconds=5.0)
    assert (result.status, result.hurried) == ("passed", 10)
    (person,) = measure_people(tasks, times, shortest_seconds=5.0)
    assert person.hurried == 10


def test_kappa_is_that_of_the_verdicts() -> None:
    tasks = make_set(30)
    decisions = answer(tasks, "ann", 24)
    (result,) = measure_calibration(tasks, decisions, RULE)
    golds = [str(task.gold["valid"]) for task in tasks]
    given = [str(decision.fields["valid"]) for decision in decisions]
    assert result.kappa == pytest.approx(cohen_kappa_score(golds, given))


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
