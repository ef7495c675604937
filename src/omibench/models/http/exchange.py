"""One HTTP exchange with the standard library: limited in size and time, without redirects."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException
from time import monotonic
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from omibench.errors import reason_of
from omibench.models.http.bounds import CALL_S, MOST_ERROR, MOST_REPLY, call_with_timeout, size_text
from omibench.models.traffic.failure import Failure

_PIECE = 1 << 16


class Reply(NamedTuple):
    """The reply. For an error status, `body` is cut at 1 MiB."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def exchange(
    request: urllib.request.Request,
    *,
    timeout_s: float,
    most_bytes: int = MOST_REPLY,
    most_s: float = CALL_S,
) -> Reply:
    """Send a request and read the whole reply, whatever its status.

    Redirects are not followed, so that keys and bodies reach only the given address. Raises Failure
    if the connection fails, the reply is larger than `most_bytes` bytes, takes longer than `most_s`
    seconds, or is a redirect.
    """
    reply = call_with_timeout(
        most_s, lambda: _exchange(request, timeout_s, most_bytes, monotonic() + most_s)
    )
    _check_stays(request, reply)
    return reply


def send(request: urllib.request.Request, *, timeout_s: float, most_s: float = CALL_S) -> int:
    """Send a request as `exchange` does, and return only its status."""
    reply = call_with_timeout(
        most_s, lambda: _exchange(request, timeout_s, 0, monotonic() + most_s)
    )
    _check_stays(request, reply)
    return reply.status


def _check_stays(request: urllib.request.Request, reply: Reply) -> None:
    if 300 <= reply.status < 400:
        to = urlsplit(urljoin(request.full_url, reply.headers.get("location", "")))
        raise Failure(
            f"it redirects to {to.scheme}://{to.netloc.rpartition('@')[2]}; nothing was sent "
            "there. If you trust that address, set it instead",
            reply.status,
            maybe_paid=False,
        )


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        """Refuses every redirect."""


def _exchange(
    request: urllib.request.Request, timeout_s: float, most_bytes: int, until: float
) -> Reply:
    opener = urllib.request.build_opener(_Stay)
    try:
        try:
            answer = opener.open(request, timeout=timeout_s)
        except urllib.error.HTTPError as error:
            with error:
                return Reply(error.code, _headers(error), error.read(MOST_ERROR))
        with answer:
            body = _read(answer, most_bytes, until) if most_bytes else b""
            return Reply(answer.status, _headers(answer), body)
    except (OSError, HTTPException) as error:
        cause = getattr(error, "reason", error)
        reason = reason_of(cause) if isinstance(cause, OSError) else str(cause)
        raise Failure(
            f"the connection failed: {type(cause).__name__}: {reason}", transient=True
        ) from None


def _headers(answer: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in (answer.headers or {}).items()}


def _read(answer: http.client.HTTPResponse, most_bytes: int, until: float) -> bytes:
    pieces: list[bytes] = []
    bytes_left = most_bytes
    while piece := answer.read1(_PIECE):
        pieces.append(piece)
        bytes_left -= len(piece)
        if bytes_left < 0:
            raise Failure(f"the reply is larger than {size_text(most_bytes)} and was cut off", 200)
        if monotonic() > until:
            raise Failure("no complete reply in time", transient=True)
    return b"".join(pieces)
