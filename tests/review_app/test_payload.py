"""What is sent to a browser: for each role what it may see, and nothing else anywhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from omibench.review.app.demo import invent_content
from omibench.review.contents import hash_content
from omibench.review.kinds import KINDS
from omibench.schemas.review import ReviewTask, TaskPicture
from review_app.builders import make_service, make_task, open_browser

TEXT = "Why does it roll, after all?"
FIELDS = {"valid": "invalid", "quality": 2, "defects": ["unreadable"], "question": TEXT}


def test_an_auditor_sees_the_final_form_and_nothing_of_what_the_annotator_said(
    tmp_path: Path,
) -> None:
    service = make_service(tmp_path)
    ann, bob = open_browser(service, "ann"), open_browser(service, "bob")
    ann.open("item:p1")
    assert ann.send("item:p1", fields=FIELDS, comment="cannot be read").status_code == 201
    document = bob.open("item:p1")
    assert document["role"] == "auditor"
    assert document["task"]["content"]["question"] == TEXT
    assert document["task"]["original"] == {"question": "Why 1?"}
    assert document["history"] == []
    assert document["draft"] is None
    assert document["state"] == {"status": None, "rounds": 0, "differences": []}
    declaration = document.pop("kind")
    text = json.dumps(document)
    for secret in ("ann", "invalid", "unreadable", "cannot be read", '"quality"', 'seconds": 5'):
        assert secret not in text, secret
    assert "annotator" not in json.dumps(declaration)
    for page in ("/", "/progress"):
        text = bob.client.get(page).text
        assert ">ann<" not in text
        assert "cannot be read" not in text


def test_an_auditor_learns_nothing_from_a_conflict(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    ann, bob = open_browser(service, "ann"), open_browser(service, "bob")
    ann.decide("item:p1")
    bob.open("item:p1")
    ann.open("item:p1")
    ann.send("item:p1", fields=FIELDS)
    answer = bob.send("item:p1")
    assert answer.status_code == 409
    assert set(answer.json()["current"]) == {"base", "content_hash", "url"}
    assert "ann" not in answer.text


@pytest.mark.parametrize("role", ["annotator", "auditor", "senior"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_part_that_is_hidden_from_a_role_is_not_sent(
    tmp_path: Path, kind: str, role: str
) -> None:
    declaration = KINDS[kind]
    marks: dict[str, Any] = {
        part.name: f"secret {part.name}" if part.style in {"markdown", "text"} else content
        for part in declaration.parts
        if (content := invent_content(declaration).get(part.name)) is not None
    }
    task = ReviewTask(
        id=f"{kind}:p1",
        kind=kind,
        problem="p1",
        content=marks | {"gold": "secret gold"},
        content_hash=hash_content(declaration, marks),
        gold={"answer": "secret gold"},
        strata={"level": "secret stratum"},
    )
    service = make_service(tmp_path, [task])
    person = {"annotator": "ann", "auditor": "bob", "senior": "eve"}[role]
    if declaration.design == "everyone" and role != "annotator":
        task = task.model_copy(update={"people": {"annotator": ["ann", person]}})
        service.close()
        service = make_service(tmp_path, [task])
    document = open_browser(service, person).open(task.id)
    text = json.dumps(document)
    assert "secret gold" not in text
    assert "secret stratum" not in text
    shown_role = document["role"]
    for part in declaration.parts:
        is_hidden = shown_role in part.hidden_from
        assert (part.name in document["task"]["content"]) == (not is_hidden and part.name in marks)
        assert not is_hidden or f"secret {part.name}" not in text


def test_a_sample_is_for_a_senior_and_names_nobody(tmp_path: Path) -> None:
    work = make_task(1)
    sample = make_task(1, id="item:p1@week", purpose="sample", of="item:p1")
    service = make_service(tmp_path, [work, sample])
    open_browser(service, "ann").decide("item:p1")
    eve = open_browser(service, "eve")
    assert "item:p1@week" in eve.client.get("/").text
    document = eve.open("item:p1@week")
    assert (document["role"], document["may_decide"]) == ("senior", True)
    assert "ann" not in json.dumps({k: v for k, v in document.items() if k != "kind"})
    assert "item:p1@week" not in open_browser(service, "ann").client.get("/").text
    assert eve.decide("item:p1@week").status_code == 201
    assert eve.open("item:p1@week")["state"]["status"] == "settled"


def test_while_a_sample_waits_seniors_see_nothing_of_the_settled_original(tmp_path: Path) -> None:
    work = make_task(1)
    sample = make_task(1, id="item:p1@week", purpose="sample", of="item:p1")
    service = make_service(tmp_path, [work, sample])
    open_browser(service, "ann").decide("item:p1")
    open_browser(service, "bob").decide("item:p1")
    eve = open_browser(service, "eve")
    assert eve.open("item:p1")["history"] == []
    assert eve.decide("item:p1@week").status_code == 201
    assert [line["person"] for line in eve.open("item:p1")["history"]] == ["ann", "bob"]


def test_everybody_does_a_calibration_apart(tmp_path: Path) -> None:
    task = make_task(1, id="item:p1@gate", purpose="calibration", gold={"valid": "invalid"})
    service = make_service(tmp_path, [task])
    for name in ("ann", "abe", "bob"):
        browser = open_browser(service, name)
        document = browser.open(task.id)
        assert document["history"] == []
        assert document["base"] is None
        assert '"gold"' not in json.dumps(document)
        assert browser.send(task.id).status_code == 201


def test_pictures_of_hidden_parts_are_left_out(tmp_path: Path) -> None:
    page = TaskPicture(sha256="0" * 64, suffix="png", part="page")
    image = TaskPicture(sha256="1" * 64, suffix="png")
    service = make_service(tmp_path, [make_task(1, pictures=[page, image])])
    pictures = open_browser(service, "ann").open("item:p1")["task"]["pictures"]
    assert [picture["url"] for picture in pictures] == [f"/pictures/{'1' * 64}"]
