"""Server settings of the application."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

from omibench.web.serving.address import ServedAddress


@dataclass(frozen=True)
class ServerSettings(ServedAddress):
    """The address, secret and mode of the server.

    Attributes:
        secret: The key that signs session cookies.
        is_demo: Whether this is a demonstration, which saves nothing.
        demo_users: In a demonstration: name, password and roles of each person.
    """

    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    is_demo: bool = False
    demo_users: tuple[tuple[str, str, str], ...] = field(default=(), repr=False)
