"""What is sent to a browser: for each role what it may see, and nothing else anywhere."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from omibench.review.app.demo import invent_content
from omibench.review.app.pages import (
    KindLine,
    MissLine,
    PersonLine,
    ResultLine,
    TaskLine,
    Visitor,
    Workload,
    render,
)
from omibench.review.app.payload import describe_fields
from omibench.review.calibration import CalibrationResult
from omibench.review.contents import hash_content
from omibench.review.kinds import KINDS
from omibench.review.people import Reviewer
from omibench.schemas.review import ReviewTask, TaskPicture
from omibench.web.templates import embed_json
from review_app.builders import Browser, make_service, make_task, open_browser

TEXT = "Why does it roll, after all?"
FIELDS = {"valid": "invalid", "quality": 2, "defects": ["unreadable"], "question": TEXT}


def test_an_auditor_sees_the_final_form_and_nothing_of_what_the_annotator_said(
    ann: Browser, bob: Browser
) -> None:
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


def test_an_auditor_learns_nothing_from_a_conflict(ann: Browser, bob: Browser) -> None:
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
    browser = open_browser(service, person)
    withheld = {"answer", "solution"} if kind == "item" and role != "senior" else set()
    if withheld and role == "auditor":
        assert open_browser(service, "ann").decide(task.id).status_code == 201
    if withheld:
        text = json.dumps(browser.open(task.id))
        assert not [name for name in withheld if f"secret {name}" in text]
        assert not withheld & set(browser.document["task"]["content"])
    document = browser.answer(task.id)
    text = json.dumps(document)
    assert "secret gold" not in text
    assert "secret stratum" not in text
    shown_role = document["role"]
    for part in declaration.parts:
        is_hidden = shown_role in part.hidden_from
        assert (part.name in document["task"]["content"]) == (not is_hidden and part.name in marks)
        assert not is_hidden or f"secret {part.name}" not in text


def test_a_sample_is_for_a_senior_and_hides_names_and_the_settled_original(tmp_path: Path) -> None:
    sample = make_task(1, id="item:p1@week", purpose="sample", of="item:p1")
    service = make_service(tmp_path, [make_task(1), sample])
    ann, eve = open_browser(service, "ann"), open_browser(service, "eve")
    ann.decide("item:p1")
    open_browser(service, "bob").decide("item:p1")
    assert "item:p1@week" in eve.client.get("/").text
    document = eve.open("item:p1@week")
    assert (document["role"], document["may_decide"]) == ("senior", True)
    assert "ann" not in json.dumps({k: v for k, v in document.items() if k != "kind"})
    assert "item:p1@week" not in ann.client.get("/").text
    assert eve.open("item:p1")["history"] == []
    assert eve.decide("item:p1@week").status_code == 201
    assert eve.open("item:p1@week")["state"]["status"] == "settled"
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


# The fields of a task as its form has them.


def find_field(kind: str, name: str, content: dict[str, Any]) -> dict[str, Any]:
    fields = describe_fields(KINDS[kind], content)
    return next(field for field in fields if field["name"] == name)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_described_in_json(kind: str) -> None:
    content = {part.name: ["x"] for part in KINDS[kind].parts}
    described = json.loads(json.dumps(describe_fields(KINDS[kind], content)))
    assert [field["name"] for field in described] == [field.name for field in KINDS[kind].fields]
    assert not {"critical", "tolerance", "attribute"} & set(described[0])


def test_a_correction_starts_with_the_text_of_its_part() -> None:
    content = {"choices": [{"label": "A", "text": "one"}, {"label": "B", "image": 2}]}
    assert find_field("item", "choices", content)["start"] == "A. one\nB. [IMAGE2]"
    assert "start" not in find_field("item", "answer", content)
    names = {field["name"] for field in describe_fields(KINDS["item"], content)}
    assert not {"solution", "solution_valid"} & names


def test_a_rationale_starts_with_the_candidate_that_is_chosen() -> None:
    content = {"candidates": [{"id": "c3", "text": "First."}, {"id": "c5", "text": "Second."}]}
    field = find_field("rationale", "solution", content)
    assert field["starts"] == {"c3": "First.", "c5": "Second."}
    assert field["starts_by"] == "candidate"
    options = find_field("rationale", "candidate", content)["options"]
    assert [option["value"] for option in options] == ["c3", "c5", "none"]
    assert [option["key"] for option in options] == ["1", "2", "0"]


def test_a_label_starts_with_the_one_so_far_unless_it_is_hidden() -> None:
    assert find_field("label", "subject", {"subject": "physics"})["start"] == "physics"
    assert "start" not in find_field("label", "subject", {})


def test_a_text_that_starts_with_a_list_has_a_line_for_each_entry() -> None:
    assert find_field("photo_fields", "answer", {"answer": ["1 m", "2 s"]})["start"] == "1 m\n2 s"


# Pages: every value escaped, nothing in them that a strict policy refuses.

HOSTILE = "</script><script>alert('1')</script>&\u2028\u202e"
VISITOR = Visitor(HOSTILE, ("annotator",), HOSTILE, True, ((HOSTILE, HOSTILE, HOSTILE),))
WORK = [Workload(HOSTILE, "annotator", 1, 2, HOSTILE)]
LINES = [TaskLine(HOSTILE, HOSTILE, "auditor", "changed", "sample", True)]
RESULT = CalibrationResult("ann", "item", HOSTILE, "failed", 3, 1, 3)
TESTS = [ResultLine(HOSTILE, RESULT, (MissLine(*[HOSTILE] * 4),))]
KIND_LINES = [KindLine(HOSTILE, {"open": 1, "settled": 2}, 1)]
PEOPLE = [PersonLine(Reviewer(name=HOSTILE, roles=["senior"], simulated=True), 3, 61.5)]
VALUES: dict[str, dict[str, Any]] = {
    "login": {"message": HOSTILE, "typed_name": HOSTILE, "target": HOSTILE},
    "tasks": {"workloads": WORK, "tasks": LINES, "hidden": 3, "tests": TESTS, "shortest": 2.0},
    "task": {"title": HOSTILE, "document": embed_json({"title": HOSTILE})},
    "progress": {"kinds": KIND_LINES, "people": PEOPLE, "head": HOSTILE, "shortest": 2.0},
    "error": {"title": HOSTILE, "message": HOSTILE},
}


@pytest.mark.parametrize("name", VALUES)
def test_a_page_holds_nothing_that_a_strict_policy_refuses(name: str) -> None:
    page = render(VISITOR, name, **VALUES[name])
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
    scripts = re.findall(r"<script([^>]*)>", page)
    assert all(" src=" in script or "application/json" in script for script in scripts)
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", page)
    assert not re.search(r"""(?:src|href|action)="(?!/|\#main)""", page)
    assert "1:01" in page or name != "progress"
