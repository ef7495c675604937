"""Many people at once, and a server that is killed: no decision is lost that was confirmed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
from starlette.responses import Response

from omibench.review.app.context import Sessions
from omibench.review.app.database import LIVE, Database
from omibench.review.app.decisions import read_events
from omibench.review.app.service import ReviewService, Submission
from omibench.review.folder import append_decisions, read_decisions
from review.builders import decide
from review_app.builders import GOOD, make_task, write_tasks

WRITERS, DECISIONS = 8, 20
SECRET = b"a secret of this test, long enough"
SERVER = """
import sys
from pathlib import Path
from omibench.review.app.application import run_server
from omibench.review.app.service import ReviewService
from omibench.review.app.context import ServerSettings
folder, port, secret = sys.argv[1:]
settings = ServerSettings(port=int(port), secret=secret.encode())
run_server(ReviewService(Path(folder)), settings, print)
"""


def write_review(folder: Path) -> list[str]:
    """Eight annotators, and a task for each decision of theirs."""
    names = [f"writer{n}" for n in range(WRITERS)]
    tasks = [make_task(number) for number in range(WRITERS * DECISIONS)]
    write_tasks(folder, tasks)
    people = "".join(f"- {{name: {name}, roles: [annotator]}}\n" for name in names)
    (folder / "reviewers.yaml").write_text(people)
    return names


def list_tasks(writer: int) -> list[str]:
    return [f"item:p{number}" for number in range(writer, WRITERS * DECISIONS, WRITERS)]


def run_writers(write: Callable[[int], Any]) -> list[Any]:
    with ThreadPoolExecutor(WRITERS) as pool:
        return list(pool.map(write, range(WRITERS)))


def test_eight_writers_and_an_import_lose_nothing(tmp_path: Path) -> None:
    names = write_review(tmp_path)
    service = ReviewService(tmp_path)
    imported = [decide(n, "ann", "auditor", make_task(n)) for n in range(WRITERS)]

    def write(writer: int) -> None:
        person = service.content.people[names[writer]]
        for name in list_tasks(writer):
            listed = service.content.tasks[name]
            submission = Submission(GOOD, "", 1.0, listed.task.content_hash, None)
            service.decide(listed, person, submission)
        append_decisions(tmp_path, [("an import", imported[writer])])

    # The imports are on tasks of the first decision of each writer.
    run_writers(write)
    assert service.content
    recorded = read_decisions(tmp_path / "decisions.jsonl").require_whole()
    with service.database.read() as connection:
        events = list(read_events(connection))
        states = connection.execute("SELECT status, COUNT(*) FROM task_state GROUP BY status")
        assert dict(states.fetchall()) == {
            "audit": WRITERS * (DECISIONS - 1),
            "settled": WRITERS,
        }
    assert len(recorded) == len({decision.id for decision in recorded})
    assert {decision.id for decision in recorded} == {event.id for event in events}
    assert len(recorded) == WRITERS * (DECISIONS + 1)
    service.close()


@contextmanager
def running_server(folder: Path, port: int) -> Iterator[subprocess.Popen[str]]:
    words = [sys.executable, "-c", SERVER, str(folder), str(port), SECRET.decode()]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert "http" in process.stdout.readline()
        yield process
    finally:
        process.kill()
        process.wait()


def make_cookies(folder: Path, names: list[str], port: int) -> list[tuple[str, str]]:
    """A session of each person: its cookie and token, as a server with this secret signs them."""
    database = Database(folder / LIVE)
    sessions = Sessions(database, SECRET, is_secure=False, port=port)
    cookies = []
    for name in names:
        response = Response()
        token = sessions.start(response, name).token
        cookies.append((response.headers["set-cookie"].partition(";")[0], token))
    database.close()
    return cookies


def find_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def test_a_server_that_is_killed_loses_no_decision_that_it_confirmed(tmp_path: Path) -> None:
    names = write_review(tmp_path)
    port = find_port()
    cookies = make_cookies(tmp_path, names, port)
    tasks = [make_task(number) for number in range(WRITERS * DECISIONS)]
    hashes = {task.id: task.content_hash for task in tasks}
    confirmed: list[str] = []

    def write(writer: int) -> None:
        cookie, token = cookies[writer]
        headers = {"cookie": cookie, "x-csrf-token": token}
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers) as client:
            for task in list_tasks(writer):
                send(client, task)

    def send(client: httpx.Client, task: str) -> None:
        body = {"fields": GOOD, "content_hash": hashes[task], "base": None, "seconds": 1}
        address = f"/tasks/{quote(task, safe='')}/decision"
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            try:
                answer = client.post(address, json=body)
            except httpx.TransportError:
                time.sleep(0.05)
                continue
            # 409: it was recorded before the kill, and only the confirmation was lost.
            assert answer.status_code in {201, 409}, answer.text
            if answer.status_code == 201:
                confirmed.append(answer.json()["id"])
            return
        raise AssertionError(f"no answer for {task}")

    with ThreadPoolExecutor(1) as pool:
        with running_server(tmp_path, port) as process:
            writing = pool.submit(run_writers, write)
            while len(confirmed) < WRITERS * DECISIONS // 3:
                time.sleep(0.01)
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        with running_server(tmp_path, port) as process:
            writing.result()
            process.send_signal(signal.SIGINT)
            process.wait(30)
    database = Database(tmp_path / LIVE)
    with database.read() as connection:
        events = list(read_events(connection))
    database.close()
    assert set(confirmed) <= {event.id for event in events}
    assert len({event.task for event in events}) == len(events) == WRITERS * DECISIONS
    recorded = read_decisions(tmp_path / "decisions.jsonl").require_whole()
    assert [decision.id for decision in recorded] == [event.id for event in events]
