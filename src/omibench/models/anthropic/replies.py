"""Convert messages of the Anthropic API from JSON to Responses."""

from __future__ import annotations

from omibench.models.anthropic.tools import read_calls, read_signed_thinking
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
    split_reasoning,
    unreadable,
)
from omibench.models.traffic.failure import Failure
from omibench.params.models.anthropic import AnthropicModel
from omibench.schemas.request import Response, Usage

_CUT = {"max_tokens", "model_context_window_exceeded"}
_FAILED = {"error", "abort", "aborted", "cancelled", "canceled", "failed"}
"""Stop reasons of compatible servers that mean that generation broke off."""


def anthropic_reply(model: AnthropicModel, reply: object, *, batch: bool = False) -> Response:
    """Read the one sample of a message. The provider's default sampling applies.

    Raises Failure if the body is not a message, or neither has content nor counts tokens.
    """
    if not isinstance(reply, dict):
        raise unreadable(f"is a JSON {type(reply).__name__} instead of an object")
    if not isinstance(reply.get("content"), list):
        raise unreadable(f"is not a message: its type is {reply.get('type')!r}, without content")
    blocks = as_objects(reply["content"])
    written = "".join(as_text(b.get("text")) for b in blocks if b.get("type") == "text")
    thought = "\n".join(as_text(b.get("thinking")) for b in blocks if b.get("type") == "thinking")
    text, reasoning = split_reasoning(written, thought)
    stop = as_text(reply.get("stop_reason")) or None
    if (stop or "").lower() in _FAILED:
        raise Failure(
            f"the reply ended with {stop!r} and contains no finished answer",
            status=200,
            transient=True,
            cost_usd=compute_cost(
                model.price, read_usage(as_object(reply.get("usage"))), batch=batch
            ),
        )
    calls = read_calls(blocks)
    response = Response(
        text=text,
        outcome=classify_outcome(
            text, cut=stop in _CUT, refused=stop == "refusal", called=bool(calls)
        ),
        calls=calls,
        carried=read_signed_thinking(blocks) if calls else None,
        finish_reason=stop,
        reasoning=reasoning,
    )
    counted = as_object(reply.get("usage"))
    usage = read_usage(counted)
    if response.outcome == "empty" and not is_counted(usage):
        raise no_answer()
    (priced,) = add_costs([response], usage, model, reply, batch)
    extra = _cache_writes(model, counted, batch)
    cost = priced.cost_usd
    return priced.model_copy(
        update={
            "sampling": "provider_default",
            "cost_usd": None if cost is None else cost + extra,
        }
    )


def read_usage(usage: Json) -> Usage:
    """Count the tokens. This API counts cache reads and writes separately from the input."""
    plain = count(usage.get("input_tokens"))
    read = count(usage.get("cache_read_input_tokens"))
    written = count(usage.get("cache_creation_input_tokens")) or 0
    return Usage(
        input_tokens=None if plain is None else plain + (read or 0) + written,
        output_tokens=count(usage.get("output_tokens")),
        cached_tokens=read,
        reasoning_tokens=count(
            as_object(usage.get("output_tokens_details")).get("thinking_tokens")
        ),
    )


def _cache_writes(model: AnthropicModel, usage: Json, batch: bool) -> float:
    """Return the extra cost of tokens written to a cache over other input tokens."""
    written = count(usage.get("cache_creation_input_tokens")) or 0
    if model.price is None:
        return 0.0
    return model.price.compute_dollars(written * (model.cache_write_factor - 1), 0, batch=batch)
