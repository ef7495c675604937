"""A review to serve in tests: item tasks, four people, one password, a clock that tests set."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.testclient import TestClient

from omibench.review.app import database
from omibench.review.app.application import make_application
from omibench.review.app.context import ServerSettings
from omibench.review.app.service import ReviewService
from omibench.review.contents import hash_content
from omibench.review.kinds import KINDS
from omibench.schemas.review import ReviewTask

PASSWORD = "correct horse battery"
PEOPLE = [
    {"name": "ann", "roles": ["annotator"]},
    {"name": "abe", "roles": ["annotator"]},
    {"name": "bob", "roles": ["auditor"]},
    {"name": "eve", "roles": ["senior"]},
]
GOOD: dict[str, Any] = {"valid": "valid", "quality": 4}
BAD: dict[str, Any] = {"valid": "invalid", "quality": 1}


@dataclass
class Clock:
    """A clock that stands still until a test sets it."""

    time: datetime = datetime(2026, 1, 5, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time

    def advance(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


@dataclass
class Browser:
    """A browser in which one person has logged in."""

    client: TestClient
    token: str = ""
    document: dict[str, Any] = field(default_factory=dict)

    def open(self, task: str) -> dict[str, Any]:
        """The JSON of a task's page."""
        page = self.client.get(f"/tasks/{quote(task, safe='')}", headers={"accept": "text/html"})
        assert page.status_code == 200, page.text
        (text,) = re.findall(r'<script type="application/json" id="task">(.*?)</script>', page.text)
        self.document = json.loads(text)
        return self.document

    def send(self, task: str, verb: str = "decision", method: str = "POST", **values: Any) -> Any:
        """Send what the page of a task sends, as it was last opened."""
        document = self.document
        body = {
            "fields": GOOD,
            "comment": "",
            "seconds": 5.0,
            "content_hash": document.get("task", {}).get("content_hash", ""),
            "base": document.get("base"),
            **values,
        }
        url = f"/tasks/{quote(task, safe='')}/{verb}"
        return self.client.request(method, url, json=body, headers={"x-csrf-token": self.token})

    def answer(self, task: str, answer: str = "A") -> dict[str, Any]:
        """Open a task, answer its problem if it asks for that, and open it again."""
        if self.open(task)["asks_first"]:
            assert self.send(task, "answer", answer=answer).status_code == 204
        return self.open(task)

    def decide(self, task: str, **fields: Any) -> Any:
        """Open a task and decide on it."""
        self.answer(task)
        return self.send(task, fields=fields or GOOD)


def make_task(number: int, **values: Any) -> ReviewTask:
    """An item task, without a key unless the content has one: it asks for no own answer."""
    kind = KINDS["item"]
    content = values.pop("content", {"question": f"Why {number}?"})
    pictures = values.get("pictures", [])
    return ReviewTask(
        id=values.pop("id", f"item:p{number}"),
        kind="item",
        problem=f"p{number}",
        content=content,
        content_hash=hash_content(kind, content, pictures),
        **values,
    )


def write_tasks(folder: Path, tasks: list[ReviewTask]) -> None:
    lines = (f"{task.model_dump_json()}\n" for task in tasks)
    (folder / "tasks.jsonl").write_text("".join(lines), "utf-8")


def make_service(
    folder: Path, tasks: list[ReviewTask] | None = None, clock: Clock | None = None
) -> ReviewService:
    """A review of three item tasks, whose people all have one password."""
    write_tasks(folder, [make_task(n) for n in range(1, 4)] if tasks is None else tasks)
    (folder / "reviewers.yaml").write_text(json.dumps(PEOPLE))
    service = ReviewService(folder, now=clock or Clock())
    with service.database.write() as connection:
        for person in PEOPLE:
            query = "INSERT OR REPLACE INTO users (name, password) VALUES (?, ?)"
            connection.execute(query, (person["name"], _hash_once()))
    return service


@cache
def _hash_once() -> str:
    """The hash of the password: argon2 is slow by design."""
    return database._hash(PASSWORD)


def open_client(service: ReviewService, settings: ServerSettings | None = None) -> TestClient:
    """A browser without a session."""
    application = make_application(service, settings or ServerSettings())
    return TestClient(application, base_url="http://localhost", follow_redirects=False)


def find_token(client: TestClient) -> str:
    """The token of the form on the login page."""
    (token,) = re.findall(r'name="csrf" value="([^"]*)"', client.get("/login").text)
    return str(token)


def log_in(client: TestClient, name: str, password: str = PASSWORD, **values: str) -> Any:
    """Send the form of the login page."""
    form = {"csrf": find_token(client), "name": name, "password": password, **values}
    return client.post("/login", data=form)


def open_browser(service: ReviewService, name: str) -> Browser:
    """A browser in which a person has logged in, without the cost of a password."""
    client = open_client(service)
    context = client.app.state.context  # type: ignore[attr-defined]
    from starlette.responses import Response

    response = Response()
    session = context.sessions.start(response, name)
    cookie = response.headers["set-cookie"].partition(";")[0]
    client.headers["cookie"] = cookie
    return Browser(client, session.token)


def status_of(service: ReviewService, task: str) -> str:
    """The status of a task by the log."""
    return service.states[task].status if service.content else ""
