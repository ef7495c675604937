"""What a reader notes."""

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
"""Characters of a comment and of a name."""


async def add_note(request: Request) -> Response:
    """`POST /api/notes`: 201 with the decision's id and its task."""
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise RequestError(415, "format", "a note is JSON")
    values = parse_object(await read_body(request, NOTE_BYTES))
    note = read_note(values)
    live = read_context(request).live
    decision = await run_in_threadpool(lambda: take_note(live.read(), note))
    return JSONResponse({"id": decision.id, "task": decision.task}, 201)


def read_note(values: dict[str, Any]) -> ReaderNote:
    """Read `{id, kind, person, comment, cell, index, rules}`.

    Raises:
        RequestError: A value is absent or has another type.
        ParamsError: The cell is none.
    """
    kind, person = values.get("kind"), _read_text(values, "person", NAME).strip()
    if kind not in NOTE_KINDS:
        raise RequestError(400, "kind", f"`kind` is one of {', '.join(NOTE_KINDS)}")
    if not person:
        raise RequestError(400, "person", "say who you are: `person`")
    cell, index = _read_text(values, "cell", 2 * NAME), values.get("index", 0)
    if not isinstance(index, int) or isinstance(index, bool) or index < 0:
        raise RequestError(400, "index", "`index` is a whole number from 0")
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
        raise RequestError(400, name, f"`{name}` is no text of {longest:,} characters")
    return text
