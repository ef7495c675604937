"""Passwords of users, stored as argon2 hashes with the log; roles are in reviewers.yaml."""

from __future__ import annotations

import sqlite3
from typing import Final

from omibench.errors import ParamsError

SHORTEST: Final = 10
LONGEST: Final = 1000
"""Minimum and maximum number of characters of a password."""


def set_password(connection: sqlite3.Connection, name: str, password: str) -> None:
    """Set a person's password, replacing any other.

    Raises:
        ParamsError: The password is too short or too long.
    """
    if not SHORTEST <= len(password) <= LONGEST:
        raise ParamsError(
            f"the password of {name} has {len(password)} characters; use {SHORTEST} to {LONGEST}"
        )
    connection.execute(
        "INSERT OR REPLACE INTO users (name, password) VALUES (?, ?)", (name, _hash(password))
    )


def remove_password(connection: sqlite3.Connection, name: str) -> bool:
    """Delete a person's password, which ends their sessions; return False if there is none."""
    return connection.execute("DELETE FROM users WHERE name = ?", (name,)).rowcount > 0


def read_hash(connection: sqlite3.Connection, name: str) -> str | None:
    """Return the hash of a person's password, or None."""
    query = "SELECT password FROM users WHERE name = ?"
    row = connection.execute(query, (name,)).fetchone()
    return str(row[0]) if row else None


def list_names(connection: sqlite3.Connection) -> set[str]:
    """Return everyone who has a password."""
    return {name for (name,) in connection.execute("SELECT name FROM users")}


def check_password(password_hash: str | None, password: str) -> bool:
    """Return whether a password matches a hash. Takes the same time for unknown names."""
    from argon2 import PasswordHasher
    from argon2.exceptions import InvalidHashError, VerificationError

    if len(password) > LONGEST:
        return False
    try:
        PasswordHasher().verify(password_hash or _ABSENT, password)
    except (VerificationError, InvalidHashError):
        return False
    return password_hash is not None


def _hash(password: str) -> str:
    from argon2 import PasswordHasher

    return PasswordHasher().hash(password)


_ABSENT: Final = (
    "$argon2id$v=19$m=65536,t=3,p=4$AAAAAAAAAAAAAAAAAAAAAA$"
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
)
"""A hash that no password matches, with the cost of the others."""
