"""The OpenAI batch API for chat and Responses: files of lines, answered within a day."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import time
from typing import Any, BinaryIO
from urllib.parse import quote

from pydantic import SecretStr

from omibench.extras import require_extra
from omibench.models.batch.api import (
    POLL_TIMEOUT_S,
    BatchStatus,
    FoundBatch,
    InputShape,
    LineResult,
    fetch,
    read_id,
    stream,
)
from omibench.models.batch.draws import whole_body
from omibench.models.batch.provider import BatchProvider, batch_clients
from omibench.models.batch.submission import Submission
from omibench.models.http.pictures import PictureCache
from omibench.models.http.rejections import content_fault
from omibench.models.http.replies import Json, as_object, as_objects, as_text, count
from omibench.models.http.secrets import with_own_secrets
from omibench.models.openai.messages import PATHS, openai_body
from omibench.models.openai.provider import OpenAIProvider
from omibench.models.openai.replies import openai_replies
from omibench.models.traffic.failure import Failure
from omibench.models.traffic.retry import failure_of_status
from omibench.params.models.openai import OpenAIModel
from omibench.schemas.request import Request

LIMITS = InputShape(head=b"", between=b"\n", tail=b"\n", most_lines=50_000, most_bytes=200_000_000)
"""Maximum lines and bytes of one input file (OpenAI, Batch API guide)."""
MARK = "omibench"
"""Metadata key of a submission's fingerprint."""
_ENDED = {"completed", "failed", "expired", "cancelled"}
_CROWDED = {"token_limit_exceeded", "rate_limit_exceeded"}
_CLOCKS_DIFFER_S = 86400.0
_PAGE = 100


class OpenAIBatchProvider(BatchProvider[OpenAIModel], OpenAIProvider):
    """A model behind the OpenAI API, queried through /v1/batches."""

    def __init__(self, name: str, model: OpenAIModel, state: Path | None = None) -> None:
        OpenAIProvider.__init__(self, name, model)
        self.state = state

    @contextmanager
    def connect_batches(self, key: SecretStr) -> Iterator[OpenAIBatches]:
        """See `BatchProvider.connect_batches`."""
        require_extra("api", f"model {self.name!r}", "openai")
        import openai

        kinds = openai.OpenAI, openai.DefaultHttpxClient
        with batch_clients(*kinds, self.model, key) as (client, downloads):
            model = with_own_secrets(self.model)
            yield OpenAIBatches(openai, client, downloads, model, self.pictures)


class OpenAIBatches:
    """`BatchApi` over a client of the SDK."""

    shape = LIMITS

    def __init__(
        self, sdk: Any, client: Any, downloads: Any, model: OpenAIModel, pictures: PictureCache
    ) -> None:
        self._sdk, self._client, self._downloads = sdk, client, downloads
        self._model, self._pictures = model, pictures
        self._route = "/v1" + PATHS[model.api]

    def line(self, name: str, requests: Sequence[Request]) -> bytes:
        """See `BatchApi.line`."""
        body = whole_body(
            lambda show: openai_body(self._model, requests, show), requests[0], self._pictures
        )
        line = {"custom_id": name, "method": "POST", "url": self._route, "body": body}
        return json.dumps(line, separators=(",", ":")).encode()

    def upload(self, lines: BinaryIO, size: int) -> str:
        """See `BatchApi.upload`; a file without a batch costs nothing."""
        create, named = self._client.files.with_raw_response.create, ("batch.jsonl", lines)
        uploaded = fetch(
            self._sdk, lambda: create(file=named, purpose="batch").http_response, uploads=True
        )
        return read_id(uploaded)

    def create(self, lines: BinaryIO, size: int, submission: Submission) -> str:
        """See `BatchApi.create`."""
        create = self._client.batches.with_raw_response.create
        fields = {
            "input_file_id": submission.file,
            "endpoint": self._route,
            "completion_window": "24h",
            "metadata": {MARK: submission.fingerprint},
        }
        return read_id(fetch(self._sdk, lambda: create(**fields).http_response))

    def find(self, submission: Submission, claimed: set[str]) -> list[FoundBatch]:
        """Find the batch with the submission's input file or fingerprint: a certain match."""
        after: dict[str, str] = {}
        while True:
            page = self._get("/batches", {"limit": str(_PAGE), **after})
            for row in (rows := as_objects(page.get("data"))):
                mark = as_object(row.get("metadata")).get(MARK)
                if row.get("input_file_id") == submission.file or mark == submission.fingerprint:
                    return [FoundBatch(read_id(row), sure=True)]
            oldest = count(rows[-1].get("created_at")) if rows else None
            if not page.get("has_more") or oldest is None:
                return []
            if oldest < submission.asked_at - _CLOCKS_DIFFER_S:
                return []
            after = {"after": read_id(rows[-1])}

    def status(self, batch: str) -> BatchStatus:
        """See `BatchApi.status`."""
        reply = self._get(f"/batches/{quote(batch, safe='')}", {})
        counts = as_object(reply.get("request_counts"))
        finished = (count(counts.get("completed")) or 0) + (count(counts.get("failed")) or 0)
        files = (as_text(reply.get("output_file_id")), as_text(reply.get("error_file_id")))
        sources = tuple(file for file in files if file)
        state = as_text(reply.get("status"))
        turned_down = None if sources or state != "failed" else _explain_rejection(reply)
        return BatchStatus(batch, state in _ENDED, finished, sources, turned_down)

    def download(self, source: str, to: BinaryIO) -> None:
        """See `BatchApi.download`; `source` is a file id."""
        files = self._downloads.files.with_streaming_response
        stream(self._sdk, lambda: files.content(source), to)

    def read(self, row: Json, samples: int) -> LineResult:
        """See `BatchApi.read`."""
        name, response = as_text(row.get("custom_id")), as_object(row.get("response"))
        body, status = response.get("body"), count(response.get("status_code"))
        try:
            if status == 200:
                return LineResult(name, openai_replies(self._model, body, samples, batch=True))
        except Failure as failure:
            return LineResult(name, failure)
        if status is not None:
            rejection = failure_of_status(status, {}, json.dumps(body), time())
            return LineResult(name, replace(rejection, maybe_paid=False))
        error = as_object(row.get("error"))
        code, message = as_text(error.get("code")), as_text(error.get("message"))
        content = content_fault(400, code, message)
        return LineResult(name, Failure(f"{code}: {message}", maybe_paid=False, content=content))

    def _get(self, path: str, params: dict[str, str]) -> Json:
        import httpx2

        options = {
            "params": params,
            "timeout": min(POLL_TIMEOUT_S, self._model.limits.timeout_s),
            "security": {"bearer_auth": True},
        }
        return fetch(
            self._sdk, lambda: self._client.get(path, cast_to=httpx2.Response, options=options)
        )


def _explain_rejection(batch: Json) -> Failure:
    """Explain why no line was run: an invalid line, or too many enqueued tokens for the account."""
    errors = as_objects(as_object(batch.get("errors")).get("data")) or [{}]
    code, words = as_text(errors[0].get("code")), as_text(errors[0].get("message"))
    crowded = code in _CROWDED
    message = f"the batch failed ({code or 'no reason given'}): {words}"
    return Failure(message, transient=crowded, maybe_paid=False, congestion=crowded)
