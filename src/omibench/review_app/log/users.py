"""Who may log in: passwords, kept as argon2 hashes beside the log; roles are in reviewers.yaml."""

from __future__ import annotations

import sqlite3
from collections import deque
from typing import Final

from omibench.errors import ParamsError

SHORTEST: Final = 10
LONGEST: Final = 1000
"""Characters of a password."""
WINDOW_S: Final = 300.0
ATTEMPTS_OF_NAME: Final = 8
ATTEMPTS_OF_ADDRESS: Final = 30
"""Failed logins within the window, after which no more are tried."""
_REMEMBERED: Final = 10_000


def set_password(connection: sqlite3.Connection, name: str, password: str) -> None:
    """Give a person a password, in place of any other.

    Raises:
        ParamsError: It is too short or too long.
    """
    if not SHORTEST <= len(password) <= LONGEST:
        raise ParamsError(
            f"the password of {name} has {len(password)} characters: take {SHORTEST} to {LONGEST}"
        )
    connection.execute(
        "INSERT OR REPLACE INTO users (name, password) VALUES (?, ?)", (name, _hash(password))
    )


def remove_password(connection: sqlite3.Connection, name: str) -> bool:
    """Take a person's password away, which ends their sessions; False where there is none."""
    return connection.execute("DELETE FROM users WHERE name = ?", (name,)).rowcount > 0


def read_hash(connection: sqlite3.Connection, name: str) -> str | None:
    """The hash of a person's password; None where there is none."""
    query = "SELECT password FROM users WHERE name = ?"
    row = connection.execute(query, (name,)).fetchone()
    return str(row[0]) if row else None


def list_names(connection: sqlite3.Connection) -> set[str]:
    """Everybody who has a password."""
    return {name for (name,) in connection.execute("SELECT name FROM users")}


def check_password(password_hash: str | None, password: str) -> bool:
    """Whether a password is the one of a hash. Takes as long for a name that is not there."""
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
"""A hash of no password, with the cost of the others."""


class LoginLimit:
    """Counts failed logins by name and by address, within a window of time."""

    def __init__(self) -> None:
        self._failures: dict[tuple[str, str], deque[float]] = {}

    def find_wait(self, name: str, address: str, now: float) -> float:
        """For how many seconds no login of a name or from an address is tried; 0 where it may be.

        Args:
            name: What was typed as a name.
            address: Of the browser.
            now: Seconds of a clock.
        """
        limits = {("name", name): ATTEMPTS_OF_NAME, ("address", address): ATTEMPTS_OF_ADDRESS}
        return max(self._find_wait(key, limit, now) for key, limit in limits.items())

    def add_failure(self, name: str, address: str, now: float) -> None:
        """Count a failed login."""
        for key in (("name", name), ("address", address)):
            # The latest key is the last, so that the one that is forgotten is the oldest.
            times = self._failures.pop(key, deque(maxlen=ATTEMPTS_OF_ADDRESS))
            times.append(now)
            self._failures[key] = times
        while len(self._failures) > _REMEMBERED:
            del self._failures[next(iter(self._failures))]

    def forget_name(self, name: str) -> None:
        """Begin to count anew for a name, after a login that went well."""
        self._failures.pop(("name", name), None)

    def _find_wait(self, key: tuple[str, str], limit: int, now: float) -> float:
        times = [time for time in self._failures.get(key, ()) if now - time < WINDOW_S]
        return times[-limit] + WINDOW_S - now if len(times) >= limit else 0.0
