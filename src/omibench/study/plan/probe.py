"""The probe of `omibench plan --probe`: one request to each endpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from omibench.errors import MissingExtraError, ModelError
from omibench.models.api.failures import Failure
from omibench.models.api.http import read_key, resolve_address, with_own_secrets
from omibench.models.api.provider import ApiProvider
from omibench.models.client.ask import open_budget
from omibench.models.cost import usd_text, worst_case
from omibench.models.provider import NO_BUDGET, Budget
from omibench.models.registry import open_provider
from omibench.params.models.base import ApiModel, ModelBlock
from omibench.params.study import Study
from omibench.schemas.request import Decoding, Request, Tags, TextPart, converse

MOST_S = 60.0
"""Time limit of a probe in seconds."""
TOKENS = 16
"""Maximum new tokens of a probe; the minimum that the Responses API accepts."""
_TEXT = "Reply with the word OK."
_NO_BUDGET = "the budget does not cover a probe"


def endpoint_faults(models: Mapping[str, ModelBlock]) -> list[str]:
    """List problems with the keys and addresses of models, one line each; nothing is sent."""
    faults: dict[str, list[str]] = {}
    for name, model in models.items():
        if isinstance(model, ApiModel):
            for fault in _offline_faults(model):
                faults.setdefault(fault, []).append(name)
    return [f"{', '.join(names)}: {fault}" for fault, names in faults.items()]


def probe_request() -> Request:
    """Build the request of a probe."""
    return Request(
        conversation=converse("", [TextPart(text=_TEXT)]),
        decoding=Decoding(max_tokens=TOKENS),
        tags=Tags(role="respondent", problem="probe"),
    )


def _probe(name: str, model: ApiModel, budget: Budget) -> str | None:
    """Query a model once. Returns the error on one line, or None if it answered.

    One attempt, sent directly even if the model uses batches, and without thinking. Any answer is
    accepted. The budget reserves the worst case and is settled with the cost.
    """
    provider = open_provider(name, model)
    read_key(model.key_env)
    if isinstance(provider, ApiProvider):
        return _probe_connection(model, provider, budget)
    # A provider of a plug-in can only be queried by its own `answer`.
    [(_, response)] = provider.answer([probe_request()], budget)
    if response.outcome == "budget_stop":
        return _NO_BUDGET
    return response.error if response.outcome == "provider_error" else None


def _probe_connection(
    model: ApiModel, provider: ApiProvider[ApiModel], budget: Budget
) -> str | None:
    request = probe_request()
    reservation = budget.reserve([request])
    if reservation is None:
        return _NO_BUDGET
    try:
        cost = asyncio.run(_ask(provider, request))
    except Failure as failure:
        if failure.maybe_paid:
            budget.settle(reservation, failure.cost_usd, failure.message)
        else:
            budget.release(reservation)
        takes_it = failure.refused or failure.content
        return None if takes_it else failure.message
    except (ModelError, MissingExtraError):
        budget.release(reservation)
        raise
    except TimeoutError:
        budget.settle(reservation, None, "a probe was not answered in time")
        return f"no answer within {MOST_S:g} s from {resolve_address(model)}"
    budget.settle(reservation, cost)
    return None


async def _ask(provider: ApiProvider[ApiModel], request: Request) -> float | None:
    most_s = min(MOST_S, provider.model.limits.timeout_s)
    async with provider.connect() as send, asyncio.timeout(most_s):
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
        faults.append(f"the address {address} is not valid; give one such as https://host/v1")
    return faults


# Checks of the endpoints before a run: locally, and by one small request each.

_AT_ONCE = 8


def served_models(study: Study) -> dict[str, ApiModel]:
    """Return the API models of the study, in any role."""
    names = study.asked_models
    return {
        name: model
        for name, model in study.models.items()
        if name in names and isinstance(model, ApiModel)
    }


def endpoint_lines(study: Study) -> list[str]:
    """List problems with keys and addresses of the models; nothing is sent."""
    return endpoint_faults(served_models(study))


def probe_cost(study: Study) -> str:
    """Describe the number of probes of a study, and their maximum cost."""
    models = served_models(study)
    usd_most = sum(
        worst_case(model.as_probe(), model.price, [probe_request()])
        for model in models.values()
        if model.price is not None
    )
    unknown = [name for name, model in models.items() if model.price is None]
    line = (
        f"Probes: {len(models)} requests of at most {TOKENS} new tokens, at most "
        f"{usd_text(usd_most)}"
    )
    return line + (f", and unknown without a price: {', '.join(unknown)}" if unknown else "")


def probe_study(study: Study) -> dict[str, str | None]:
    """Probe each model of the study once, within its budget; answers are discarded.

    Returns each model with its error, None if it answered.
    """
    models = served_models(study)
    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        faults = pool.map(lambda name: _fault(study, name, models[name]), models)
        return dict(zip(models, faults, strict=True))


def probe_lines(probed: Mapping[str, str | None]) -> Iterator[str]:
    """Describe the results of the probes, one line per model."""
    for model, fault in probed.items():
        yield f"{model}: {'answers' if fault is None else fault}"


def _fault(study: Study, name: str, model: ApiModel) -> str | None:
    direct = model.as_probe()
    probed_study = study.model_copy(update={"models": {**study.models, name: direct}})
    try:
        with open_budget(probed_study, name) as budget:
            return _probe(name, direct, budget or NO_BUDGET)
    except (ModelError, MissingExtraError) as error:
        return str(error)
