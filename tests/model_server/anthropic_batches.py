"""Message batches of the Anthropic API."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from aiohttp import web

from model_server.anthropic_api import MESSAGES
from model_server.asked import Refused, bad, need
from model_server.batch_routes import created, json, known, lines_of, page
from model_server.batches import Batch, Line, Result
from model_server.server import Server, body_of

APIS = (MESSAGES,)
CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
Json = dict[str, Any]


async def message_batch_created(server: Server, request: web.Request) -> web.StreamResponse:
    """POST /v1/messages/batches."""
    rows = need(await body_of(request), "requests", list)
    if not rows:
        raise bad("requests: at least one request is required")
    lines: dict[str, Line] = {}
    for place, row in enumerate(rows):
        line = _line(server, place, row, request.headers)
        if line.custom_id in lines:
            raise bad(f"requests.{place}.custom_id: {line.custom_id!r} was used before")
        lines[line.custom_id] = line

    def submit() -> Json:
        batch = server.batches.submit(MESSAGES, "msgbatch_", list(lines.values()), {})
        return described(request, batch)

    return await created(server, request, MESSAGES, submit)


def _line(server: Server, place: int, row: Any, headers: Mapping[str, str]) -> Line:
    """A line whose params are wrong fails later, alone; one without a good id fails the batch."""
    custom_id = row.get("custom_id") if isinstance(row, dict) else None
    if not isinstance(custom_id, str) or not CUSTOM_ID.fullmatch(custom_id):
        raise bad(f"requests.{place}.custom_id: must match ^{CUSTOM_ID.pattern}$")
    try:
        return Line(custom_id, server.parsed(MESSAGES, row.get("params"), headers))
    except Refused as refused:
        return Line(custom_id, refused)


async def message_batch_retrieved(server: Server, request: web.Request) -> web.StreamResponse:
    """GET /v1/messages/batches/{id}."""
    return json(described(request, known(server, request, APIS)))


async def message_batch_list(server: Server, request: web.Request) -> web.StreamResponse:
    """GET /v1/messages/batches."""
    found = page(server, request, APIS, "after_id")
    return json(found | {"data": [described(request, batch) for batch in found["data"]]})


async def message_batch_results(server: Server, request: web.Request) -> web.StreamResponse:
    """GET /v1/messages/batches/{id}/results."""
    batch = known(server, request, APIS)
    if batch.results is None:
        raise bad("The results of this batch are not available yet.")
    rows = [{"custom_id": r.custom_id, "result": _result(r)} for r in batch.results]
    return web.Response(body=lines_of(rows), content_type="application/x-jsonl")


def _result(result: Result) -> Json:
    if result.outcome == "succeeded":
        return {"type": "succeeded", "message": result.body}
    if result.outcome == "errored":
        return {"type": "errored", "error": result.body | {"request_id": None}}
    return {"type": result.outcome}


def described(request: web.Request, batch: Batch) -> Json:
    """A batch as the API shows it."""
    outcomes = ("processing", "succeeded", "errored", "canceled", "expired")
    ended = batch.results is not None
    url = f"{request.url.origin()}{MESSAGES.route}/batches/{batch.id}/results"
    return {
        "id": batch.id,
        "type": "message_batch",
        "processing_status": "ended" if ended else "in_progress",
        "request_counts": {name: batch.counts[name] for name in outcomes},
        "created_at": _time(batch.created_at),
        "expires_at": _time(batch.created_at, hours=24),
        "ended_at": _time(batch.ended_at),
        "results_url": url if ended else None,
    }


def _time(unix: float | None, hours: int = 0) -> str | None:
    if unix is None:
        return None
    return (datetime.fromtimestamp(unix, UTC) + timedelta(hours=hours)).isoformat()
