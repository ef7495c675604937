"""What the batch endpoints of both APIs have in common."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import orjson
from aiohttp import web

from model_server.asked import Api, Refused, check_key, refusal
from model_server.batches import Batch
from model_server.faults import halved, interrupt, nth, reply, retry_after, send, spoiled
from model_server.server import Handler, Server

Guarded = Callable[[Server, web.Request], Awaitable[web.StreamResponse]]


def json(body: Any, status: int = 200) -> web.Response:
    """A JSON reply."""
    return reply(status, orjson.dumps(body))


def lines_of(rows: Sequence[Any]) -> bytes:
    """One JSON line a row."""
    return halved(b"".join(orjson.dumps(row) + b"\n" for row in rows))


def guarded(server: Server, api: Api, handler: Guarded) -> Handler:
    """The handler with its calls counted, keys checked and refusals worded as errors."""

    async def handle(request: web.Request) -> web.StreamResponse:
        server.stats.calls[handler.__name__] += 1
        try:
            check_key(request.headers, server.config)
            return await handler(server, request)
        except Refused as refused:
            return json(api.error(refused), refused.status)

    return handle


def known(server: Server, request: web.Request, apis: Sequence[Api]) -> Batch:
    """The batch of the request's path. Raises Refused."""
    batch = server.batches.all.get(request.match_info["id"])
    if batch is None or batch.api not in apis:
        raise Refused(404, "not_found_error", f"No batch with id '{request.match_info['id']}'.")
    return batch


def page(server: Server, request: web.Request, apis: Sequence[Api], cursor: str) -> dict[str, Any]:
    """One page of batches, newest first, after the one that the query's `cursor` names."""
    rows = [batch for batch in reversed(server.batches.all.values()) if batch.api in apis]
    ids = [batch.id for batch in rows]
    after = request.query.get(cursor, "")
    start = ids.index(after) + 1 if after in ids else 0
    end = start + int(request.query.get("limit", "20"))
    ends = {"first_id": ids[start], "last_id": ids[min(end, len(ids)) - 1]} if rows[start:] else {}
    return {"data": rows[start:end], "has_more": end < len(rows)} | ends


async def created(
    server: Server, request: web.Request, api: Api, submit: Callable[[], dict[str, Any]]
) -> web.StreamResponse:
    """Submit a batch and tell the client, unless a fault of `batch_create` is due."""
    batches = server.batches
    fault = nth(server.config.batch_create, batches.attempts)
    batches.attempts += 1
    if refused := refusal(fault.kind):
        return await server.refuse(api, request, refused, retry_after(fault))
    if fault.kind in ("reset", "hang"):
        return await interrupt(request, b"", fault)
    body = orjson.dumps(submit())
    if fault.kind in ("reset_mid", "hang_mid"):
        return await interrupt(request, body, fault)
    response = spoiled(body, fault) or reply(200, body)
    await send(request, response)
    return response
