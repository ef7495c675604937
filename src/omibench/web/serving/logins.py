"""Logins of served applications: sessions of a day, limits on failed attempts, redirects."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final
from urllib.parse import quote

from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, RedirectResponse, Response

SESSION_S: Final = 12 * 3600
"""One working day; then users must log in again."""
WINDOW_S: Final = 300.0
ATTEMPTS_OF_NAME: Final = 8
ATTEMPTS_OF_ADDRESS: Final = 30
"""Number of failed logins within the window after which further ones are blocked."""
_REMEMBERED: Final = 10_000


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
            times = self._failures.pop(key, deque(maxlen=ATTEMPTS_OF_ADDRESS))
            times.append(now)
            self._failures[key] = times
        while len(self._failures) > _REMEMBERED:
            del self._failures[next(iter(self._failures))]

    def forget_name(self, name: str) -> None:
        """Reset the count of a name after a successful login."""
        self._failures.pop(("name", name), None)

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
