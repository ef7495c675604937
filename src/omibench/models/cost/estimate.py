"""Dollar costs of requests at a model's dated price, and the maximum cost of one attempt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import NamedTuple

from omibench.models.cost.tokens import ImageFormula, bound_input, estimate_input, image_formula
from omibench.params.models.base import ModelBlock, Price, ServedModel
from omibench.params.models.local import LocalModel
from omibench.schemas.request import Request, Response


def worst_case(model: ServedModel, price: Price, requests: Sequence[Request]) -> float:
    """Return the maximum cost in US dollars of one attempt at samples of one conversation.

    Input counts once, at the highest of the input prices, as written to a cache if the provider
    bills that. Output counts as `max_tokens` for every sample, at the highest output price.
    """
    return add_worst_cases(model, price, [requests])


def add_worst_cases(model: ServedModel, price: Price, calls: Iterable[Sequence[Request]]) -> float:
    """Return the maximum cost in US dollars of one attempt at several calls; see `worst_case`."""
    input_price = max(price.input * model.cache_write_factor, price.highest("input"))
    dear = price.model_copy(update={"input": input_price, "output": price.highest("output")})
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


# Token and latency statistics of a model's earlier responses, for estimates.

Answered = tuple[Request, Response]


class History(NamedTuple):
    """Means over `responses` responses; None if no provider reported them.

    `input_factor` is the ratio of reported to estimated input tokens, `image_tokens` the output
    tokens of drawn pictures.
    """

    responses: int = 0
    output_tokens: float | None = None
    latency_s: float | None = None
    input_factor: float | None = None
    image_tokens: float | None = None


NO_HISTORY = History()


def learn(calls: Iterable[Sequence[Answered]], formula: ImageFormula) -> History:
    """Compute statistics of calls, each with the samples of one conversation."""
    outputs: list[int] = []
    drawn: list[int] = []
    latencies: list[float] = []
    counted = ruled = responses = 0
    for call in calls:
        usages = [response.usage for _, response in call]
        responses += len(call)
        outputs += [u.output_tokens for u in usages if u.output_tokens is not None]
        drawn += [u.image_output_tokens for u in usages if u.image_output_tokens is not None]
        latencies += [r.latency_s for _, r in call if r.latency_s is not None]
        inputs = [u.input_tokens for u in usages if u.input_tokens is not None]
        if call and len(inputs) == len(call):
            counted += sum(inputs)
            ruled += estimate_input(call[0][0].conversation, formula).all
    return History(
        responses=responses,
        output_tokens=fmean(outputs) if outputs else None,
        image_tokens=fmean(drawn) if drawn else None,
        latency_s=fmean(latencies) if latencies else None,
        input_factor=counted / ruled if counted and ruled else None,
    )


# Estimates of calls to a model: tokens, dollars and hours, expected and maximum.

EXPECTED_SHARE = 0.25
"""Expected share of `max_tokens` used by a response if the store has none."""
TOKENS_PER_S = 50.0
"""Assumed output tokens per second of a call after `FIRST_TOKEN_S`, without stored latencies."""
FIRST_TOKEN_S = 2.0


class CostEstimate(NamedTuple):
    """Resources of a number of calls. Dollars are None for a paid model without a price.

    `text`, `images` and `output` are expected tokens, `output_most` is the sum of `max_tokens`;
    `unmeasured` counts images of unreadable size. `hours` is None if unknown.
    """

    calls: int = 0
    text: float = 0
    images: float = 0
    unmeasured: int = 0
    output: float = 0
    output_most: int = 0
    usd: float | None = 0.0
    usd_most: float | None = 0.0
    hours: float | None = 0.0


def estimate(
    model: ModelBlock, calls: Sequence[Sequence[Request]], history: History = NO_HISTORY
) -> CostEstimate:
    """Estimate calls, each with samples of one conversation whose input is counted once."""
    if not calls:
        return CostEstimate()
    formula = image_formula(model)
    inputs = [estimate_input(call[0].conversation, formula) for call in calls]
    factor = history.input_factor or 1.0
    limits = [request.decoding.max_tokens for call in calls for request in call]
    drawn = _pictures(model, history)
    output = sum(min(limit, max(drawn, _output(history, limit))) for limit in limits)
    text, images = (factor * sum(i[part] for i in inputs) for part in (0, 1))
    of_pictures = sum(min(limit, drawn) for limit in limits)
    usd, usd_most = _dollars(model, calls, text + images, output, of_pictures)
    return CostEstimate(
        calls=len(calls),
        text=text,
        images=images,
        unmeasured=sum(i.unmeasured for i in inputs),
        output=output,
        output_most=sum(limits),
        usd=usd,
        usd_most=usd_most,
        hours=_hours(model, len(calls), text + images, output, history),
    )


def _output(history: History, max_tokens: int) -> float:
    if history.output_tokens is None:
        return EXPECTED_SHARE * max_tokens
    return history.output_tokens


def _pictures(model: ModelBlock, history: History) -> float:
    """Return the expected output tokens of the pictures in one reply."""
    draws = model.draws if isinstance(model, ServedModel) else None
    if history.image_tokens is not None or draws is None:
        return history.image_tokens or 0.0
    return draws.pictures * draws.tokens


def _dollars(
    model: ModelBlock,
    calls: Sequence[Sequence[Request]],
    sent: float,
    output: float,
    of_pictures: float,
) -> tuple[float | None, float | None]:
    if not model.is_paid:
        return 0.0, 0.0
    if not isinstance(model, ServedModel) or (price := model.price) is None:
        return None, None
    worst_usd = add_worst_cases(model, price, calls)
    expected_usd = price.compute_dollars(
        sent, output, batch=model.is_batch, image_output_tokens=of_pictures
    )
    return min(worst_usd, expected_usd), worst_usd


def _hours(
    model: ModelBlock, calls: int, sent: float, output: float, history: History
) -> float | None:
    """Return the longest of the times set by requests/min, tokens/min and concurrency."""
    if not isinstance(model, ServedModel):
        return 0.0
    if model.is_batch or isinstance(model, LocalModel):
        return None
    limits = model.limits
    latency = history.latency_s or FIRST_TOKEN_S + output / calls / TOKENS_PER_S
    minutes = [calls * latency / min(limits.concurrency, calls) / 60]
    if limits.requests_per_minute:
        minutes.append(calls / limits.requests_per_minute)
    if limits.tokens_per_minute:
        minutes.append((sent + output) / limits.tokens_per_minute)
    return max(minutes) / 60
