"""Server names in requests."""

from __future__ import annotations


def strip_port(host: str) -> str:
    """Return the name in a `Host` header without its port, in lower case."""
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdigit() else host).strip("[]").lower()
