"""One small request a model: is its key, address and name what its endpoint takes?

Nothing of it is kept as an answer; what it costs stands in the ledger.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from urllib.parse import urlsplit

from pydantic import SecretStr

from omibench.errors import MissingExtraError, ModelError
from omibench.models.http.remedies import resolve_address
from omibench.models.http.secrets import read_key, with_own_secrets
from omibench.models.http.served import ServedProvider
from omibench.models.provider import NO_BUDGET, Budget, Provider
from omibench.models.registry import open_provider
from omibench.models.traffic.failure import Failure
from omibench.params.models.base import ApiModel
from omibench.params.models.registry import Model
from omibench.schemas.request import Conversation, Decoding, Message, Request, Tags, TextPart

MOST_S = 60.0
"""Seconds that an endpoint may take to answer a probe."""
TOKENS = 16
"""New tokens of a probe at most; the least that the Responses API takes."""
_TEXT = "Reply with the word OK."


def endpoint_faults(models: Mapping[str, Model]) -> list[str]:
    """What is wrong with the keys and addresses of models, one line each; nothing is sent."""
    faults: dict[str, list[str]] = {}
    for name, model in models.items():
        if isinstance(model, ApiModel):
            for fault in _offline_faults(model):
                faults.setdefault(fault, []).append(name)
    return [f"{', '.join(names)}: {fault}" for fault, names in faults.items()]


def probe_request() -> Request:
    """The request that a probe sends."""
    message = Message(role="user", parts=(TextPart(text=_TEXT),))
    return Request(
        conversation=Conversation(messages=(message,)),
        decoding=Decoding(max_tokens=TOKENS),
        tags=Tags(role="respondent", problem="probe"),
    )


def probe(name: str, model: ApiModel, budget: Budget = NO_BUDGET) -> str | None:
    """Ask a model once; why it cannot be asked, in one line, or None when it answered.

    One attempt, directly also where the model is asked through batches, without its thinking.
    Whatever it answers will do. The budget reserves the worst case and learns what it cost.
    """
    try:
        provider = open_provider(name, model.as_probe())
        key = read_key(model.key_env)
    except (ModelError, MissingExtraError) as error:
        return str(error)
    if isinstance(provider, ServedProvider):
        return _probe_connection(model, provider, key, budget)
    return _probe_answer(provider, budget)


def _probe_answer(provider: Provider, budget: Budget) -> str | None:
    """As `probe`, of a provider that cannot be asked but by its own `answer`."""
    try:
        [(_, response)] = provider.answer([probe_request()], budget)
    except (ModelError, MissingExtraError) as error:
        return str(error)
    if response.outcome == "budget_stop":
        return "the budget does not hold a probe"
    return response.error if response.outcome == "provider_error" else None


def _probe_connection(
    model: ApiModel, provider: ServedProvider[ApiModel], key: SecretStr, budget: Budget
) -> str | None:
    request = probe_request()
    reservation = budget.reserve([request])
    if reservation is None:
        return "the budget does not hold a probe"
    cost: float | None = None
    try:
        cost = asyncio.run(_ask(provider, key, request))
    except Failure as failure:
        if failure.maybe_paid:
            budget.settle(reservation, failure.cost_usd, failure.message)
        else:
            budget.release(reservation)
        takes_it = failure.refused or failure.content
        return None if takes_it else failure.message
    except (ModelError, MissingExtraError) as error:
        budget.release(reservation)
        return str(error)
    except TimeoutError:
        budget.settle(reservation, None, "a probe was not answered in time")
        return f"no answer within {MOST_S:g} s from {resolve_address(model)}"
    budget.settle(reservation, cost)
    return None


async def _ask(
    provider: ServedProvider[ApiModel], key: SecretStr, request: Request
) -> float | None:
    most_s = min(MOST_S, provider.model.limits.timeout_s)
    async with provider.connect_explained(key) as send, asyncio.timeout(most_s):
        return (await send([request])).cost_usd


def _offline_faults(model: ApiModel) -> list[str]:
    faults = []
    try:
        read_key(model.key_env)
        with_own_secrets(model)
    except (ModelError, MissingExtraError) as error:
        faults.append(str(error))
    address = resolve_address(model)
    try:
        url = urlsplit(address)
        host, port_is_number = url.hostname, url.port is None or url.port > 0
    except ValueError:
        host, port_is_number = None, False
    if not host or not port_is_number or url.scheme not in ("http", "https"):
        faults.append(f"the address {address} is none: give one such as https://host/v1")
    return faults
