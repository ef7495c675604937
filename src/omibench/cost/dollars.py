"""Dollar costs of requests at a model's dated price, and the maximum cost of one attempt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from omibench.cost.families import image_formula
from omibench.cost.tokens import bound_input
from omibench.params.models.base import Price, ServedModel
from omibench.schemas.request import Request


def worst_case(model: ServedModel, price: Price, requests: Sequence[Request]) -> float:
    """Return the maximum cost in US dollars of one attempt at samples of one conversation.

    Input counts once, at the higher of the two input prices, as written to a cache if the
    provider bills that. Output counts as `max_tokens` for every sample, including reasoning.
    """
    return add_worst_cases(model, price, [requests])


def add_worst_cases(model: ServedModel, price: Price, calls: Iterable[Sequence[Request]]) -> float:
    """Return the maximum cost in US dollars of one attempt at several calls; see `worst_case`."""
    input_price = max(price.input * model.cache_write_factor, price.cached_input or 0.0)
    dear = price.model_copy(update={"input": input_price})
    formula = image_formula(model)
    return sum(
        dear.compute_dollars(
            bound_input(call[0].conversation, formula),
            sum(request.decoding.max_tokens for request in call),
            batch=model.is_batch,
        )
        for call in calls
    )


def usd_text(usd: float) -> str:
    """Format US dollars: cents, or three digits below one dollar."""
    if usd == 0 or usd >= 1:
        return f"${usd:,.2f}"
    return f"${usd:.3g}" if usd >= 1e-4 else "under $0.0001"
