"""The application: routes, error handling and middleware."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route

from omibench.review.check import DecisionFieldError
from omibench.review_app.conflicts import DecisionConflictError, DoubtError, NoRightError
from omibench.review_app.handlers.context import (
    LoginNeededError,
    ServerContext,
    identify,
    read_context,
)
from omibench.review_app.handlers.files import show_health, show_metrics, show_picture
from omibench.review_app.handlers.pages import (
    log_in,
    log_out,
    show_login,
    show_progress,
    show_task,
    show_tasks,
)
from omibench.review_app.handlers.tasks import claim, decide, release, save_draft
from omibench.review_app.pages import PACKAGE, link_task, render_error
from omibench.review_app.service import ReviewService
from omibench.review_app.sessions import Sessions
from omibench.review_app.settings import ServerSettings
from omibench.web.serving.bodies import RequestError
from omibench.web.serving.headers import BrowserPolicy
from omibench.web.serving.logins import ask_login, wants_page
from omibench.web.serving.static import mount_folders

ROUTES: tuple[BaseRoute, ...] = (
    Route("/", show_tasks),
    Route("/login", show_login),
    Route("/login", log_in, methods=["POST"]),
    Route("/logout", log_out, methods=["POST"]),
    Route("/progress", show_progress),
    Route("/healthz", show_health),
    Route("/metrics", show_metrics),
    Route("/pictures/{sha256}", show_picture),
    Route("/tasks/{task:path}/decision", decide, methods=["POST"]),
    Route("/tasks/{task:path}/draft", save_draft, methods=["PUT"]),
    Route("/tasks/{task:path}/claim", claim, methods=["POST"]),
    Route("/tasks/{task:path}/claim", release, methods=["DELETE"]),
    Route("/tasks/{task:path}", show_task),
)


def make_application(service: ReviewService, settings: ServerSettings) -> Starlette:
    """Build the application of a review.

    Args:
        service: The review.
        settings: The server settings.
    """
    sessions = Sessions(
        service.database, settings.secret, is_secure=settings.is_secure, port=settings.port
    )

    application = Starlette(
        routes=[*ROUTES, *mount_folders(PACKAGE)],
        middleware=[Middleware(BrowserPolicy, hosts=settings.hosts, is_secure=settings.is_secure)],
        exception_handlers=_HANDLERS,
    )
    application.state.context = ServerContext(service, sessions, settings)
    return application


def _answer(request: Request, status: int, title: str, message: str, **values: Any) -> Response:
    """Build the response of an error as a page or as JSON, as the request expects."""
    if not wants_page(request):
        return JSONResponse({"message": message, **values}, status)
    context = read_context(request)
    try:
        visitor = context.greet(*identify(request))
    except LoginNeededError:
        visitor = context.greet(None)
    return HTMLResponse(render_error(visitor, title, message), status)


def _answer_login(request: Request, error: Exception) -> Response:
    return ask_login(request)


def _answer_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestError)
    return _answer(request, error.status, "Not possible", error.message, reason=error.reason)


def _answer_right(request: Request, error: Exception) -> Response:
    return _answer(request, 403, "Not for you", "this task is not waiting for you", reason="right")


def _answer_field(request: Request, error: Exception) -> Response:
    assert isinstance(error, DecisionFieldError)
    return JSONResponse({"field": error.field, "message": error.message}, 422)


def _answer_doubt(request: Request, error: Exception) -> Response:
    """Ask the person to confirm: sent again with the names in `confirmed`, the decision counts."""
    assert isinstance(error, DoubtError)
    doubts = [doubt._asdict() for doubt in error.doubts]
    return JSONResponse({"reason": "doubt", "doubts": doubts}, 428)


def _answer_conflict(request: Request, error: Exception) -> Response:
    """Show only seniors who decided first, since another person may still audit."""
    assert isinstance(error, DecisionConflictError)
    conflict = error.conflict
    _, person = identify(request)
    current = {
        "base": conflict.base,
        "content_hash": conflict.state.task.content_hash,
        "url": link_task(conflict.state.task.id),
    }
    by = conflict.by if "senior" in person.roles else None
    return JSONResponse({"reason": conflict.reason, "by": by, "current": current}, 409)


def _answer_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    message = "page not found" if error.status_code == 404 else error.detail
    return _answer(request, error.status_code, "Not possible", message, reason="address")


_HANDLERS: dict[Any, Callable[[Request, Exception], Response]] = {
    LoginNeededError: _answer_login,
    RequestError: _answer_request,
    NoRightError: _answer_right,
    DecisionFieldError: _answer_field,
    DoubtError: _answer_doubt,
    DecisionConflictError: _answer_conflict,
    HTTPException: _answer_http,
}
