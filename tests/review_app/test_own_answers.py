"""Readers answer a problem before they see its key; the answer is kept with their decision."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from omibench.review.app.service import ReviewService
from omibench.review.folder import read_record
from omibench.review.own_answers import (
    list_doubted_keys,
    list_own_answers,
    list_rows,
    measure_own_answers,
)
from omibench.schemas.review import ReviewTask
from review_app.builders import GOOD, make_service, make_task, open_browser, write_tasks

CHOICES = [
    {"label": "A", "text": "7 m", "image": None},
    {"label": "B", "text": "9 m", "image": None},
]
CONTENT = {
    "question": "How far?",
    "choices": CHOICES,
    "answer": ["B"],
    "solution": "The path is secret-solution.",
}


def make_keyed(number: int = 1, **parts: object) -> ReviewTask:
    return make_task(number, content=CONTENT | parts)


@pytest.fixture
def keyed(tmp_path: Path) -> ReviewService:
    return make_service(tmp_path, [make_keyed(1), make_keyed(2)])


def test_the_key_comes_after_the_own_answer_which_is_kept(keyed: ReviewService) -> None:
    ann = open_browser(keyed, "ann")
    before = ann.open("item:p1")
    assert before["asks_first"]
    assert set(before["task"]["content"]) == {"question", "choices"}
    assert before["kind"]["fields"] == []
    assert "secret-solution" not in json.dumps(before)
    refused = ann.send("item:p1")
    assert (refused.status_code, refused.json()["field"]) == (422, "own_answer")
    assert ann.send("item:p1", "answer", answer=" A ", seconds=40.0).status_code == 204
    after = ann.open("item:p1")
    assert after["task"]["content"]["answer"] == ["B"]
    assert after["own_answer"] == {"text": "A", "is_right": False}
    assert after["draft"]["seconds"] == 40
    assert ann.send("item:p1", "answer", answer="B").status_code == 204  # too late: the first stays
    assert ann.send("item:p1").status_code == 201
    (decision,) = read_record(keyed.folder).rows
    assert decision.own_answer == "A"


def test_an_answer_to_a_statement_that_was_not_seen_is_not_recorded(keyed: ReviewService) -> None:
    ann = open_browser(keyed, "ann")
    ann.open("item:p1")
    write_tasks(keyed.folder, [make_keyed(1, question="How wide?"), make_keyed(2)])
    late = ann.send("item:p1", "answer", answer="A")
    assert (late.status_code, late.json()["reason"]) == (409, "changed")
    assert ann.send("item:p1", "answer", answer="A", content_hash=1).status_code == 400
    document = ann.open("item:p1")
    assert document["asks_first"]
    assert (document["own_answer"], document["draft"]) == (None, None)
    assert ann.send("item:p1", "answer", answer="A").status_code == 204


def test_people_who_cannot_answer_do_not_doubt_the_key(keyed: ReviewService) -> None:
    for name in ("ann", "bob"):
        browser = open_browser(keyed, name)
        browser.answer("item:p1", "")
        assert browser.send("item:p1").status_code == 201
    answers = list_own_answers([make_keyed(1)], read_record(keyed.folder).rows)
    assert len(answers) == 2
    assert list_doubted_keys(answers) == []
    (figure,) = measure_own_answers(answers)
    assert (figure.value, figure.units) == (0.0, 2)


def test_what_is_said_about_fields_does_not_tell_the_key(keyed: ReviewService) -> None:
    ann = open_browser(keyed, "ann")
    ann.open("item:p1")
    guess = GOOD | {"defects": ["wrong_answer"], "answer": "B"}
    replies = [ann.send("item:p1", fields=guess | {"answer": text}).text for text in "AB"]
    stale = [
        ann.send("item:p1", fields=guess | {"answer": text}, content_hash="0" * 64).text
        for text in "AB"
    ]
    assert replies[0] == replies[1]
    assert stale[0] == stale[1]


def test_each_reader_answers_and_a_senior_who_settles_sees_all(keyed: ReviewService) -> None:
    ann, bob, eve = (open_browser(keyed, name) for name in ("ann", "bob", "eve"))
    assert "answer" not in bob.open("item:p1")["task"]["content"]
    assert bob.send("item:p1", "answer", answer="B").status_code == 403
    ann.decide("item:p1", **GOOD | {"answer": "A"})
    document = bob.open("item:p1")
    assert document["asks_first"]
    assert (document["history"], document["task"]["original"]) == ([], {})
    bob.decide("item:p1", valid="invalid", quality=1)
    document = eve.open("item:p1")
    assert not document["asks_first"]
    assert [line["own_answer"] for line in document["history"]] == ["A", "A"]


def test_a_senior_answers_before_a_second_judgement(tmp_path: Path) -> None:
    sample = make_task(1, id="item:p1@week", purpose="sample", of="item:p1", content=CONTENT)
    service = make_service(tmp_path, [make_keyed(1), sample])
    for name in ("ann", "bob"):
        open_browser(service, name).decide("item:p1")
    assert open_browser(service, "eve").open("item:p1@week")["asks_first"]


def test_a_corrected_solution_asks_for_no_second_answer(keyed: ReviewService) -> None:
    ann = open_browser(keyed, "ann")
    ann.decide("item:p1")
    write_tasks(keyed.folder, [make_keyed(1, solution="Better."), make_keyed(2)])
    assert not ann.open("item:p1")["asks_first"]
    write_tasks(keyed.folder, [make_keyed(1, question="How wide?"), make_keyed(2)])
    document = ann.open("item:p1")
    assert document["asks_first"]
    assert document["history"] == []


def test_a_decision_of_an_earlier_version_shows_the_key_and_says_nothing(
    keyed: ReviewService,
) -> None:
    ann = open_browser(keyed, "ann")
    ann.decide("item:p1")
    (decision,) = read_record(keyed.folder).rows
    old = decision.model_copy(update={"own_answer": None, "id": "old", "task": "item:p2"})
    line = old.model_dump_json(exclude_defaults=True)
    assert "own_answer" not in line
    with (keyed.folder / "decisions.jsonl").open("a") as file:
        file.write(line + "\n")
    document = ann.open("item:p2")
    assert not document["asks_first"]
    assert document["own_answer"] is None
    answers = list_own_answers([make_keyed(1), make_keyed(2)], read_record(keyed.folder).rows)
    assert [answer.task.id for answer in answers] == ["item:p1"]


@pytest.mark.parametrize(
    ("body", "status"), [({"answer": 3}, 400), ({"answer": "x" * 2001}, 400), ({}, 400)]
)
def test_an_answer_is_a_short_text(
    keyed: ReviewService, body: dict[str, object], status: int
) -> None:
    ann = open_browser(keyed, "ann")
    ann.open("item:p1")
    assert ann.send("item:p1", "answer", **body).status_code == status


def test_own_answers_are_measured_against_the_key(keyed: ReviewService) -> None:
    ann, bob = open_browser(keyed, "ann"), open_browser(keyed, "bob")
    for browser, answers in ((ann, ("A", "B")), (bob, ("A", ""))):
        for number, answer in enumerate(answers, 1):
            browser.answer(f"item:p{number}", answer)
            assert browser.send(f"item:p{number}").status_code == 201
    tasks = [make_keyed(1), make_keyed(2)]
    answers_given = list_own_answers(tasks, read_record(keyed.folder).rows)
    (figure,) = measure_own_answers(answers_given)
    assert (figure.kind, figure.value, figure.units) == ("item", 0.25, 4)
    assert (figure.tasks, figure.people) == (2, 2)
    assert list_doubted_keys(answers_given) == ["item:p1"]
    assert [(row["own_answer"], row["right"]) for row in list_rows(answers_given)] == [
        ("A", False),
        ("A", False),
        ("B", True),
        ("", False),
    ]


def test_open_answers_are_compared_like_responses(tmp_path: Path) -> None:
    task = make_task(1, content={"question": "How far?", "answer": ["0.5 m"]})
    service = make_service(tmp_path, [task])
    ann = open_browser(service, "ann")
    assert ann.answer("item:p1", "50 cm")["own_answer"]["is_right"]


def test_place_and_time_left_come_from_the_own_times(tmp_path: Path) -> None:
    service = make_service(tmp_path, [make_task(number) for number in range(1, 7)])
    ann = open_browser(service, "ann")
    for number in (1, 2, 3):
        assert ann.open(f"item:p{number}")["progress"]["left_s"] is None
        ann.send(f"item:p{number}", seconds=20.0 * number)
    assert ann.open("item:p4")["progress"] == {"number": 4, "total": 6, "left_s": 120.0}
    assert ann.open("item:p1")["progress"]["number"] is None


def test_a_second_decision_shows_which_one_counts(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    ann = open_browser(service, "ann")
    for quality in (2, 4):
        ann.decide("item:p1", valid="valid", quality=quality)
    history = ann.open("item:p1")["history"]
    assert [line["is_replaced"] for line in history] == [True, False]
