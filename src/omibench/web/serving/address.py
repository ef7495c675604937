"""Address of a served application, and the host names under which browsers can call it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Self

from omibench.web.serving.names import strip_port


@dataclass(frozen=True)
class ServedAddress:
    """Address of a served application.

    Attributes:
        host: Listening address.
        port: Port; 0 chooses any free one.
        origin: Address for users if a TLS terminator is in front of the server: `https://NAME`.
            Empty if browsers connect directly.
    """

    host: str = "127.0.0.1"
    port: int = 0
    origin: str = ""

    def replace(self, **changes: Any) -> Self:
        """Return a copy with changes."""
        return dataclasses.replace(self, **changes)

    @property
    def is_secure(self) -> bool:
        """Whether browsers reach the server only through TLS."""
        return self.origin.startswith("https://")

    @property
    def hosts(self) -> frozenset[str]:
        """Host names under which browsers can call the server, in lower case, without a port."""
        name = strip_port(self.origin.partition("://")[2]) if self.origin else self.host.lower()
        return frozenset({"localhost", "127.0.0.1", "::1", name})
