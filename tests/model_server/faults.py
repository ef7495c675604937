"""Which misbehaviour meets which request, and how a body then reaches the client.

Faults of a script or a rate follow from the request and the number of its attempt, so that a run
meets the same ones whatever the order in which its requests arrive.
"""

from __future__ import annotations

import asyncio
import math
import os
import socket
import struct
from collections.abc import Callable, Mapping
from statistics import NormalDist

from aiohttp import web

from model_server.asked import Asked, uniform
from model_server.config import Config, Fault, Step

OK = Fault(kind="ok")


def planned(config: Config, asked: Asked, attempt: int, arrival: int) -> Fault:
    """The fault of this attempt (from 0) of a request that arrives as the `arrival`-th (from 0)."""
    for rule in config.script:
        if rule.match in asked.text:
            return rule.steps[attempt] if attempt < len(rule.steps) else OK
    if arrival < len(config.opening):
        return config.opening[arrival]
    if not config.faults:
        return OK
    u = uniform("fault", config.seed, asked.key, attempt)
    for fault in config.faults:
        u -= fault.rate
        if u < 0:
            return fault
    return OK


def nth(steps: list[Step], index: int) -> Fault:
    """The fault of the `index`-th event, ok after the last."""
    return steps[index] if index < len(steps) else OK


def latency(config: Config, asked: Asked, attempt: int) -> float:
    """Seconds until the answer: lognormal with the median and sigma of the configuration."""
    if not config.latency_s or not config.latency_sigma:
        return config.latency_s
    u = uniform("latency", config.seed, asked.key, attempt)
    z = NormalDist().inv_cdf(min(max(u, 1e-9), 1 - 1e-9))
    return config.latency_s * math.exp(config.latency_sigma * z)


def retry_after(fault: Fault) -> dict[str, str]:
    """The header that tells when to come back, if the fault says so."""
    wait = fault.retry_after_s
    return {} if wait is None else {"retry-after": f"{wait:g}"}


# How a body reaches the client: whole, in part, or never.

PAGE = b"<html><body><h1>502 Bad Gateway</h1></body></html>"
JSON = "application/json"
NO_HEADERS: Mapping[str, str] = {}
HALF_EMOJI = "<half an emoji>"
"""A reply that says so says a lone surrogate, which no JSON encoder writes of its own accord."""
RST_ON_CLOSE = struct.pack("ii", 1, 0)


def reply(status: int, body: bytes, headers: Mapping[str, str] = NO_HEADERS) -> web.Response:
    """A JSON reply."""
    return web.Response(status=status, body=halved(body), headers=headers, content_type=JSON)


def halved(body: bytes) -> bytes:
    """The body with a lone surrogate in place of each `HALF_EMOJI`."""
    return body.replace(HALF_EMOJI.encode(), rb"\ud83d")


async def send(request: web.Request, response: web.Response) -> bool:
    """Send a reply; whether it was handed over whole to a connection that still stood."""
    try:
        await response.prepare(request)
        await response.write_eof()
    except ConnectionError:
        return False
    return request.transport is not None and not request.transport.is_closing()


def spoiled(body: bytes, fault: Fault) -> web.Response | None:
    """The 200 of a fault that spoils the body; None for the other faults."""
    if fault.kind == "truncated_json":
        return reply(200, body[: len(body) // 2])
    if fault.kind == "malformed_json":
        return reply(200, body.replace(b'"', b"'"))
    if fault.kind == "html_page":
        return web.Response(body=PAGE, content_type="text/html")
    return None


async def interrupt(
    request: web.Request,
    body: bytes,
    fault: Fault,
    halfway: Callable[[], None] = lambda: None,
) -> web.Response:
    """Reset or hang, at once or when half of the body is out, and `halfway` called.

    The client can see the `_mid` kinds only after `halfway`: what it counts is counted by then.
    """
    if not fault.kind.endswith("_mid"):
        return await _end(request, fault)
    response = web.StreamResponse()
    response.content_type, response.content_length = JSON, len(body)
    halfway()
    try:
        await response.prepare(request)
        await response.write(body[: len(body) // 2])
        await asyncio.sleep(0.01)  # the half reaches the client before the end does
    except ConnectionError:
        pass
    return await _end(request, fault)


async def _end(request: web.Request, fault: Fault) -> web.Response:
    if fault.kind.startswith("hang"):
        while not gone(request):
            await asyncio.sleep(0.05)
    cut(request)
    return web.Response()  # nobody is there to receive it


def gone(request: web.Request) -> bool:
    """Whether the client has hung up."""
    return request.transport is None or request.transport.is_closing()


def cut(request: web.Request) -> None:
    """End the connection with a reset instead of a farewell."""
    if request.transport is None:
        return
    handle = request.transport.get_extra_info("socket")
    with socket.socket(fileno=os.dup(handle.fileno())) as same:
        same.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RST_ON_CLOSE)
    request.transport.abort()
