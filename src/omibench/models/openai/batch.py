"""The OpenAI batch API for chat and Responses: files of lines, answered within a day."""

from __future__ import annotations

import json
from dataclasses import replace
from time import time
from typing import Any, BinaryIO

from omibench.models.batch.api import BatchApi, BatchStatus, InputShape, read_id
from omibench.models.batch.submission import Submission
from omibench.models.http.rejections import content_fault
from omibench.models.http.replies import Json, as_object, as_objects, as_text, count
from omibench.models.traffic.failure import Failure
from omibench.models.traffic.retry import failure_of_status
from omibench.schemas.request import Response

MARK = "omibench"
"""Metadata key of a submission's fingerprint."""
_ENDED = {"completed", "failed", "expired", "cancelled"}
_CROWDED = {"token_limit_exceeded", "rate_limit_exceeded"}


class OpenAIBatches(BatchApi):
    """`BatchApi` over the OpenAI SDK."""

    # Limits of one input file: OpenAI, Batch API guide.
    shape = InputShape(
        head=b"", between=b"\n", tail=b"\n", most_lines=50_000, most_bytes=200_000_000
    )
    path = "/batches"
    after = "after"
    clocks_differ_s = 86400.0

    @property
    def _route(self) -> str:
        return f"/v1{self.provider.path}"

    def wrap_body(self, name: str, body: dict[str, Any]) -> dict[str, Any]:
        """See `BatchApi.wrap_body`."""
        return {"custom_id": name, "method": "POST", "url": self._route, "body": body}

    def upload(self, lines: BinaryIO, size: int) -> str:
        """See `BatchApi.upload`; a file without a batch costs nothing."""
        create, named = self.client.files.with_raw_response.create, ("batch.jsonl", lines)
        return read_id(
            self.fetch(lambda: create(file=named, purpose="batch").http_response, uploads=True)
        )

    def create(self, lines: BinaryIO, size: int, submission: Submission) -> str:
        """See `BatchApi.create`."""
        create = self.client.batches.with_raw_response.create
        fields = {
            "input_file_id": submission.file,
            "endpoint": self._route,
            "completion_window": "24h",
            "metadata": {MARK: submission.fingerprint},
        }
        return read_id(self.fetch(lambda: create(**fields).http_response))

    def created_at(self, row: Json) -> float | None:
        """See `BatchApi.created_at`."""
        return count(row.get("created_at"))

    def match(self, row: Json, submission: Submission) -> bool:
        """Compare the input file or the fingerprint: a certain match."""
        mark = as_object(row.get("metadata")).get(MARK)
        return row.get("input_file_id") == submission.file or mark == submission.fingerprint

    def read_status(self, batch: str, reply: Json) -> BatchStatus:
        """See `BatchApi.read_status`."""
        counts = as_object(reply.get("request_counts"))
        finished = (count(counts.get("completed")) or 0) + (count(counts.get("failed")) or 0)
        files = (as_text(reply.get("output_file_id")), as_text(reply.get("error_file_id")))
        sources = tuple(file for file in files if file)
        state = as_text(reply.get("status"))
        turned_down = None if sources or state != "failed" else _explain_rejection(reply)
        return BatchStatus(batch, state in _ENDED, finished, sources, turned_down)

    def open_results(self, source: str) -> Any:
        """See `BatchApi.open_results`; `source` is a file id."""
        return self.downloads.files.with_streaming_response.content(source)

    def read_line(self, row: Json, samples: int) -> list[Response]:
        """See `BatchApi.read_line`."""
        response = as_object(row.get("response"))
        body, status = response.get("body"), count(response.get("status_code"))
        if status == 200:
            return self.provider.read_reply(body, samples, batch=True)
        if status is not None:
            rejection = failure_of_status(status, {}, json.dumps(body), time())
            raise replace(rejection, maybe_paid=False)
        error = as_object(row.get("error"))
        code, message = as_text(error.get("code")), as_text(error.get("message"))
        content = content_fault(400, code, message)
        raise Failure(f"{code}: {message}", maybe_paid=False, content=content)


def _explain_rejection(batch: Json) -> Failure:
    """Explain why no line was run: an invalid line, or too many enqueued tokens for the account."""
    errors = as_objects(as_object(batch.get("errors")).get("data")) or [{}]
    code, words = as_text(errors[0].get("code")), as_text(errors[0].get("message"))
    crowded = code in _CROWDED
    message = f"the batch failed ({code or 'no reason given'}): {words}"
    return Failure(message, transient=crowded, maybe_paid=False, congestion=crowded)
