"""Events of the live log can neither be changed nor taken out."""

from __future__ import annotations

import sqlite3
import stat
from pathlib import Path

import pytest

from omibench.errors import FileFormatError, MissingInputError
from omibench.review_app.log.database import LIVE, Database
from omibench.review_app.log.events import read_head, verify_events
from omibench.review_app.service import ReviewService
from review_app.builders import make_service, open_browser


@pytest.fixture
def service(tmp_path: Path) -> ReviewService:
    service = make_service(tmp_path)
    ann = open_browser(service, "ann")
    for task in ("item:p1", "item:p2"):
        assert ann.decide(task).status_code == 201
    return service


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET event = '{}' WHERE number = 1",
        "DELETE FROM events WHERE number = 2",
        "DELETE FROM events",
        "INSERT OR REPLACE INTO events SELECT number, id, task, person, seconds, '{}', head"
        " FROM events WHERE number = 1",
        "INSERT OR REPLACE INTO events SELECT number + 2, id, task, person, seconds, '{}', head"
        " FROM events WHERE number = 1",
        "INSERT INTO events VALUES (9, 'x', 't', 'ann', NULL, '{}', 'h')",
    ],
)
def test_an_event_is_neither_changed_nor_taken_out(service: ReviewService, statement: str) -> None:
    head = read_head(service.database._connection)
    other_process = sqlite3.connect(service.folder / LIVE, isolation_level=None)
    with pytest.raises(sqlite3.IntegrityError, match="the log is append-only"):
        other_process.execute(statement)
    assert read_head(service.database._connection) == head
    assert verify_events(service.database._connection) == head[1]


def test_a_change_behind_the_triggers_breaks_the_chain(service: ReviewService) -> None:
    connection = service.database._connection
    connection.execute("DROP TRIGGER events_keep")
    connection.execute("UPDATE events SET event = replace(event, '\"ann\"', '\"abe\"')")
    with pytest.raises(FileFormatError, match=r"event 1 .* was changed outside the application"):
        verify_events(connection)


def clear_and_fail(service: ReviewService) -> None:
    with service.database.write() as connection:
        connection.execute("DELETE FROM task_state")
        connection.execute("DELETE FROM events")


def test_what_a_block_did_is_undone_where_it_fails(service: ReviewService) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        clear_and_fail(service)
    with service.database.read() as connection:
        assert connection.execute("SELECT COUNT(*) FROM task_state").fetchone() == (3,)


def test_the_log_is_private(service: ReviewService) -> None:
    assert stat.S_IMODE((service.folder / LIVE).stat().st_mode) == 0o600


def test_a_file_that_is_no_log_is_named(tmp_path: Path) -> None:
    (tmp_path / LIVE).write_text(
        "no database at all, and long enough to be taken for a header" * 20
    )
    with pytest.raises(FileFormatError, match=r"live\.sqlite: not a review log"):
        Database(tmp_path / LIVE)
    with pytest.raises(MissingInputError, match="cannot be opened"):
        Database(tmp_path / "absent" / LIVE)
    (tmp_path / "link.sqlite").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(MissingInputError, match="cannot be opened"):
        Database(tmp_path / "link.sqlite")
