"""Fill the store with responses ahead of the jobs that write the cells."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from omibench.ask import check_answered, open_asker
from omibench.infer.stage import requests_of
from omibench.study import Cell, Study


def count_requests(questions: Path, study: Study, cell: Cell) -> int:
    """How many requests a cell holds, whether they are in the store or not."""
    return len(requests_of(questions, study, cell))


def fill_store(questions: Path, study: Study, cell: Cell, shard: slice) -> int:
    """Ask one shard of a cell's requests and keep the answers; returns how many requests it is.

    What the store holds is not asked again. Raises as `infer_cell` does, and PassingError when
    requests failed, after all their attempts, in a way that may pass: what was answered is kept, so
    that a retry asks only for the rest. A reached budget is no error; the cell's job reports it.
    """
    with open_asker(study, cell.model) as asker:
        requests = requests_of(questions, study, cell, asker.provider)[shard]
        check_answered(requests, asker(requests))
    return len(requests)


def fill_model(questions: Path, study: Study, model: str, settings: Sequence[str]) -> int:
    """Ask one model under several settings in one call, so that an engine is loaded once.

    Its prompts share their prefixes over the settings, too. Returns how many requests it is.
    Raises as `fill_store` does.
    """
    with open_asker(study, model) as asker:
        cells = [Cell(model, setting) for setting in settings]
        requests = [r for c in cells for r in requests_of(questions, study, c, asker.provider)]
        check_answered(requests, asker(requests))
    return len(requests)
