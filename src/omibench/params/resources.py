"""Scheduler resources of a job: GPUs, memory and time of a local model, its share of an API.

The names are those of Snakemake and its executor plugins. Resources never change an answer, so none
of them is among the parameters of a rule.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from omibench.params.models.base import ApiModel
from omibench.params.models.providers import JobResources, LocalModel
from omibench.params.setting import Cell
from omibench.params.study import Study

Amount = int | str | None
"""None: the job requests no such resource."""
MEMORY_MB, MINUTES = 4000, 1440
"""For a job that can load a local model but does not."""


def collect_resources(
    study: Study, stage: str, model: str | None = None, setting: str | None = None
) -> dict[str, Amount]:
    """Return the resources of one job of a stage that queries models.

    The stages are `fill`, `help`, `infer`, `ask`, `saliency`, `score`, `judge` and `aggregate`.
    Without `model`, only the names matter. A job of `aggregate` also has a `setting`.

    All jobs of a stage have the same names. `api` is the job's share of all endpoints together and
    `api_<endpoint>` that of one of them, 1 or 0 each.
    """
    if stage == "aggregate":
        return _collect_for_aggregate(study, model, setting)
    loading = _loading(study.models[model] if model else None)
    if stage in ("fill", "help"):
        return loading
    if stage == "tune":
        return (
            _load_resources(study.tune[model].resources, study.tune[model].gpus)
            if model
            else loading
        )
    if stage in ("saliency", "infer_part"):  # a job that asks and can load a local model
        return _fill_amounts(loading) | collect_resources(study, "infer", model)
    models = list(study.infer.models) if stage == "infer" else study.judges(stage)
    endpoints = {name: find_endpoint(study, name) for name in models}
    in_use = {endpoints.get(model or "")} if stage == "infer" else set(endpoints.values())
    names = sorted({endpoint for endpoint in endpoints.values() if endpoint})
    shares: dict[str, Amount] = {f"api_{name}": int(name in in_use) for name in names}
    return {"api": int(any(shares.values())), **shares} if names else {}


def count_cpus(study: Study, model: str) -> int:
    """Return the cores of the job that loads a local model; 1 for any other model."""
    block = study.models[model]
    return block.resources.cpus if isinstance(block, LocalModel) else 1


def find_endpoint(study: Study, name: str) -> str | None:
    """Return the endpoint that the model's jobs share with others, as a word; None if none.

    It is the host of `base_url`, or else the provider. Batch APIs have no rate limit, so a model
    that uses one shares nothing.
    """
    model = study.models.get(name)
    if not isinstance(model, ApiModel) or model.is_batch:
        return None
    host = urlsplit(model.base_url).hostname if model.base_url else None
    return re.sub(r"\W", "_", host or model.provider)


def _collect_for_aggregate(
    study: Study, model: str | None, setting: str | None
) -> dict[str, Amount]:
    """Return the maximum resources of its local models, which are loaded one at a time."""
    local = {cell: _find_local_choosers(study, *cell) for cell in study.aggregated_cells}
    if not any(local.values()):
        return {}
    loads = [_loading(block) for block in local.get(Cell(model or "", setting or ""), [])]
    most = dict(max(loads, key=lambda load: _count(load["gpu"]), default=_loading(None)))
    for name in ("mem_mb", "runtime"):
        most[name] = max((_count(load[name]) for load in loads), default=None)
    return _fill_amounts(most)


def _find_local_choosers(study: Study, model: str, setting: str) -> list[LocalModel]:
    """Find the local models that choose among a cell's samples, or describe pictures for them."""
    block = study.settings[setting]
    names = block.aggregate.name_judges(model)
    captioner = block.aggregate.captions or block.images.model
    models = [
        study.models[name] for name in [*names, *([captioner] if names and captioner else [])]
    ]
    return [m for m in models if isinstance(m, LocalModel)]


def _count(amount: Amount) -> int:
    return amount if isinstance(amount, int) else 0


def _fill_amounts(amounts: dict[str, Amount]) -> dict[str, Amount]:
    """Fill in default memory and time: Snakemake converts these and rejects None."""
    defaults = {"mem_mb": MEMORY_MB, "runtime": MINUTES}
    return {name: defaults.get(name) if v is None else v for name, v in amounts.items()}


def _loading(model: object) -> dict[str, Amount]:
    if not isinstance(model, LocalModel):
        return dict.fromkeys(("gpu", "gpu_model", "gpu_manufacturer", "mem_mb", "runtime"))
    return _load_resources(model.resources, model.n_gpus)


def _load_resources(resources: JobResources, n_gpus: int) -> dict[str, Amount]:
    gpus = n_gpus if resources.gpus is None else resources.gpus
    return {
        "gpu": gpus or None,
        "gpu_model": resources.gpu_model if gpus else None,
        "gpu_manufacturer": resources.gpu_maker if gpus else None,
        "mem_mb": round(1000 * resources.memory_gb),
        "runtime": round(60 * resources.hours),
    }
