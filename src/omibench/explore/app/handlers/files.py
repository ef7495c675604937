"""Pictures, and whether the server is alive."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from omibench.explore.app.handlers.context import read_snapshot
from omibench.web.serving.bodies import RequestError


def show_picture(request: Request) -> Response:
    """`GET /pictures/SHA256`: a picture of the dataset, derived, drawn by a model, or of a page."""
    picture = read_snapshot(request).pictures.read(request.path_params["sha256"])
    if picture is None:
        raise RequestError(404, "picture", "there is no such picture")
    headers = {"Cache-Control": "private, max-age=86400, immutable"}
    return Response(picture.data, media_type=picture.media_type, headers=headers)


def show_health(request: Request) -> Response:
    """`GET /healthz`: the server answers."""
    return PlainTextResponse("ok\n")
