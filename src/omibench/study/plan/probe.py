"""Checks of the endpoints before a run: locally, and by one small request each."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from omibench.errors import MissingExtraError, ModelError
from omibench.models.client.ask import open_budget
from omibench.models.cost import usd_text, worst_case
from omibench.models.probe import TOKENS, endpoint_faults, probe, probe_request
from omibench.models.provider import NO_BUDGET
from omibench.params.models.base import ApiModel
from omibench.params.study import Study

_AT_ONCE = 8


class Probed(NamedTuple):
    """A probed model; `fault` is the error, None if it answered."""

    model: str
    fault: str | None


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


def probe_study(study: Study) -> list[Probed]:
    """Probe each model of the study once, within its budget; answers are discarded."""
    models = served_models(study)
    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        faults = pool.map(lambda name: _fault(study, name, models[name]), models)
        return [Probed(name, fault) for name, fault in zip(models, faults, strict=True)]


def probe_lines(probed: list[Probed]) -> Iterator[str]:
    """Describe the results of the probes, one line per model."""
    for model, fault in probed:
        yield f"{model}: {'answers' if fault is None else fault}"


def _fault(study: Study, name: str, model: ApiModel) -> str | None:
    direct = model.as_probe()
    probed_study = study.model_copy(update={"models": {**study.models, name: direct}})
    try:
        with open_budget(probed_study, name) as budget:
            return probe(name, direct, budget or NO_BUDGET)
    except (ModelError, MissingExtraError) as error:
        return str(error)
