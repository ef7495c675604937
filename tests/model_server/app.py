"""The routes of the server: both APIs under /v1, and its own controls under /control."""

from __future__ import annotations

from typing import Any

from aiohttp import web
from pydantic import ValidationError

from model_server import anthropic_batches as anthropic
from model_server import openai_batches as openai
from model_server.anthropic_api import MESSAGES
from model_server.batch_routes import Guarded, guarded, json
from model_server.config import Config
from model_server.openai_api import CHAT, RESPONSES
from model_server.server import Server, body_of

MOST_BYTES = 512 * 2**20
FILES, BATCHES, MESSAGE_BATCHES = "/v1/files", "/v1/batches", "/v1/messages/batches"
GUARDED: list[tuple[str, str, Guarded]] = [
    ("POST", FILES, openai.upload),
    ("GET", FILES + "/{id}/content", openai.file_content),
    ("POST", BATCHES, openai.batch_created),
    ("GET", BATCHES, openai.batch_list),
    ("GET", BATCHES + "/{id}", openai.batch_retrieved),
    ("POST", MESSAGE_BATCHES, anthropic.message_batch_created),
    ("GET", MESSAGE_BATCHES, anthropic.message_batch_list),
    ("GET", MESSAGE_BATCHES + "/{id}", anthropic.message_batch_retrieved),
    ("GET", MESSAGE_BATCHES + "/{id}/results", anthropic.message_batch_results),
]


def application(config: Config) -> web.Application:
    """The server as an application that one event loop can run."""
    server = Server(config)
    app = web.Application(client_max_size=MOST_BYTES)
    for api in (CHAT, RESPONSES, MESSAGES):
        app.router.add_post(api.route, server.generate(api))
    for method, path, handler in GUARDED:
        api = MESSAGES if path.startswith(MESSAGE_BATCHES) else CHAT
        app.router.add_route(method, path, guarded(server, api, handler))
    app.router.add_post("/v1/embeddings", guarded(server, CHAT, embeddings))
    app.router.add_get("/v1/models", guarded(server, CHAT, models))
    app.router.add_get("/api/models", guarded(server, CHAT, hub_models))
    _add_controls(app, server)
    return app


async def embeddings(server: Server, request: web.Request) -> web.StreamResponse:
    """POST /v1/embeddings: of each text the numbers of its vowels; counted as one token each."""
    body = await body_of(request)
    vector = [float(body["input"].count(vowel)) for vowel in "aeiou"][: body.get("dimensions")]
    return json(
        {
            "object": "list",
            "model": body["model"],
            "data": [{"object": "embedding", "index": 0, "embedding": vector}],
            "usage": {"prompt_tokens": 1, "total_tokens": 1},
        }
    )


async def models(server: Server, request: web.Request) -> web.StreamResponse:
    """GET /v1/models, in the form of the API whose headers ask."""
    rows = [_model(name, request) for name in server.config.models]
    ends = {"first_id": rows[0]["id"], "last_id": rows[-1]["id"]} if rows else {}
    return json({"object": "list", "data": rows, "has_more": False} | ends)


async def hub_models(server: Server, request: web.Request) -> web.StreamResponse:
    """GET /api/models as a model hub: of an author, with words in their names, newest first."""
    asked = request.query
    found = [
        {"id": name, "modelId": name, "createdAt": "2026-11-01T00:00:00.000Z", "private": False}
        for name in server.config.hub_models
        if name.startswith(asked.get("author", "")) and asked.get("search", "") in name
    ]
    return json(found[: int(asked.get("limit", len(found)))])


def _model(name: str, request: web.Request) -> dict[str, Any]:
    if "anthropic-version" in request.headers:
        shown = {"type": "model", "id": name, "display_name": name, "lifecycle": "active"}
        return shown | {"created_at": "2026-01-01T00:00:00Z"}
    return {"id": name, "object": "model", "created": 1767225600, "owned_by": "stub"}


def _add_controls(app: web.Application, server: Server) -> None:
    async def stats(request: web.Request) -> web.Response:
        report = server.stats.report(contents=request.query.get("contents") == "1")
        return json(report | {"batches": server.batches.report()})

    async def reset(_: web.Request) -> web.Response:
        server.reset()
        return json({})

    async def restart(request: web.Request) -> web.Response:
        server.restart(Config.model_validate(await body_of(request)))
        return json({})

    async def configure(request: web.Request) -> web.Response:
        try:
            server.config = server.config.changed(**await body_of(request))
        except ValidationError as error:
            return json({"error": str(error)}, 422)
        return json({})

    async def finish(_: web.Request) -> web.Response:
        server.batches.finish()
        return json({})

    async def add_model(request: web.Request) -> web.Response:
        name = (await body_of(request))["name"]
        known = [m for m in server.config.models if m != name]
        server.config = server.config.changed(models=[*known, name])
        return json({})

    app.router.add_get("/control/stats", stats)
    app.router.add_post("/control/reset", reset)
    app.router.add_post("/control/restart", restart)
    app.router.add_post("/control/configure", configure)
    app.router.add_post("/control/models", add_model)
    app.router.add_post("/control/finish", finish)
