"""Fill the store with responses ahead of the jobs that write the cells."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from omibench.client.ask import Asker, check_answered, open_asker
from omibench.params.cell import Cell
from omibench.params.stage_params import ConversationParams
from omibench.settings.rounds import Thread, requests_next
from omibench.settings.threads import list_requests, list_threads
from omibench.stages.infer.stage import open_askers, run_cell


def count_threads(questions: Path, study: ConversationParams, cell: Cell) -> int:
    """How many samples of questions a cell holds, whether the store has their answers or not."""
    return len(list_threads(questions, study, cell))


def fill_store(questions: Path, study: ConversationParams, cell: Cell, shard: slice) -> int:
    """Take one shard of a cell's threads to their ends and keep the answers; how many they are.

    What the store holds is not asked again. Raises as `infer_cell` does, and PassingError when
    requests failed, after all their attempts, in a way that may pass: what was answered is kept, so
    that a retry asks only for the rest. A reached budget is no error; the cell's job reports it.
    """
    with open_askers(study, cell) as askers:
        return _fill(
            list_threads(questions, study, cell, askers[cell.model].provider)[shard],
            study,
            cell,
            askers,
        )


def fill_model(
    questions: Path, study: ConversationParams, model: str, settings: Sequence[str]
) -> int:
    """Ask one model under several settings in one call, so that an engine is loaded once.

    Its prompts share their prefixes over the settings, too. Later steps of settings follow, setting
    by setting. Returns how many threads it is. Raises as `fill_store` does.
    """
    cells = [Cell(model, setting) for setting in settings]
    with open_asker(study, model) as asker:
        asker([r for cell in cells for r in list_requests(questions, study, cell, asker.provider)])
    return sum(fill_store(questions, study, cell, slice(None)) for cell in cells)


def fill_helper(
    questions: Path, study: ConversationParams, helper: str, settings: Sequence[str]
) -> int:
    """Ask a model all that it is asked under the settings as the helper of others, in one call.

    That is what they ask first: captions and readings, the same whoever answers afterwards. Returns
    how many requests they are. Raises as `fill_store` does.
    """
    with open_asker(study, helper) as asker:
        requests = [
            request
            for setting in settings
            for thread in list_threads(questions, study, Cell(helper, setting), asker.provider)
            for model, request in requests_next(thread, [], setting, study.study.name)
            if model == helper
        ]
        keyed_responses = asker.ask_with_keys(requests)
    check_answered(requests, [response for _, response in keyed_responses])
    return len({key for key, _ in keyed_responses})


def _fill(
    threads: Sequence[Thread], study: ConversationParams, cell: Cell, askers: dict[str, Asker]
) -> int:
    exchanges = [
        a for answered in run_cell(threads, study, cell, askers) for s in answered.steps for a in s
    ]
    check_answered([a.request for a in exchanges], [a.response for a in exchanges])
    return len(threads)
