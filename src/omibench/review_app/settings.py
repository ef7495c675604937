"""How the application is served, as whoever starts it says."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

from omibench.web.serving.address import ServedAddress


@dataclass(frozen=True)
class ServerSettings(ServedAddress):
    """Where and for whom the application is served.

    Attributes:
        secret: Signs the cookies of sessions.
        is_demo: Whether everything is invented and nothing is kept.
        demo_users: Of a demonstration: name, password and roles of each person.
    """

    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    is_demo: bool = False
    demo_users: tuple[tuple[str, str, str], ...] = field(default=(), repr=False)
