"""Requests of a task page: decisions, drafts, claims."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from omibench.review.people import Reviewer
from omibench.review_app.handlers.context import find_listed, identify_writer, read_context
from omibench.review_app.log.states import find_next
from omibench.review_app.pages import link_task
from omibench.review_app.service import ReviewService
from omibench.review_app.submissions import read_submission
from omibench.review_app.tasks import ListedTask


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


def _find_next(service: ReviewService, listed: ListedTask, person: Reviewer) -> str | None:
    query = service.find_waiting(person)
    with service.database.read() as connection:
        task = find_next(connection, query, listed.position)
    return link_task(task) if task else None
