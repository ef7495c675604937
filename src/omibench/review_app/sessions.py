"""Sessions: a signed cookie that only our own pages send, and a token that each request repeats."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from typing import Final

from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.requests import HTTPConnection
from starlette.responses import Response

from omibench.review_app.log.database import Database
from omibench.review_app.log.users import read_hash

SESSION_S: Final = 12 * 3600
"""A working day: then a person logs in again."""
_SALT: Final = "omibench.review.session"


@dataclass(frozen=True)
class Session:
    """A visit of a browser.

    Attributes:
        person: Who has logged in; empty before that.
        token: What every request that changes something repeats, so that no other site's page can
            send one.
    """

    person: str
    token: str


class Sessions:
    """The sessions of a server: made, read from cookies, ended."""

    def __init__(self, database: Database, secret: bytes, *, is_secure: bool, port: int) -> None:
        """Prepare the signatures.

        Args:
            database: Where ended sessions and hashes of passwords are.
            secret: Signs the cookies; another secret ends all sessions.
            is_secure: Whether browsers reach the server through TLS alone.
            port: Names the cookie, since browsers give all ports of a host the same cookies.
        """
        self._database = database
        self._serializer = URLSafeTimedSerializer(secret, salt=_SALT)
        self._is_secure = is_secure
        self.cookie = "__Host-omibench-review" if is_secure else f"omibench-review-{port}"

    def read(self, request: HTTPConnection) -> Session | None:
        """The session that a request's cookie proves; None without a valid one.

        It ends with the password that it was opened with, and when the person logs out.
        """
        cookie = request.cookies.get(self.cookie, "")
        try:
            person, token, proof = self._serializer.loads(cookie, max_age=SESSION_S)
        except (BadSignature, ValueError, TypeError):
            return None
        session = Session(str(person), str(token))
        if not session.person:
            return session
        with self._database.read() as connection:
            query = "SELECT 1 FROM ended_sessions WHERE session = ?"
            has_ended = connection.execute(query, (session.token,)).fetchone()
        is_proven = secrets.compare_digest(str(proof), self._prove(session.person))
        return session if is_proven and not has_ended else None

    def start(self, response: Response, person: str = "") -> Session:
        """Start a session with a token of its own, and put it into the response's cookie."""
        session = open_session(person)
        self.write(response, session)
        return session

    def write(self, response: Response, session: Session) -> None:
        """Put a session into the response's cookie."""
        proof = self._prove(session.person) if session.person else ""
        response.set_cookie(
            self.cookie,
            self._serializer.dumps([session.person, session.token, proof]),
            max_age=SESSION_S,
            path="/",
            secure=self._is_secure,
            httponly=True,
            samesite="strict",
        )

    def end(self, response: Response, session: Session, now: float) -> None:
        """End a session: neither this browser nor a copy of its cookie can go on."""
        with self._database.write() as connection:
            connection.execute("DELETE FROM ended_sessions WHERE until < ?", (now,))
            connection.execute(
                "INSERT OR REPLACE INTO ended_sessions (session, until) VALUES (?, ?)",
                (session.token, now + SESSION_S),
            )
        response.delete_cookie(
            self.cookie, path="/", secure=self._is_secure, httponly=True, samesite="strict"
        )

    def _prove(self, person: str) -> str:
        with self._database.read() as connection:
            password_hash = read_hash(connection, person) or ""
        return hashlib.sha256(password_hash.encode()).hexdigest()[:32]


def open_session(person: str = "") -> Session:
    """A new session with a token of its own."""
    return Session(person, secrets.token_urlsafe(24))


def is_repeated(session: Session, token: str) -> bool:
    """Whether a request repeats the token of its session."""
    return secrets.compare_digest(session.token.encode(), token.encode("utf-8", "replace"))
