"""Passwords."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.errors import ParamsError
from omibench.review_app.log.database import Database
from omibench.review_app.log.users import (
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
            with pytest.raises(ParamsError, match="use 10 to 1000"):
                set_password(connection, "ann", password)
    assert not check_password(None, PASSWORD)
    assert not check_password(password_hash, "x" * 1001)
