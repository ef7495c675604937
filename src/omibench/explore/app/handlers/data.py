"""Data for the pages: the study, items, one item, requests."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from omibench.explore.app.handlers.context import read_snapshot
from omibench.explore.app.rows import describe_place, describe_rows
from omibench.explore.app.sent import find_sent
from omibench.explore.app.study_view import describe_study
from omibench.explore.cell_names import parse_cells
from omibench.explore.query import parse_query


def show_study(request: Request) -> Response:
    """`GET /api/study`: the contents of the study."""
    snapshot = read_snapshot(request)
    can_note = snapshot.sources.review is not None
    return JSONResponse(describe_study(snapshot, can_note))


def list_items(request: Request) -> Response:
    """`GET /api/items?QUERY`: a page of the items that a query selects, with their verdicts."""
    query = parse_query(request.query_params.multi_items())
    return JSONResponse(describe_rows(read_snapshot(request).study, query))


def show_item(request: Request) -> Response:
    """`GET /api/items/ID?cells=MODEL/SETTING&QUERY`: an item, responses, and its neighbours."""
    pairs = request.query_params.multi_items()
    cells = parse_cells([value for name, value in pairs if name == "cells"])
    query = parse_query([(name, value) for name, value in pairs if name != "cells"])
    name = request.path_params["name"]
    return JSONResponse(describe_place(read_snapshot(request), name, cells, query))


def show_sent(request: Request) -> Response:
    """`GET /api/sent/KEY`: the messages of a request as sent, and the previous steps."""
    return JSONResponse(find_sent(read_snapshot(request), request.path_params["key"]))
