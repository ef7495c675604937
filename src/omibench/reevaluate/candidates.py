"""Selection of listed models that are new to the study."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count
from typing import Any, NamedTuple

from omibench.params.reevaluate import Watch, fill_template, has_id
from omibench.params.study import Study, parse_study


class ModelCandidate(NamedTuple):
    """A model to evaluate.

    `name` is its key under `models:`, `block` its entry there; `settings` are those of its cells,
    empty for all of the study.
    """

    name: str
    id: str
    watch: str
    block: dict[str, Any]
    settings: tuple[str, ...] = ()


def find_new_models(study: Study, listings: Mapping[str, Sequence[str]]) -> list[ModelCandidate]:
    """Return the listed models that match a watch and are new to the study, in watch order.

    `listings` maps a watch to its ids. A model is known if the study has one of the same provider
    and id, or, for a simulated model without id, of the same name.
    """
    identities = {
        (model.provider, getattr(model, "id", name)) for name, model in study.models.items()
    }
    names, candidates = set(study.models), []
    for watch_name, ids in listings.items():
        watch = study.reevaluate.watch[watch_name]
        for model_id in filter(watch.wants, ids):
            identity = (watch.model["provider"], _identify(watch, model_id))
            if identity in identities:
                continue
            name = _name(model_id, watch_name, names)
            identities.add(identity)
            names.add(name)
            block = fill_template(watch.model, model_id)
            candidates.append(
                ModelCandidate(name, model_id, watch_name, block, tuple(watch.settings))
            )
    return candidates


def replace_models(study: Study, candidates: Iterable[ModelCandidate]) -> Study:
    """Return the study with only the candidates as respondents, for estimating their cost.

    Raises:
        ParamsError: A candidate contradicts the study.
    """
    candidates = list(candidates)
    values = study.model_dump(mode="json", exclude_defaults=True)
    values["models"] = values.get("models", {}) | {c.name: c.block for c in candidates}
    values["infer"] = values.get("infer", {}) | {
        "models": [c.name for c in candidates],
        "only": {c.name: list(c.settings) for c in candidates if c.settings},
    }
    return parse_study(values, "the study with new models")


def _identify(watch: Watch, model_id: str) -> str:
    return model_id if has_id(watch.model["provider"]) else _slug(model_id)


def _name(model_id: str, watch: str, used_names: set[str]) -> str:
    slug = _slug(model_id)
    names = chain([slug, f"{watch}-{slug}"[:80]], (f"{slug}-{n}" for n in count(2)))
    return next(name for name in names if name not in used_names)


def _slug(model_id: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", model_id).strip("-._")[:72] or "model"
