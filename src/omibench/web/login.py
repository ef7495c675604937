"""Login with the server's secret, for servers reachable from other machines."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import Final

from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.requests import HTTPConnection, Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from omibench.web.server import SESSION_S, LoginLimit, ask_login, ask_to_wait, write_session

_OPEN: Final = frozenset({"/login", "/healthz"})
_OPEN_FOLDERS: Final = ("/static/", "/bundles/")


class SecretLogin:
    """Sessions of a day in a signed cookie, for users who know the secret."""

    def __init__(self, secret: bytes, application: str, *, is_secure: bool, port: int) -> None:
        """Prepare the signature.

        Args:
            secret: The secret to type; changing it ends all sessions.
            application: Name of the application; sessions of others are not valid in it.
            is_secure: Whether browsers reach the server only through TLS.
            port: Part of the cookie name, since browsers share cookies among all ports of a host.
        """
        self._secret = secret
        self._is_secure = is_secure
        self._limit = LoginLimit()
        self._wrong = f"Wrong secret: use the one that `omibench {application}` printed or got."
        name = f"omibench-{application}"
        self.cookie = f"__Host-{name}" if is_secure else f"{name}-{port}"
        self._serializer = URLSafeTimedSerializer(secret, salt=f"omibench.{application}.session")

    def is_secret(self, text: str) -> bool:
        """Return whether a text is the secret, in constant time."""
        return secrets.compare_digest(text.strip().encode("utf-8", "replace"), self._secret)

    def is_let_in(self, request: HTTPConnection) -> bool:
        """Return whether the cookie of a request is valid and not expired."""
        try:
            self._serializer.loads(request.cookies.get(self.cookie, ""), max_age=SESSION_S)
        except BadSignature:
            return False
        return True

    def admit(
        self, request: Request, secret: str, ask: Callable[[str, int], Response], target: str = "/"
    ) -> Response:
        """Start a session for the right secret, with limited attempts per address.

        Args:
            request: The attempt.
            secret: The typed secret.
            ask: Makes the login page from a message and a status.
            target: Path to redirect to.
        """
        address = request.client.host if request.client else ""
        limit, now = self._limit, time.monotonic()
        if wait := limit.find_wait(address, address, now):
            return ask_to_wait(ask, wait)
        if not self.is_secret(secret):
            limit.add_failure(address, address, now)
            return ask(self._wrong, 401)
        limit.take_back(address, address, now)
        response = RedirectResponse(target, 303)
        self.let_in(response)
        return response

    def let_in(self, response: Response) -> None:
        """Set the session cookie on the response."""
        value = str(self._serializer.dumps(secrets.token_urlsafe(16)))
        write_session(response, self.cookie, value, is_secure=self._is_secure)


class LoginWall:
    """Middleware that redirects requests without a session to the login."""

    def __init__(self, app: ASGIApp, login: SecretLogin) -> None:
        """Wrap an application.

        Args:
            app: The application.
            login: Checks sessions.
        """
        self._app = app
        self._login = login

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http" or self._is_open(scope):
            await self._app(scope, receive, send)
            return
        await ask_login(HTTPConnection(scope))(scope, receive, send)

    def _is_open(self, scope: Scope) -> bool:
        path = scope["path"]
        is_public = path in _OPEN or path.startswith(_OPEN_FOLDERS)
        return is_public or self._login.is_let_in(HTTPConnection(scope))
