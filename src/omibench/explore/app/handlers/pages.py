"""HTML shells of the pages, which scripts complete."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from omibench.explore.app.handlers.context import read_snapshot
from omibench.web.templates import make_environment

PACKAGE = "omibench.explore"


def show_grid(request: Request) -> Response:
    """`GET /`: all items under all cells."""
    return _show(request, "grid.html.j2")


def show_item_page(request: Request) -> Response:
    """`GET /items/ID`: one item."""
    return _show(request, "item.html.j2", name=request.path_params["name"])


def render(template: str, **values: str) -> str:
    """Render a page; every value is escaped."""
    return make_environment(PACKAGE).get_template(template).render(**values)


def _show(request: Request, template: str, **values: str) -> Response:
    title = read_snapshot(request).sources.title
    return HTMLResponse(render(template, title=title, **values))
