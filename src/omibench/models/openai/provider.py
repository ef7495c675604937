"""Convert replies of the OpenAI API from JSON to Responses: chat completions and Responses."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import time
from typing import Any, BinaryIO, ClassVar

from omibench.errors import ModelError
from omibench.models.api.batch_api import BatchApi, BatchStatus, InputShape, read_id
from omibench.models.api.bodies import Show
from omibench.models.api.failures import Failure, content_fault, failure_of_status, match_refusal
from omibench.models.api.provider import ApiProvider
from omibench.models.api.replies import (
    Json,
    add_costs,
    as_object,
    as_objects,
    as_text,
    classify_outcome,
    compute_cost,
    count,
    is_counted,
    no_answer,
    number,
    read_chat_pictures,
    read_item_pictures,
    split_reasoning,
    unreadable,
)
from omibench.models.api.submissions import Submission
from omibench.models.openai.messages import (
    PATHS,
    add_chat_calls,
    check_openai,
    openai_body,
    read_item_calls,
)
from omibench.models.options import refuse_continued, refuse_options
from omibench.params.models.providers import EmbeddingModel, OpenAIModel
from omibench.schemas.request import Request, Response, Usage

_CUT = {
    "length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"
}  # fmt: skip
_FAILED = {
    "error", "abort", "aborted", "cancelled", "canceled", "failed", "timeout", "network_error",
    "server_error", "engine_error", "internal_error", "insufficient_system_resource",
    "malformed_function_call",
}  # fmt: skip
"""Finish reasons of replies that the server did not finish (vLLM, SGLang, OpenRouter, DeepSeek,
GLM, Gemini)."""
_TRANSIENT = {"server_error", "rate_limit_exceeded", "vector_store_timeout"}


def openai_replies(
    model: OpenAIModel, reply: object, samples: int = 1, *, batch: bool = False
) -> list[Response]:
    """Read the samples of a reply, in order: at most `samples`, at least one.

    A reply without choices that counts tokens is one `empty` response per sample: an answer
    without content, and billed. A sample that ended with `error` or `abort` is skipped, and so is a
    malformed one of a reply without such a count. Raises Failure if the body is not a reply, or no
    sample was finished.
    """
    if not isinstance(reply, dict):
        raise unreadable(f"is a JSON {type(reply).__name__} instead of an object")
    if reply.get("error"):
        raise _read_error(reply["error"])
    read = _responses if model.api == "responses" else _chat
    usage = read_usage(as_object(reply.get("usage")))
    parsed = read(reply, is_counted(usage))[:samples]
    responses = [r for r in parsed if (r.finish_reason or "").lower() not in _FAILED]
    if parsed and not responses:
        raise Failure(
            f"the reply ended with {parsed[0].finish_reason!r} and contains no finished answer",
            status=200,
            transient=True,
            cost_usd=compute_cost(model.price, usage, batch=batch),
        )
    if not responses and not is_counted(usage):
        raise no_answer()
    if not responses:
        empty = Response(text="", outcome="empty", finish_reason="no_choices")
        responses = [empty] * samples
    return add_costs(responses, usage, model, reply, batch)


def read_usage(usage: Json) -> Usage:
    """Read the token counts of either API.

    If the total exceeds input plus output (Gemini counts its thoughts only there), the rest is
    output, which is how it is billed.
    """
    input_tokens = count(usage.get("prompt_tokens", usage.get("input_tokens")))
    output_tokens = count(usage.get("completion_tokens", usage.get("output_tokens")))
    total = count(usage.get("total_tokens"))
    details_in = usage.get("prompt_tokens_details") or usage.get("input_tokens_details")
    details_out = usage.get("completion_tokens_details") or usage.get("output_tokens_details")
    thought = count(as_object(details_out).get("reasoning_tokens"))
    if (
        input_tokens is not None
        and output_tokens is not None
        and total is not None
        and total > input_tokens + output_tokens
    ):
        thought = thought or total - input_tokens - output_tokens
        output_tokens = total - input_tokens
    return Usage(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cached_tokens=count(as_object(details_in).get("cached_tokens")),
        reasoning_tokens=thought,
    )


def _chat(reply: Json, counted: bool) -> list[Response]:
    if not isinstance(reply.get("choices"), list):
        if reply.get("choices", 0) is not None:  # some gateways write null instead of an empty list
            raise unreadable("has no list of choices")
        return []
    choices = sorted(as_objects(reply["choices"]), key=lambda c: count(c.get("index")) or 0)
    return [_choice(choice) for choice in choices if counted or _has_message(choice)]


def _has_message(choice: Json) -> bool:
    """Return whether a choice has a message with a part, or an empty one that it ended."""
    message = choice.get("message")
    if not isinstance(message, dict):
        return match_refusal(as_text(choice.get("finish_reason"))) is not None
    parts = {key for key, value in message.items() if value is not None} - {"role"}
    return bool(parts) or bool(as_text(choice.get("finish_reason")))


def _choice(choice: Json) -> Response:
    message = as_object(choice.get("message"))
    thoughts = as_text(message.get("reasoning")) or as_text(message.get("reasoning_content"))
    text, reasoning = split_reasoning(_content(message.get("content")), thoughts)
    refusal = as_text(message.get("refusal"))
    finish = as_text(choice.get("finish_reason")) or None
    refused = bool(refusal) or match_refusal(finish or "") is not None
    called = bool(as_objects(message.get("tool_calls")))
    response = Response(
        text=text or refusal,
        outcome=classify_outcome(text, cut=finish in _CUT, refused=refused, called=called),
        drawn=read_chat_pictures(message),
        finish_reason=finish,
        reasoning=reasoning,
        logprob=_logprob(as_object(choice.get("logprobs")).get("content")),
    )
    return add_chat_calls(message, response)


def _content(content: object) -> str:
    """Return the text of a message; some servers send a list of parts."""
    if isinstance(content, list):
        return "".join(as_text(part.get("text")) for part in as_objects(content))
    return as_text(content)


def _responses(reply: Json, counted: bool) -> list[Response]:
    status = reply.get("status")
    if not isinstance(reply.get("output"), list) or status in ("queued", "in_progress"):
        raise unreadable(f"is not a finished response (status {status!r})")
    items = as_objects(reply["output"])
    if not items and status == "completed":
        return []
    parts = [p for item in items if item.get("type") == "message" for p in _parts(item, "content")]
    thoughts = [
        as_text(part.get("text"))
        for item in items
        if item.get("type") == "reasoning"
        for part in _parts(item, "content") or _parts(item, "summary")
    ]
    answers = [p for p in parts if p.get("type") == "output_text"]
    refusal = "".join(as_text(part.get("refusal")) for part in parts)
    text, reasoning = split_reasoning(
        "".join(as_text(p.get("text")) for p in answers), "\n".join(thoughts)
    )
    reason = as_text(as_object(reply.get("incomplete_details")).get("reason"))
    calls = read_item_calls(items)
    refused = bool(refusal) or match_refusal(reason) is not None
    response = Response(
        text=text or refusal,
        outcome=classify_outcome(text, cut=reason in _CUT, refused=refused, called=bool(calls)),
        calls=calls,
        drawn=read_item_pictures(items),
        finish_reason=reason or as_text(status) or None,
        reasoning=reasoning,
        logprob=_logprob([row for part in answers for row in _parts(part, "logprobs")]),
    )
    return [response] if counted or response.outcome != "empty" else []


def _parts(item: Json, field: str) -> list[Json]:
    return as_objects(item.get(field))


def _logprob(rows: object) -> float | None:
    values = [number(row.get("logprob")) for row in as_objects(rows)]
    numbers = [value for value in values if value is not None]
    return sum(numbers) if numbers else None


def _read_error(error: object) -> Failure:
    """Read the error of a 200 reply, as gateways and failed responses send it."""
    detail = as_object(error)
    code = str(detail.get("code") or detail.get("type") or "error")
    message = " ".join(str(detail.get("message") or error).split())
    status = int(code) if code.isdecimal() else 200
    transient = code in _TRANSIENT or status in (408, 409, 425, 429) or status >= 500
    return Failure(
        f"the reply is an error ({code}): {message}",
        status=status,
        transient=transient,
        congestion=status in (429, 503, 529) or code == "rate_limit_exceeded",
        refused=match_refusal(code),
        content=content_fault(400 if status == 200 else status, code, message),
    )


# The OpenAI batch API for chat and Responses: files of lines, answered within a day.

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


# The `openai` provider: any endpoint compatible with the OpenAI API, chat or Responses.


class OpenAIProvider(ApiProvider[OpenAIModel]):
    """A model behind the OpenAI API. Raises ModelError if its block contradicts the API."""

    sdk = "openai"
    client = "OpenAI"
    options: ClassVar[dict[str, Any]] = {"security": {"bearer_auth": True}}
    batch_api = OpenAIBatches

    def __init__(self, name: str, model: OpenAIModel, batches: Path | None = None) -> None:
        super().__init__(name, model, batches)
        check_openai(name, model)

    def check(self, requests: Sequence[Request]) -> None:
        """Check as `ApiProvider.check`; options too, which only some endpoints can score."""
        self.check_options(requests)
        super().check(requests)

    def check_options(self, requests: Sequence[Request]) -> None:
        """See `ChecksOptions.check_options`."""
        if self.model.batch:
            refuse_options(requests, self.name, "query it directly, with `batch: false`")
            return
        if self.model.api != "chat" or not self.model.can.logprobs:
            refuse_options(
                requests,
                self.name,
                "set `can: {logprobs: true}` with `api: chat` if its endpoint returns them",
            )
        if not self.model.can.prefill:
            refuse_continued(
                requests,
                self.name,
                "set `can: {prefill: true}` if its endpoint continues an assistant turn, as a "
                "vLLM server does, or set `saliency.reading` to `before_answer`",
            )

    @property
    def path(self) -> str:
        """See `ApiProvider.path`."""
        return PATHS[self.model.api]

    def build_body(
        self, model: OpenAIModel, requests: Sequence[Request], show: Show
    ) -> dict[str, Any]:
        """See `ApiProvider.build_body`."""
        return openai_body(model, requests, show)

    def read_reply(self, reply: object, samples: int = 1, *, batch: bool = False) -> list[Response]:
        """See `ApiProvider.read_reply`."""
        return openai_replies(self.model, reply, samples, batch=batch)


# The `openai_embeddings` provider: text embeddings, returned as JSON in the text of an answer.


class EmbeddingProvider(ApiProvider[EmbeddingModel]):
    """An embedding model behind the OpenAI API; each request is one text."""

    sdk = "openai"
    client = "OpenAI"
    options: ClassVar[dict[str, Any]] = {"security": {"bearer_auth": True}}
    path = "/embeddings"

    def check(self, requests: Sequence[Request]) -> None:
        """Check as `ApiProvider.check`; raises ModelError for anything but a text to embed."""
        for request in requests:
            if request.conversation.images or request.tags.role != "embedder":
                raise ModelError(
                    f"model {self.name!r}: only embeds texts, but has the role "
                    f"{request.tags.role}; use it only as rationale.taxonomy.embedder"
                )
        super().check(requests)

    def build_body(
        self, model: EmbeddingModel, requests: Sequence[Request], show: Show
    ) -> dict[str, Any]:
        """Build the JSON body that requests the embedding of one text."""
        shortened = {} if model.dimensions is None else {"dimensions": model.dimensions}
        text = requests[0].conversation.text
        return {"model": model.id, "input": text, "encoding_format": "float", **shortened}

    def read_reply(self, reply: object, samples: int = 1, *, batch: bool = False) -> list[Response]:
        """See `ApiProvider.read_reply`."""
        return [read_embedding(self.model, reply)]


def read_embedding(model: EmbeddingModel, reply: object) -> Response:
    """Build the response; its text is the vector, a list of numbers as JSON.

    Raises:
        Failure: The body contains no vector.
    """
    body = as_object(reply)
    rows = as_objects(body.get("data"))
    vector = rows[0].get("embedding") if len(rows) == 1 else None
    if not isinstance(vector, list) or not vector or not all(map(_is_finite, vector)):
        raise unreadable("contains no vector of finite numbers")
    response = Response(text=json.dumps(vector), finish_reason="stop")
    return add_costs([response], _count_tokens(body), model, body, batch=False)[0]


def _count_tokens(body: Json) -> Usage:
    usage = read_usage(as_object(body.get("usage")))
    return usage.model_copy(update={"output_tokens": 0})


def _is_finite(value: object) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value)  # type: ignore[arg-type]
