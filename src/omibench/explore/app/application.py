"""The application: routes, error handling and middleware."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from omibench.errors import MissingInputError, OmibenchError
from omibench.explore.app.handlers.context import ExplorerContext
from omibench.explore.app.handlers.data import list_items, show_item, show_sent, show_study
from omibench.explore.app.handlers.files import show_health, show_heat_map, show_picture
from omibench.explore.app.handlers.login import log_in, show_login
from omibench.explore.app.handlers.notes import add_note
from omibench.explore.app.handlers.pages import show_grid, show_item_page
from omibench.explore.app.live import LiveStudy
from omibench.explore.app.login import LoginWall, SecretLogin
from omibench.explore.app.settings import ExplorerSettings
from omibench.web.serving.bodies import RequestError
from omibench.web.serving.headers import BrowserPolicy
from omibench.web.serving.static import mount_folders

ROUTES: tuple[BaseRoute, ...] = (
    Route("/", show_grid),
    Route("/items/{name:path}", show_item_page),
    Route("/login", show_login),
    Route("/login", log_in, methods=["POST"]),
    Route("/healthz", show_health),
    Route("/pictures/{sha256}", show_picture),
    Route("/heat-map", show_heat_map),
    Route("/api/study", show_study),
    Route("/api/items", list_items),
    Route("/api/items/{name:path}", show_item),
    Route("/api/sent/{key}", show_sent),
    Route("/api/notes", add_note, methods=["POST"]),
)


def make_application(live: LiveStudy, settings: ExplorerSettings) -> Starlette:
    """Build the application of a study.

    Args:
        live: The study.
        settings: The server settings.
    """
    walls = [Middleware(BrowserPolicy, hosts=settings.hosts, is_secure=settings.is_secure)]
    login = open_login(settings)
    if login is not None:
        walls.append(Middleware(LoginWall, login=login))
    application = Starlette(
        routes=[*ROUTES, *mount_folders("omibench.explore", "omibench.stages.analyze.explorer")],
        middleware=walls,
        exception_handlers=_HANDLERS,
    )
    application.state.context = ExplorerContext(live, settings, login)
    return application


def open_login(settings: ExplorerSettings) -> SecretLogin | None:
    """Return the login of a server that has a secret."""
    if settings.secret is None:
        return None
    return SecretLogin(settings.secret, is_secure=settings.is_secure, port=settings.port)


def _answer_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestError)
    return JSONResponse({"reason": error.reason, "message": error.message}, error.status)


def _answer_mistake(request: Request, error: Exception) -> Response:
    """Raised for a missing resource or an invalid query."""
    assert isinstance(error, OmibenchError)
    status = 404 if isinstance(error, MissingInputError) else 400
    return JSONResponse({"reason": "address", "message": str(error)}, status)


def _answer_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    message = "page not found" if error.status_code == 404 else error.detail
    return JSONResponse({"reason": "address", "message": message}, error.status_code)


_HANDLERS: dict[Any, Callable[[Request, Exception], Response]] = {
    RequestError: _answer_request,
    OmibenchError: _answer_mistake,
    HTTPException: _answer_http,
}
