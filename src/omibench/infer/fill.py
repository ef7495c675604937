"""Fill the store with a part of a cell's responses, ahead of the job that writes the cell."""

from __future__ import annotations

from pathlib import Path

from omibench.ask import open_asker
from omibench.infer.stage import requests_of
from omibench.study import Cell, Study


def count_requests(questions: Path, study: Study, cell: Cell) -> int:
    """How many requests a cell holds, whether they are in the store or not."""
    return len(requests_of(questions, study, cell))


def fill_store(questions: Path, study: Study, cell: Cell, shard: slice) -> int:
    """Ask one shard of a cell's requests and keep the answers; returns how many requests it is.

    What the store holds is not asked again. Raises as `infer_cell` does.
    """
    with open_asker(study, cell.model) as asker:
        requests = requests_of(questions, study, cell, asker.provider)[shard]
        asker(requests)
    return len(requests)
