"""Anthropic message batches: many messages in one request, answered within a day."""

from __future__ import annotations

from datetime import datetime
from typing import Any, BinaryIO

from omibench.models.anthropic.messages import PATH
from omibench.models.batch.api import BatchApi, BatchStatus, InputShape, read_id
from omibench.models.batch.submission import Submission
from omibench.models.http.rejections import content_fault
from omibench.models.http.replies import Json, as_object, as_text, count, unreadable
from omibench.models.traffic.failure import Failure
from omibench.schemas.request import Response


class AnthropicBatches(BatchApi):
    """`BatchApi` over the Anthropic SDK."""

    # Limits of one batch: Anthropic, Batch processing.
    shape = InputShape(
        head=b'{"requests":[', between=b",", tail=b"]}", most_lines=100_000, most_bytes=256_000_000
    )
    path = f"{PATH}/batches"
    after = "after_id"
    clocks_differ_s = 3600.0

    def wrap_body(self, name: str, body: dict[str, Any]) -> dict[str, Any]:
        """See `BatchApi.wrap_body`."""
        return {"custom_id": name, "params": body}

    def upload(self, lines: BinaryIO, size: int) -> None:
        """See `BatchApi.upload`: the lines are sent with `create`."""

    def create(self, lines: BinaryIO, size: int, submission: Submission) -> str:
        """See `BatchApi.create`."""
        import httpx2

        headers = {"content-type": "application/json", "content-length": str(size)}
        post, options = self.client.post, {"headers": headers}
        return read_id(
            self.fetch(
                lambda: post(self.path, cast_to=httpx2.Response, content=lines, options=options),
                uploads=True,
            )
        )

    def created_at(self, row: Json) -> float:
        """See `BatchApi.created_at`."""
        try:
            return datetime.fromisoformat(as_text(row.get("created_at"))).timestamp()
        except ValueError:
            raise unreadable("lists a batch without a creation time") from None

    def match(self, row: Json, submission: Submission) -> bool | None:
        """Compare the time of creation and the number of lines.

        This API stores no metadata and shows custom ids only in the results, so only the results
        show whether a batch is the submission (`BatchRun`).
        """
        since = submission.asked_at - self.clocks_differ_s
        until = submission.asked_at + self.provider.model.limits.timeout_s + self.clocks_differ_s
        lines = sum(count(n) or 0 for n in as_object(row.get("request_counts")).values())
        fits = since <= self.created_at(row) <= until and lines == len(submission.lines)
        return None if fits else False

    def read_status(self, batch: str, reply: Json) -> BatchStatus:
        """See `BatchApi.read_status`."""
        counts = dict(as_object(reply.get("request_counts")))
        counts.pop("processing", None)
        sources = (batch,) if as_text(reply.get("results_url")) else ()
        ended = reply.get("processing_status") == "ended"
        return BatchStatus(batch, ended, sum(count(n) or 0 for n in counts.values()), sources)

    def open_results(self, source: str) -> Any:
        """See `BatchApi.open_results`; `source` is the batch id."""
        return self.downloads.messages.batches.with_streaming_response.results(source)

    def read_line(self, row: Json, samples: int) -> list[Response]:
        """See `BatchApi.read_line`."""
        result = as_object(row.get("result"))
        kind = as_text(result.get("type"))
        if kind == "succeeded":
            return self.provider.read_reply(result.get("message"), batch=True)
        error = as_object(result.get("error"))
        detail = as_object(error.get("error")) or error
        code, message = as_text(detail.get("type")), as_text(detail.get("message"))
        words = f": {code}: {message}" if detail else ""
        raise Failure(
            f"the request {kind or 'has no result'}{words}",
            maybe_paid=False,
            content=content_fault(400, code, message),
        )
