"""Notes of users."""

from __future__ import annotations

from typing import Any, Final, cast

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from omibench.explore.app.handlers.context import read_context
from omibench.explore.app.notes import NOTE_KINDS, NoteKind, ReaderNote, take_note
from omibench.explore.cell_names import parse_cells
from omibench.web.serving.bodies import RequestError, parse_object, read_body

NOTE_BYTES: Final = 64 * 2**10
COMMENT: Final = 10_000
NAME: Final = 200
"""Maximum characters of a comment and of a name."""


async def add_note(request: Request) -> Response:
    """`POST /api/notes`: 201 with the decision's id and its task."""
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise RequestError(415, "format", "a note must be JSON")
    values = parse_object(await read_body(request, NOTE_BYTES))
    note = read_note(values)
    live = read_context(request).live
    decision = await run_in_threadpool(lambda: take_note(live.read(), note))
    return JSONResponse({"id": decision.id, "task": decision.task}, 201)


def read_note(values: dict[str, Any]) -> ReaderNote:
    """Read `{id, kind, person, comment, cell, index, rules}`.

    Raises:
        RequestError: A value is missing or has the wrong type.
        ParamsError: The cell is not valid.
    """
    kind, person = values.get("kind"), _read_text(values, "person", NAME).strip()
    if kind not in NOTE_KINDS:
        raise RequestError(400, "kind", f"`kind` must be one of {', '.join(NOTE_KINDS)}")
    if not person:
        raise RequestError(400, "person", "`person` is missing: give your name")
    cell, index = _read_text(values, "cell", 2 * NAME), values.get("index", 0)
    if not isinstance(index, int) or isinstance(index, bool) or index < 0:
        raise RequestError(400, "index", "`index` must be an integer from 0")
    comment = _read_text(values, "comment", COMMENT)
    return ReaderNote(
        id=_read_text(values, "id", COMMENT),
        kind=cast(NoteKind, kind),
        person=person,
        comment=comment.replace("\r\n", "\n").replace("\r", "\n"),
        cell=parse_cells([cell])[0] if cell else None,
        index=index,
        rules=_read_text(values, "rules", NAME) or None,
    )


def _read_text(values: dict[str, Any], name: str, longest: int) -> str:
    text = values.get(name) or ""
    if not isinstance(text, str) or len(text) > longest:
        raise RequestError(400, name, f"`{name}` must be a text of at most {longest:,} characters")
    return text
