"""Stage `infer`: one cell, in which a model answers every question in a setting."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from omibench.client.ask import Asker, open_asker
from omibench.errors import ImageCountError, ModelError, PassingError
from omibench.models.provider import MakesRoom
from omibench.params.cell import Cell
from omibench.params.limit import apply_limit
from omibench.params.stage_params import ConversationParams, InferStageParams
from omibench.schemas.cells.failure import failed_reason
from omibench.schemas.cells.origin import CellOrigin
from omibench.schemas.tables import ResponseRow, write_parquet
from omibench.settings.needs import remark
from omibench.settings.rounds import AnsweredTask, run_tasks
from omibench.settings.steps import Task
from omibench.settings.threads import list_tasks, load_questions
from omibench.stages.infer.closing import describe_missing_answers
from omibench.stages.infer.rows import make_row

log = logging.getLogger("omibench.stages.infer")


def infer_cell(
    questions: Path, out: Path, study: InferStageParams, cell: Cell, job: str = ""
) -> int:
    """Send every question of `questions` (questions.jsonl) and write one ResponseRow per response.

    Rows are in the order of the questions, samples of one question together. Returns the number of
    rows. Requests without an answer become rows with their outcome and no text, and a warning
    states how to complete the cell.

    Raises:
        MissingInputError: The frozen dataset or its images are missing.
        ModelError: The model cannot answer, or more of its requests failed than
            `infer.failed_share` allows. Then nothing is written; the store keeps completed
            responses.
    """
    with open_askers(study, cell) as askers:
        respondent = askers[cell.model]
        tasks = list_tasks(questions, study, cell, respondent.provider)
        selected = apply_limit(load_questions(questions), study.study.limit)
        lacking = remark(cell.setting, study.settings[cell.setting], selected)
        if lacking:
            log.warning("omibench: %s", lacking)
        answered = run_cell(tasks, study, cell, askers)
        rows = [make_row(task) for task in answered]
        failed = failed_reason(Counter(row.outcome for row in rows), study.infer.failed_share)
        if not failed:
            write_parquet(out, rows, ResponseRow, CellOrigin("infer", *cell, job))
        exchanges = {(a.model, a.key): a for task in answered for step in task.steps for a in step}
        closings: list[str] = []
        for name, asker in askers.items():
            pairs = [(a.request, a.response) for a in exchanges.values() if a.model == name]
            if closing := describe_missing_answers(
                study, Cell(name, cell.setting), out, asker, pairs
            ):
                closings.append(closing)
        if failed:
            passing = any(task.last.response.passing for task in answered)
            error = PassingError if passing else ModelError
            raise error(
                f"{cell.model}/{cell.setting}: the cell has failed, {failed}; {'; '.join(closings)}"
            )
        for closing in closings:
            log.warning("omibench: %s", closing)
    return len(rows)


@contextmanager
def open_askers(study: ConversationParams, cell: Cell) -> Iterator[dict[str, Asker]]:
    """Open the cell's model and the helpers of its setting.

    Raises:
        ImageCountError: Tools can show more pictures than the model takes.
    """
    names = dict.fromkeys([cell.model, *study.settings[cell.setting].helpers])
    with ExitStack() as stack:
        askers = {name: stack.enter_context(open_asker(study, name)) for name in names}
        tools, provider = study.settings[cell.setting].tools, askers[cell.model].provider
        if tools is not None:
            limit = provider.max_images
            if limit is not None and tools.images > limit:
                raise ImageCountError(
                    f"setting {cell.setting!r}: its tools can show {tools.images} pictures in one "
                    f"conversation, but model {cell.model!r} takes {limit}; set `tools.images` to "
                    f"{limit}"
                )
            if isinstance(provider, MakesRoom):
                provider.expect_images(tools.images)
        yield askers


def run_cell(
    tasks: Sequence[Task], study: ConversationParams, cell: Cell, askers: Mapping[str, Asker]
) -> list[AnsweredTask]:
    """Run tasks of a cell to their ends."""
    return run_tasks(
        tasks,
        cell.model,
        cell.setting,
        study.study.name,
        lambda model, requests: askers[model].ask_with_keys(requests),
    )
