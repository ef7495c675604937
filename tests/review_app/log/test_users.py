"""Passwords and the number of attempts."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.errors import ParamsError
from omibench.review_app.log.database import Database
from omibench.review_app.log.users import (
    ATTEMPTS_OF_ADDRESS,
    ATTEMPTS_OF_NAME,
    WINDOW_S,
    LoginLimit,
    check_password,
    read_hash,
    remove_password,
    set_password,
)
from review_app.builders import PASSWORD


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
            with pytest.raises(ParamsError, match="take 10 to 1000"):
                set_password(connection, "ann", password)
    assert not check_password(None, PASSWORD)
    assert not check_password(password_hash, "x" * 1001)


def test_few_attempts_are_made_for_one_name_and_from_one_address() -> None:
    limit = LoginLimit()
    for number in range(ATTEMPTS_OF_NAME):
        assert limit.find_wait("ann", "a", 0) == 0
        limit.add_failure("ann", f"address {number}", number)
    assert limit.find_wait("ann", "another", 10) == WINDOW_S - 10
    assert limit.find_wait("ann", "another", WINDOW_S) == 0
    limit.forget_name("ann")
    assert limit.find_wait("ann", "another", 10) == 0
    for number in range(ATTEMPTS_OF_ADDRESS):
        limit.add_failure(f"name {number}", "a", 0)
    assert limit.find_wait("abe", "a", 1) == WINDOW_S - 1


def test_what_is_remembered_is_bounded() -> None:
    limit = LoginLimit()
    for number in range(6_000):
        limit.add_failure(f"name {number}", f"address {number}", 0)
    assert len(limit._failures) <= 10_000
