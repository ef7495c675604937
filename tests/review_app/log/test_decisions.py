"""Each decision is in the journal and in decisions.jsonl, once and in order, whatever happens."""

from __future__ import annotations

import json
import logging
import signal
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from omibench.cli.main import app
from omibench.errors import FileFormatError, OutputError
from omibench.review.app import decisions as module
from omibench.review.app.conflicts import NoRightError
from omibench.review.app.database import LIVE
from omibench.review.app.decisions import list_unrecorded, read_events
from omibench.review.app.service import ReviewService, Submission
from omibench.review.folder import (
    append_decisions,
    compute_head,
    extend_head,
    extend_unchanged,
    format_event,
    read_record,
)
from omibench.schemas.review import ReviewDecision
from review.builders import decide, write_lines
from review_app.builders import GOOD, Clock, make_service, make_task, open_browser, status_of

FIRST = decide(1, "ann", "annotator", make_task(1))
SECOND = decide(2, "bob", "auditor", make_task(1))
OLD_TABLE = """
CREATE TABLE events (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, task TEXT NOT NULL, person TEXT NOT NULL,
    seconds REAL, event TEXT NOT NULL, head TEXT NOT NULL
);
CREATE TRIGGER events_keep BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, 'the log is append-only: an event is never changed'); END;
CREATE TRIGGER events_stay BEFORE DELETE ON events
    BEGIN SELECT RAISE(ABORT, 'the log is append-only: an event is never taken out'); END;
"""
KILLED = """
import os, signal, sys
from pathlib import Path
from omibench.review.app import decisions
from omibench.review.app.service import ReviewService, Submission
service = ReviewService(Path(sys.argv[1]))
decisions.extend_unchanged = lambda *words: os.kill(os.getpid(), signal.SIGKILL)
listed = service.content.tasks["item:p1"]
submission = Submission({"valid": "valid", "quality": 4}, "", 9.0, listed.task.content_hash, None)
service.decide(listed, service.content.people["ann"], submission)
"""


def read_ids(folder: Path) -> list[str]:
    return [decision.id for decision in read_record(folder).require_whole()]


def read_journal(service: ReviewService) -> list[ReviewDecision]:
    with service.database.read() as connection:
        return list(read_events(connection))


def submit(service: ReviewService, task: str, name: str) -> ReviewDecision:
    listed, person = service.content.tasks[task], service.content.people[name]
    opened = service.open_task(listed, person)
    base = opened.find_base(person) if opened else None
    return service.decide(listed, person, Submission(GOOD, "", 9.0, listed.task.content_hash, base))


def test_a_confirmed_decision_is_in_the_record(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    ann, eve = open_browser(service, "ann"), open_browser(service, "eve")
    for number, task in enumerate(("item:p1", "item:p2"), 1):
        assert ann.decide(task).status_code == 201
        assert len(read_ids(tmp_path)) == number
    decisions = read_record(tmp_path).require_whole()
    assert read_journal(service) == list(decisions)
    assert compute_head(decisions) in eve.client.get("/progress").text
    result = CliRunner().invoke(app, ["review", "status", "--review", str(tmp_path)])
    assert result.stderr == ""
    assert "2" in result.stdout


def test_the_journal_begins_with_the_record_and_takes_in_what_others_add(tmp_path: Path) -> None:
    make_service(tmp_path).close()
    write_lines(tmp_path / "decisions.jsonl", FIRST, FIRST, "{bad")
    service = ReviewService(tmp_path)
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


def test_a_line_that_others_remove_comes_back(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    decisions = [submit(service, f"item:p{number}", "ann") for number in (1, 2)]
    write_lines(tmp_path / "decisions.jsonl", decisions[1])
    assert service.content
    assert read_ids(tmp_path) == [decisions[1].id, decisions[0].id]


def test_a_last_line_without_its_end_is_no_part_of_the_next(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    (tmp_path / "decisions.jsonl").write_text(FIRST.model_dump_json())
    own = submit(service, "item:p2", "ann")
    assert read_ids(tmp_path) == ["d1", own.id]


def test_a_decision_is_kept_while_the_record_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    service = make_service(tmp_path)
    error = OutputError("decisions.jsonl: cannot be written: no space left")
    with monkeypatch.context() as patched:
        patched.setattr(module, "extend_unchanged", lambda *_: (_ for _ in ()).throw(error))
        first = submit(service, "item:p1", "ann")
    assert "no space left; new decisions are kept in live.sqlite" in caplog.text
    assert read_ids(tmp_path) == []
    second = submit(service, "item:p2", "ann")
    assert read_ids(tmp_path) == [first.id, second.id]


def test_a_kill_between_the_two_writes_loses_and_doubles_nothing(tmp_path: Path) -> None:
    make_service(tmp_path).close()
    process = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert process.returncode == -signal.SIGKILL
    words = ["--review", str(tmp_path)]
    assert not (tmp_path / "decisions.jsonl").exists()
    status = CliRunner().invoke(app, ["review", "status", *words])
    assert "not counted yet: 1;" in status.stderr
    service = ReviewService(tmp_path)
    (decision,) = read_journal(service)
    assert read_ids(tmp_path) == [decision.id]
    service.close()
    ReviewService(tmp_path).close()
    assert read_ids(tmp_path) == [decision.id]


def test_the_journal_can_be_exported_without_a_server(tmp_path: Path) -> None:
    make_service(tmp_path).close()
    (tmp_path / LIVE).unlink()
    assert export(tmp_path) == "0 decisions added to decisions.jsonl\n"
    write_old_log(tmp_path, [FIRST, SECOND])
    assert export(tmp_path) == "2 decisions added to decisions.jsonl\n"
    assert export(tmp_path) == "0 decisions added to decisions.jsonl\n"
    assert read_ids(tmp_path) == ["d1", "d2"]


def export(folder: Path) -> str:
    words = ["review", "export", "--live", "--review", str(folder)]
    return CliRunner().invoke(app, words).stderr


def write_old_log(folder: Path, decisions: list[ReviewDecision], **changes: Any) -> None:
    """Write live.sqlite as earlier versions did, with a chain of hashes of its own."""
    head = compute_head([])
    with closing(sqlite3.connect(folder / LIVE, isolation_level=None)) as connection:
        connection.executescript(OLD_TABLE)
        for number, decision in enumerate(decisions, 1):
            head = extend_head(head, decision)
            event = format_event(decision.model_copy(update=changes))
            row = (number, decision.id, decision.task, decision.person, None, event, head)
            connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", row)


def test_the_log_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    write_old_log(tmp_path, [FIRST, SECOND])
    write_lines(tmp_path / "decisions.jsonl", FIRST)
    service = make_service(tmp_path)
    assert status_of(service, "item:p1") == "settled"
    assert read_ids(tmp_path) == ["d1", "d2"]
    own = submit(service, "item:p2", "ann")
    service.close()
    assert [event.id for event in read_journal(ReviewService(tmp_path))] == ["d1", "d2", own.id]


def test_a_change_of_an_earlier_log_is_noticed(tmp_path: Path) -> None:
    write_old_log(tmp_path, [FIRST, SECOND], comment="Forged.")
    with pytest.raises(FileFormatError, match="do not match their hash chain"):
        make_service(tmp_path)
    (tmp_path / LIVE).unlink()
    make_service(tmp_path).close()  # nothing is locked after an error


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE events SET event = replace(event, '\"ann\"', '\"abe\"')", "another decision"),
        ("UPDATE events SET event = replace(event, id, 'other')", "event 1 .* outside"),
        ("UPDATE events SET event = '{'", "event 1 .* outside"),
    ],
)
def test_a_change_behind_the_triggers_is_noticed(
    tmp_path: Path, statement: str, message: str
) -> None:
    service = make_service(tmp_path)
    submit(service, "item:p1", "ann")
    service.database._connection.execute("DROP TRIGGER events_keep")
    service.database._connection.execute(statement)
    service.close()
    with pytest.raises(FileFormatError, match=message) as error:
        ReviewService(tmp_path)
    assert len(str(error.value).splitlines()) == 1


def test_a_changed_line_of_the_record_is_noticed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    service = make_service(tmp_path)
    decision = submit(service, "item:p1", "ann")
    changed = decision.model_copy(update={"comment": "Forged."})
    write_lines(tmp_path / "decisions.jsonl", changed)
    with caplog.at_level(logging.WARNING):
        assert status_of(service, "item:p1") == "audit"
    assert f"the id '{decision.id}' belongs to another decision" in caplog.text
    service.close()
    with pytest.raises(FileFormatError, match=r"line 1: .* restore the line from git"):
        ReviewService(tmp_path)
    write_lines(tmp_path / "decisions.jsonl", decision)
    assert read_journal(ReviewService(tmp_path)) == [decision]


def test_a_second_server_of_a_folder_is_refused(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    with pytest.raises(OutputError, match="another server uses this review; stop it first"):
        ReviewService(tmp_path)
    service.close()
    ReviewService(tmp_path).close()


class Killed(BaseException):
    """A kill in the middle of a decision."""


def die_before(*_: Any) -> None:
    raise Killed


def die_after(*words: Any) -> None:
    extend_unchanged(*words)
    raise Killed


ENDS = (Killed, NoRightError)
PEOPLE = ["ann", "abe", "bob"]
STEPS = st.tuples(
    st.sampled_from(["decide", "decide", "die before", "die after", "kill", "import", "export"]),
    st.integers(1, 5),
    st.sampled_from(PEOPLE),
)


@settings(max_examples=15, deadline=None)
@given(st.lists(STEPS, max_size=10))
def test_no_order_of_decisions_kills_and_imports_loses_or_doubles_one(
    steps: list[tuple[str, int, str]],
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "reviewers.yaml").write_text(
            json.dumps(
                [{"name": n, "roles": ["annotator", "auditor"]} for n in ("ann", "abe", "bob")]
            )
        )
        write_lines(folder / "tasks.jsonl", *(make_task(number) for number in range(1, 6)))
        service = ReviewService(folder, now=Clock())
        known: list[str] = []
        unconfirmed: set[str] = set()
        for step, number, person in steps:
            task = f"item:p{number}"
            if step == "decide":
                with suppress(NoRightError):
                    known.append(submit(service, task, person).id)
                    assert read_ids(folder)[-1] == known[-1]
            elif step in {"die before", "die after"}:
                death = die_before if step == "die before" else die_after
                with patch.object(module, "extend_unchanged", death), suppress(*ENDS):
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
