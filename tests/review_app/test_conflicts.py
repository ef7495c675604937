"""Two people at one task: nobody overwrites what they have not seen, and nothing is lost."""

from __future__ import annotations

from pathlib import Path

from omibench.review.app.database import CLAIM_S
from review_app.builders import BAD, GOOD, Clock, make_service, make_task, open_browser, write_tasks


def test_the_second_of_two_annotators_is_told_and_keeps_the_draft(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    ann, abe = open_browser(service, "ann"), open_browser(service, "abe")
    ann.open("item:p1")
    abe.open("item:p1")
    assert ann.send("item:p1").status_code == 201
    answer = abe.send("item:p1", fields=BAD, comment="mine")
    assert answer.status_code == 409
    body = answer.json()
    assert (body["reason"], body["by"]) == ("decided", None)
    document = abe.open("item:p1")
    assert document["draft"]["fields"] == BAD
    assert document["draft"]["comment"] == "mine"
    assert not document["may_decide"]
    assert document["history"] == []


def test_two_seniors_are_told_who_was_first(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    ann, bob = open_browser(service, "ann"), open_browser(service, "bob")
    ann.decide("item:p1", **GOOD)
    bob.decide("item:p1", **BAD)
    eve, again = open_browser(service, "eve"), open_browser(service, "eve")
    eve.open("item:p1")
    again.open("item:p1")
    assert eve.send("item:p1").status_code == 201
    answer = again.send("item:p1", fields=BAD)
    assert (answer.status_code, answer.json()["by"]) == (409, "eve")


def test_content_that_has_changed_meanwhile_is_shown_before_a_decision(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    ann = open_browser(service, "ann")
    ann.open("item:p1")
    changed = make_task(1, content={"question": "Why not?", "answer": ["A"]})
    write_tasks(tmp_path, [changed, make_task(2)])
    answer = ann.send("item:p1")
    assert (answer.status_code, answer.json()["reason"]) == (409, "changed")
    document = ann.open("item:p1")
    assert document["task"]["content"]["question"] == "Why not?"
    assert document["draft"]["content_hash"] != document["task"]["content_hash"]
    assert ann.send("item:p1").status_code == 201
    assert ann.client.get("/tasks/item%3Ap3", headers={"accept": "text/html"}).status_code == 404


def test_a_decision_on_content_that_changed_is_asked_again(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    ann = open_browser(service, "ann")
    ann.decide("item:p1")
    changed = make_task(1, content={"question": "Why not?", "answer": ["A"]})
    write_tasks(tmp_path, [changed])
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


def test_a_draft_survives_until_the_decision(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    ann = open_browser(service, "ann")
    assert ann.open("item:p1")["draft"] is None
    ann.send("item:p1", "draft", "PUT", fields={"quality": 2}, comment="hm", seconds=7.5)
    assert "begun" in ann.client.get("/").text
    draft = open_browser(service, "ann").open("item:p1")["draft"]
    assert (draft["fields"], draft["comment"], draft["seconds"]) == ({"quality": 2}, "hm", 7.5)
    assert open_browser(service, "abe").open("item:p1")["draft"] is None
    assert ann.send("item:p1").status_code == 201
    assert ann.open("item:p1")["draft"] is None


def test_a_person_corrects_a_decision_of_their_own(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    ann = open_browser(service, "ann")
    ann.decide("item:p1", **GOOD)
    assert ann.decide("item:p1", **BAD).status_code == 201
    assert [entry["fields"]["valid"] for entry in ann.open("item:p1")["history"]] == [
        "valid",
        "invalid",
    ]


def test_a_clock_that_is_set_back_leaves_the_order(tmp_path: Path) -> None:
    clock = Clock()
    service = make_service(tmp_path, clock=clock)
    ann = open_browser(service, "ann")
    ann.decide("item:p1", **BAD)
    clock.advance(-3600)
    ann.decide("item:p1", **GOOD)
    state = service.open_task(service.content.tasks["item:p1"], service.content.people["ann"])
    assert state is not None
    assert state.state.decisions[0].fields["valid"] == "valid"
