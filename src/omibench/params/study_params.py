"""The block `study`: name, location and budget of the study."""

from __future__ import annotations

from os.path import normpath
from pathlib import Path
from typing import Self

from pydantic import model_validator

from omibench.params.blocks import Block, Dollars, Name, PlainPath
from omibench.params.limit import LimitOrNumber


class StudyParams(Block):
    """Name of the study, and location of its results and its store of responses."""

    name: Name = "study"
    title: str = "omibench study"
    seed: int = 0
    results: PlainPath = "results"
    store: PlainPath = "store"
    limit: LimitOrNumber = None
    """Run only part of the frozen problems: a number (the first), or one of `n`, `ids`, `sample`
    with its `seed`. The dataset stays complete, and all outputs are marked as a partial run."""
    budget_usd: Dollars | None = None
    """Budget in US dollars of the study, over all models, judges and retries. Costs are counted
    from the first request sent while it is set."""

    @model_validator(mode="after")
    def _store_is_apart(self) -> Self:
        """Check that the store is outside the results, which can be deleted."""
        results, store = (Path(normpath(name)) for name in (self.results, self.store))
        if results == store or results in store.parents or store in results.parents:
            raise ValueError(
                f"results ({self.results!r}) and store ({self.store!r}) must not contain each "
                "other, since results can be deleted but stored responses must not; move one of "
                "them"
            )
        return self
