"""Sessions: a signed same-site cookie, and a token that each change request repeats."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from typing import Final

from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.requests import HTTPConnection
from starlette.responses import Response

from omibench.review_app.log.database import Database, read_hash
from omibench.web.serving.logins import SESSION_S, write_session

_SALT: Final = "omibench.review.session"


@dataclass(frozen=True)
class Session:
    """The session of a browser.

    Attributes:
        person: The logged-in person; empty before the login.
        token: Repeated by each request that changes data, so that other sites' pages cannot send
            one.
    """

    person: str
    token: str


class Sessions:
    """The sessions of a server: create, read from cookies, end."""

    def __init__(self, database: Database, secret: bytes, *, is_secure: bool, port: int) -> None:
        """Prepare the signatures.

        Args:
            database: The live log with ended sessions and password hashes.
            secret: The key that signs the cookies; changing it ends all sessions.
            is_secure: Whether browsers reach the server only through TLS.
            port: Part of the cookie name, since browsers share cookies among all ports of a host.
        """
        self._database = database
        self._serializer = URLSafeTimedSerializer(secret, salt=_SALT)
        self._is_secure = is_secure
        self.cookie = "__Host-omibench-review" if is_secure else f"omibench-review-{port}"

    def read(self, request: HTTPConnection) -> Session | None:
        """Return the session of a request's cookie, or None if it is not valid.

        It ends when the password changes or the person logs out.
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
        """Start a session with a new token, and set its cookie on the response."""
        session = open_session(person)
        self.write(response, session)
        return session

    def write(self, response: Response, session: Session) -> None:
        """Set the cookie of a session on the response."""
        proof = self._prove(session.person) if session.person else ""
        value = str(self._serializer.dumps([session.person, session.token, proof]))
        write_session(response, self.cookie, value, is_secure=self._is_secure)

    def end(self, response: Response, session: Session, now: float) -> None:
        """End a session, including copies of its cookie."""
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
    """Return a session with a new token."""
    return Session(person, secrets.token_urlsafe(24))


def is_repeated(session: Session, token: str) -> bool:
    """Return whether a request repeats the token of its session."""
    return secrets.compare_digest(session.token.encode(), token.encode("utf-8", "replace"))
