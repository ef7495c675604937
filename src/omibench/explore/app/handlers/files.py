"""Pictures, and a health check."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from omibench.explore.app.handlers.context import read_snapshot
from omibench.explore.app.pictures import ServedPicture, read_served_picture
from omibench.explore.item import find_heat_map
from omibench.params.cell import Cell
from omibench.web.serving.bodies import RequestError

_DIGITS: Final = 4


def show_picture(request: Request) -> Response:
    """`GET /pictures/SHA256`: a picture: of the dataset, derived, drawn by a model, or a page."""
    picture = read_snapshot(request).pictures.read(request.path_params["sha256"])
    return _send(picture, "private, max-age=86400, immutable")


def show_heat_map(request: Request) -> Response:
    """`GET /heat-map?model=&setting=&id=&image=&option=`: the saliency map of an option."""
    run, values = read_snapshot(request).study.run, request.query_params
    image = values.get("image", "")
    path = None
    if run is not None and image.isascii() and image.isdigit() and len(image) < _DIGITS:
        cell = Cell(values.get("model", ""), values.get("setting", ""))
        name, option = values.get("id", ""), values.get("option", "")
        path = find_heat_map(run, cell, name, int(image), option)
    return _send(read_served_picture(path) if path is not None else None, "no-cache")


def _send(picture: ServedPicture | None, caching: str) -> Response:
    if picture is None:
        raise RequestError(404, "picture", "picture not found")
    headers = {"Cache-Control": caching}
    return Response(picture.data, media_type=picture.media_type, headers=headers)


def show_health(request: Request) -> Response:
    """`GET /healthz`: the server responds."""
    return PlainTextResponse("ok\n")
