"""The application of the explorer: its routes, lists and bundles."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from typing import Any, Final, Literal, NamedTuple, cast

import numpy as np
from pydantic import ValidationError
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

from omibench.errors import MissingInputError, OmibenchError
from omibench.explore.app.live import LiveStudy, Snapshot
from omibench.explore.app.notes import ReaderNote, take_note
from omibench.explore.app.pictures import ServedPicture, read_served_picture
from omibench.explore.app.settings import ExplorerSettings
from omibench.explore.app.tags import TagChange, save_tag
from omibench.explore.app.views import describe_place, describe_rows, describe_study, find_sent
from omibench.explore.filters import OF_RESPONSES, describe_numbers, round_number
from omibench.explore.item import find_heat_map
from omibench.explore.query import ItemQuery, parse_query
from omibench.explore.run import parse_cell
from omibench.explore.selection import Selection, Study
from omibench.files.outputs import format_csv
from omibench.params.setting import Cell
from omibench.results.statistics.items import average_rows
from omibench.review.tags import TagEvent
from omibench.schemas.validation import explain
from omibench.schemas.verdict import RIGHT
from omibench.web.bodies import RequestError
from omibench.web.formulas import join_modules
from omibench.web.login import LoginWall, SecretLogin
from omibench.web.server import (
    BrowserPolicy,
    choose_target,
    mount_folders,
    read_form,
    read_json,
    serve,
)
from omibench.web.templates import make_environment

PACKAGE: Final = "omibench.explore"
_SCRIPTS: Final = ("grid", "item")
_STYLES: Final = ("theme", "base", "content", "item", "explore")


class Bundle(NamedTuple):
    """A file, its media type, and an address that changes with its content."""

    content: str
    media_type: str
    address: str


@cache
def read_bundles() -> dict[str, Bundle]:
    """Return the bundles by name: `grid.js`, `item.js` and `explore.css`."""
    own = files(PACKAGE) / "static", files("omibench.stages.analyze.explorer") / "static"
    places = (*own, files("omibench.web") / "static")
    styles = [
        next(path for place in places if (path := place / f"{name}.css").is_file())
        for name in _STYLES
    ]
    contents = {f"{name}.js": join_modules(name, *own) for name in _SCRIPTS}
    contents["explore.css"] = "".join(style.read_text("utf-8") for style in styles)
    return {name: _make(name, content) for name, content in contents.items()}


def _make(name: str, content: str) -> Bundle:
    kind = "text/javascript" if name.endswith(".js") else "text/css"
    version = hashlib.sha256(content.encode()).hexdigest()[:16]
    return Bundle(content, f"{kind}; charset=utf-8", f"/bundles/{name}?{version}")


# Export of a list of problems as a table: exactly the selected ones, in their order.

ListForm = Literal["csv", "jsonl"]
MEDIA: Final[dict[ListForm, str]] = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/jsonl; charset=utf-8",
}
_JOINT: Final = "; "
_MEANS: Final = {**OF_RESPONSES, "length": "characters"}


def write_list(study: Study, query: ItemQuery, form: ListForm) -> str:
    """Return all items that a query selects as a table.

    A row has the problem, its tags, the number of right cells, the means of the responses'
    measures, and the verdict in each of the query's cells. `simulated` is whether any of them is.

    Args:
        study: The study.
        query: The query; `offset`, `column` and `limit` are ignored.
        form: `csv` has a column MODEL/SETTING for each cell and joins lists with `; `; `jsonl` has
            lists, and the verdicts in an object.

    Raises:
        ParamsError: The query does not match the study.
    """
    selection = study.select(query)
    rows = _list_rows(study, query, selection, selection.ids)
    if form == "jsonl":
        return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    # Without matches, the header is that of another problem's row.
    other = _list_rows(study, query, selection, study.items.ids[:1])
    return format_csv([*map(_flatten, rows)], [name for row in other for name in _flatten(row)])


def _flatten(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of a table without lists and objects."""
    verdicts = row.pop("verdicts")
    joined = {name: _JOINT.join(v) if isinstance(v, list) else v for name, v in row.items()}
    return {**joined, **verdicts}


def _list_rows(
    study: Study, query: ItemQuery, selection: Selection, names: Sequence[str]
) -> Iterator[dict[str, Any]]:
    grid, run = selection.grid, study.run
    tags, measures = study.read_tags(), {}
    if selection.columns:
        measures = study.average_measures(selection.columns, with_slow=True)
    cells = [run.cells[column] for column in selection.columns] if run else []
    simulated = bool(run and run.simulated_cells & set(cells))
    for name in names:
        question, answer = study.items.questions[name], study.items.answers[name]
        place = study.items.places[name]
        row = {
            "id": name,
            "subject": question.subject,
            "answer_type": answer.answer_type,
            "n_images": answer.n_images,
            "question": question.question,
            "gold": answer.answer,
            "tags": sorted(tags.get(name, ())),
            "synthetic": bool(study.items.manifest.synthetic),
        }
        verdicts: dict[str, float | None] = {}
        if grid is not None:
            values = grid.values[place].astype(float)
            row |= {
                "scorer": study.choose_rules(query.rules),
                "right": int((values >= RIGHT).sum()),
                "scored": int((~np.isnan(values)).sum()),
                "mean_verdict": round_number(float(average_rows(values[None])[0])),
            }
            columns = ("/".join(cell) for cell in grid.cells)
            verdicts = dict(zip(columns, map(round_number, values), strict=True))
        if measures:
            numbers = describe_numbers(measures, place)
            row |= {f"mean_{column}": numbers[measure] for measure, column in _MEANS.items()}
            row["simulated"] = simulated
        yield row | {"verdicts": verdicts}


# The explorer as a web application: login, pages, data, pictures and notes, and its server.

# Shared state of all requests.


@dataclass(frozen=True)
class ExplorerContext:
    """The displayed study and the server settings.

    Attributes:
        live: The study.
        settings: The server settings.
        login: The login; None if only this machine reaches the server.
    """

    live: LiveStudy
    settings: ExplorerSettings
    login: SecretLogin | None = None


def read_context(request: Request) -> ExplorerContext:
    """Return the shared state of all requests."""
    return cast(ExplorerContext, request.app.state.context)


def read_snapshot(request: Request) -> Snapshot:
    """Return the current snapshot of the study."""
    return read_context(request).live.read()


# HTML shells of the pages, which scripts complete.


def show_grid(request: Request) -> Response:
    """`GET /`: all items under all cells."""
    return _show(request, "grid.html.j2")


def show_item_page(request: Request) -> Response:
    """`GET /items/ID`: one item."""
    return _show(request, "item.html.j2", name=request.path_params["name"])


def render(template: str, **values: str) -> str:
    """Render a page; every value is escaped."""
    addresses = {name: bundle.address for name, bundle in read_bundles().items()}
    page = make_environment(PACKAGE).get_template(template)
    return page.render(bundles=addresses, **values)


def show_bundle(request: Request) -> Response:
    """`GET /bundles/NAME`: a script or the style of the pages."""
    bundle = read_bundles().get(request.path_params["name"])
    if bundle is None:
        raise RequestError(404, "name", "page not found")
    # The address changes with the content.
    caching = "public, max-age=31536000, immutable"
    headers = {"Cache-Control": caching}
    return Response(bundle.content, media_type=bundle.media_type, headers=headers)


def _show(request: Request, template: str, **values: str) -> Response:
    title = read_snapshot(request).sources.title
    return HTMLResponse(render(template, title=title, **values))


# The login of a server that has a secret.


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
    return login.admit(request, form.get("secret", ""), partial(_ask, target), target)


def _ask(target: str, message: str = "", status: int = 200) -> Response:
    return HTMLResponse(render("login.html.j2", target=target, message=message), status)


# Pictures, and a health check.

_DIGITS: Final = 4


def show_picture(request: Request) -> Response:
    """`GET /pictures/SHA256`: a picture: of the dataset, derived, drawn by a model, or a page."""
    picture = read_snapshot(request).pictures.read(request.path_params["sha256"])
    return _send(picture, "private, max-age=86400, immutable")


def show_thumbnail(request: Request) -> Response:
    """`GET /thumbnails/SHA256`: a picture in the size of a list."""
    data = read_snapshot(request).pictures.make_thumbnail(request.path_params["sha256"])
    picture = ServedPicture(data, "image/png") if data is not None else None
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


# Data for the pages: the study, items, one item, requests.


def show_study(request: Request) -> Response:
    """`GET /api/study`: the contents of the study."""
    snapshot = read_snapshot(request)
    return JSONResponse(describe_study(snapshot))


def list_items(request: Request) -> Response:
    """`GET /api/items?QUERY`: a page of the items that a query selects, with their verdicts."""
    query = parse_query(request.query_params.multi_items())
    return JSONResponse(describe_rows(read_snapshot(request), query))


def download_list(request: Request) -> Response:
    """`GET /list.csv?QUERY` and `GET /list.jsonl?QUERY`: all items that a query selects."""
    form = cast(ListForm, request.path_params["form"])
    if form not in MEDIA:
        raise RequestError(404, "form", f"lists are downloaded as {' or '.join(MEDIA)}")
    query = parse_query(request.query_params.multi_items())
    content = write_list(read_snapshot(request).study, query, form)
    headers = {"Content-Disposition": f'attachment; filename="problems.{form}"'}
    return Response(content, media_type=MEDIA[form], headers=headers)


def show_item(request: Request) -> Response:
    """`GET /api/items/ID?cells=MODEL/SETTING&QUERY`: an item, responses, and its neighbours."""
    pairs = request.query_params.multi_items()
    cells = [parse_cell(value) for name, value in pairs if name == "cells"]
    query = parse_query([(name, value) for name, value in pairs if name != "cells"])
    name = request.path_params["name"]
    return JSONResponse(describe_place(read_snapshot(request), name, cells, query))


def show_sent(request: Request) -> Response:
    """`GET /api/sent/KEY`: the messages of a request as sent, and the previous steps."""
    return JSONResponse(find_sent(read_snapshot(request), request.path_params["key"]))


# Notes of users.

NOTE_BYTES: Final = 64 * 2**10


async def add_note(request: Request) -> Response:
    """`POST /api/notes`: 201 with the decision's id and its task."""
    note = await read_json(request, ReaderNote, NOTE_BYTES)
    live = read_context(request).live
    decision = await run_in_threadpool(lambda: take_note(live.read(), note))
    return JSONResponse({"id": decision.id, "task": decision.task}, 201)


async def change_tag(request: Request) -> Response:
    """`POST /api/tags`: add or remove a tag; responds with the tags of the item."""
    change = await read_json(request, TagChange, NOTE_BYTES)
    try:
        tag = change.make_event()
    except ValidationError as error:
        raise RequestError(400, "tag", explain(error, TagEvent)) from None

    def save() -> Response:
        snapshot = read_snapshot(request)
        save_tag(snapshot.sources.review, snapshot.study, tag)
        return JSONResponse(snapshot.tags.describe(tag.problem), 201)

    return await run_in_threadpool(save)


# The application: routes, error handling and middleware.

ROUTES: tuple[BaseRoute, ...] = (
    Route("/", show_grid),
    Route("/items/{name:path}", show_item_page),
    Route("/login", show_login),
    Route("/login", log_in, methods=["POST"]),
    Route("/healthz", show_health),
    Route("/pictures/{sha256}", show_picture),
    Route("/bundles/{name}", show_bundle),
    Route("/thumbnails/{sha256}", show_thumbnail),
    Route("/heat-map", show_heat_map),
    Route("/list.{form}", download_list),
    Route("/api/study", show_study),
    Route("/api/items", list_items),
    Route("/api/items/{name:path}", show_item),
    Route("/api/sent/{key}", show_sent),
    Route("/api/notes", add_note, methods=["POST"]),
    Route("/api/tags", change_tag, methods=["POST"]),
)


def make_application(live: LiveStudy, settings: ExplorerSettings) -> Starlette:
    """Build the application of a study.

    Args:
        live: The study.
        settings: The server settings.
    """
    walls = [Middleware(BrowserPolicy, hosts=settings.hosts, is_secure=settings.is_secure)]
    login = None
    if settings.secret is not None:
        login = SecretLogin(
            settings.secret, "explore", is_secure=settings.is_secure, port=settings.port
        )
        walls.append(Middleware(LoginWall, login=login))
    application = Starlette(
        routes=[*ROUTES, *mount_folders(PACKAGE)],
        middleware=walls,
        exception_handlers=dict.fromkeys(
            (RequestError, OmibenchError, HTTPException), answer_error
        ),
    )
    application.state.context = ExplorerContext(live, settings, login)
    return application


def answer_error(request: Request, error: Exception) -> Response:
    """Answer a request that failed: for a missing resource, an invalid query or body."""
    status, reason, message = 400, "address", str(error)
    if isinstance(error, RequestError):
        status, reason, message = error.status, error.reason, error.message
    elif isinstance(error, MissingInputError):
        status = 404
    elif isinstance(error, HTTPException):
        status = error.status_code
        message = "page not found" if status == 404 else error.detail
    return JSONResponse({"reason": reason, "message": message}, status)


# The server of the explorer.


def run_explorer(
    live: LiveStudy, settings: ExplorerSettings, on_start: Callable[[str], None]
) -> None:
    """Serve a study until the process is stopped.

    Args:
        live: The study.
        settings: The server settings.
        on_start: Called with the address once the server listens.

    Raises:
        OutputError: The address cannot be used.
    """

    def make(port: int) -> Starlette:
        return make_application(live, settings.replace(port=port))

    # A large run is indexed in the background.
    threading.Thread(target=live.index, daemon=True).start()
    serve(make, settings, on_start)
