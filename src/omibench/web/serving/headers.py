"""Security headers of every response, and requests that are refused unread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from omibench.web.policy import APPLICATION_POLICY
from omibench.web.serving.names import strip_port

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

    def __init__(self, app: ASGIApp, hosts: frozenset[str], is_secure: bool) -> None:
        """Wrap an application.

        Args:
            app: The application.
            hosts: Host names under which browsers can call the server, without a port.
            is_secure: Whether browsers reach it only through TLS.
        """
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
                for name, value in HEADERS.items():
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
