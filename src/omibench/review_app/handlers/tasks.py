"""Requests of a task page: decisions, drafts, claims."""

from __future__ import annotations

import math
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from omibench.review.check import TEXT_CHARACTERS
from omibench.review.people import Reviewer
from omibench.review_app.handlers.context import find_listed, identify_writer, read_context
from omibench.review_app.log.states import find_next
from omibench.review_app.pages import link_task
from omibench.review_app.service import ReviewService, Submission
from omibench.review_app.tasks import ListedTask
from omibench.web.serving.bodies import RequestError, parse_object, read_body

DECISION_BYTES: Final = 2 * 2**20
LONGEST_S: Final = 7 * 86400.0
MOST_CONFIRMED: Final = 100


async def decide(request: Request) -> Response:
    """`POST /tasks/ID/decision`: 201 with the decision's id and the address of the next task."""
    person = await run_in_threadpool(identify_writer, request)
    submission = await read_submission(request)
    service, listed = read_context(request).service, find_listed(request)
    decision = await run_in_threadpool(service.decide, listed, person, submission)
    target = await run_in_threadpool(_find_next, service, listed, person)
    return JSONResponse({"id": decision.id, "next": target}, 201)


async def save_draft(request: Request) -> Response:
    """`PUT /tasks/ID/draft`: save the unfinished form."""
    person = await run_in_threadpool(identify_writer, request)
    submission = await read_submission(request)
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


async def read_submission(request: Request) -> Submission:
    """Parse a decision or draft: `{fields, comment, seconds, content_hash, base,
    confirmed}`.

    Raises:
        RequestError: It is too long, not JSON, or a value has the wrong type.
    """
    values = parse_object(await read_body(request, DECISION_BYTES))
    fields, comment = values.get("fields", {}), values.get("comment") or ""
    seconds, base = values.get("seconds"), values.get("base")
    content_hash = values.get("content_hash", "")
    if not isinstance(fields, dict):
        raise RequestError(400, "format", "`fields` is not an object")
    if not isinstance(comment, str) or len(comment) > TEXT_CHARACTERS:
        raise RequestError(
            400, "format", f"`comment` is not a text of at most {TEXT_CHARACTERS:,} characters"
        )
    if seconds is not None and not _is_duration(seconds):
        raise RequestError(400, "format", "`seconds` is not a time from 0 to one week")
    if not isinstance(content_hash, str) or not (base is None or isinstance(base, str)):
        raise RequestError(400, "format", "`content_hash` or `base` is not a text")
    confirmed = values.get("confirmed", [])
    if not isinstance(confirmed, list) or not all(isinstance(name, str) for name in confirmed):
        raise RequestError(400, "format", "`confirmed` is not a list of texts")
    comment = comment.replace("\r\n", "\n").replace("\r", "\n")
    return Submission(
        fields,
        comment,
        None if seconds is None else float(seconds),
        content_hash,
        base,
        frozenset(confirmed[:MOST_CONFIRMED]),
    )


def _is_duration(value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and 0 <= value <= LONGEST_S  # type: ignore[arg-type,operator]


def _find_next(service: ReviewService, listed: ListedTask, person: Reviewer) -> str | None:
    query = service.find_waiting(person)
    with service.database.read() as connection:
        task = find_next(connection, query, listed.position)
    return link_task(task) if task else None
