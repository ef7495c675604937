"""A review that is served: its queue, its files, the test before work."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from omibench.errors import FileFormatError, MissingInputError
from omibench.params.review import CalibrationParams
from omibench.review.app.service import ReviewService
from omibench.review.app.states import WaitingQuery, find_next, list_waiting
from omibench.review.outcomes import ReviewRule
from review_app.builders import (
    BAD,
    GOOD,
    Clock,
    make_service,
    make_task,
    open_browser,
    status_of,
    write_tasks,
)


def list_queue(service: ReviewService, name: str) -> list[str]:
    person = service.content.people[name]
    with service.database.read() as connection:
        rows = list_waiting(connection, service.find_waiting(person), 100)
        first = find_next(connection, service.find_waiting(person))
    assert first == (rows[0].task if rows else None)
    return [row.task for row in rows]


def test_each_person_has_a_queue_of_what_waits_for_them(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    everything = ["item:p1", "item:p2", "item:p3"]
    assert [list_queue(service, name) for name in ("ann", "bob", "eve")] == [everything, [], []]
    ann, bob = open_browser(service, "ann"), open_browser(service, "bob")
    ann.decide("item:p2", **GOOD)
    assert list_queue(service, "ann") == list_queue(service, "abe") == ["item:p1", "item:p3"]
    assert list_queue(service, "bob") == ["item:p2"]
    bob.decide("item:p2", **BAD)
    assert list_queue(service, "bob") == []
    assert list_queue(service, "eve") == ["item:p2"]


def test_the_queue_goes_on_behind_a_task_and_then_from_the_first(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    ann = open_browser(service, "ann")
    assert ann.open("item:p2")["next"] == "/tasks/item%3Ap3"
    assert ann.document["previous"] == "/tasks/item%3Ap1"
    assert ann.open("item:p3")["next"] == "/tasks/item%3Ap1"
    assert ann.open("item:p1")["previous"] is None


def test_the_queue_is_the_same_after_a_restart(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    open_browser(service, "ann").decide("item:p2")
    service.close()
    again = ReviewService(tmp_path, now=Clock())
    assert list_queue(again, "ann") == ["item:p1", "item:p3"]
    assert list_queue(again, "bob") == ["item:p2"]


def test_names_and_subjects_say_who_is_asked(tmp_path: Path) -> None:
    tasks = [
        make_task(1, people={"annotator": ["ann"]}),
        make_task(2, people={"auditor": ["bob"]}, strata={"subject": "physics"}),
    ]
    service = make_service(tmp_path, tasks)
    assert list_queue(service, "ann") == ["item:p1", "item:p2"]
    assert list_queue(service, "abe") == ["item:p2"]
    chemist = service.content.people["abe"].model_copy(update={"subjects": ["chemistry"]})
    with service.database.read() as connection:
        assert list_waiting(connection, WaitingQuery(chemist, 0), 9) == []


def test_one_reviewer_is_enough_where_the_study_says_so(tmp_path: Path) -> None:
    make_service(tmp_path).close()
    service = ReviewService(tmp_path, rule=ReviewRule(reviewers=1), now=Clock())
    ann = open_browser(service, "ann")
    ann.decide("item:p1")
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
    assert list_queue(service, "ann") == ["item:p3"]
    assert ann.decide("item:p3").status_code == 201
    assert list_queue(service, "abe") == []


def test_a_file_that_breaks_while_it_is_served_leaves_the_tasks_as_they_were(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
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


def test_what_a_review_needs_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match=r"tasks\.jsonl"):
        ReviewService(tmp_path)
    write_tasks(tmp_path, [make_task(1)])
    with pytest.raises(MissingInputError, match=r"reviewers\.yaml"):
        ReviewService(tmp_path)
    (tmp_path / "reviewers.yaml").write_text("- {name: ann, roles: [queen]}")
    with pytest.raises(FileFormatError, match="roles"):
        ReviewService(tmp_path)
