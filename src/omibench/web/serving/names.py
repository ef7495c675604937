"""The names of servers, as requests state them."""

from __future__ import annotations


def strip_port(host: str) -> str:
    """The name of a `Host` header without its port, in small letters."""
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdigit() else host).strip("[]").lower()
