"""Each decision is in the journal and in decisions.jsonl, once and in order, whatever happens.

Events of the journal can neither be changed nor taken out; passwords are kept as hashes.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import quote

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.responses import Response
from typer.testing import CliRunner

from command_line import app
from omibench.errors import FileFormatError, MissingInputError, OutputError, ParamsError
from omibench.review.app import decisions as module
from omibench.review.app.conflicts import NoRightError
from omibench.review.app.context import Sessions
from omibench.review.app.database import (
    LIVE,
    Database,
    check_password,
    read_hash,
    remove_password,
    set_password,
)
from omibench.review.app.decisions import list_unrecorded, read_events
from omibench.review.app.service import ReviewService, Submission
from omibench.review.folder import (
    append_decisions,
    compute_head,
    extend_unchanged,
    read_record,
)
from omibench.schemas.review import ReviewDecision
from review.builders import decide, write_lines
from review_app.builders import (
    GOOD,
    PASSWORD,
    Browser,
    Clock,
    make_service,
    make_task,
    status_of,
    write_tasks,
)

FIRST = decide(1, "ann", "annotator", make_task(1))
SECOND = decide(2, "bob", "auditor", make_task(1))
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


class Killed(BaseException):
    """A kill in the middle of a decision."""


def die_before(*_: Any) -> None:
    raise Killed


def die_after(*words: Any) -> None:
    extend_unchanged(*words)
    raise Killed


def read_ids(folder: Path) -> list[str]:
    return [decision.id for decision in read_record(folder).require_whole()]


def read_journal(service: ReviewService) -> list[ReviewDecision]:
    with service.database.read() as connection:
        return list(read_events(connection))


def submit(service: ReviewService, task: str, name: str) -> ReviewDecision:
    listed, person = service.content.tasks[task], service.content.people[name]
    opened = service.open_task(listed, person)
    base = opened.base if opened else None
    return service.decide(
        listed,
        person,
        Submission(fields=GOOD, seconds=9.0, content_hash=listed.task.content_hash, base=base),
    )


def call(folder: Path, *words: str) -> str:
    """What a command about a review says."""
    return CliRunner().invoke(app, ["review", *words, "--review", str(folder)]).stderr


def test_a_confirmed_decision_is_in_the_record(
    service: ReviewService, ann: Browser, eve: Browser
) -> None:
    for number, task in enumerate(("item:p1", "item:p2"), 1):
        assert ann.decide(task).status_code == 201
        assert len(read_ids(service.folder)) == number
    decisions = read_record(service.folder).require_whole()
    assert read_journal(service) == service.log.events == list(decisions)
    assert compute_head(decisions) in eve.client.get("/progress").text
    assert call(service.folder, "status") == ""
    assert stat.S_IMODE((service.folder / LIVE).stat().st_mode) == 0o600


def test_the_journal_begins_with_the_record_and_takes_in_what_others_add(tmp_path: Path) -> None:
    write_lines(tmp_path / "decisions.jsonl", FIRST, FIRST, "{bad")
    service = make_service(tmp_path)
    assert status_of(service, "item:p1") == "audit"
    assert len(read_journal(service)) == 1
    write_lines(tmp_path / "decisions.jsonl", FIRST, SECOND)
    assert status_of(service, "item:p1") == "settled"
    assert service.log.head == compute_head([FIRST, SECOND])
    append_decisions(tmp_path, [("an import", decide(3, "abe", "annotator", make_task(2)))])
    own = submit(service, "item:p3", "ann")
    assert read_ids(tmp_path) == ["d1", "d2", "d3", own.id]
    assert service.log.head == compute_head(read_record(tmp_path).rows)
    assert status_of(service, "item:p2") == "audit"
    write_lines(tmp_path / "decisions.jsonl", own, FIRST)  # lines that others remove come back
    assert service.content
    assert read_ids(tmp_path) == [own.id, "d1", "d2", "d3"]
    (tmp_path / "decisions.jsonl").write_text(FIRST.model_dump_json())  # a line without its end
    assert service.content
    assert read_ids(tmp_path) == ["d1", "d2", "d3", own.id]


def test_a_decision_is_kept_while_the_record_cannot_be_written(
    service: ReviewService, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    error = OutputError("decisions.jsonl: cannot be written: no space left")
    with monkeypatch.context() as patched:
        patched.setattr(module, "extend_unchanged", lambda *_: (_ for _ in ()).throw(error))
        first = submit(service, "item:p1", "ann")
    assert "no space left; new decisions are kept in live.sqlite" in caplog.text
    assert read_ids(service.folder) == []
    second = submit(service, "item:p2", "ann")
    assert read_ids(service.folder) == [first.id, second.id]


def test_a_kill_between_the_two_writes_loses_nothing(service: ReviewService) -> None:
    with patch.object(module, "extend_unchanged", die_before), suppress(Killed):
        submit(service, "item:p1", "ann")
    assert not (service.folder / "decisions.jsonl").exists()
    assert "1 decisions are in the journal of the application only" in call(
        service.folder, "status"
    )
    output = CliRunner().invoke(app, ["review", "status", "--review", str(service.folder)]).output
    assert "1 decisions, head" in output
    assert call(service.folder, "export", "--live") == "1 decisions added to decisions.jsonl\n"
    assert call(service.folder, "export", "--live") == "0 decisions added to decisions.jsonl\n"
    assert call(service.folder, "status") == ""
    assert read_ids(service.folder) == [event.id for event in service.log.events]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE events SET event = replace(event, '\"ann\"', '\"abe\"')", "another decision"),
        ("UPDATE events SET event = replace(event, id, 'other')", "event 1 .* outside"),
        ("UPDATE events SET event = '{'", "event 1 .* outside"),
    ],
)
def test_a_change_behind_the_triggers_is_noticed(
    service: ReviewService, statement: str, message: str
) -> None:
    submit(service, "item:p1", "ann")
    service.database._connection.execute("DROP TRIGGER events_keep")
    service.database._connection.execute(statement)
    service.close()
    with pytest.raises(FileFormatError, match=message) as error:
        ReviewService(service.folder)
    assert len(str(error.value).splitlines()) == 1


def test_a_changed_line_of_the_record_is_noticed(
    service: ReviewService, caplog: pytest.LogCaptureFixture
) -> None:
    record = service.folder / "decisions.jsonl"
    decision = submit(service, "item:p1", "ann")
    write_lines(record, decision.model_copy(update={"comment": "Forged."}))
    with caplog.at_level(logging.WARNING):
        assert status_of(service, "item:p1") == "audit"
    assert f"the id '{decision.id}' belongs to another decision" in caplog.text
    with pytest.raises(OutputError, match="another server uses this review; stop it first"):
        ReviewService(service.folder)
    service.close()
    with pytest.raises(FileFormatError, match=r"line 1: .* restore the line from git"):
        ReviewService(service.folder)
    write_lines(record, decision)
    assert read_journal(ReviewService(service.folder)) == [decision]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET event = '{}' WHERE number = 1",
        "DELETE FROM events WHERE number = 2",
        "DELETE FROM events",
        "INSERT OR REPLACE INTO events SELECT number, id, task, person, seconds, '{}'"
        " FROM events WHERE number = 1",
        "INSERT OR REPLACE INTO events SELECT number + 2, id, task, person, seconds, '{}'"
        " FROM events WHERE number = 1",
        "INSERT INTO events VALUES (9, 'x', 't', 'ann', NULL, '{}')",
    ],
)
def test_an_event_is_neither_changed_nor_taken_out(service: ReviewService, statement: str) -> None:
    for task in ("item:p1", "item:p2"):
        submit(service, task, "ann")
    other_process = sqlite3.connect(service.folder / LIVE, isolation_level=None)
    with pytest.raises(sqlite3.IntegrityError, match="the log is append-only"):
        other_process.execute(statement)

    def clear_and_fail() -> None:
        with service.database.write() as connection:
            connection.execute("DELETE FROM users")
            connection.execute(statement)

    with pytest.raises(sqlite3.IntegrityError):
        clear_and_fail()
    assert read_journal(service) == service.log.events
    with service.database.read() as connection:
        assert connection.execute("SELECT COUNT(*) FROM users").fetchone() == (4,)


def test_a_file_that_is_no_log_is_named(tmp_path: Path) -> None:
    text = "no database at all, and long enough to be taken for a header"
    (tmp_path / LIVE).write_text(text * 20)
    with pytest.raises(FileFormatError, match=r"live\.sqlite: not a review log"):
        Database(tmp_path / LIVE)
    (tmp_path / "link.sqlite").symlink_to(tmp_path / "elsewhere")
    for path in (tmp_path / "absent" / LIVE, tmp_path / "link.sqlite"):
        with pytest.raises(MissingInputError, match="cannot be opened"):
            Database(path)


def test_a_password_is_kept_as_an_argon2_hash(tmp_path: Path) -> None:
    with Database(tmp_path / "live.sqlite").write() as connection:
        set_password(connection, "ann", PASSWORD)
        password_hash = read_hash(connection, "ann")
        assert password_hash is not None
        assert password_hash.startswith("$argon2id$")
        assert PASSWORD not in password_hash
        assert check_password(password_hash, PASSWORD)
        assert not check_password(password_hash, PASSWORD + " ")
        assert remove_password(connection, "ann")
        assert not remove_password(connection, "ann")
        for password in ("short", "x" * 1001):
            with pytest.raises(ParamsError, match="use 10 to 1000"):
                set_password(connection, "ann", password)
    assert not check_password(None, PASSWORD)
    assert not check_password(password_hash, "x" * 1001)


STEPS = st.tuples(
    st.sampled_from(["decide", "decide", "die before", "die after", "kill", "import", "export"]),
    st.integers(1, 5),
    st.sampled_from(["ann", "abe", "bob"]),
)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.lists(STEPS, max_size=10))
def test_no_order_of_decisions_kills_and_imports_loses_or_doubles_one(
    steps: list[tuple[str, int, str]],
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        people = [{"name": n, "roles": ["annotator", "auditor"]} for n in ("ann", "abe", "bob")]
        (folder / "reviewers.yaml").write_text(json.dumps(people))
        write_tasks(folder, [make_task(number) for number in range(1, 6)])
        service = ReviewService(folder, now=Clock())
        known: list[str] = []
        unconfirmed: set[str] = set()
        for step, number, person in steps:
            task = f"item:p{number}"
            if step == "decide":
                with suppress(NoRightError):
                    known.append(submit(service, task, person).id)
                    assert read_ids(folder)[-1] == known[-1]
            elif step.startswith("die"):
                death = die_before if step == "die before" else die_after
                with (
                    patch.object(module, "extend_unchanged", death),
                    suppress(Killed, NoRightError),
                ):
                    submit(service, task, person)
                unconfirmed |= {event.id for event in read_journal(service)} - set(known)
            elif step == "import":
                decision = decide(len(known), person, "annotator", make_task(number))
                append_decisions(folder, [("an import", decision)])
                known.append(decision.id)
            elif step == "export":
                append_decisions(folder, [("", event) for event in list_unrecorded(folder)])
            if step.startswith(("die", "kill")):
                service.close()
                service = ReviewService(folder, now=Clock())
        assert service.content
        ids = read_ids(folder)
        assert [name for name in ids if name in set(known)] == known
        assert set(ids) == {*known, *unconfirmed}
        assert len(ids) == len(set(ids))
        assert {event.id for event in read_journal(service)} == set(ids)
        assert service.log.head == compute_head(read_record(folder).rows)
        service.close()


# Many people at once, and a server that is killed: no decision is lost that was confirmed.


@pytest.fixture
def writers(tmp_path: Path) -> list[str]:
    """Eight annotators, and a task for each decision of theirs."""
    names = [f"writer{n}" for n in range(WRITERS)]
    write_tasks(tmp_path, [make_task(number) for number in range(WRITERS * DECISIONS)])
    people = "".join(f"- {{name: {name}, roles: [annotator]}}\n" for name in names)
    (tmp_path / "reviewers.yaml").write_text(people)
    return names


def run_writers(write: Callable[[int, list[int]], Any]) -> None:
    tasks = range(WRITERS * DECISIONS)
    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(lambda writer: write(writer, list(tasks[writer::WRITERS])), range(WRITERS)))


def test_eight_writers_and_an_import_lose_nothing(tmp_path: Path, writers: list[str]) -> None:
    service = ReviewService(tmp_path)

    def write(writer: int, tasks: list[int]) -> None:
        for number in tasks:
            submit(service, f"item:p{number}", writers[writer])
        # The import is on the task of the first decision of the writer.
        imported = decide(writer, "ann", "auditor", make_task(writer))
        append_decisions(tmp_path, [("an import", imported)])

    run_writers(write)
    assert service.content
    ids = read_ids(tmp_path)
    statuses = Counter(state.status for state in service.states.values())
    assert statuses == {"audit": WRITERS * (DECISIONS - 1), "settled": WRITERS}
    assert len(ids) == len(set(ids)) == WRITERS * (DECISIONS + 1)
    assert set(ids) == {event.id for event in read_journal(service)}
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


def make_headers(folder: Path, name: str, port: int) -> dict[str, str]:
    """Cookie and token of a person's session, as a server with this secret signs them."""
    response = Response()
    with closing(Database(folder / LIVE)) as database:
        session = Sessions(database, SECRET, is_secure=False, port=port).start(response, name)
    cookie = response.headers["set-cookie"].partition(";")[0]
    return {"cookie": cookie, "x-csrf-token": session.token}


@pytest.mark.slow
def test_a_server_that_is_killed_loses_no_decision_that_it_confirmed(
    tmp_path: Path, writers: list[str]
) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = int(listener.getsockname()[1])
    headers = [make_headers(tmp_path, name, port) for name in writers]
    confirmed: list[str] = []

    def write(writer: int, tasks: list[int]) -> None:
        address = f"http://127.0.0.1:{port}"
        with httpx.Client(base_url=address, headers=headers[writer]) as client:
            for number in tasks:
                send(client, number)

    def send(client: httpx.Client, number: int) -> None:
        content_hash = make_task(number).content_hash
        body = {"fields": GOOD, "content_hash": content_hash, "base": None, "seconds": 1}
        address = f"/tasks/{quote(f'item:p{number}', safe='')}/decision"
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
        raise AssertionError(f"no answer for {number}")

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
    service = ReviewService(tmp_path)
    events = read_journal(service)
    assert set(confirmed) <= {event.id for event in events}
    assert len({event.task for event in events}) == len(events) == WRITERS * DECISIONS
    assert read_ids(tmp_path) == [event.id for event in events]
    service.close()
