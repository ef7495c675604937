"""From replies of the OpenAI API, as JSON, to Responses: chat completions and Responses."""

from __future__ import annotations

from omibench.models.http.drawn_pictures import drawn_in_chat, drawn_in_items
from omibench.models.http.rejections import content_fault, refusal_of
from omibench.models.http.replies import (
    Json,
    apart,
    cost_of,
    count,
    list_of,
    number,
    object_of,
    outcome_of,
    settled,
    text_of,
    unreadable,
)
from omibench.models.openai.tools import called_in_chat, calls_in_items
from omibench.models.traffic.failure import Failure
from omibench.params.models.openai import OpenAIModel
from omibench.schemas.request import Response, Usage

_CUT = {
    "length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"
}  # fmt: skip
_FAILED = {
    "error", "abort", "aborted", "cancelled", "canceled", "failed", "timeout", "network_error",
    "server_error", "engine_error", "internal_error", "insufficient_system_resource",
    "malformed_function_call",
}  # fmt: skip
"""Finish reasons of replies that their server did not end as an answer (vLLM, SGLang, OpenRouter,
DeepSeek, GLM, Gemini)."""
_TRANSIENT = {"server_error", "rate_limit_exceeded", "vector_store_timeout"}


def openai_replies(
    model: OpenAIModel, reply: object, samples: int = 1, *, batch: bool = False
) -> list[Response]:
    """The samples that a reply holds, in order: at most `samples`, at least one.

    A reply without any choice is one response `empty` a sample: it was answered with nothing,
    and paid; one that ended as `error` or `abort` is none, and is left out. Raises Failure when
    the body is no reply at all, or no sample was finished.
    """
    if not isinstance(reply, dict):
        raise unreadable(f"is a JSON {type(reply).__name__} in place of an object")
    if reply.get("error"):
        raise _said_error(reply["error"])
    read = _responses if model.api == "responses" else _chat
    made = read(reply)[:samples]
    responses = [r for r in made if (r.finish_reason or "").lower() not in _FAILED]
    usage = usage_of(object_of(reply.get("usage")))
    if made and not responses:
        raise Failure(
            f"the reply ended as {made[0].finish_reason!r} and holds no finished answer",
            status=200,
            transient=True,
            cost_usd=cost_of(model.price, usage, batch=batch),
        )
    if not responses:
        nothing = Response(text="", outcome="empty", finish_reason="no_choices")
        responses = [nothing] * samples
    return settled(responses, usage, model, reply, batch)


def usage_of(usage: Json) -> Usage:
    """Tokens as either API counts them.

    Where the total exceeds input and output (Gemini counts its thoughts only there), the rest is
    output: it is billed so.
    """
    asked = count(usage.get("prompt_tokens", usage.get("input_tokens")))
    made = count(usage.get("completion_tokens", usage.get("output_tokens")))
    total = count(usage.get("total_tokens"))
    details_in = usage.get("prompt_tokens_details") or usage.get("input_tokens_details")
    details_out = usage.get("completion_tokens_details") or usage.get("output_tokens_details")
    thought = count(object_of(details_out).get("reasoning_tokens"))
    if asked is not None and made is not None and total is not None and total > asked + made:
        thought = thought or total - asked - made
        made = total - asked
    return Usage(
        input_tokens=asked,
        output_tokens=made,
        cached_tokens=count(object_of(details_in).get("cached_tokens")),
        reasoning_tokens=thought,
    )


def _chat(reply: Json) -> list[Response]:
    if not isinstance(reply.get("choices"), list):
        if reply.get("choices", 0) is not None:  # some gateways write null for none
            raise unreadable("has no list of choices")
        return []
    choices = sorted(list_of(reply["choices"]), key=lambda c: count(c.get("index")) or 0)
    return [_choice(choice) for choice in choices]


def _choice(choice: Json) -> Response:
    message = object_of(choice.get("message"))
    shown = text_of(message.get("reasoning")) or text_of(message.get("reasoning_content"))
    text, reasoning = apart(_content(message.get("content")), shown)
    refusal = text_of(message.get("refusal"))
    finish = text_of(choice.get("finish_reason")) or None
    refused = bool(refusal) or refusal_of(finish or "") is not None
    called = bool(list_of(message.get("tool_calls")))
    response = Response(
        text=text or refusal,
        outcome=outcome_of(text, cut=finish in _CUT, refused=refused, called=called),
        drawn=drawn_in_chat(message),
        finish_reason=finish,
        reasoning=reasoning,
        logprob=_logprob(object_of(choice.get("logprobs")).get("content")),
    )
    return called_in_chat(message, response)


def _content(content: object) -> str:
    """Text of a message; some servers send a list of parts."""
    if isinstance(content, list):
        return "".join(text_of(part.get("text")) for part in list_of(content))
    return text_of(content)


def _responses(reply: Json) -> list[Response]:
    status = reply.get("status")
    if not isinstance(reply.get("output"), list) or status in ("queued", "in_progress"):
        raise unreadable(f"is no finished response (status {status!r})")
    items = list_of(reply["output"])
    if not items and status == "completed":
        return []
    parts = [p for item in items if item.get("type") == "message" for p in _parts(item, "content")]
    shown = [
        text_of(part.get("text"))
        for item in items
        if item.get("type") == "reasoning"
        for part in _parts(item, "content") or _parts(item, "summary")
    ]
    answers = [p for p in parts if p.get("type") == "output_text"]
    refusal = "".join(text_of(part.get("refusal")) for part in parts)
    text, reasoning = apart("".join(text_of(p.get("text")) for p in answers), "\n".join(shown))
    reason = text_of(object_of(reply.get("incomplete_details")).get("reason"))
    calls = calls_in_items(items)
    refused = bool(refusal) or refusal_of(reason) is not None
    response = Response(
        text=text or refusal,
        outcome=outcome_of(text, cut=reason in _CUT, refused=refused, called=bool(calls)),
        calls=calls,
        drawn=drawn_in_items(items),
        finish_reason=reason or text_of(status) or None,
        reasoning=reasoning,
        logprob=_logprob([row for part in answers for row in _parts(part, "logprobs")]),
    )
    return [response]


def _parts(item: Json, field: str) -> list[Json]:
    return list_of(item.get(field))


def _logprob(rows: object) -> float | None:
    values = [number(row.get("logprob")) for row in list_of(rows)]
    numbers = [value for value in values if value is not None]
    return sum(numbers) if numbers else None


def _said_error(error: object) -> Failure:
    """A 200 that carries an error, as gateways and failed responses do."""
    said = object_of(error)
    code = str(said.get("code") or said.get("type") or "error")
    message = " ".join(str(said.get("message") or error).split())
    status = int(code) if code.isdecimal() else 200
    transient = code in _TRANSIENT or status in (408, 409, 425, 429) or status >= 500
    return Failure(
        f"the reply is an error ({code}): {message}",
        status=status,
        transient=transient,
        congestion=status in (429, 503, 529) or code == "rate_limit_exceeded",
        refused=refusal_of(code),
        content=content_fault(400 if status == 200 else status, code, message),
    )
