"""Fill the store with a part of a cell's responses, ahead of the job that writes the cell."""

from __future__ import annotations

from pathlib import Path

from omibench.ask import ask
from omibench.infer.stage import provider_of, requests_of
from omibench.store.store import Store
from omibench.study import Cell, Study


def count_requests(questions: Path, study: Study, cell: Cell) -> int:
    """How many requests a cell holds, whether they are in the store or not."""
    return len(requests_of(questions, study, cell))


def fill_store(questions: Path, study: Study, cell: Cell, shard: slice) -> int:
    """Ask one shard of a cell's requests and keep the answers; returns how many requests it is.

    What the store holds is not asked again. Raises as `infer_cell` does.
    """
    provider = provider_of(study, cell.model)
    requests = requests_of(questions, study, cell, provider)[shard]
    with Store(study.study.store) as store:
        ask(requests, provider, store)
    return len(requests)
