"""Shared state of all requests, and authentication."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import cast

from starlette.requests import Request

from omibench.review.people import Reviewer
from omibench.review_app.pages import Visitor
from omibench.review_app.service import ReviewService
from omibench.review_app.sessions import Session, Sessions, is_repeated
from omibench.review_app.settings import ServerSettings
from omibench.review_app.tasks import ListedTask
from omibench.web.serving.bodies import RequestError
from omibench.web.serving.logins import LoginLimit

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
    listed = read_context(request).service.find_task(request.path_params["task"])
    if listed is None:
        raise RequestError(404, "task", "task not found; it may have been removed")
    return listed
