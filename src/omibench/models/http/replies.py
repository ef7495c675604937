"""The common parts of all providers' replies: price, split samples, separate reasoning."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from omibench.models.traffic.failure import Failure
from omibench.params.models.base import Price, ServedModel
from omibench.schemas.request import Outcome, Response, Usage
from omibench.text.masking import mask_keys
from omibench.text.surrogates import may_hold_surrogates, replace_surrogates

_CLOSE = "</think>"
_OPEN = re.compile(r"\s*<think>")
_SNAPSHOT = re.compile(r"[-@:](?:\d{4}-?\d{2}-?\d{2}|\d{3,4}|latest|preview|exp)(?=[-@:]|$)")

Json = Mapping[str, Any]


def compute_cost(price: Price | None, usage: Usage, *, batch: bool = False) -> float | None:
    """Return the cost of one call in US dollars; None without a price or a token count."""
    if price is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    return price.compute_dollars(
        usage.input_tokens, usage.output_tokens, usage.cached_tokens or 0, batch=batch
    )


def is_counted(usage: Usage) -> bool:
    """Return whether the provider counted tokens: then even a reply without content is billed."""
    return usage.input_tokens is not None or usage.output_tokens is not None


def divide_usage(usage: Usage, samples: int) -> list[Usage]:
    """Divide the tokens of one call over its samples as evenly as whole numbers allow.

    A provider counts tokens per call, not per sample; the shares add up to its count.
    """
    counts = usage.model_dump()
    return [
        Usage(
            **{
                name: None if total is None else total // samples + (i < total % samples)
                for name, total in counts.items()
            }
        )
        for i in range(samples)
    ]


def add_costs(
    responses: Sequence[Response],
    usage: Usage,
    model: ServedModel,
    reply: Json,
    batch: bool,
) -> list[Response]:
    """Add the facts of a call to its samples: tokens, dollars, serving model."""
    cost = compute_cost(model.price, usage, batch=batch)
    served = as_text(reply.get("model"))
    shared = {
        "cost_usd": None if cost is None else cost / len(responses),
        "provider_id": as_text(reply.get("id")) or None,
        "served_model": served if served and served != model.id else None,
        "sampling": None if model.can.temperature else "provider_default",
    }
    usages = divide_usage(usage, len(responses))
    return [
        response.model_copy(update={**shared, "usage": sample_usage})
        for response, sample_usage in zip(responses, usages, strict=True)
    ]


def split_reasoning(text: str, reasoning: str) -> tuple[str, str | None]:
    """Split the answer from the reasoning that some models write as `<think>...</think>`.

    The opening tag can be in the prompt: then everything up to the last closing tag is reasoning.
    Reasoning that is never closed leaves no answer.
    """
    if _CLOSE in text:
        thought, _, text = text.rpartition(_CLOSE)
        reasoning += _OPEN.sub("", thought, count=1)
        text = text.lstrip()
    elif opened := _OPEN.match(text):
        reasoning, text = reasoning + text[opened.end() :], ""
    return text, reasoning.strip() or None


def classify_outcome(text: str, *, cut: bool, refused: bool, called: bool = False) -> Outcome:
    """Return the outcome of a finished reply; without text or calls it is `empty`."""
    if refused:
        return "refused"
    if cut:
        return "truncated"
    return "answered" if text.strip() or called else "empty"


def same_family(requested: str, served: str) -> bool:
    """Return whether the model `served` can be the requested one: an alias or a dated snapshot."""
    requested_stem, served_stem = _stem(requested), _stem(served)
    return requested_stem.startswith(served_stem) or served_stem.startswith(requested_stem)


def parse_json(body: bytes) -> Any:
    """Parse the JSON value of a body without lone surrogates and known keys.

    Raises ValueError if it is not JSON or nested too deeply.
    """
    try:
        value = json.loads(body)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    value = mask_keys(value, body)
    return replace_surrogates(value) if may_hold_surrogates(body) else value


def as_object(value: object) -> Json:
    """Return the value if it is a JSON object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def as_objects(value: object) -> list[Json]:
    """Return the objects of a JSON list; empty for anything else."""
    return [v for v in value if isinstance(v, Mapping)] if isinstance(value, list) else []


def count(value: object) -> int | None:
    """Return a number of tokens from a provider's value, or None."""
    tokens = number(value)
    return int(tokens) if tokens is not None and tokens >= 0 else None


def number(value: object) -> float | None:
    """Return a finite JSON number, or None: Python's parser accepts NaN and Infinity."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < 1e15 else None  # type: ignore[arg-type]


def as_text(value: object) -> str:
    """Return the value if it is text, else an empty text."""
    return value if isinstance(value, str) else ""


def no_answer() -> Failure:
    """Build the failure of a reply without content that nothing shows to be an answer."""
    return unreadable("contains neither an answer nor a count of tokens")


def unreadable(defect: str) -> Failure:
    """Build the failure of a 200 without a valid reply: possibly billed, and worth a retry."""
    return Failure(f"the reply {defect}", status=200, transient=True)


def _stem(model: str) -> str:
    """Return the stem of a model name: `gpt-5` for `models/GPT-5-2026-01-02` and `openai/gpt-5`."""
    return _SNAPSHOT.sub("", model.lower().rsplit("/", 1)[-1])
