"""Inspection pages on a local server, which saves corrections in corrections.yaml."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, cast

from pydantic import JsonValue
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from omibench.errors import OmibenchError
from omibench.explore.ocr_view.files import LookFiles
from omibench.explore.ocr_view.page import POLICY, write_scripts
from omibench.files.reading import read_bytes
from omibench.stages.ocr.corrections.edit import ChangedFileError, read_version, save_entry
from omibench.stages.ocr.corrections.entry import SamePlaceError
from omibench.web.address import ServedAddress
from omibench.web.bodies import JsonBody, RequestError
from omibench.web.login import LoginWall, SecretLogin
from omibench.web.server import (
    BrowserPolicy,
    read_form,
    read_json,
    serve,
)
from omibench.web.templates import make_environment

PACKAGE: Final = "omibench.explore.ocr_view"
ENTRY_BYTES: Final = 2 * 2**20
_POLICY: Final = f"{POLICY}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"


@dataclass(frozen=True)
class LookContext:
    """The shared state of all requests."""

    files: LookFiles
    login: SecretLogin
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    """Repeated by each request that saves, so that other sites' pages cannot send one."""


def read_context(request: Request) -> LookContext:
    """Return the shared state of all requests."""
    return cast(LookContext, request.app.state.context)


# Pages: login, the list of papers, the inspection page of one paper.


def show_login(request: Request) -> Response:
    """`GET /login?token=`: log in with the printed address, or ask for the token."""
    token = request.query_params.get("token")
    return _render("login") if token is None else _log_in(request, token)


async def log_in(request: Request) -> Response:
    """`POST /login`: log in with the typed token, with limited attempts."""
    return _log_in(request, (await read_form(request)).get("token", ""))


def _log_in(request: Request, token: str) -> Response:
    return read_context(request).login.admit(request, token, partial(_render, "login"))


def show_pages(request: Request) -> Response:
    """`GET /`: the papers; the only one at once."""
    files = read_context(request).files
    names = files.list_pages()
    if len(names) == 1:
        return RedirectResponse(f"/{names[0]}", 303)
    return _render("pages", names=names, corrections=files.corrections.name)


def show_page(request: Request) -> Response:
    """`GET /NAME.html`: the inspection page of a paper, as `omibench ocr --look` writes it."""
    files, name = read_context(request).files, request.path_params["name"]
    if name not in files.list_pages():
        raise RequestError(404, "address", "page not found")
    return HTMLResponse(read_bytes(files.pages / name))


def _render(page: str, message: str = "", status: int = 200, **values: Any) -> Response:
    template = make_environment(PACKAGE).get_template("served.html.j2")
    text = template.render(page=page, message=message, **{"names": [], "corrections": ""} | values)
    return HTMLResponse(text, status)


def show_health(request: Request) -> Response:
    """`GET /healthz`: the server responds."""
    return PlainTextResponse("ok\n")


# Corrections: their file, and one more entry.


def show_file(request: Request) -> Response:
    """`GET /api/corrections`: the file with its version, and the token of requests."""
    context = read_context(request)
    path = context.files.corrections
    version = read_version(path)
    return JSONResponse({"token": context.token, "file": path.name, "version": version})


class NewEntry(JsonBody):
    """An entry, the version of the file that its page saw, and the lines that it replaces."""

    entry: dict[str, JsonValue]
    version: str
    replaced: list[int] = []


async def add_entry(request: Request) -> Response:
    """`POST /api/corrections`: save `{entry, version, replaced}`; 201 with line and version."""
    context = read_context(request)
    token = request.headers.get("x-csrf-token", "")
    if not secrets.compare_digest(token.encode(), context.token.encode()):
        raise RequestError(403, "csrf", "this page is too old: reload it")
    new = await read_json(request, NewEntry, ENTRY_BYTES)
    files = context.files
    saved = await run_in_threadpool(
        save_entry, files.corrections, new.entry, new.version, files.check, new.replaced
    )
    return JSONResponse(saved._asdict(), 201)


# The application and its server.


def make_application(
    files: LookFiles, address: ServedAddress, secret: bytes, scripts: Path
) -> Starlette:
    """Build the application.

    Args:
        files: What is served, and the file that corrections are saved in.
        address: The address of the server.
        secret: The token to log in with.
        scripts: Folder with our scripts: those beside the pages may be of another origin.
    """
    login = SecretLogin(secret, "look", is_secure=address.is_secure, port=address.port)
    hosts, is_secure = address.hosts, address.is_secure
    application = Starlette(
        routes=[
            Route("/", show_pages),
            Route("/login", show_login),
            Route("/login", log_in, methods=["POST"]),
            Route("/healthz", show_health),
            Route("/favicon.ico", lambda request: Response(status_code=204)),
            Route("/api/corrections", show_file),
            Route("/api/corrections", add_entry, methods=["POST"]),
            Mount("/formulas", StaticFiles(directory=scripts)),
            Route("/{name}", show_page),
        ],
        middleware=[
            Middleware(BrowserPolicy, hosts=hosts, is_secure=is_secure, policy=_POLICY),
            Middleware(LoginWall, login=login),
        ],
        exception_handlers=dict.fromkeys(
            (RequestError, OmibenchError, HTTPException), answer_error
        ),
    )
    application.state.context = LookContext(files, login)
    return application


def answer_error(request: Request, error: Exception) -> Response:
    """Answer a request that failed, as JSON with status, reason and message."""
    values: dict[str, Any] = {"reason": "entry", "message": str(error)}
    status = 422
    match error:
        case RequestError():
            status, values = error.status, {"reason": error.reason, "message": error.message}
        case HTTPException():
            status, values = error.status_code, {"reason": "address", "message": error.detail}
        case ChangedFileError():
            status, values["reason"] = 409, "changed"
        case SamePlaceError():
            status, values["reason"] = 409, "place"
            values["lines"] = error.entries
    return JSONResponse(values, status)


def run_look(
    files: LookFiles, address: ServedAddress, secret: bytes | None, on_start: Callable[[str], None]
) -> None:
    """Serve inspection pages until the process is stopped.

    Args:
        files: What is served.
        address: Where.
        secret: The configured secret; without one, a token is made, and printed in the address.
        on_start: Called with the address once the server listens.

    Raises:
        OutputError: The address cannot be used.
    """
    token = secrets.token_urlsafe(24)
    query = f"/login?token={token}" if secret is None else ""
    with TemporaryDirectory(prefix="omibench-look-") as folder:
        write_scripts(Path(folder))
        serve(
            lambda port: make_application(
                files, address.replace(port=port), secret or token.encode(), Path(folder)
            ),
            address,
            lambda at: on_start(at + query),
        )
