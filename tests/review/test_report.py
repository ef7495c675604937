"""Where a whole review stands, the test before work, and what goes back to the study."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue
from sklearn.metrics import cohen_kappa_score

from omibench.files.outputs import write_csv
from omibench.params.review import CalibrationParams
from omibench.review.calibration import list_qualified, measure_calibration
from omibench.review.exports import LABEL_COLUMNS, PEOPLE_COLUMNS, list_answers, list_labels
from omibench.review.folder import compute_head
from omibench.review.people import Reviewer
from omibench.review.progress import describe_progress, dump_progress, measure_people
from omibench.review.report import KindProgress, summarize_review
from omibench.schemas.problem import Answer
from omibench.schemas.review import ReviewDecision, ReviewedResponse, ReviewTask
from omibench.stages.analyze.user_files import read_people
from omibench.stages.certify.labels import read_labels
from review.builders import GOOD, decide, make_task

PEOPLE = {"annotator": ["ann"], "auditor": ["bob"], "senior": ["eve"]}
OPEN, AUDITED, ESCALATED, SETTLED, CHANGED = TASKS = [
    make_task(name, people=PEOPLE) for name in ("open", "audit", "split", "done", "changed")
]
OLD = "f" * 64
DECISIONS = [
    decide(1, "ann", "annotator", AUDITED, seconds=30),
    decide(2, "ann", "annotator", ESCALATED, seconds=50),
    decide(3, "bob", "auditor", ESCALATED, GOOD | {"valid": "invalid"}),
    decide(4, "ann", "annotator", SETTLED, content_hash=OLD),
    decide(5, "ann", "annotator", SETTLED, seconds=90),
    decide(6, "bob", "auditor", SETTLED, simulated=True),
    decide(7, "ann", "annotator", CHANGED, content_hash=OLD),
    decide(8, "ann", "annotator", make_task("gone")),
]


def test_a_review_is_counted_by_kind() -> None:
    report = summarize_review(TASKS, DECISIONS)
    assert report.kinds == (KindProgress("item", 2, 1, 1, 1, people=2),)
    assert report.kinds[0].tasks == 5
    assert report.stale == ("item:changed",)
    assert (report.superseded, report.orphans, report.decisions) == (1, 1, 8)
    assert report.escalations == ("item:split",)
    assert report.head == compute_head(DECISIONS)
    assert (report.people, report.simulated) == (("ann", "bob"), ("bob",))


def test_the_number_of_reviewers_is_the_study_s_own() -> None:
    assert summarize_review(TASKS, DECISIONS, reviewers=1).kinds[0].settled == 2


def test_samples_and_calibrations_are_no_progress() -> None:
    sample = make_task("done", id="item:done@week", purpose="sample", of="item:done")
    assert summarize_review([*TASKS, sample], DECISIONS).kinds[0].tasks == 5


def test_people_have_done_waiting_and_stale_tasks() -> None:
    ann, bob, eve = measure_people(TASKS, DECISIONS)
    assert (ann.person, ann.done, ann.waiting, ann.stale, ann.seconds) == ("ann", 3, 2, 1, 50)
    assert (bob.person, bob.done, bob.waiting, bob.simulated) == ("bob", 2, 1, True)
    assert (eve.person, eve.done, eve.waiting, eve.seconds) == ("eve", 0, 1, None)


def test_progress_is_a_table_and_a_document() -> None:
    report, people = summarize_review(TASKS, DECISIONS), measure_people(TASKS, DECISIONS)
    text = describe_progress(report, people)
    assert "bob (SIMULATED)" in text
    assert "escalated (1): item:split" in text
    assert "stale, to decide again (1): item:changed" in text
    document = json.loads(dump_progress(report, people))
    assert document["kinds"][0]["settled"] == 1
    assert document["by_person"][0]["person"] == "ann"


# The calibration test: 30 items at 80 % (OMIBench, A.3.2).


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


# What a review gives back to a study.


ANN = Reviewer(name="ann", roles=["annotator"], group="expert")


def ask(name: str, **values: Any) -> ReviewTask:
    return make_task(name, "baseline", {"question": name}, **values)


ASKED, SECOND, WARM_UP = ask("p1"), ask("p2"), ask("p3", purpose="familiarisation")
ANSWERS = [
    decide(1, "ann", "annotator", ASKED, {"answer": "A"}, seconds=60),
    decide(2, "ann", "annotator", ASKED, {"answer": "=B"}, seconds=90),
    decide(3, "bot", "annotator", ASKED, {"answer": "12 m"}, simulated=True),
    decide(4, "ann", "annotator", SECOND, {"answer": None}),
    decide(5, "ann", "annotator", WARM_UP, {"answer": "C"}),
    decide(6, "bot", "annotator", SECOND, {"answer": "C"}, content_hash="f" * 64),
]


def test_answers_of_people_are_those_that_count(tmp_path: Path) -> None:
    rows = list_answers([ASKED, SECOND, WARM_UP], ANSWERS, [ANN])
    assert [tuple(row.values()) for row in rows] == [
        ("ann", "expert", "p1", "=B", 90.0, False),
        ("bot", "", "p1", "12 m", None, True),
        ("ann", "expert", "p2", "", None, False),
    ]
    write_csv(tmp_path / "people.csv", rows, PEOPLE_COLUMNS)
    golds = {n: Answer(id=n, answer=["A"], answer_type="open") for n in ("p1", "p2")}
    people = read_people(tmp_path / "people.csv", golds)
    assert [(p.person, p.answer, p.seconds, p.simulated) for p in people] == [
        ("ann", "=B", 90.0, False),
        ("bot", "12 m", None, True),
        ("ann", "", None, False),
    ]


def respond(kind: str, name: str = "p1", index: int = 0, steps: int = 0) -> ReviewTask:
    content = {"steps": [f"step {i}" for i in range(steps)], "error_types": ["perceptual"]}
    response = ReviewedResponse(model="m/x", setting="cot", id=name, index=index, sha256="a" * 64)
    return make_task(
        name, kind, content if steps else {}, id=f"{kind}:{name}#{index}", response=response
    )


def agree(number: int, task: ReviewTask, **fields: Any) -> list[ReviewDecision]:
    return [
        decide(10 * number, "ann", "annotator", task, fields),
        decide(10 * number + 1, "bob", "auditor", task, fields, simulated=number > 3),
    ]


def test_what_people_settled_on_responses_is_one_row_each(tmp_path: Path) -> None:
    rated, sourced, stepped = respond("rating"), respond("disagreement"), respond("steps", steps=3)
    right, open_task = respond("steps", "p2", 1, steps=1), respond("rating", "p3")
    decisions = [
        *agree(1, rated, label="wrong", overall=2, clarity=4),
        *agree(2, sourced, source="rule_match_error", label="right"),
        *agree(
            3,
            stepped,
            validation="wrong",
            steps=["right", "wrong", "no_step"],
            error_type="perceptual",
        ),
        *agree(4, right, validation="right", steps=["no_step"]),
        decide(60, "ann", "annotator", open_task, {"label": "right"}),
    ]
    rows = list_labels([rated, sourced, stepped, right, open_task], decisions)
    write_csv(tmp_path / "labels.csv", rows, LABEL_COLUMNS)
    merged, fine = read_labels(tmp_path / "labels.csv")
    assert merged.response_name == "p1 (m/x, cot, sample 0)"
    assert merged.labels == {
        "label": 0.0, "error_type": "perceptual", "source": "rule_match_error",
        "clarity": 4.0, "overall": 2.0, "steps": 2, "wrong_steps": 1,
    }  # fmt: skip
    assert (merged.response_sha256, merged.simulated) == ("a" * 64, False)
    assert fine.labels == {"label": 1.0, "error_type": "no_error"}
    assert (fine.id, fine.index, fine.simulated) == ("p2", 1, True)


def test_without_anything_settled_the_files_have_their_headings(tmp_path: Path) -> None:
    write_csv(tmp_path / "labels.csv", list_labels([], []), LABEL_COLUMNS)
    assert (tmp_path / "labels.csv").read_text("utf-8").startswith("id,model,setting,index,")
