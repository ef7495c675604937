"""Server names in requests."""

from __future__ import annotations

import dataclasses
import socket
import stat
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import urlsplit

from omibench.errors import MissingInputError, OutputError, ParamsError, reason_of


def strip_port(host: str) -> str:
    """Return the name in a `Host` header without its port, in lower case."""
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdigit() else host).strip("[]").lower()


# Address of a served application, and the host names under which browsers can call it.


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


# Listening address of a server: local, unless remote access is configured explicitly.

SHORTEST_SECRET: Final = 32
"""Minimum bytes of a configured secret."""
_SECRET_BYTES: Final = 4096
_WAITING: Final = 512
"""Maximum number of waiting connections."""


def read_secret(path: Path) -> bytes:
    """Read the secret from a file that other users cannot read.

    Raises:
        MissingInputError: If it cannot be read.
        ParamsError: If other users can read it, or it is too short.
    """
    try:
        mode = path.stat().st_mode
        with path.open("rb") as file:
            secret = file.read(_SECRET_BYTES).strip()
    except OSError as error:
        raise MissingInputError(f"{path}: cannot be read: {reason_of(error)}") from None
    if stat.S_IMODE(mode) & 0o077:
        raise ParamsError(f"{path}: other users can read the secret; run chmod 600 {path}")
    if len(secret) < SHORTEST_SECRET:
        raise ParamsError(
            f"{path}: the secret has {len(secret)} bytes but needs {SHORTEST_SECRET}; write it "
            f"with `openssl rand -hex 32 > {path}`"
        )
    return secret


def check_listening(host: str, has_secret: bool, origin: str) -> None:
    """Refuse to listen if the server would be reachable without TLS and a configured secret.

    Args:
        host: Listening address.
        has_secret: Whether a file with a secret is given.
        origin: Address of the TLS terminator in front of the server, or empty.

    Raises:
        ParamsError: If something is missing or invalid.
    """
    if origin:
        check_origin(origin)
        if not has_secret:
            raise ParamsError(
                "--behind-tls: give a file with a secret as well (--secret-file); without one, "
                "all users are logged out at each start"
            )
    elif not is_loopback(host):
        raise ParamsError(
            f"--host {host}: is reachable from other machines, which requires TLS; put a TLS "
            "terminator in front of it and give --behind-tls https://NAME and --secret-file"
        )


def check_origin(origin: str) -> None:
    """Raise ParamsError unless an origin is `https://NAME`, with an optional port."""
    parts = urlsplit(origin)
    if parts.scheme != "https" or origin != f"https://{parts.netloc}" or not parts.hostname:
        raise ParamsError(
            f"--behind-tls {origin}: give the address for users, such as https://review.example.org"
        )


def is_loopback(host: str) -> bool:
    """Return whether an address is reachable only from this machine."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def open_listener(address: ServedAddress) -> socket.socket:
    """Bind the port of an address.

    Raises:
        OutputError: If binding fails.
    """
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address.host, address.port))
        # From here on browsers are not refused: they wait until the application answers.
        listener.listen(_WAITING)
    except OSError as error:
        listener.close()
        raise OutputError(
            f"--host {address.host} --port {address.port}: cannot listen there: "
            f"{reason_of(error)}; choose another with --port"
        ) from None
    return listener
