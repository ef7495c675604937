"""How the application is served, as whoever starts it says."""

from __future__ import annotations

import dataclasses
import secrets
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ServerSettings:
    """Where and for whom the application is served.

    Attributes:
        host: The address that it listens at.
        port: The port; 0 takes any that is free.
        origin: The address that people type, where a TLS terminator stands before the server:
            `https://NAME`. Empty where browsers come directly.
        secret: Signs the cookies of sessions.
        is_demo: Whether everything is invented and nothing is kept.
        demo_users: Of a demonstration: name, password and roles of each person.
    """

    host: str = "127.0.0.1"
    port: int = 0
    origin: str = ""
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    is_demo: bool = False
    demo_users: tuple[tuple[str, str, str], ...] = field(default=(), repr=False)

    def replace(self, **changes: Any) -> ServerSettings:
        """The same settings with some changed."""
        return dataclasses.replace(self, **changes)

    @property
    def is_secure(self) -> bool:
        """Whether browsers reach the server through TLS alone."""
        return self.origin.startswith("https://")

    @property
    def hosts(self) -> frozenset[str]:
        """The names by which browsers may call the server, in small letters, without a port."""
        from omibench.review_app.headers import strip_port

        name = strip_port(self.origin.partition("://")[2]) if self.origin else self.host.lower()
        return frozenset({"localhost", "127.0.0.1", "::1", name})
