"""The pages: shells that their scripts fill."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from omibench.explore.app.handlers.context import read_snapshot
from omibench.web.templates import make_environment

PACKAGE = "omibench.explore"


def show_grid(request: Request) -> Response:
    """`GET /`: all items under all cells."""
    return _render(request, "grid.html.j2")


def show_item_page(request: Request) -> Response:
    """`GET /items/ID`: one item."""
    return _render(request, "item.html.j2", name=request.path_params["name"])


def _render(request: Request, template: str, **values: str) -> Response:
    title = read_snapshot(request).sources.title
    page = make_environment(PACKAGE).get_template(template).render(title=title, **values)
    return HTMLResponse(page)
