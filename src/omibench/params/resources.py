"""What a job asks of a scheduler: GPUs, memory and time of a local model, its share of an API.

The names are those that Snakemake and its executor plugins know. Nothing of it changes an answer,
so nothing of it is among the parameters of a rule.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from omibench.params.cell import Cell
from omibench.params.models.base import ApiModel, LocalModel
from omibench.params.study import Study

Amount = int | str | None
"""None: the job asks for nothing of the kind."""
MEMORY_MB, MINUTES = 4000, 1440
"""Of a job that may load a local model and has none to load."""


def collect_resources(
    study: Study, stage: str, model: str | None = None, setting: str | None = None
) -> dict[str, Amount]:
    """What one job of `fill`, `help`, `infer`, `saliency`, `score`, `judge`, `aggregate` asks for.

    Without `model`, only the names count. A job of `aggregate` is of a `setting`, too.

    All jobs of a stage have the same names. `api` is the job's share of all endpoints together and
    `api_<endpoint>` that of one of them, 1 or 0 each.
    """
    if stage == "aggregate":
        return _collect_for_aggregate(study, model, setting)
    loading = _loading(study.models[model] if model else None)
    if stage in ("fill", "help"):
        return loading
    if stage == "saliency":
        return _fill_amounts(loading) | collect_resources(study, "infer", model)
    models = list(study.infer.models) if stage == "infer" else study.judges(stage)
    endpoints = {name: find_endpoint(study, name) for name in models}
    in_use = {endpoints.get(model or "")} if stage == "infer" else set(endpoints.values())
    names = sorted({endpoint for endpoint in endpoints.values() if endpoint})
    shares: dict[str, Amount] = {f"api_{name}": int(name in in_use) for name in names}
    return {"api": int(any(shares.values())), **shares} if names else {}


def count_cpus(study: Study, model: str) -> int:
    """Cores of the job that loads a local model; 1 for any other model."""
    block = study.models[model]
    return block.resources.cpus if isinstance(block, LocalModel) else 1


def find_endpoint(study: Study, name: str) -> str | None:
    """The endpoint that the model's jobs share with others, as a word; None if they share none.

    It is the host of `base_url`, or else the provider. A batch API takes what it is given, so a
    model that is asked through one shares nothing.
    """
    model = study.models.get(name)
    if not isinstance(model, ApiModel) or model.is_batch:
        return None
    host = urlsplit(model.base_url).hostname if model.base_url else None
    return re.sub(r"\W", "_", host or model.provider)


def _collect_for_aggregate(
    study: Study, model: str | None, setting: str | None
) -> dict[str, Amount]:
    """The largest of what its local models need, one of which is loaded at a time."""
    local = {cell: _find_local_choosers(study, *cell) for cell in study.aggregated_cells}
    if not any(local.values()):
        return {}
    loads = [_loading(block) for block in local.get(Cell(model or "", setting or ""), [])]
    most = dict(max(loads, key=lambda load: _count(load["gpu"]), default=_loading(None)))
    for name in ("mem_mb", "runtime"):
        most[name] = max((_count(load[name]) for load in loads), default=None)
    return _fill_amounts(most)


def _find_local_choosers(study: Study, model: str, setting: str) -> list[LocalModel]:
    """The local models that choose among a cell's samples, or put pictures into words for them."""
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
    """Memory and time where none is asked for: Snakemake converts these, and takes no None."""
    defaults = {"mem_mb": MEMORY_MB, "runtime": MINUTES}
    return {name: defaults.get(name) if v is None else v for name, v in amounts.items()}


def _loading(model: object) -> dict[str, Amount]:
    if not isinstance(model, LocalModel):
        return dict.fromkeys(("gpu", "gpu_model", "gpu_manufacturer", "mem_mb", "runtime"))
    resources = model.resources
    gpus = model.n_gpus if resources.gpus is None else resources.gpus
    return {
        "gpu": gpus or None,
        "gpu_model": resources.gpu_model if gpus else None,
        "gpu_manufacturer": resources.gpu_maker if gpus else None,
        "mem_mb": round(1000 * resources.memory_gb),
        "runtime": round(60 * resources.hours),
    }
