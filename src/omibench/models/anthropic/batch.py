"""Anthropic message batches: many messages in one request, answered within a day."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

from pydantic import SecretStr

from omibench.extras import require_extra
from omibench.models.anthropic.messages import PATH, anthropic_body
from omibench.models.anthropic.provider import AnthropicProvider
from omibench.models.anthropic.replies import anthropic_reply
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
from omibench.models.http.replies import Json, as_object, as_objects, as_text, count, unreadable
from omibench.models.traffic.failure import Failure
from omibench.params.models.anthropic import AnthropicModel
from omibench.schemas.request import Request

LIMITS = InputShape(
    head=b'{"requests":[', between=b",", tail=b"]}", most_lines=100_000, most_bytes=256_000_000
)
"""Maximum requests and bytes of one batch (Anthropic, Batch processing)."""
_BATCHES = f"{PATH}/batches"
_CLOCKS_DIFFER_S = 3600.0
_PAGE = 100


class AnthropicBatchProvider(BatchProvider[AnthropicModel], AnthropicProvider):
    """A model behind the Anthropic API, queried through message batches."""

    def __init__(self, name: str, model: AnthropicModel, state: Path | None = None) -> None:
        AnthropicProvider.__init__(self, name, model)
        self.state = state

    @contextmanager
    def connect_batches(self, key: SecretStr) -> Iterator[AnthropicBatches]:
        """See `BatchProvider.connect_batches`."""
        require_extra("api", f"model {self.name!r}", "anthropic")
        import anthropic

        kinds = anthropic.Anthropic, anthropic.DefaultHttpxClient
        with batch_clients(*kinds, self.model, key) as (client, downloads):
            yield AnthropicBatches(anthropic, client, downloads, self.model, self.pictures)


class AnthropicBatches:
    """`BatchApi` over a client of the SDK."""

    shape = LIMITS

    def __init__(
        self, sdk: Any, client: Any, downloads: Any, model: AnthropicModel, pictures: PictureCache
    ) -> None:
        self._sdk, self._client, self._downloads = sdk, client, downloads
        self._model, self._pictures = model, pictures

    def line(self, name: str, requests: Sequence[Request]) -> bytes:
        """See `BatchApi.line`."""
        (request,) = requests
        body = whole_body(
            lambda show: anthropic_body(self._model, request, show), request, self._pictures
        )
        return json.dumps({"custom_id": name, "params": body}, separators=(",", ":")).encode()

    def upload(self, lines: BinaryIO, size: int) -> None:
        """See `BatchApi.upload`: the lines are sent with `create`."""

    def create(self, lines: BinaryIO, size: int, submission: Submission) -> str:
        """See `BatchApi.create`."""
        headers = {"content-type": "application/json", "content-length": str(size)}
        arguments = {"content": lines, "options": {"headers": headers}}
        batch = self._call("post", _BATCHES, uploads=True, **arguments)
        return read_id(batch)

    def find(self, submission: Submission, claimed: set[str]) -> list[FoundBatch]:
        """List the batches created at that time with the same number of lines.

        This API stores no metadata and shows custom ids only in the results, so only the results
        show whether a batch is the submission (`Collector.is_same_batch`).
        """
        since = submission.asked_at - _CLOCKS_DIFFER_S
        until = submission.asked_at + self._model.limits.timeout_s + _CLOCKS_DIFFER_S
        candidates: list[FoundBatch] = []
        after: dict[str, str] = {}
        while True:
            page = self._get(_BATCHES, {"limit": str(_PAGE), **after})
            created_at = 0.0
            for row in (rows := as_objects(page.get("data"))):
                created_at = _time(row)
                lines = sum(count(n) or 0 for n in as_object(row.get("request_counts")).values())
                fits = since <= created_at <= until and lines == len(submission.lines)
                if fits and read_id(row) not in claimed:
                    candidates.append(FoundBatch(read_id(row), sure=False))
            if not page.get("has_more") or not rows or created_at < since:
                return candidates
            after = {"after_id": read_id(rows[-1])}

    def status(self, batch: str) -> BatchStatus:
        """See `BatchApi.status`."""
        reply = self._get(f"{_BATCHES}/{quote(batch, safe='')}", {})
        counts = dict(as_object(reply.get("request_counts")))
        counts.pop("processing", None)
        sources = (batch,) if as_text(reply.get("results_url")) else ()
        ended = reply.get("processing_status") == "ended"
        return BatchStatus(batch, ended, sum(count(n) or 0 for n in counts.values()), sources)

    def download(self, source: str, to: BinaryIO) -> None:
        """See `BatchApi.download`; `source` is the batch id."""
        batches = self._downloads.messages.batches.with_streaming_response
        stream(self._sdk, lambda: batches.results(source), to)

    def read(self, row: Json, samples: int) -> LineResult:
        """See `BatchApi.read`."""
        name, result = as_text(row.get("custom_id")), as_object(row.get("result"))
        kind = as_text(result.get("type"))
        if kind == "succeeded":
            try:
                return LineResult(
                    name, [anthropic_reply(self._model, result.get("message"), batch=True)]
                )
            except Failure as failure:
                return LineResult(name, failure)
        error = as_object(result.get("error"))
        detail = as_object(error.get("error")) or error
        code, message = as_text(detail.get("type")), as_text(detail.get("message"))
        words = f": {code}: {message}" if detail else ""
        return LineResult(
            name,
            Failure(
                f"the request {kind or 'has no result'}{words}",
                maybe_paid=False,
                content=content_fault(400, code, message),
            ),
        )

    def _get(self, path: str, params: dict[str, str]) -> Json:
        timeout = min(POLL_TIMEOUT_S, self._model.limits.timeout_s)
        return self._call("get", path, options={"params": params, "timeout": timeout})

    def _call(self, method: str, path: str, *, uploads: bool = False, **arguments: Any) -> Json:
        import httpx2

        call = getattr(self._client, method)
        return fetch(
            self._sdk, lambda: call(path, cast_to=httpx2.Response, **arguments), uploads=uploads
        )


def _time(row: Json) -> float:
    try:
        return datetime.fromisoformat(as_text(row.get("created_at"))).timestamp()
    except ValueError:
        raise unreadable("lists a batch without a creation time") from None
