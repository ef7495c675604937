"""The `openai` provider: chat, Responses, batches and embeddings of the OpenAI API."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from time import time
from typing import Any, BinaryIO, ClassVar

from omibench.errors import ModelError
from omibench.models.api.batch_api import BatchApi, BatchStatus, InputShape, Submission, read_id
from omibench.models.api.failures import (
    Failure,
    content_fault,
    failure_of_status,
    match_refusal,
    passes,
)
from omibench.models.api.http import A
from omibench.models.api.provider import ApiProvider
from omibench.models.api.replies import (
    CUT,
    MOST_CALLS,
    MOST_LISTED,
    Json,
    Show,
    as_object,
    as_objects,
    as_text,
    classify_outcome,
    count,
    describe_tools,
    join_texts,
    move_pictures,
    number,
    parse_call,
    read_chat_calls,
    read_chat_pieces,
    split_reply,
    unreadable,
)
from omibench.models.drawn import decode_picture
from omibench.models.provider import (
    is_continued,
    refuse_all_but_texts,
    refuse_continued,
    refuse_options,
    trim_end,
)
from omibench.models.registry import provider
from omibench.params.models.providers import EmbeddingModel, OpenAIModel
from omibench.schemas.request import (
    DrawnPart,
    ImagePart,
    Message,
    Part,
    Request,
    Response,
    TextPart,
    Usage,
)

# The bodies of requests: chat completions and Responses.

PATHS = {"chat": "/chat/completions", "responses": "/responses"}
MANAGED = {"model", "messages", "input", "n", "seed", "stream", "temperature", "top_p"}
"""Fields that the request determines: `extra_body` cannot set them."""
_EXTRA = "extra_content"
"""Field with the signature of a call at Google's endpoint, which rejects a history without it."""


def _chat_body(model: OpenAIModel, request: Request, show: Show) -> dict[str, Any]:
    body: dict[str, Any] = {
        "messages": [
            _chat_turn(model, m, show)
            for m in move_pictures(trim_end(request.conversation).messages, ("tool", "assistant"))
        ],
        model.max_tokens_field: request.decoding.max_tokens,
    }
    if model.effort is not None:
        body["reasoning_effort"] = model.effort
    if model.can.logprobs or request.options:
        body["logprobs"] = True
    if request.options:
        body |= {"top_logprobs": MOST_LISTED, model.max_tokens_field: 1}
    if is_continued(request.conversation):
        body |= {"add_generation_prompt": False, "continue_final_message": True}
    return body


def _chat_turn(model: OpenAIModel, message: Message, show: Show) -> dict[str, Any]:
    """Build a turn; a single text is sent as a string, which every server supports."""
    turn: dict[str, Any] = {"role": message.role}
    if message.answers is not None:
        return turn | {"tool_call_id": message.answers, "content": join_texts(message)}
    if message.calls:
        signed = json.loads(message.carried) if message.carried else []
        signed += [None] * len(message.calls)
        turn["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
                **({_EXTRA: extra} if extra else {}),
            }
            for call, extra in zip(message.calls, signed, strict=False)
        ]
    if not message.parts:
        return turn | {"content": None}
    if len(message.parts) == 1 and isinstance(message.parts[0], TextPart):
        return turn | {"content": message.parts[0].text}
    return turn | {"content": [_chat_part(model, p, show) for p in message.parts]}


def _chat_part(model: OpenAIModel, part: Part, show: Show) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    detail = {} if model.detail is None else {"detail": model.detail}
    return {"type": "image_url", "image_url": {"url": show(part).url, **detail}}


def _responses_body(model: OpenAIModel, request: Request, show: Show) -> dict[str, Any]:
    body: dict[str, Any] = {
        "input": [
            item
            for m in move_pictures(request.conversation.messages, ("assistant",))
            for item in _items(model, m, show)
        ],
        "max_output_tokens": request.decoding.max_tokens,
        "store": False,
    }
    if model.effort is not None:
        body["reasoning"] = {"effort": model.effort}
    if model.can.logprobs:
        body["include"] = ["message.output_text.logprobs"]
    return body


def _items(model: OpenAIModel, message: Message, show: Show) -> Iterator[dict[str, Any]]:
    """Build the items of a turn: its text and pictures, then its calls; or the result of a call."""
    kind = "output_text" if message.role == "assistant" else "input_text"
    content = [
        {"type": kind, "text": part.text}
        if isinstance(part, TextPart)
        else {
            "type": "input_image",
            "image_url": show(part).url,
            "detail": model.detail or "auto",
        }
        for part in message.parts
    ]
    if message.answers is not None:
        pictured = any(isinstance(part, ImagePart) for part in message.parts)
        output = content if pictured else join_texts(message)
        yield {"type": "function_call_output", "call_id": message.answers, "output": output}
        return
    if content:
        yield {"role": message.role, "content": content}
    for call in message.calls:
        yield {
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.arguments,
        }


# Replies: chat completions and Responses.

_TRANSIENT = {"server_error", "rate_limit_exceeded", "vector_store_timeout"}


def _read_choices(reply: Json, counted: bool) -> list[Response]:
    if not isinstance(reply.get("choices"), list):
        if reply.get("choices", 0) is not None:  # some gateways write null instead of an empty list
            raise unreadable("has no list of choices")
        return []
    choices = sorted(as_objects(reply["choices"]), key=lambda c: count(c.get("index")) or 0)
    return [_read_choice(choice) for choice in choices if counted or _has_message(choice)]


def _has_message(choice: Json) -> bool:
    """Return whether a choice has a message with a part, or an empty one that it ended."""
    finish, message = as_text(choice.get("finish_reason")), choice.get("message")
    if not isinstance(message, dict):
        return match_refusal(finish) is not None
    parts = {key for key, value in message.items() if value is not None} - {"role"}
    return bool(parts or finish)


def _read_choice(choice: Json) -> Response:
    message = as_object(choice.get("message"))
    thoughts = as_text(message.get("reasoning")) or as_text(message.get("reasoning_content"))
    text, reasoning, drawn, drawn_at = split_reply(read_chat_pieces(message), thoughts)
    refusal = as_text(message.get("refusal"))
    finish = as_text(choice.get("finish_reason")) or None
    refused = bool(refusal) or match_refusal(finish or "") is not None
    calls = read_chat_calls(message)
    signed = [call.get(_EXTRA) for call in as_objects(message.get("tool_calls"))[:MOST_CALLS]]
    return Response(
        text=text or refusal,
        outcome=classify_outcome(text, cut=finish in CUT, refused=refused, called=bool(calls)),
        calls=calls,
        carried=json.dumps(signed) if any(signed) else None,
        drawn=drawn,
        drawn_at=drawn_at,
        finish_reason=finish,
        reasoning=reasoning,
        logprob=_add_logprobs(as_object(choice.get("logprobs")).get("content")),
    )


def _read_response(reply: Json, counted: bool) -> list[Response]:
    status = reply.get("status")
    if not isinstance(reply.get("output"), list) or status in ("queued", "in_progress"):
        raise unreadable(f"is not a finished response (status {status!r})")
    items = as_objects(reply["output"])
    if not items and status == "completed":
        return []
    parts = _parts(items, "message", "content")
    thoughts = [
        as_text(part.get("text"))
        for item in items
        for part in _parts([item], "reasoning", "content") or _parts([item], "reasoning", "summary")
    ]
    answers = [p for p in parts if p.get("type") == "output_text"]
    refusal = "".join(as_text(part.get("refusal")) for part in parts)
    text, reasoning, drawn, drawn_at = split_reply(_read_pieces(items), "\n".join(thoughts))
    reason = as_text(as_object(reply.get("incomplete_details")).get("reason"))
    called = [item for item in items if item.get("type") == "function_call"][:MOST_CALLS]
    refused = bool(refusal) or match_refusal(reason) is not None
    response = Response(
        text=text or refusal,
        outcome=classify_outcome(text, cut=reason in CUT, refused=refused, called=bool(called)),
        calls=tuple(
            parse_call(as_text(i.get("call_id")) or i.get("id"), i.get("name"), i.get("arguments"))
            for i in called
        ),
        drawn=drawn,
        drawn_at=drawn_at,
        finish_reason=reason or as_text(status) or None,
        reasoning=reasoning,
        logprob=_add_logprobs([r for part in answers for r in as_objects(part.get("logprobs"))]),
    )
    return [response] if counted or response.outcome != "empty" else []


def _read_pieces(items: Sequence[Json]) -> Iterator[str | DrawnPart | None]:
    for item in items:
        for part in _parts([item], "message", "content"):
            yield as_text(part.get("text")) if part.get("type") == "output_text" else None
        if item.get("type") == "image_generation_call":
            yield decode_picture(as_text(item.get("result")))


def _parts(items: Sequence[Json], kind: str, field: str) -> list[Json]:
    return [p for item in items if item.get("type") == kind for p in as_objects(item.get(field))]


def _add_logprobs(rows: object) -> float | None:
    values = [number(row.get("logprob")) for row in as_objects(rows)]
    numbers = [value for value in values if value is not None]
    return sum(numbers) if numbers else None


def _read_error(error: object) -> Failure:
    """Read the error of a 200 reply, as gateways and failed responses send it."""
    detail = as_object(error)
    code = str(detail.get("code") or detail.get("type") or "error")
    message = " ".join(str(detail.get("message") or error).split())
    status = int(code) if code.isdecimal() else 200
    transient = code in _TRANSIENT or passes(status)
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
        files = (as_text(reply.get("output_file_id")), as_text(reply.get("error_file_id")))
        sources = tuple(file for file in files if file)
        state = as_text(reply.get("status"))
        turned_down = None if sources or state != "failed" else _explain_rejection(reply)
        return BatchStatus(batch, state in _ENDED, sources, turned_down)

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


# The providers: any endpoint compatible with the OpenAI API.


class OpenAIClient(ApiProvider[A]):
    """A model behind the OpenAI API."""

    sdk = "openai"
    client = "OpenAI"
    options: ClassVar[dict[str, Any]] = {"security": {"bearer_auth": True}}

    def read_usage(self, usage: Json) -> Usage:
        """See `ApiProvider.read_usage`: the token counts of either API.

        If the total exceeds input plus output (Gemini counts its thoughts only there), the rest is
        output, which is how it is billed.
        """
        input_tokens = count(usage.get("prompt_tokens", usage.get("input_tokens")))
        output_tokens = count(usage.get("completion_tokens", usage.get("output_tokens")))
        total = count(usage.get("total_tokens"))
        of_input = as_object(
            usage.get("prompt_tokens_details") or usage.get("input_tokens_details")
        )
        of_output = as_object(
            usage.get("completion_tokens_details") or usage.get("output_tokens_details")
        )
        thought = count(of_output.get("reasoning_tokens"))
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
            cached_tokens=count(of_input.get("cached_tokens")),
            reasoning_tokens=thought,
            audio_input_tokens=count(of_input.get("audio_tokens")) or None,
            image_input_tokens=count(of_input.get("image_tokens")) or None,
            audio_output_tokens=count(of_output.get("audio_tokens")) or None,
            image_output_tokens=count(of_output.get("image_tokens")) or None,
        )


@provider("openai", block=OpenAIModel)
class OpenAIProvider(OpenAIClient[OpenAIModel]):
    """A model that answers: by chat completions or Responses, directly or in batches."""

    batch_api = OpenAIBatches

    def check_block(self) -> None:
        """Raise ModelError if the block declares an ability that its API lacks."""
        model = self.model
        for ability in ("samples", "seed") if model.api == "responses" else ():
            if getattr(model.can, ability):
                raise ModelError(
                    f"model {self.name!r}: `can.{ability}` is set, but the Responses API has no "
                    "such parameter; remove it, or set `api: chat`"
                )
        if fixed := sorted(MANAGED & set(model.extra_body)):
            raise ModelError(
                f"model {self.name!r}: `extra_body` sets {fixed[0]!r}, which the request and its "
                "setting determine; remove it"
            )

    def check_options(self, requests: Sequence[Request]) -> None:
        """See `ChecksOptions.check_options`; only some endpoints can score options."""
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
        """See `ApiProvider.build_body`.

        Several samples only if the endpoint sets `can.samples`; their indexes are consecutive.
        Offered tools stand next to those from the model's `extra_body`.
        """
        first = requests[0]
        build = _responses_body if model.api == "responses" else _chat_body
        body = {"model": model.id, **build(model, first, show)}
        if model.can.temperature:
            body["temperature"] = first.decoding.temperature
            if first.decoding.top_p is not None:
                body["top_p"] = first.decoding.top_p
        if len(requests) > 1:
            body["n"] = len(requests)
        if model.can.seed:
            body["seed"] = first.index
        tools: list[dict[str, Any]] = describe_tools(first.conversation.tools)
        if model.api == "responses":
            tools = [{"type": "function", **tool["function"], "strict": False} for tool in tools]
        body |= model.extra_body
        if tools:
            body["tools"] = [*tools, *model.extra_body.get("tools", [])]
        return body

    def read_samples(self, reply: Json, counted: bool) -> list[Response]:
        """See `ApiProvider.read_samples`."""
        if reply.get("error"):
            raise _read_error(reply["error"])
        read = _read_response if self.model.api == "responses" else _read_choices
        return read(reply, counted)


@provider("openai_embeddings", block=EmbeddingModel)
class EmbeddingProvider(OpenAIClient[EmbeddingModel]):
    """An embedding model: each request is one text, the text of its answer the vector as JSON."""

    path = "/embeddings"

    def check(self, requests: Sequence[Request]) -> None:
        """Check as `ApiProvider.check`; raises ModelError for anything but a text to embed."""
        refuse_all_but_texts(requests, self.name)
        super().check(requests)

    def build_body(
        self, model: EmbeddingModel, requests: Sequence[Request], show: Show
    ) -> dict[str, Any]:
        """Build the JSON body that requests the embedding of one text."""
        shortened = {} if model.dimensions is None else {"dimensions": model.dimensions}
        text = requests[0].conversation.text
        return {"model": model.id, "input": text, "encoding_format": "float", **shortened}

    def read_usage(self, usage: Json) -> Usage:
        """See `ApiProvider.read_usage`."""
        return super().read_usage(usage).model_copy(update={"output_tokens": 0})

    def read_samples(self, reply: Json, counted: bool) -> list[Response]:
        """See `ApiProvider.read_samples`."""
        rows = as_objects(reply.get("data"))
        vector = rows[0].get("embedding") if len(rows) == 1 else None
        if not isinstance(vector, list) or not vector or None in map(number, vector):
            raise unreadable("contains no vector of finite numbers")
        return [Response(text=json.dumps(vector), finish_reason="stop")]
