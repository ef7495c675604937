"""Asking in shards: which models wait for an API, and the share of its limits that a shard gets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, NamedTuple, TypeVar
from urllib.parse import urlsplit

from omibench.params.models.base import ApiModel, ModelBlock

if TYPE_CHECKING:
    from omibench.params.study import Study

T = TypeVar("T")
ENDLESS = 1_000_000_000


class Shard(NamedTuple):
    """The requests `start` to `stop` (exclusive) of what a model is asked for under `name`."""

    model: str
    name: str
    start: int
    stop: int

    @property
    def slice(self) -> slice:
        """For indexing."""
        return slice(self.start, self.stop)


def select_api_models(study: Study, models: Iterable[str]) -> list[str]:
    """Those of the models that are asked over a network; all others compute on this machine."""
    return [n for n in models if isinstance(study.models[n], ApiModel)]


def make_shards(model: str, name: str, total: int, size: int) -> list[Shard]:
    """The shards of `total` requests, `size` each."""
    return [Shard(model, name, i, min(i + size, total)) for i in range(0, total, size)]


def choose_shard_size(study: Study, models: Iterable[str], size: int) -> int:
    """The size of shards that ask these models: all at once where one is asked in batches.

    A batch takes as long as the provider likes, whatever its size.
    """
    return ENDLESS if any(study.models[name].is_batch for name in models) else size


def interleave(groups: Iterable[Sequence[T]]) -> list[T]:
    """The first of each group, then the second of each, ...: no endpoint waits for another."""
    missing = object()
    rounds = zip_longest(*groups, fillvalue=missing)
    return [item for item in chain.from_iterable(rounds) if item is not missing]  # type: ignore[misc]


def list_api_judges(study: Study) -> list[str]:
    """The API-bound models that judge scores and reasoning."""
    return select_api_models(study, dict.fromkeys([*study.judges("score"), *study.judges("judge")]))


def name_lane(model: ModelBlock) -> str:
    """What limits a model: its provider's host and its served id, the same for every study.

    Only letters, digits, dots, dashes, colons and blanks, so that it may name anything.
    """
    host = urlsplit(getattr(model, "base_url", None) or "").netloc.rpartition("@")[2]
    words = ("omibench", model.provider, host, str(getattr(model, "id", "")).replace("/", ":"))
    characters = (c if c.isalnum() or c in ".-_: " else "-" for c in " ".join(filter(None, words)))
    return "".join(characters)


def divide_limits(study: Study, name: str, lanes: int) -> Study:
    """The study with a model's limits divided by `lanes`: as many shards may run at a time.

    Together they keep within what the endpoint allows in flight, and per minute.
    """
    model = study.models[name]
    if lanes == 1 or not isinstance(model, ApiModel):
        return study
    limits = model.limits
    share = limits.model_copy(
        update={
            "concurrency": max(1, limits.concurrency // lanes),
            "requests_per_minute": _divide(limits.requests_per_minute, lanes),
            "tokens_per_minute": _divide(limits.tokens_per_minute, lanes),
        }
    )
    models = study.models | {name: model.model_copy(update={"limits": share})}
    return study.model_copy(update={"models": models})


def limit_budget(study: Study, budget_usd: float | None) -> Study:
    """The study under a smaller budget, where one is given."""
    if budget_usd is None:
        return study
    params = study.study.model_copy(update={"budget_usd": budget_usd})
    return study.model_copy(update={"study": params})


def _divide(limit: float | None, lanes: int) -> float | None:
    return limit / lanes if limit else None
