"""Settings, sessions and shared state of the review server, and authentication."""

from __future__ import annotations

import hashlib
import secrets
import threading
from dataclasses import dataclass, field
from typing import Final, cast

from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from omibench.review.app.database import Database, read_hash
from omibench.review.app.pages import Visitor
from omibench.review.app.service import ReviewService
from omibench.review.app.tasks import ListedTask
from omibench.review.people import Reviewer
from omibench.web.address import ServedAddress
from omibench.web.bodies import RequestError
from omibench.web.server import SESSION_S, LoginLimit, write_session


@dataclass(frozen=True)
class ServerSettings(ServedAddress):
    """The address, secret and mode of the server.

    Attributes:
        secret: The key that signs session cookies.
        is_demo: Whether this is a demonstration, which saves nothing.
        demo_users: In a demonstration: name, password and roles of each person.
    """

    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    is_demo: bool = False
    demo_users: tuple[tuple[str, str, str], ...] = field(default=(), repr=False)


# Sessions: a signed same-site cookie, and a token that each change request repeats.

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


# Shared state of all requests, and authentication.

LOGINS_AT_ONCE = 2
"""The maximum number of passwords checked at once; each check takes 64 MiB."""


class LoginNeededError(Exception):
    """Raised for a request without a logged-in session."""


@dataclass(frozen=True)
class ServerContext:
    """The served review, its sessions and settings."""

    service: ReviewService
    sessions: Sessions
    settings: ServerSettings
    login_limit: LoginLimit = field(default_factory=LoginLimit)
    checking: threading.Semaphore = field(
        default_factory=lambda: threading.Semaphore(LOGINS_AT_ONCE)
    )

    def greet(self, session: Session | None, person: Reviewer | None = None) -> Visitor:
        """Return the person who views a page, for templates."""
        return Visitor(
            name=person.name if person else "",
            roles=tuple(person.roles) if person else (),
            csrf=session.token if session else "",
            is_demo=self.settings.is_demo,
            demo_users=() if person else self.settings.demo_users,
        )


def read_context(request: Request) -> ServerContext:
    """Return the shared state of all requests."""
    return cast(ServerContext, request.app.state.context)


def identify(request: Request) -> tuple[Session, Reviewer]:
    """Return the session of a request, and its person.

    Raises:
        LoginNeededError: No one is logged in, or the person is no longer in reviewers.yaml.
    """
    context = read_context(request)
    session = context.sessions.read(request)
    person = context.service.content.people.get(session.person) if session else None
    if session is None or person is None:
        raise LoginNeededError
    return session, person


def identify_writer(request: Request) -> Reviewer:
    """Return the person of a request that changes data, which must repeat its session's token.

    Raises:
        LoginNeededError: No one is logged in.
        RequestError: The header `X-CSRF-Token` is not the session's token.
    """
    session, person = identify(request)
    require_token(session, request.headers.get("x-csrf-token", ""))
    return person


def require_token(session: Session | None, token: str) -> None:
    """Raise RequestError unless a request repeats the token of its session."""
    if session is None or not is_repeated(session, token):
        raise RequestError(403, "csrf", "the page is too old; reload it")


def find_listed(request: Request) -> ListedTask:
    """Return the task in a request's address.

    Raises:
        RequestError: The task does not exist.
    """
    listed = read_context(request).service.content.tasks.get(request.path_params["task"])
    if listed is None:
        raise RequestError(404, "task", "task not found; it may have been removed")
    return listed
