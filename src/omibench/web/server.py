"""Served pages: headers, static files, bounded bodies, logins, and the server."""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import quote

from pydantic import ValidationError
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from omibench.schemas.validation import explain
from omibench.web.address import ServedAddress, open_listener, strip_port
from omibench.web.bodies import JsonBody, RequestError, parse_object
from omibench.web.templates import APPLICATION_POLICY

# Security headers of every response, and requests that are refused unread.

HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": APPLICATION_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_OURS: Final = frozenset({"same-origin", "none"})


class BrowserPolicy:
    """Adds headers to all responses; refuses requests to other host names and from other sites.

    A name that another site points at this machine (DNS rebinding) is not a host name of this
    server, and a form of another site has another origin.
    """

    def __init__(
        self,
        app: ASGIApp,
        hosts: frozenset[str],
        is_secure: bool,
        policy: str = APPLICATION_POLICY,
    ) -> None:
        """Wrap an application.

        Args:
            app: The application.
            hosts: Host names under which browsers can call the server, without a port.
            is_secure: Whether browsers reach it only through TLS.
            policy: The content security policy of its pages.
        """
        self._headers = {**HEADERS, "Content-Security-Policy": policy}
        self._app = app
        self._hosts = hosts
        self._is_secure = is_secure

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers[name] = value
                is_file = scope["path"].startswith("/static/")
                headers.setdefault("Cache-Control", "no-cache" if is_file else "no-store")
                if self._is_secure:
                    headers["Strict-Transport-Security"] = "max-age=31536000"
            await send(message)

        refusal = self._refuse(scope["method"], Headers(scope=scope))
        handler = self._app if refusal is None else PlainTextResponse(refusal, 403)
        await handler(scope, receive, send_with_headers)

    def _refuse(self, method: str, headers: Headers) -> str | None:
        host = headers.get("host", "")
        if strip_port(host) not in self._hosts:
            return "this server has another name"
        if method in _SAFE:
            return None
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2] != host:
            return "the request comes from another site"
        if headers.get("sec-fetch-site", "none") not in _OURS:
            return "the request comes from another site"
        return None


# Scripts, styles and fonts of served pages.


def mount_folders(*packages: str) -> list[BaseRoute]:
    """Serve the folders `static` of packages under `/static`, with the shared ones below it.

    Missing folders are skipped. The first matching address is used.
    """
    shared = Path(str(files("omibench.web")))
    mounts: list[BaseRoute] = [
        Mount("/static/katex", StaticFiles(directory=shared / "vendored/katex")),
        Mount("/static/web", StaticFiles(directory=shared / "static")),
    ]
    own: list[str | tuple[str, str]] = [
        (name, "static") for name in packages if (files(name) / "static").is_dir()
    ]
    return [*mounts, Mount("/static", StaticFiles(packages=own))] if own else mounts


# Request bodies, read under limits on size.

FORM_BYTES: Final = 16 * 2**10


async def read_body(request: Request, limit: int) -> bytes:
    """Read the body of a request.

    Raises:
        RequestError: If it exceeds the limit, regardless of its header.
    """
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > limit:
            raise RequestError(413, "size", f"more than {limit // 1024} KiB are not accepted")
        parts.append(part)
    return b"".join(parts)


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of one of our forms; for a repeated name, the last value.

    Raises:
        RequestError: If it is too long or not such a form.
    """
    from urllib.parse import parse_qsl

    body = await read_body(request, FORM_BYTES)
    try:
        return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=20))
    except (ValueError, UnicodeDecodeError):
        raise RequestError(400, "format", "the form cannot be read") from None


Body = TypeVar("Body", bound=JsonBody)


async def read_json(request: Request, kind: type[Body], limit: int) -> Body:
    """Read the JSON object of a request.

    Raises:
        RequestError: If it has another media type, is too long, or has no or a wrong value.
    """
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise RequestError(415, "format", "the request must be JSON")
    values = parse_object(await read_body(request, limit))
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise RequestError(400, "format", explain(error, kind)) from None


# Logins of served applications: sessions of a day, limits on failed attempts, redirects.

SESSION_S: Final = 12 * 3600
"""One working day; then users must log in again."""
WINDOW_S: Final = 300.0
ATTEMPTS_OF_NAME: Final = 8
ATTEMPTS_OF_ADDRESS: Final = 30
"""Number of failed logins within the window after which further ones are blocked."""
_REMEMBERED: Final = 10_000
_TIMES: Final = 4 * ATTEMPTS_OF_ADDRESS
"""More than the limits, so that attempts in progress push out no failure."""


class LoginLimit:
    """Counts failed logins by name and by address, within a window of time."""

    def __init__(self) -> None:
        self._failures: dict[tuple[str, str], deque[float]] = {}

    def find_wait(self, name: str, address: str, now: float) -> float:
        """Return the seconds for which logins of a name or from an address are blocked; 0 if
        allowed.

        Args:
            name: Name as typed.
            address: Address of the browser.
            now: Seconds of a clock.
        """
        limits = {("name", name): ATTEMPTS_OF_NAME, ("address", address): ATTEMPTS_OF_ADDRESS}
        return max(self._find_wait(key, limit, now) for key, limit in limits.items())

    def add_failure(self, name: str, address: str, now: float) -> None:
        """Count a failed login."""
        for key in (("name", name), ("address", address)):
            # The latest key is last, so that the oldest one is dropped.
            times = self._failures.pop(key, deque(maxlen=_TIMES))
            times.append(now)
            self._failures[key] = times
        while len(self._failures) > _REMEMBERED:
            del self._failures[next(iter(self._failures))]

    def take_back(self, name: str, address: str, now: float) -> None:
        """Reset the count of a name after a login that `add_failure` counted but that succeeded.

        Other failures from its address stay: someone with a password may try those of others.
        """
        self._failures.pop(("name", name), None)
        times = self._failures.get(("address", address), deque())
        with suppress(ValueError):
            times.remove(now)

    def _find_wait(self, key: tuple[str, str], limit: int, now: float) -> float:
        times = [time for time in self._failures.get(key, ()) if now - time < WINDOW_S]
        return times[-limit] + WINDOW_S - now if len(times) >= limit else 0.0


def ask_to_wait(show: Callable[[str, int], Response], wait: float) -> Response:
    """Return the login page for a blocked attempt.

    Args:
        show: Builds the page from a message and a status.
        wait: Seconds for which logins are blocked.
    """
    minutes = int(wait // 60) + 1
    response = show(f"Too many attempts. Try again in {minutes} minutes.", 429)
    response.headers["Retry-After"] = str(int(wait) + 1)
    return response


def write_session(response: Response, cookie: str, value: str, *, is_secure: bool) -> None:
    """Set a session's cookie on the response; scripts and other sites cannot use it.

    Args:
        response: The response.
        cookie: Name of the cookie.
        value: Its signed value.
        is_secure: Whether browsers reach the server only through TLS.
    """
    response.set_cookie(
        cookie, value, SESSION_S, path="/", secure=is_secure, httponly=True, samesite="strict"
    )


def ask_login(request: HTTPConnection) -> Response:
    """Return the response to a request without a session: the login page, or 401 for scripts."""
    if not wants_page(request):
        return JSONResponse({"reason": "login", "message": "log in again"}, 401)
    target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return RedirectResponse(f"/login?target={quote(target, safe='')}", 303)


def wants_page(request: HTTPConnection) -> bool:
    """Return whether a request expects a page rather than JSON."""
    is_read = request.scope["method"] in {"GET", "HEAD"}
    return is_read and "text/html" in request.headers.get("accept", "")


def choose_target(text: str) -> str:
    """Return the target of a login: one of our pages, whatever the address contains."""
    is_ours = text.startswith("/") and not text.startswith(("//", "/\\")) and text.isprintable()
    return text if is_ours and len(text) <= 2000 else "/"


# Server process of an application.

_REQUESTS_AT_ONCE: Final = 500


def serve(
    make_application: Callable[[int], ASGIApp],
    address: ServedAddress,
    on_start: Callable[[str], None],
) -> None:
    """Serve an application until the process is stopped.

    Args:
        make_application: Factory that receives the port.
        address: Address to serve at.
        on_start: Called with the address for users once the server listens.

    Raises:
        OutputError: If the address cannot be bound.
    """
    import uvicorn

    listener = open_listener(address)
    try:
        port = listener.getsockname()[1]
        name = f"[{address.host}]" if ":" in address.host else address.host
        config = uvicorn.Config(
            make_application(port),
            access_log=False,
            log_config=None,
            log_level="warning",
            server_header=False,
            ws="none",
            # Forwarded client addresses are accepted only from a terminator on this machine.
            proxy_headers=address.is_secure,
            forwarded_allow_ips="127.0.0.1",
            limit_concurrency=_REQUESTS_AT_ONCE,
            timeout_graceful_shutdown=5,
        )
        typed_address = address.origin or f"http://{name}:{port}"

        class AnnouncedServer(uvicorn.Server):
            """Reports its address after signal handlers are set, so that Ctrl-C ends it cleanly."""

            async def startup(self, sockets: list[socket.socket] | None = None) -> None:
                await super().startup(sockets)
                on_start(typed_address)

        with suppress(KeyboardInterrupt):
            AnnouncedServer(config).run(sockets=[listener])
    finally:
        listener.close()
