"""Files of the OpenAI API."""

from __future__ import annotations

import time
from typing import Any

from aiohttp import web

from model_server.asked import Refused, bad
from model_server.batch_routes import json
from model_server.server import Server

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
