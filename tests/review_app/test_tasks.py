"""Who gets which task, in which role, and what happens when two people are at one."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from omibench.errors import FileFormatError, MissingInputError
from omibench.params.review import CalibrationParams
from omibench.review.app.database import CLAIM_S
from omibench.review.app.overview import list_tasks, measure_kinds, measure_people
from omibench.review.app.pages import Workload
from omibench.review.app.service import ReviewService
from omibench.review.app.tasks import choose_role, find_awaited, fit_kind, is_asked, may_decide
from omibench.review.kinds import KINDS
from omibench.review.outcomes import ReviewRule
from omibench.review.people import Reviewer
from omibench.review.state import compute_state
from review.builders import decide, write_lines
from review_app.builders import (
    BAD,
    GOOD,
    Browser,
    Clock,
    make_service,
    make_task,
    open_browser,
    status_of,
    write_tasks,
)

ALL = ["annotator", "auditor", "senior"]
FIRST = decide(1, "ann", "annotator", make_task(1), GOOD)
AUDIT = decide(2, "bob", "auditor", make_task(1), GOOD)
OBJECTION = decide(2, "bob", "auditor", make_task(1), BAD)
SENIOR = decide(3, "eve", "senior", make_task(1), BAD)
CHANGED = make_task(1, content={"question": "Why not?", "answer": ["A"]})


def judge(person: Reviewer, *decisions: Any, **values: Any) -> tuple[str | None, bool]:
    """The role that a person has, and whether they may decide."""
    task = make_task(1, **values)
    kind = fit_kind(KINDS["item"], task)
    state = compute_state(task, kind, decisions)
    role = choose_role(task, kind, state, person)
    return role, role is not None and may_decide(task, kind, state, person, role)


def be(name: str, *roles: Any, **values: Any) -> Reviewer:
    return Reviewer(name=name, roles=list(roles) or ALL, **values)


@pytest.mark.parametrize(
    ("person", "decisions", "role", "may"),
    [
        (be("ann"), [], "annotator", True),
        (be("bob", "auditor"), [], "auditor", False),
        (be("eve", "senior"), [], "senior", False),
        # Who annotated neither audits nor settles, and may correct themselves.
        (be("ann"), [FIRST], "annotator", True),
        (be("ann"), [FIRST, OBJECTION], "annotator", True),
        (be("abe", "annotator"), [FIRST], "annotator", False),
        (be("bob"), [FIRST], "auditor", True),
        (be("bob"), [FIRST, OBJECTION], "auditor", True),
        (be("cleo"), [FIRST, OBJECTION], "senior", True),
        (be("cleo"), [FIRST, AUDIT], "annotator", False),
        (be("eve", "senior"), [FIRST, AUDIT], "senior", True),
        (be("eve", "senior"), [FIRST, OBJECTION, SENIOR], "senior", True),
        (be("abe", "annotator"), [FIRST, OBJECTION], "annotator", False),
    ],
)
def test_a_person_has_one_role_in_a_task(
    person: Reviewer, decisions: list[Any], role: str, may: bool
) -> None:
    assert judge(person, *decisions) == (role, may)


def test_only_who_is_named_or_knows_the_subject_is_asked() -> None:
    people = {"annotator": ["ann"], "auditor": ["bob"]}
    assert judge(be("ann"), people=people) == ("annotator", True)
    assert judge(be("abe", "annotator", "auditor"), people=people) == (None, False)
    assert judge(be("bob"), FIRST, people=people) == ("auditor", True)
    assert judge(be("cleo", "auditor"), FIRST, people=people) == (None, False)
    strata = {"subject": "physics"}
    biologist = be("ann", "annotator", subjects=["biology"])
    assert judge(be("ann", "annotator", subjects=["physics"]), strata=strata)[1]
    assert judge(biologist, strata=strata) == (None, False)
    assert judge(biologist)[1]


def test_each_person_does_a_calibration_and_a_sample_waits_for_a_senior() -> None:
    for person in (be("bob", "auditor"), be("ann", "annotator")):
        assert judge(person, FIRST, purpose="calibration")[0] == "annotator"
    assert judge(be("abe", "annotator"), FIRST, purpose="calibration") == ("annotator", True)
    people = {"annotator": ["ann"]}
    assert judge(be("abe"), purpose="calibration", people=people) == (None, False)
    task = make_task(1, purpose="sample")
    state = compute_state(task, KINDS["item"], [])
    assert find_awaited(task, KINDS["item"], state) == "senior"
    assert judge(be("ann", "annotator"), purpose="sample") == ("annotator", False)
    assert is_asked(task, "senior", be("eve", "senior"))


# The queue of each person, and the overview of it.


def list_queue(service: ReviewService, name: str) -> list[str]:
    person = service.content.people[name]
    return [waiting.listed.task.id for waiting in service.list_waiting(person)]


def test_an_item_goes_to_auditor_and_senior_and_each_has_a_queue(
    service: ReviewService, ann: Browser, bob: Browser, eve: Browser
) -> None:
    everything = ["item:p1", "item:p2", "item:p3"]
    assert [list_queue(service, name) for name in ("ann", "bob", "eve")] == [everything, [], []]
    answer = ann.decide("item:p2", **GOOD)
    assert (answer.status_code, answer.json()["next"]) == (201, "/tasks/item%3Ap3")
    assert list_queue(service, "ann") == list_queue(service, "abe") == ["item:p1", "item:p3"]
    assert list_queue(service, "bob") == ["item:p2"]
    assert bob.decide("item:p2", **BAD).status_code == 201
    assert list_queue(service, "bob") == []
    assert list_queue(service, "eve") == ["item:p2"]
    assert "/tasks/item%3Ap2" in eve.client.get("/").text
    service.close()
    again = ReviewService(service.folder, now=Clock())
    assert [list_queue(again, name) for name in ("ann", "eve")] == [everything[::2], ["item:p2"]]


def test_a_difference_goes_to_the_senior_who_sees_the_history(
    service: ReviewService, ann: Browser, bob: Browser, eve: Browser
) -> None:
    ann.decide("item:p1", **GOOD)
    bob.decide("item:p1", **BAD)
    document = eve.open("item:p1")
    differences = ["valid", "quality"]
    assert document["state"] == {"status": "escalated", "rounds": 1, "differences": differences}
    assert ann.open("item:p1")["state"] == {"status": None, "rounds": 0, "differences": []}
    assert "scalated" not in ann.client.get("/").text + bob.client.get("/").text
    people = [(entry["person"], entry["fields"]["valid"]) for entry in document["history"]]
    assert people == [("ann", "valid"), ("bob", "invalid")]
    assert eve.decide("item:p1", **BAD).status_code == 201
    assert eve.open("item:p1")["state"]["status"] == "settled"
    ann.decide("item:p1", **GOOD)
    assert list_queue(service, "eve") == ["item:p1"]  # an objection waits for her again


def test_the_queue_goes_on_behind_a_task_and_then_from_the_first(ann: Browser) -> None:
    assert ann.open("item:p2")["next"] == "/tasks/item%3Ap3"
    assert ann.document["previous"] == "/tasks/item%3Ap1"
    assert ann.open("item:p3")["next"] == "/tasks/item%3Ap1"
    assert ann.open("item:p1")["previous"] is None
    ann.decide("item:p2")
    assert ann.open("item:p3")["previous"] == "/tasks/item%3Ap2"


def test_names_and_subjects_say_who_is_asked(tmp_path: Path) -> None:
    tasks = [
        make_task(1, people={"annotator": ["ann"]}),
        make_task(2, people={"auditor": ["bob"]}, strata={"subject": "physics"}),
    ]
    service = make_service(tmp_path, tasks)
    assert list_queue(service, "ann") == ["item:p1", "item:p2"]
    assert list_queue(service, "abe") == ["item:p2"]
    chemist = service.content.people["abe"].model_copy(update={"subjects": ["chemistry"]})
    assert service.list_waiting(chemist) == []


def test_one_reviewer_is_enough_where_the_study_says_so(service: ReviewService) -> None:
    service.close()
    service = ReviewService(service.folder, rule=ReviewRule(reviewers=1), now=Clock())
    open_browser(service, "ann").decide("item:p1")
    assert status_of(service, "item:p1") == "settled"


def test_work_is_given_to_those_who_have_passed_the_test(tmp_path: Path) -> None:
    golds = (GOOD, {"valid": "invalid"}, GOOD)
    gates = [
        make_task(n, id=f"item:g{n}@gate", purpose="calibration", gold=gold)
        for n, gold in enumerate(golds, 1)
    ]
    make_service(tmp_path, [*gates, make_task(3)]).close()
    rule = CalibrationParams(items=3, agreement=0.8)
    service = ReviewService(tmp_path, calibration=rule, now=Clock())
    names = [gate.id for gate in gates]
    ann, abe = open_browser(service, "ann"), open_browser(service, "abe")
    assert list_queue(service, "ann") == names
    assert ann.client.get("/tasks/item%3Ap3", headers={"accept": "text/html"}).status_code == 403
    assert ann.send("item:p3", content_hash=make_task(3).content_hash).status_code == 403
    for name, answer in zip(names, (GOOD, BAD, GOOD), strict=True):
        assert "Expected" not in abe.client.get("/").text
        ann.decide(name, **answer)
        abe.decide(name, **GOOD)
    page = abe.client.get("/").text
    assert "<b>Not passed</b>: 2 of 3 decisions agree with the expected ones, kappa 0.00." in page
    assert "<td><bdi>Valid</bdi></td><td><bdi>Not valid</bdi></td>" in page
    page = ann.client.get("/").text
    assert "<b>Passed</b>: 3 of 3 decisions agree with the expected ones, kappa 1.00." in page
    assert "What differs" not in page
    workloads, _, _ = list_tasks(service, service.content.people["ann"])
    assert [(work.done, work.total) for work in workloads] == [(3, 4)]
    assert list_queue(service, "ann") == ["item:p3"]
    assert ann.decide("item:p3").status_code == 201
    assert list_queue(service, "abe") == []


def test_a_person_sees_what_is_done_and_what_waits(
    service: ReviewService, ann: Browser, bob: Browser
) -> None:
    ann.decide("item:p1", **GOOD)
    ann.decide("item:p2", **GOOD)
    bob.decide("item:p2", **BAD)
    workloads, lines, hidden = list_tasks(service, service.content.people["ann"])
    assert workloads == [Workload("Problem", "annotator", done=2, total=3, next_task="item:p3")]
    assert [(line.id, line.status) for line in lines] == [
        ("item:p3", "open"),
        ("item:p2", "done"),  # the annotator does not learn that it was contested
        ("item:p1", "done"),
    ]
    assert hidden == 0
    workloads, _, _ = list_tasks(service, service.content.people["bob"])
    assert workloads == [Workload("Problem", "auditor", done=1, total=2, next_task="item:p1")]


def test_what_another_program_exported_counts_as_an_annotators(tmp_path: Path) -> None:
    write_lines(tmp_path / "decisions.jsonl", decide(1, "ann", "imported", make_task(1)))
    service = make_service(tmp_path, [make_task(n) for n in range(1, 205)])
    workloads, lines, hidden = list_tasks(service, service.content.people["ann"])
    assert [(work.role, work.done, work.total) for work in workloads] == [("annotator", 1, 204)]
    assert (len(lines), hidden) == (201, 3)
    assert open_browser(service, "bob").open("item:p1")["may_decide"]


def test_progress_counts_tasks_stale_ones_and_people(
    service: ReviewService, ann: Browser, bob: Browser, eve: Browser
) -> None:
    ann.decide("item:p1", **GOOD)
    ann.open("item:p2")
    ann.send("item:p2", seconds=15.0)
    write_tasks(service.folder, [CHANGED, make_task(2), make_task(3)])
    assert len(service.content.tasks) == 3
    (kind,) = measure_kinds(service).values()
    assert (kind.counts, kind.stale, kind.total) == ({"open": 2, "audit": 1}, 1, 3)
    people = {line.person.name: line for line in measure_people(service)}
    assert (people["ann"].decided, people["ann"].median_seconds) == (2, 10.0)
    assert (people["bob"].decided, people["bob"].median_seconds) == (0, None)
    assert [line.person.name for line in measure_people(service, "bob")] == ["bob"]
    page = ann.client.get("/progress").text
    assert service.log.head in eve.client.get("/progress").text
    assert service.log.head not in page
    assert "eve" not in page
    for browser in (ann, bob):
        browser.decide("item:p1", **GOOD)
    assert measure_kinds(service)["item"].stale == 0  # it is settled now


def test_files_that_are_missing_or_break_are_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(MissingInputError, match=r"tasks\.jsonl"):
        ReviewService(tmp_path)
    write_tasks(tmp_path, [make_task(1)])
    with pytest.raises(MissingInputError, match=r"reviewers\.yaml"):
        ReviewService(tmp_path)
    (tmp_path / "reviewers.yaml").write_text("- {name: ann, roles: [queen]}")
    with pytest.raises(FileFormatError, match="roles"):
        ReviewService(tmp_path)
    service = make_service(tmp_path)
    (tmp_path / "reviewers.yaml").write_text("- {name: ann}")
    with caplog.at_level(logging.WARNING):
        assert list_queue(service, "ann")
    assert "continues with the previous tasks and people" in caplog.text
    write_tasks(tmp_path, [make_task(7)])
    (tmp_path / "reviewers.yaml").write_text("- {name: ann, roles: [annotator]}")
    with (tmp_path / "tasks.jsonl").open("a") as file:
        file.write("{broken\n" + make_task(8, id="item:p8").model_dump_json() + "\n")
    assert list_queue(service, "ann") == ["item:p7", "item:p8"]
    assert "line 2" in caplog.text


# Two people at one task: nobody overwrites what they have not seen, and nothing is lost.


def test_the_second_of_two_annotators_is_told_and_keeps_the_draft(
    ann: Browser, abe: Browser
) -> None:
    ann.open("item:p1")
    abe.open("item:p1")
    assert ann.send("item:p1").status_code == 201
    answer = abe.send("item:p1", fields=BAD, comment="mine")
    assert answer.status_code == 409
    assert (answer.json()["reason"], answer.json()["by"]) == ("decided", None)
    document = abe.open("item:p1")
    assert (document["draft"]["fields"], document["draft"]["comment"]) == (BAD, "mine")
    assert not document["may_decide"]
    assert document["history"] == []


def test_two_seniors_are_told_who_was_first(
    service: ReviewService, ann: Browser, bob: Browser, eve: Browser
) -> None:
    ann.decide("item:p1", **GOOD)
    bob.decide("item:p1", **BAD)
    again = open_browser(service, "eve")
    eve.open("item:p1")
    again.open("item:p1")
    assert eve.send("item:p1").status_code == 201
    answer = again.send("item:p1", fields=BAD)
    assert (answer.status_code, answer.json()["by"]) == (409, "eve")


def test_content_that_has_changed_is_shown_before_a_decision_and_asked_again(
    service: ReviewService, ann: Browser
) -> None:
    ann.open("item:p1")
    write_tasks(service.folder, [CHANGED, make_task(2)])
    answer = ann.send("item:p1")
    assert (answer.status_code, answer.json()["reason"]) == (409, "changed")
    document = ann.open("item:p1")
    assert document["task"]["content"]["question"] == "Why not?"
    assert document["draft"]["content_hash"] != document["task"]["content_hash"]
    ann.answer("item:p1")
    assert ann.send("item:p1").status_code == 201
    assert ann.client.get("/tasks/item%3Ap3", headers={"accept": "text/html"}).status_code == 404
    write_tasks(service.folder, [make_task(1)])
    assert "changed: decide again" in ann.client.get("/").text
    document = ann.open("item:p1")
    assert document["may_decide"]
    assert [entry["stale"] for entry in document["history"]] == [True]


def test_a_claim_holds_others_off_until_it_expires(tmp_path: Path) -> None:
    clock = Clock()
    service = make_service(tmp_path, clock=clock)
    ann, abe = open_browser(service, "ann"), open_browser(service, "abe")
    ann.open("item:p1")
    assert ann.send("item:p1", "claim").status_code == 204
    assert "item:p1" not in abe.client.get("/").text
    assert abe.open("item:p1")["claimed"]
    assert abe.document["claimed_by"] is None
    assert abe.send("item:p1", "claim").status_code == 409
    answer = abe.send("item:p1")
    assert (answer.status_code, answer.json()["reason"]) == (409, "claimed")
    clock.advance(CLAIM_S - 60)
    assert ann.send("item:p1", "draft", "PUT").status_code == 204
    clock.advance(120)
    assert abe.send("item:p1", "claim").status_code == 409
    clock.advance(CLAIM_S)
    assert abe.send("item:p1", "claim").status_code == 204
    assert abe.send("item:p1", "claim", "DELETE").status_code == 204
    assert ann.send("item:p1", "claim").status_code == 204
    bob = open_browser(service, "bob")
    assert ann.send("item:p1").status_code == 201
    bob.open("item:p1")
    assert bob.send("item:p1", "claim").status_code == 204  # a decision releases the task


def test_a_draft_survives_until_the_decision_which_its_author_can_correct(
    service: ReviewService, ann: Browser, abe: Browser
) -> None:
    assert ann.open("item:p1")["draft"] is None
    ann.send("item:p1", "draft", "PUT", fields={"quality": 2}, comment="hm", seconds=7.5)
    assert "begun" in ann.client.get("/").text
    draft = open_browser(service, "ann").open("item:p1")["draft"]
    assert (draft["fields"], draft["comment"], draft["seconds"]) == ({"quality": 2}, "hm", 7.5)
    assert abe.open("item:p1")["draft"] is None
    assert ann.send("item:p1").status_code == 201
    assert ann.open("item:p1")["draft"] is None
    assert ann.decide("item:p1", **BAD).status_code == 201
    history = ann.open("item:p1")["history"]
    assert [entry["fields"]["valid"] for entry in history] == ["valid", "invalid"]


def test_a_clock_that_is_set_back_leaves_the_order(tmp_path: Path) -> None:
    clock = Clock()
    service = make_service(tmp_path, clock=clock)
    ann = open_browser(service, "ann")
    ann.decide("item:p1", **BAD)
    clock.advance(-3600)
    ann.decide("item:p1", **GOOD)
    assert service.states["item:p1"].decisions[0].fields["valid"] == "valid"
