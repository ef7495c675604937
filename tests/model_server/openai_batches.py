"""Files and batches of the OpenAI API."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from aiohttp import web

from model_server.asked import Api, Refused, bad, need
from model_server.batch_routes import created, json, known, lines_of, page
from model_server.batches import Batch, Line, Result
from model_server.openai_api import CHAT, RESPONSES
from model_server.server import Server, body_of

APIS = (CHAT, RESPONSES)
Json = dict[str, Any]


async def upload(server: Server, request: web.Request) -> web.StreamResponse:
    """POST /v1/files."""
    form = await request.post()
    given, purpose = form.get("file"), form.get("purpose")
    if not isinstance(given, web.FileField) or not isinstance(purpose, str):
        raise bad("'file' and 'purpose' are required", "file")
    return json(store(server, given.file.read(), given.filename, purpose))


def store(server: Server, data: bytes, name: str, purpose: str) -> Json:
    """Keep a file; its description."""
    described: Json = {
        "id": f"file-{len(server.batches.files) + 1:06d}",
        "object": "file",
        "bytes": len(data),
        "created_at": int(time.time()),
        "filename": name,
        "purpose": purpose,
        "status": "processed",
    }
    server.batches.files[described["id"]] = (described, data)
    return described


def stored(server: Server, file_id: str) -> tuple[Json, bytes]:
    """A file and its description. Raises Refused."""
    if file_id not in server.batches.files:
        raise Refused(404, "not_found_error", f"No such File object: {file_id}", "id")
    return server.batches.files[file_id]


async def file_content(server: Server, request: web.Request) -> web.StreamResponse:
    """GET /v1/files/{id}/content."""
    data = stored(server, request.match_info["id"])[1]
    return web.Response(body=data, content_type="application/octet-stream")


async def batch_created(server: Server, request: web.Request) -> web.StreamResponse:
    """POST /v1/batches."""
    body = await body_of(request)
    route, source = need(body, "endpoint", str), need(body, "input_file_id", str)
    if need(body, "completion_window", str) != "24h":
        raise bad("Invalid value for 'completion_window': only '24h' is supported")
    api = next((api for api in APIS if api.route == route), None)
    if api is None:
        raise bad(f"Invalid 'endpoint': {route!r}", "endpoint")
    data = stored(server, source)[1]

    def submit() -> Json:
        details: Json = {"input_file_id": source, "metadata": body.get("metadata")}
        lines, details["invalid"] = read(server, api, data, request.headers)
        batch = server.batches.submit(api, "batch_", [] if details["invalid"] else lines, details)
        return described(server, batch, status=None if details["invalid"] else "validating")

    return await created(server, request, api, submit)


def read(
    server: Server, api: Api, data: bytes, headers: Mapping[str, str]
) -> tuple[list[Line], str | None]:
    """The lines of an input file, and what is wrong with the file as a whole."""
    lines: dict[str, Line] = {}
    for number, text in enumerate(data.splitlines(), 1):
        try:
            row = orjson.loads(text)
            custom_id, body = row["custom_id"], row["body"]
            if (row["method"], row["url"]) != ("POST", api.route):
                return [], f"line {number}: method and url must be POST {api.route}"
        except (orjson.JSONDecodeError, KeyError, TypeError):
            return [], f"line {number} is no request: custom_id, method, url and body"
        if custom_id in lines:
            return [], f"line {number}: the custom_id {custom_id!r} was used before"
        try:
            lines[custom_id] = Line(custom_id, server.parsed(api, body, headers))
        except Refused as refused:
            lines[custom_id] = Line(custom_id, refused)
    return list(lines.values()), None if lines else "the file is empty"


async def batch_retrieved(server: Server, request: web.Request) -> web.StreamResponse:
    """GET /v1/batches/{id}."""
    return json(described(server, known(server, request, APIS)))


async def batch_list(server: Server, request: web.Request) -> web.StreamResponse:
    """GET /v1/batches."""
    found = page(server, request, APIS, "after")
    rows = [described(server, batch) for batch in found["data"]]
    return json(found | {"object": "list", "data": rows})


def described(server: Server, batch: Batch, status: str | None = None) -> Json:
    """A batch as the API shows it; `status` overrides what follows from its results."""
    invalid = batch.details["invalid"]
    ended = batch.results is not None and status is None and not invalid
    if ended and "output" not in batch.details:
        batch.details |= _outputs(server, batch)
    counts = batch.counts if ended else {}
    failed = sum(counts.get(name, 0) for name in ("errored", "expired"))
    shown = status or ("failed" if invalid else _status(batch))
    problem = {"code": "invalid_batch", "message": invalid, "param": None, "line": None}
    return {
        "id": batch.id,
        "object": "batch",
        "endpoint": batch.api.route,
        "completion_window": "24h",
        "errors": {"object": "list", "data": [problem]} if invalid else None,
        "status": shown,
        "input_file_id": batch.details["input_file_id"],
        "output_file_id": batch.details["output"] if ended else None,
        "error_file_id": batch.details["error"] if ended else None,
        "created_at": int(batch.created_at),
        "expires_at": int(batch.created_at) + 86400,
        "completed_at": int(batch.ended_at or 0) if shown == "completed" else None,
        "request_counts": {
            "total": len(batch.lines),
            "completed": counts.get("succeeded", 0),
            "failed": failed,
        },
        "metadata": batch.details["metadata"],
    }


def _status(batch: Batch) -> str:
    if batch.results is None:
        return "in_progress"
    return "expired" if batch.counts["expired"] else "completed"


def _outputs(server: Server, batch: Batch) -> dict[str, str | None]:
    """Write the files of the lines that succeeded and of the others; None where there are none."""
    results = batch.results or []
    good = [_row(batch, r) for r in results if r.outcome == "succeeded"]
    poor = [_row(batch, r) for r in results if r.outcome != "succeeded"]
    return {name: _write(server, name, rows) for name, rows in (("output", good), ("error", poor))}


def _write(server: Server, name: str, rows: Sequence[Json]) -> str | None:
    if not rows:
        return None
    return str(store(server, lines_of(rows), f"{name}.jsonl", "batch_output")["id"])


def _row(batch: Batch, result: Result) -> Json:
    row: Json = {"id": f"{batch.id}_{result.custom_id}", "custom_id": result.custom_id}
    if result.outcome == "expired":
        lost = {"code": "batch_expired", "message": "This request was expired before it ran."}
        return row | {"response": None, "error": lost}
    response = {"status_code": result.status, "request_id": row["id"], "body": result.body}
    return row | {"response": response, "error": None}
