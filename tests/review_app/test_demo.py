"""The demonstration holds every kind, and whatever is in it is marked as invented."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from omibench.review.app.database import check_password, read_hash
from omibench.review.app.demo import invent_fields, make_demo_task, write_demo
from omibench.review.app.service import ReviewService
from omibench.review.check import check_fields
from omibench.review.kinds import KINDS
from omibench.schemas.review import TaskPicture
from review_app.builders import make_task, open_browser, write_tasks


@pytest.mark.parametrize("is_last", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_an_invented_decision_is_one_that_the_kind_takes(kind: str, is_last: bool) -> None:
    declaration = KINDS[kind]
    task = make_demo_task(declaration, 1, [])
    assert task.simulated
    assert check_fields(declaration, task, invent_fields(declaration, task, is_last))


@pytest.mark.slow
def test_every_kind_is_there_with_an_audit_and_an_escalation(tmp_path: Path) -> None:
    sample, folder = tmp_path / "sample", tmp_path / "demo"
    sample.mkdir()
    folder.mkdir()
    (sample / "a.png").write_bytes(b"a picture")
    shown = TaskPicture(sha256=hashlib.sha256(b"a picture").hexdigest(), suffix="png")
    lost = TaskPicture(sha256="0" * 64, suffix="png")
    tasks = [
        make_task(1, id="item:of-the-sample", people={"annotator": ["sim"]}, pictures=[shown]),
        make_task(2, id="item:without-its-picture", pictures=[lost]),
    ]
    write_tasks(sample, tasks)
    users = write_demo(folder, sample, [sample])
    service = ReviewService(folder)
    assert {listed.task.kind for listed in service.content.tasks.values()} == set(KINDS)
    assert all(person.simulated for person in service.content.people.values())
    name, password, _ = users[0]
    with service.database.read() as connection:
        assert check_password(read_hash(connection, name), password)
    states = {task: state.status for task, state in service.states.items()}
    assert states["item:demo-3"] == "escalated"
    assert states["item:demo-2"] == states["page:demo-2"] == "audit"
    document = open_browser(service, "Ada").open("item:of-the-sample")
    assert document["may_decide"]
    assert "item:without-its-picture" not in service.content.tasks
    pictures = (
        document["task"]["pictures"]
        + open_browser(service, "Ada").open("page:demo-1")["task"]["pictures"]
    )
    assert [picture["part"] for picture in pictures] == ["image"] * 3 + ["page"]
    client = open_browser(service, "Ada").client
    assert all(client.get(picture["url"]).status_code == 200 for picture in pictures)
