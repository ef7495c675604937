"""The block `study`: what the study is called, where it is kept, how much it may cost."""

from __future__ import annotations

from os.path import normpath
from pathlib import Path
from typing import Self

from pydantic import model_validator

from omibench.params.blocks import Block, Dollars, Name, PlainPath
from omibench.params.limit import LimitOrNumber


class StudyParams(Block):
    """What the study is called, and where it keeps its results and its store of responses."""

    name: Name = "study"
    title: str = "omibench study"
    seed: int = 0
    results: PlainPath = "results"
    store: PlainPath = "store"
    limit: LimitOrNumber = None
    """Ask a part of the frozen problems: a number (the first), or one of `n`, `ids`, `sample` with
    its `seed`. The dataset stays whole, and all outputs are marked as a partial run."""
    budget_usd: Dollars | None = None
    """US dollars that the study may spend, over all models, judges and retries. What models cost
    is counted from the first request on that is sent while this stands."""

    @model_validator(mode="after")
    def _store_is_apart(self) -> Self:
        """Results are rebuilt and thrown away; what was bought is not."""
        results, store = (Path(normpath(name)) for name in (self.results, self.store))
        if results == store or results in store.parents or store in results.parents:
            raise ValueError(
                f"results ({self.results!r}) and store ({self.store!r}): neither may hold the "
                "other, for results are thrown away and what was bought never is"
            )
        return self
