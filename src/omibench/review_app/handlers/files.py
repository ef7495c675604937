"""Pictures of tasks, and health and metrics for monitoring."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from omibench.review.people import Reviewer
from omibench.review_app.handlers.context import ServerContext, identify, read_context
from omibench.review_app.overview import format_metrics
from omibench.review_app.roles import is_asked
from omibench.review_app.tasks import (
    MEDIA_TYPES,
    ListedTask,
    read_picture,
    shows_picture,
)
from omibench.schemas.review import TaskPicture
from omibench.web.serving.bodies import RequestError

_LOOPBACK = ("127.0.0.1", "::1")


def show_picture(request: Request) -> Response:
    """`GET /pictures/SHA256`: a picture of a task that the person can see."""
    _, person = identify(request)
    service = read_context(request).service
    places = service.content.pictures.get(request.path_params["sha256"], ())
    picture = next(
        (picture for listed, picture in places if _may_see(listed, picture, person)), None
    )
    data = read_picture(service.folder, picture) if picture else None
    if picture is None or data is None:
        raise RequestError(404, "picture", "picture not found")
    headers = {"Cache-Control": "private, max-age=86400, immutable"}
    return Response(data, media_type=MEDIA_TYPES[picture.suffix], headers=headers)


def show_health(request: Request) -> Response:
    """`GET /healthz`: the server responds and can read its log."""
    with read_context(request).service.database.read() as connection:
        connection.execute("SELECT 1")
    return PlainTextResponse("ok\n")


def show_metrics(request: Request) -> Response:
    """`GET /metrics`: for programs on this machine, and for seniors."""
    context = read_context(request)
    if not _is_local(request, context):
        _, person = identify(request)
        if "senior" not in person.roles:
            raise RequestError(403, "right", "metrics are for seniors")
    return PlainTextResponse(format_metrics(context.service))


def _is_local(request: Request, context: ServerContext) -> bool:
    """Return whether a program on this machine asks; unknown behind a TLS terminator."""
    host = request.client.host if request.client else ""
    return not context.settings.origin and host in _LOOPBACK


def _may_see(listed: ListedTask, picture: TaskPicture, person: Reviewer) -> bool:
    roles = [role for role in person.roles if is_asked(listed.task, role, person)]
    if listed.kind.design == "everyone" and is_asked(listed.task, "everyone", person):
        roles.append("annotator")
    return any(shows_picture(listed.kind, role, picture) for role in roles)
