"""Requests that complete the store before the jobs that write the cells."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from omibench.errors import PassingError
from omibench.models.client.ask import check_answered, open_asker
from omibench.params.setting import Cell
from omibench.settings.steps import requests_next
from omibench.settings.tasks import list_requests, list_tasks
from omibench.stages.infer.stage import infer_cell, open_askers, run_cell

if TYPE_CHECKING:
    from omibench.params.study import Study


def count_tasks(questions: Path, study: Study, cell: Cell) -> int:
    """Return the number of samples in a cell, whether stored or not."""
    return len(list_tasks(questions, study, cell))


def fill_store(questions: Path, study: Study, cell: Cell, shard: slice) -> int:
    """Run one shard of a cell's tasks, store the responses, and return how many are answered.

    Stored responses are not requested again. Raises as `infer_cell`, and PassingError if requests
    failed temporarily after all attempts; completed responses are kept, so that a retry requests
    only the rest. An exhausted budget is not an error here; the cell's job reports it.
    """
    with open_askers(study, cell) as askers:
        tasks = list_tasks(questions, study, cell, askers[cell.model].provider)[shard]
        answered = run_cell(tasks, study, cell, askers)
    exchanges = [exchange for task in answered for step in task.steps for exchange in step]
    check_answered([a.request for a in exchanges], [a.response for a in exchanges])
    return sum(
        all(exchange.response.outcome != "budget_stop" for step in task.steps for exchange in step)
        for task in answered
    )


def infer_part(questions: Path, out: Path, study: Study, cell: Cell, job: str = "") -> int:
    """Write the responses of a cell as `infer_cell`, but only with every request answered.

    For a look, which decides nothing from a part of the answers. Requests that fail for good count
    as in the cell.

    Raises:
        PassingError: Requests failed temporarily, or the budget allowed no more; completed
            responses are kept. Else as `infer_cell`.
    """
    answered, count = (
        fill_store(questions, study, cell, slice(None)),
        count_tasks(questions, study, cell),
    )
    if answered < count:
        raise PassingError(
            f"{cell.model}/{cell.setting}: the budget ended before {count - answered} of {count} "
            "requests, so the look waits; raise study.budget_usd and run again"
        )
    # One request that fails for good stops no look, however small its part is.
    share = max(study.infer.failed_share, 1 / max(count, 1))
    loose = study.infer.model_copy(update={"failed_share": min(share, 1.0)})
    return infer_cell(questions, out, study.model_copy(update={"infer": loose}), cell, job)


def fill_model(questions: Path, study: Study, model: str, settings: Sequence[str]) -> int:
    """Run one model in several settings in one call, so that an engine is loaded once.

    Prompts also share their prefixes over the settings. Later steps of settings follow, setting by
    setting. Returns the number of answered tasks. Raises as `fill_store`.
    """
    cells = [Cell(model, setting) for setting in settings]
    with open_asker(study, model) as asker:
        asker([r for cell in cells for r in list_requests(questions, study, cell, asker.provider)])
    return sum(fill_store(questions, study, cell, slice(None)) for cell in cells)


def fill_helper(questions: Path, study: Study, helper: str, settings: Sequence[str]) -> int:
    """Send all requests to a model as a helper in the settings, in one call.

    These are the first requests of a task: captions and readings, which do not depend on the
    respondent. Returns the number of requests. Raises as `fill_store`.
    """
    with open_asker(study, helper) as asker:
        requests = [
            request
            for setting in settings
            for task in list_tasks(questions, study, Cell(helper, setting), asker.provider)
            for model, request in requests_next(task, [], setting, study.study.name)
            if model == helper
        ]
        keyed_responses = asker.ask_with_keys(requests)
    check_answered(requests, [response for _, response in keyed_responses])
    return len({key for key, _ in keyed_responses})
