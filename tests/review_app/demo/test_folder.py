"""The demonstration holds every kind, and whatever is in it is marked as invented."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.review.check import check_fields
from omibench.review.kinds import KINDS
from omibench.review.state import Status
from omibench.review_app.demo.content import invent_fields
from omibench.review_app.demo.folder import make_demo_task, write_demo
from omibench.review_app.log.users import check_password, read_hash
from omibench.review_app.service import ReviewService
from review_app.builders import make_task, open_browser, write_tasks


@pytest.mark.parametrize("is_last", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_an_invented_decision_is_one_that_the_kind_takes(kind: str, is_last: bool) -> None:
    declaration = KINDS[kind]
    task = make_demo_task(declaration, 1, [])
    assert task.simulated
    assert check_fields(declaration, task, invent_fields(declaration, task, is_last))


def test_every_kind_is_there_with_an_audit_and_an_escalation(tmp_path: Path) -> None:
    sample = tmp_path / "sample"
    sample.mkdir()
    write_tasks(sample, [make_task(1, id="item:of-the-sample", people={"annotator": ["sim"]})])
    folder = tmp_path / "demo"
    folder.mkdir()
    users = write_demo(folder, sample)
    service = ReviewService(folder)
    assert {listed.task.kind for listed in service.content.tasks.values()} == set(KINDS)
    assert all(person.simulated for person in service.content.people.values())
    name, password, _ = users[0]
    with service.database.read() as connection:
        assert check_password(read_hash(connection, name), password)
        rows = connection.execute("SELECT task, status FROM task_state").fetchall()
    states: dict[str, Status] = dict(rows)
    assert states["item:demo-3"] == "escalated"
    assert states["item:demo-2"] == states["page:demo-2"] == "audit"
    document = open_browser(service, "Ada").open("item:of-the-sample")
    assert document["may_decide"]
    pictures = open_browser(service, "Ada").open("page:demo-1")["task"]["pictures"]
    assert [picture["part"] for picture in pictures] == ["image", "image", "page"]
    client = open_browser(service, "Ada").client
    assert all(client.get(picture["url"]).status_code == 200 for picture in pictures)
