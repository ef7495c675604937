"""Where a server listens: on this machine, unless it is told how others are let in."""

from __future__ import annotations

import socket
import stat
from ipaddress import ip_address
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from omibench.errors import MissingInputError, OutputError, ParamsError, reason_of
from omibench.web.serving.address import ServedAddress

SHORTEST_SECRET: Final = 32
"""Bytes of a stated secret."""
_SECRET_BYTES: Final = 4096
_WAITING: Final = 512
"""Connections that wait to be answered."""


def read_secret(path: Path) -> bytes:
    """The secret of a file that others cannot read.

    Raises:
        MissingInputError: It cannot be read.
        ParamsError: Others may read it, or it is too short.
    """
    try:
        mode = path.stat().st_mode
        with path.open("rb") as file:
            secret = file.read(_SECRET_BYTES).strip()
    except OSError as error:
        raise MissingInputError(f"{path}: cannot be read: {reason_of(error)}") from None
    if stat.S_IMODE(mode) & 0o077:
        raise ParamsError(f"{path}: others may read the secret: chmod 600 {path}")
    if len(secret) < SHORTEST_SECRET:
        raise ParamsError(
            f"{path}: the secret has {len(secret)} bytes and needs {SHORTEST_SECRET}: write it "
            f"with `openssl rand -hex 32 > {path}`"
        )
    return secret


def check_listening(host: str, has_secret: bool, origin: str) -> None:
    """Refuse to listen where others could reach the server without TLS and a stated secret.

    Args:
        host: The address to listen at.
        has_secret: Whether a file with a secret is named.
        origin: The address of the TLS terminator before the server; empty without one.

    Raises:
        ParamsError: Something is missing or wrong.
    """
    if origin:
        check_origin(origin)
        if not has_secret:
            raise ParamsError(
                "--behind-tls: name a file with a secret as well (--secret-file): without one, "
                "everybody is logged out at each start"
            )
    elif not is_loopback(host):
        raise ParamsError(
            f"--host {host}: is reached by other machines, which the server refuses without TLS: "
            "put a TLS terminator before it and give --behind-tls https://NAME and --secret-file"
        )


def check_origin(origin: str) -> None:
    """Raise ParamsError unless an origin is `https://NAME`, with a port perhaps."""
    parts = urlsplit(origin)
    if parts.scheme != "https" or origin != f"https://{parts.netloc}" or not parts.hostname:
        raise ParamsError(
            f"--behind-tls {origin}: give the address that people type, as in "
            "https://review.example.org"
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def open_listener(address: ServedAddress) -> socket.socket:
    """Take the port of an address.

    Raises:
        OutputError: Nobody can listen there.
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
            f"--host {address.host} --port {address.port}: nobody can listen there: "
            f"{reason_of(error)}; choose another with --port"
        ) from None
    return listener
