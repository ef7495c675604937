"""Pages: login, a person's tasks, one task, progress."""

from __future__ import annotations

from functools import partial

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from omibench.review_app.handlers.context import (
    ServerContext,
    find_listed,
    identify,
    read_context,
    require_token,
)
from omibench.review_app.log.database import check_password, read_hash
from omibench.review_app.log.states import find_next, find_previous
from omibench.review_app.overview import list_tasks, list_tests, measure_kinds, measure_people
from omibench.review_app.pages import (
    render_login,
    render_progress,
    render_task,
    render_task_list,
)
from omibench.review_app.payload import Neighbours, describe_task
from omibench.review_app.sessions import open_session
from omibench.web.serving.bodies import RequestError, read_form
from omibench.web.serving.logins import ask_to_wait, choose_target


def show_tasks(request: Request) -> Response:
    """`GET /`: the tasks that wait for the person."""
    session, person = identify(request)
    context = read_context(request)
    workloads, tasks, hidden = list_tasks(context.service, person)
    tests = list_tests(context.service, person)
    visitor = context.greet(session, person)
    return HTMLResponse(render_task_list(visitor, workloads, tasks, hidden, tests))


def show_task(request: Request) -> Response:
    """`GET /tasks/ID`: one task, as the person's role sees it."""
    session, person = identify(request)
    context = read_context(request)
    service, listed = context.service, find_listed(request)
    opened = service.open_task(listed, person)
    if opened is None:
        raise RequestError(403, "right", "this task is not for you")
    query = service.find_waiting(person)
    with service.database.read() as connection:
        next_task = find_next(connection, query, listed.position)
        previous_task = find_previous(connection, query, listed.position)
    neighbours = Neighbours(next_task, previous_task)
    document = {
        **describe_task(opened, person, neighbours),
        "csrf": session.token,
        "demo": context.settings.is_demo,
    }
    return HTMLResponse(render_task(context.greet(session, person), document))


def show_progress(request: Request) -> Response:
    """`GET /progress`: progress of all tasks; seniors also see each person's work and the head."""
    session, person = identify(request)
    context = read_context(request)
    is_senior = "senior" in person.roles
    kinds, head = measure_kinds(context.service)
    people = measure_people(context.service, None if is_senior else person.name)
    visitor = context.greet(session, person)
    shortest = context.service.shortest_seconds
    return HTMLResponse(
        render_progress(visitor, kinds, people, head if is_senior else "", shortest)
    )


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
    limit.forget_name(name)
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
    page = render_login(context.greet(session), message, name[:200], target)
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
