"""Where an application is served, and by which names browsers may call it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Self

from omibench.web.serving.names import strip_port


@dataclass(frozen=True)
class ServedAddress:
    """Where an application is served.

    Attributes:
        host: The address that it listens at.
        port: The port; 0 takes any that is free.
        origin: The address that people type, where a TLS terminator stands before the server:
            `https://NAME`. Empty where browsers come directly.
    """

    host: str = "127.0.0.1"
    port: int = 0
    origin: str = ""

    def replace(self, **changes: Any) -> Self:
        """The same with some changed."""
        return dataclasses.replace(self, **changes)

    @property
    def is_secure(self) -> bool:
        """Whether browsers reach the server through TLS alone."""
        return self.origin.startswith("https://")

    @property
    def hosts(self) -> frozenset[str]:
        """The names by which browsers may call the server, in small letters, without a port."""
        name = strip_port(self.origin.partition("://")[2]) if self.origin else self.host.lower()
        return frozenset({"localhost", "127.0.0.1", "::1", name})
