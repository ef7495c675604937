"""The login of a server that has a secret."""

from __future__ import annotations

import time
from functools import partial

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from omibench.explore.app.handlers.context import read_context
from omibench.explore.app.handlers.pages import render
from omibench.web.serving.bodies import read_form
from omibench.web.serving.logins import ask_to_wait, choose_target


def show_login(request: Request) -> Response:
    """`GET /login`: the login form."""
    return _ask(choose_target(request.query_params.get("target", "/")))


async def log_in(request: Request) -> Response:
    """`POST /login`: log in with the secret, with limited attempts."""
    context = read_context(request)
    form = await read_form(request)
    target = choose_target(form.get("target", "/"))
    login = context.login
    if login is None:
        return RedirectResponse(target, 303)
    address = request.client.host if request.client else ""
    limit, now = context.login_limit, time.monotonic()
    if wait := limit.find_wait(address, address, now):
        return ask_to_wait(partial(_ask, target), wait)
    if not login.is_secret(form.get("secret", "")):
        limit.add_failure(address, address, now)
        return _ask(target, "Wrong secret.", 401)
    limit.forget_name(address)
    response = RedirectResponse(target, 303)
    login.let_in(response)
    return response


def _ask(target: str, message: str = "", status: int = 200) -> Response:
    return HTMLResponse(render("login.html.j2", target=target, message=message), status)
