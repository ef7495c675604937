"""Limits on failed logins, and redirects after a login."""

from __future__ import annotations

from collections import deque
from typing import Final

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


def choose_target(text: str) -> str:
    """Return the target of a login: one of our pages, whatever the address contains."""
    is_ours = text.startswith("/") and not text.startswith(("//", "/\\")) and text.isprintable()
    return text if is_ours and len(text) <= 2000 else "/"
