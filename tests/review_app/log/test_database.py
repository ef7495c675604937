"""Events of the live log can neither be changed nor taken out; passwords are kept as hashes."""

from __future__ import annotations

import sqlite3
import stat
from pathlib import Path

import pytest

from omibench.errors import FileFormatError, MissingInputError, ParamsError
from omibench.review.app.database import (
    LIVE,
    Database,
    check_password,
    read_hash,
    remove_password,
    set_password,
)
from omibench.review.app.decisions import read_events
from omibench.review.app.service import ReviewService
from review_app.builders import PASSWORD, make_service, open_browser


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
        "INSERT OR REPLACE INTO events SELECT number, id, task, person, seconds, '{}'"
        " FROM events WHERE number = 1",
        "INSERT OR REPLACE INTO events SELECT number + 2, id, task, person, seconds, '{}'"
        " FROM events WHERE number = 1",
        "INSERT INTO events VALUES (9, 'x', 't', 'ann', NULL, '{}')",
    ],
)
def test_an_event_is_neither_changed_nor_taken_out(service: ReviewService, statement: str) -> None:
    events = list(read_events(service.database._connection))
    other_process = sqlite3.connect(service.folder / LIVE, isolation_level=None)
    with pytest.raises(sqlite3.IntegrityError, match="the log is append-only"):
        other_process.execute(statement)
    assert list(read_events(service.database._connection)) == events


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
