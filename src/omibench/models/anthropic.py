"""Provider for the Anthropic messages API: requests, tools, replies and batches."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, BinaryIO

from omibench.errors import ModelError
from omibench.models.api.batch_api import BatchApi, BatchStatus, InputShape, Submission, read_id
from omibench.models.api.failures import Failure, content_fault
from omibench.models.api.provider import ApiProvider
from omibench.models.api.replies import (
    CUT,
    MOST_CALLS,
    Json,
    Show,
    as_object,
    as_objects,
    as_text,
    classify_outcome,
    count,
    is_broken_off,
    parse_call,
    split_reasoning,
    unreadable,
)
from omibench.models.provider import refuse_options
from omibench.models.registry import provider
from omibench.params.models.providers import AnthropicModel
from omibench.schemas.request import (
    ImagePart,
    Message,
    Part,
    Request,
    Response,
    TextPart,
    Usage,
)

PATH = "/v1/messages"
_SIGNED = ("thinking", "redacted_thinking")


def _thinking(thinking: str | int, request: Request) -> dict[str, Any]:
    if isinstance(thinking, str):
        return {"type": thinking}
    if thinking >= request.decoding.max_tokens:
        raise ModelError(
            f"setting {request.tags.setting!r}: max_tokens is {request.decoding.max_tokens} and "
            f"the thinking budget is {thinking} tokens, which leaves none for the answer; raise "
            "`decoding.max_tokens` or lower `thinking`"
        )
    return {"type": "enabled", "budget_tokens": thinking}


def _split(request: Request) -> tuple[list[str], list[Message]]:
    """Split off the texts of the system turns, which this API takes in a separate field."""
    messages = request.conversation.messages
    turns = [message for message in messages if message.role != "system"]
    system = messages[: len(messages) - len(turns)]
    if any(m.role != "system" or any(isinstance(p, ImagePart) for p in m.parts) for m in system):
        raise ModelError(
            f"problem {request.tags.problem!r}: the Anthropic API accepts system text only at the "
            "start and without pictures; change the setting"
        )
    texts = [p.text for m in system for p in m.parts if isinstance(p, TextPart) and p.text.strip()]
    return texts, turns


def _turns(messages: list[Message], show: Show) -> Iterator[dict[str, Any]]:
    """Return the turns; neighbouring tool results are merged into one user turn."""
    waiting: list[dict[str, Any]] = []
    for message in messages:
        # Blank texts are left out: this API rejects them.
        content = [
            _part(p, show) for p in message.parts if isinstance(p, ImagePart) or p.text.strip()
        ]
        if message.answers is not None:
            result = {"type": "tool_result", "tool_use_id": message.answers, "content": content}
            waiting.append(result)
            continue
        if message.role == "user":
            yield {"role": "user", "content": [*waiting, *content]}
            waiting = []
            continue
        if waiting:
            yield {"role": "user", "content": waiting}
            waiting = []
        # The signed thinking must precede the calls that followed it.
        signed = json.loads(message.carried) if message.carried else []
        calls = [
            {"type": "tool_use", "id": c.id, "name": c.name, "input": json.loads(c.arguments)}
            for c in message.calls
        ]
        yield {"role": message.role, "content": [*signed, *content, *calls]}
    if waiting:
        yield {"role": "user", "content": waiting}


def _part(part: Part, show: Show) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    picture = show(part)
    source = {"type": "base64", "media_type": picture.media_type, "data": picture.data}
    return {"type": "image", "source": source}


# Anthropic message batches: many messages in one request, answered within a day.


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
        sources = (batch,) if as_text(reply.get("results_url")) else ()
        return BatchStatus(batch, reply.get("processing_status") == "ended", sources)

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


# The provider.


@provider("anthropic", block=AnthropicModel)
class AnthropicProvider(ApiProvider[AnthropicModel]):
    """A model behind the Anthropic API."""

    sdk = "anthropic"
    client = "Anthropic"
    batch_api = AnthropicBatches
    path = PATH

    def check_block(self) -> None:
        """Raise ModelError if the block declares an ability that the messages API lacks."""
        for ability in ("samples", "seed", "logprobs"):
            if getattr(self.model.can, ability):
                raise ModelError(
                    f"model {self.name!r}: `can.{ability}` is set, but the Anthropic API has no "
                    "such parameter; remove it (k samples are sent as k requests)"
                )

    def check_options(self, requests: Sequence[Request]) -> None:
        """See `ChecksOptions.check_options`."""
        refuse_options(requests, self.name, "the Anthropic API returns none; choose another model")

    def check(self, requests: Sequence[Request]) -> None:
        """See `ApiProvider.check`; also rejects what this API does not support."""
        super().check(requests)
        for request in requests:
            _split(request)
            if isinstance(self.model.thinking, int):
                _thinking(self.model.thinking, request)
            if request.decoding.top_p is not None:
                raise ModelError(
                    f"setting {request.tags.setting!r}: top_p is set, but the Anthropic API "
                    f"(model {self.name!r}) does not accept it; remove `decoding.top_p`"
                )

    def build_body(
        self, model: AnthropicModel, requests: Sequence[Request], show: Show
    ) -> dict[str, Any]:
        """See `ApiProvider.build_body`: the body of one sample."""
        (request,) = requests
        system, turns = _split(request)
        conversation = request.conversation
        body: dict[str, Any] = {
            "model": model.id,
            "max_tokens": request.decoding.max_tokens,
            "messages": list(_turns(turns, show)),
        }
        called = dict.fromkeys(call.name for m in conversation.messages for call in m.calls)
        if conversation.tools:
            body["tools"] = [
                {"name": t.name, "description": t.description, "input_schema": t.parameters}
                for t in conversation.tools
            ]
        elif called:  # a history of calls is accepted only with the definitions of its tools
            body["tools"] = [{"name": name, "input_schema": {"type": "object"}} for name in called]
            body["tool_choice"] = {"type": "none"}
        if system:
            body["system"] = "\n\n".join(system)
        if model.thinking is not None:
            body["thinking"] = _thinking(model.thinking, request)
        if model.effort is not None:
            body["output_config"] = {"effort": model.effort}
        return body

    def read_usage(self, usage: Json) -> Usage:
        """See `ApiProvider.read_usage`; this API counts cache reads and writes separately."""
        plain = count(usage.get("input_tokens"))
        read = count(usage.get("cache_read_input_tokens"))
        details = as_object(usage.get("output_tokens_details"))
        return Usage(
            input_tokens=None if plain is None else plain + (read or 0) + _count_written(usage),
            output_tokens=count(usage.get("output_tokens")),
            cached_tokens=read,
            reasoning_tokens=count(details.get("thinking_tokens")),
        )

    def read_samples(self, reply: Json, counted: bool) -> list[Response]:
        """See `ApiProvider.read_samples`."""
        if not isinstance(reply.get("content"), list):
            raise unreadable(
                f"is not a message: its type is {reply.get('type')!r}, without content"
            )
        blocks = as_objects(reply["content"])
        written = "".join(as_text(b.get("text")) for b in blocks if b.get("type") == "text")
        thoughts = [as_text(b.get("thinking")) for b in blocks if b.get("type") == "thinking"]
        text, reasoning = split_reasoning(written, "\n".join(thoughts))
        stop = as_text(reply.get("stop_reason")) or None
        called = [block for block in blocks if block.get("type") == "tool_use"][:MOST_CALLS]
        signed = [dict(block) for block in blocks if block.get("type") in _SIGNED]
        response = Response(
            text=text,
            outcome=classify_outcome(
                text, cut=stop in CUT, refused=stop == "refusal", called=bool(called)
            ),
            calls=tuple(parse_call(b.get("id"), b.get("name"), b.get("input")) for b in called),
            carried=json.dumps(signed) if called and signed else None,
            finish_reason=stop,
            reasoning=reasoning,
        )
        is_empty = response.outcome == "empty" and not is_broken_off(response)
        return [] if is_empty and not counted else [response]

    def read_reply(self, reply: object, samples: int = 1, *, batch: bool = False) -> list[Response]:
        """See `ApiProvider.read_reply`. Tokens written to a cache cost more than other input."""
        (response,) = super().read_reply(reply, batch=batch)
        cost = response.cost_usd
        if cost is not None and self.model.price is not None:
            written = _count_written(as_object(as_object(reply).get("usage")))
            extra = written * (self.model.cache_write_factor - 1)
            cost += self.model.price.compute_dollars(extra, 0, batch=batch)
        return [response.model_copy(update={"sampling": "provider_default", "cost_usd": cost})]


def _count_written(usage: Json) -> int:
    return count(usage.get("cache_creation_input_tokens")) or 0
