"""The review application: pages, files, tasks, and its server."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from pydantic import Field
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import BaseRoute, Route

from omibench.review.app.conflicts import DecisionConflictError, DoubtError, NoRightError
from omibench.review.app.context import (
    LoginNeededError,
    ServerContext,
    ServerSettings,
    Sessions,
    find_listed,
    identify,
    identify_writer,
    open_session,
    read_context,
    require_token,
)
from omibench.review.app.database import check_password, read_hash
from omibench.review.app.overview import (
    format_metrics,
    list_tasks,
    list_tests,
    measure_kinds,
    measure_pace,
    measure_people,
)
from omibench.review.app.pages import PACKAGE, link_task, render
from omibench.review.app.payload import describe_task
from omibench.review.app.service import ReviewService, Seconds, Submission
from omibench.review.app.tasks import MEDIA_TYPES, is_asked, read_picture, shows_picture
from omibench.review.check import DecisionFieldError
from omibench.web.bodies import JsonBody, RequestError
from omibench.web.server import (
    BrowserPolicy,
    ask_login,
    ask_to_wait,
    choose_target,
    mount_folders,
    read_form,
    read_json,
    serve,
    wants_page,
)
from omibench.web.templates import embed_json

# Pages: login, a person's tasks, one task, progress.


def show_tasks(request: Request) -> Response:
    """`GET /`: the tasks that wait for the person."""
    session, person = identify(request)
    context = read_context(request)
    workloads, tasks, hidden = list_tasks(context.service, person)
    page = render(
        context.greet(session, person),
        "tasks",
        workloads=workloads,
        tasks=tasks,
        hidden=hidden,
        tests=list_tests(context.service, person),
        shortest=context.service.shortest_seconds,
    )
    return HTMLResponse(page)


def show_task(request: Request) -> Response:
    """`GET /tasks/ID`: one task, as the person's role sees it."""
    session, person = identify(request)
    context = read_context(request)
    service, listed = context.service, find_listed(request)
    opened = service.open_task(listed, person)
    if opened is None:
        raise RequestError(403, "right", "this task is not for you")
    document = {
        **describe_task(opened, person, service.find_neighbours(listed, person)),
        "progress": measure_pace(service, opened, person),
        "csrf": session.token,
        "demo": context.settings.is_demo,
    }
    title = document["task"]["title"]
    visitor = context.greet(session, person)
    return HTMLResponse(render(visitor, "task", title=title, document=embed_json(document)))


def show_progress(request: Request) -> Response:
    """`GET /progress`: progress of all tasks; seniors also see each person's work and the head."""
    session, person = identify(request)
    context = read_context(request)
    service, is_senior = context.service, "senior" in person.roles
    page = render(
        context.greet(session, person),
        "progress",
        kinds=list(measure_kinds(service).values()),
        people=measure_people(service, None if is_senior else person.name),
        head=service.log.head if is_senior else "",
        shortest=service.shortest_seconds,
    )
    return HTMLResponse(page)


def show_login(request: Request) -> Response:
    """`GET /login`: the login form."""
    target = choose_target(request.query_params.get("target", "/"))
    return _ask_login(request, "", target)


async def log_in(request: Request) -> Response:
    """`POST /login`: log in with name and password, with limited attempts."""
    context = read_context(request)
    form = await read_form(request)
    require_token(context.sessions.read(request), form.get("csrf", ""))
    name, password = form.get("name", "").strip(), form.get("password", "")
    target = choose_target(form.get("target", "/"))
    address = request.client.host if request.client else ""
    limit, now = context.login_limit, context.service.seconds
    if wait := limit.find_wait(name, address, now):
        return ask_to_wait(partial(_ask_login, request, name, target), wait)
    # Counted as failed before the check, so that parallel attempts count as well.
    limit.add_failure(name, address, now)
    if not await run_in_threadpool(_knows_password, context, name, password):
        return _ask_login(request, name, target, "Wrong name or password.", 401)
    limit.take_back(name, address, now)
    response = RedirectResponse(target, 303)
    context.sessions.start(response, name)
    return response


async def log_out(request: Request) -> Response:
    """`POST /logout`: end the session."""
    context = read_context(request)
    form = await read_form(request)
    session = context.sessions.read(request)
    if session is None:
        return RedirectResponse("/login", 303)
    require_token(session, form.get("csrf", "") or request.headers.get("x-csrf-token", ""))
    response = RedirectResponse("/login", 303)
    context.sessions.end(response, session, context.service.seconds)
    return response


def _ask_login(
    request: Request, name: str, target: str, message: str = "", status: int = 200
) -> Response:
    context = read_context(request)
    session = context.sessions.read(request) or open_session()
    visitor = context.greet(session)
    page = render(visitor, "login", message=message, typed_name=name[:200], target=target)
    response = HTMLResponse(page, status)
    context.sessions.write(response, session)
    return response


def _knows_password(context: ServerContext, name: str, password: str) -> bool:
    service = context.service
    with service.database.read() as connection:
        password_hash = read_hash(connection, name)
    is_listed = name in service.content.people
    with context.checking:
        return check_password(password_hash if is_listed else None, password)


# Pictures of tasks, and health and metrics for monitoring.

_LOOPBACK = ("127.0.0.1", "::1")


def show_picture(request: Request) -> Response:
    """`GET /pictures/SHA256`: a picture of a task that the person can see."""
    _, person = identify(request)
    service = read_context(request).service
    for listed, picture in service.content.pictures.get(request.path_params["sha256"], ()):
        roles = [role for role in person.roles if is_asked(listed.task, role, person)]
        if listed.kind.design == "everyone" and is_asked(listed.task, "everyone", person):
            roles.append("annotator")
        if any(shows_picture(listed.kind, role, picture) for role in roles):
            data = read_picture(service.folder, picture)
            if data is None:
                break
            headers = {"Cache-Control": "private, max-age=86400, immutable"}
            return Response(data, media_type=MEDIA_TYPES[picture.suffix], headers=headers)
    raise RequestError(404, "picture", "picture not found")


def show_health(request: Request) -> Response:
    """`GET /healthz`: the server responds and can read its log."""
    with read_context(request).service.database.read() as connection:
        connection.execute("SELECT 1")
    return PlainTextResponse("ok\n")


def show_metrics(request: Request) -> Response:
    """`GET /metrics`: for programs on this machine, and for seniors.

    Behind a TLS terminator it is unknown whether a program on this machine asks.
    """
    context = read_context(request)
    host = request.client.host if request.client else ""
    if context.settings.origin or host not in _LOOPBACK:
        _, person = identify(request)
        if "senior" not in person.roles:
            raise RequestError(403, "right", "metrics are for seniors")
    return PlainTextResponse(format_metrics(context.service))


# Requests of a task page: decisions, drafts, claims.

DECISION_BYTES: Final = 2 * 2**20


async def decide(request: Request) -> Response:
    """`POST /tasks/ID/decision`: 201 with the decision's id and the address of the next task."""
    person = await run_in_threadpool(identify_writer, request)
    submission = await read_json(request, Submission, DECISION_BYTES)
    service, listed = read_context(request).service, find_listed(request)
    decision = await run_in_threadpool(service.decide, listed, person, submission)
    task, _ = await run_in_threadpool(service.find_neighbours, listed, person)
    return JSONResponse({"id": decision.id, "next": link_task(task) if task else None}, 201)


class OwnAnswer(JsonBody):
    """A person's own answer to a problem, and the time that it took."""

    answer: str = Field(max_length=2_000)
    seconds: Seconds = 0.0
    content_hash: str = ""


async def answer(request: Request) -> Response:
    """`POST /tasks/ID/answer`: the person's own answer; then the page shows key and solution."""
    person = await run_in_threadpool(identify_writer, request)
    given = await read_json(request, OwnAnswer, DECISION_BYTES)
    service, listed = read_context(request).service, find_listed(request)
    await run_in_threadpool(
        service.answer, listed, person, given.answer, given.seconds, given.content_hash
    )
    return Response(status_code=204)


async def save_draft(request: Request) -> Response:
    """`PUT /tasks/ID/draft`: save the unfinished form."""
    person = await run_in_threadpool(identify_writer, request)
    submission = await read_json(request, Submission, DECISION_BYTES)
    service, listed = read_context(request).service, find_listed(request)
    await run_in_threadpool(service.save_draft, listed, person, submission)
    return Response(status_code=204)


def claim(request: Request) -> Response:
    """`POST /tasks/ID/claim`: reserve the task while the person works on it."""
    person = identify_writer(request)
    read_context(request).service.claim(find_listed(request), person)
    return Response(status_code=204)


def release(request: Request) -> Response:
    """`DELETE /tasks/ID/claim`: release the task."""
    person = identify_writer(request)
    read_context(request).service.release(find_listed(request), person)
    return Response(status_code=204)


# The application: routes, error handling and middleware.

ROUTES: tuple[BaseRoute, ...] = (
    Route("/", show_tasks),
    Route("/login", show_login),
    Route("/login", log_in, methods=["POST"]),
    Route("/logout", log_out, methods=["POST"]),
    Route("/progress", show_progress),
    Route("/healthz", show_health),
    Route("/metrics", show_metrics),
    Route("/pictures/{sha256}", show_picture),
    Route("/tasks/{task:path}/decision", decide, methods=["POST"]),
    Route("/tasks/{task:path}/answer", answer, methods=["POST"]),
    Route("/tasks/{task:path}/draft", save_draft, methods=["PUT"]),
    Route("/tasks/{task:path}/claim", claim, methods=["POST"]),
    Route("/tasks/{task:path}/claim", release, methods=["DELETE"]),
    Route("/tasks/{task:path}", show_task),
)


def make_application(service: ReviewService, settings: ServerSettings) -> Starlette:
    """Build the application of a review.

    Args:
        service: The review.
        settings: The server settings.
    """
    sessions = Sessions(
        service.database, settings.secret, is_secure=settings.is_secure, port=settings.port
    )

    application = Starlette(
        routes=[*ROUTES, *mount_folders(PACKAGE)],
        middleware=[Middleware(BrowserPolicy, hosts=settings.hosts, is_secure=settings.is_secure)],
        exception_handlers=dict.fromkeys(_ERRORS, answer_error),
    )
    application.state.context = ServerContext(service, sessions, settings)
    return application


def answer_error(request: Request, error: Exception) -> Response:  # noqa: PLR0911 - one a class
    """Answer a request that failed: the page or the JSON that its browser expects."""
    match error:
        case LoginNeededError():
            return ask_login(request)
        case DecisionFieldError():
            return JSONResponse({"field": error.field, "message": error.message}, 422)
        case DoubtError():
            # Sent again with the names in `confirmed`, the decision counts.
            doubts = [doubt._asdict() for doubt in error.doubts]
            return JSONResponse({"reason": "doubt", "doubts": doubts}, 428)
        case DecisionConflictError():
            _, person = identify(request)
            current = {
                "base": error.base,
                "content_hash": error.task.content_hash,
                "url": link_task(error.task.id),
            }
            # Only seniors learn who decided first, since another person may still audit.
            by = error.by if "senior" in person.roles else None
            return JSONResponse({"reason": error.reason, "by": by, "current": current}, 409)
        case RequestError():
            return _answer(request, error.status, "Not possible", error.reason, error.message)
        case HTTPException():
            message = "page not found" if error.status_code == 404 else error.detail
            return _answer(request, error.status_code, "Not possible", "address", message)
    return _answer(request, 403, "Not for you", "right", "this task is not waiting for you")


def _answer(request: Request, status: int, title: str, reason: str, message: str) -> Response:
    if not wants_page(request):
        return JSONResponse({"message": message, "reason": reason}, status)
    context = read_context(request)
    try:
        visitor = context.greet(*identify(request))
    except LoginNeededError:
        visitor = context.greet(None)
    return HTMLResponse(render(visitor, "error", title=title, message=message), status)


_ERRORS: Final = (
    LoginNeededError, RequestError, NoRightError, DecisionFieldError, DoubtError,
    DecisionConflictError, HTTPException,
)  # fmt: skip


# The server of a review.


def run_server(
    service: ReviewService, settings: ServerSettings, on_start: Callable[[str], None]
) -> None:
    """Serve a review until the process is stopped.

    Args:
        service: The review; it is closed at the end.
        settings: Address and mode.
        on_start: Called with the address once the server listens.

    Raises:
        OutputError: The address cannot be used, or decisions.jsonl cannot be written.
    """

    def make(port: int) -> Starlette:
        return make_application(service, settings.replace(port=port))

    try:
        serve(make, settings, on_start)
        service.log.synchronise()
    finally:
        service.close()
