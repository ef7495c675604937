"""Fill the store with a part of a cell's responses, ahead of the job that writes the cell."""

from __future__ import annotations

from pathlib import Path

from omibench.ask import open_asker
from omibench.errors import ModelError
from omibench.infer.stage import requests_of
from omibench.study import Cell, Study


def count_requests(questions: Path, study: Study, cell: Cell) -> int:
    """How many requests a cell holds, whether they are in the store or not."""
    return len(requests_of(questions, study, cell))


def fill_store(questions: Path, study: Study, cell: Cell, shard: slice) -> int:
    """Ask one shard of a cell's requests and keep the answers; returns how many requests it is.

    What the store holds is not asked again. Raises as `infer_cell` does, and ModelError when
    requests failed after all their attempts: what was answered is kept, so that a retry asks only
    for the rest. A reached budget is no error; the cell's own job reports it.
    """
    with open_asker(study, cell.model) as asker:
        requests = requests_of(questions, study, cell, asker.provider)[shard]
        responses = asker(requests)
    failed = [r for r in responses if r.outcome == "provider_error"]
    if failed:
        raise ModelError(
            f"{cell.model}, {cell.setting}: {len(failed)} of {len(requests)} requests failed, the "
            f"first with {failed[0].error or failed[0].finish_reason}"
        )
    return len(requests)
