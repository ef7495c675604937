"""Convert replies of the OpenAI API from JSON to Responses: chat completions and Responses."""

from __future__ import annotations

from omibench.models.http.drawn_pictures import read_chat_pictures, read_item_pictures
from omibench.models.http.rejections import content_fault, match_refusal
from omibench.models.http.replies import (
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
    split_reasoning,
    unreadable,
)
from omibench.models.openai.tools import add_chat_calls, read_item_calls
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
