"""Stage `infer`: one cell, in which a model answers every question in a setting."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from omibench.errors import (
    FileFormatError,
    ImageCountError,
    ModelError,
    ParamsError,
    PassingError,
)
from omibench.models.client.ask import Asker, check_answered, open_asker
from omibench.models.cost import estimate, image_formula, learn, usd_text
from omibench.models.provider import MakesRoom, group_calls
from omibench.params.runtime import in_graph
from omibench.params.setting import Cell
from omibench.params.study_params import Limit, apply_limit
from omibench.schemas.adaptive import Look, ProblemOrder, count_asked
from omibench.schemas.cells import CellOrigin, failed_reason
from omibench.schemas.request import NOT_BOUGHT, Request, Response
from omibench.schemas.tables import (
    ResponseRow,
    read_jsonl,
    read_typed_json,
    write_parquet,
)
from omibench.settings.present import remark
from omibench.settings.steps import AnsweredTask, Task, requests_next, run_tasks
from omibench.settings.tasks import list_requests, list_tasks, load_questions
from omibench.store.ledger import Loss

if TYPE_CHECKING:
    from omibench.params.study import Study

Number = TypeVar("Number", int, float)
READER = "perceiver"
"""The role of a model that reads the pictures before the answer."""


def make_row(answered: AnsweredTask) -> ResponseRow:
    """Return the row of a task.

    Tokens, dollars and seconds cover all requests to the last model. If a task ended because a
    helper failed, the row has the helper's outcome but not its text: a caption is not an answer.
    """
    last = answered.last
    response, role = last.response, last.request.tags.role
    helper, outcome, error = role != "respondent", response.outcome, response.error
    if helper:
        error = f"the {role} {last.model}: {outcome}" + (f": {error}" if error else "")
    if outcome == "answered" and response.calls and not response.text.strip():
        outcome = "empty"  # a tool loop that ends in calls
    responses = [a.response for step in answered.steps for a in step if a.model == last.model]
    return ResponseRow(
        id=last.request.tags.problem,
        index=answered.task.sample,
        key=last.key,
        steps=[a.key for step in answered.steps for a in step if a.key != last.key],
        drawn=[] if helper else [picture.sha256 for picture in response.drawn],
        drawn_at=[] if helper else list(response.drawn_at),
        outcome=outcome,
        text="" if helper else response.text,
        reasoning=None if helper else response.reasoning,
        finish_reason=response.finish_reason,
        input_tokens=_add_up(r.usage.input_tokens for r in responses),
        output_tokens=_add_up(r.usage.output_tokens for r in responses),
        reasoning_tokens=_add_up(r.usage.reasoning_tokens for r in responses),
        cost_usd=_add_up(r.cost_usd for r in responses),
        latency_s=_add_up(r.latency_s for r in responses),
        simulated=any(a.response.simulated for step in answered.steps for a in step),
        published_verdict=response.published_verdict,
        served_model=response.served_model,
        error=error,
        readings=list_readings(answered),
    )


def list_readings(answered: AnsweredTask) -> list[str] | None:
    """Return the reading of the pictures before the answer.

    Args:
        answered: A finished task.

    Returns:
        The printed text and, if figures are described, the description; None without a complete
        reading.
    """
    readings = [a for a in answered.steps[0] if a.request.tags.role == READER]
    if not readings or any(a.response.outcome != "answered" for a in readings):
        return None
    return [a.response.text for a in readings]


def _add_up(values: Iterable[Number | None]) -> Number | None:
    """Return the sum over all steps, or None if any is missing."""
    amounts = list(values)
    return None if None in amounts else sum(v for v in amounts if v is not None)


# Summary line of an incomplete cell: missing answers, causes, and the cost of completion.


def describe_missing_answers(
    study: Study,
    cell: Cell,
    out: Path,
    asker: Asker,
    pairs: Sequence[tuple[Request, Response]],
) -> str | None:
    """Return one line about the requests of a cell without an answer, or None if complete."""
    failed = [(q, r) for q, r in pairs if r.outcome in NOT_BOUGHT]
    if not failed:
        return None
    counts = Counter(response.outcome for _, response in failed)
    kinds = ", ".join(f"{n} {kind.replace('_', ' ')}" for kind, n in counts.most_common())
    errors = (r.error for _, r in failed if r.error)
    reason = f"; the first error: {next(errors, '')}".removesuffix("; the first error: ")
    parts = [
        f"{cell.model}/{cell.setting}: {len(failed)} of {len(pairs)} requests ({kinds}{reason})"
    ]
    parts[0] += " have no answer; completed responses are kept"
    usd, usd_most = _estimate_rest(study, cell, asker, pairs)
    if usd is not None and usd_most:
        parts.append(
            f"Finishing the cell costs about {usd_text(usd)}, at most {usd_text(usd_most)}"
        )
    parts.append(_describe_budget(asker, usd_most or 0.0) if counts["budget_stop"] else "")
    # A cell run manually is not a target, or has other parameters.
    command = f"`{retry_command([out])}`" if in_graph() else "the same command again"
    parts.append(f"To go on, run {command}")
    return ". ".join(part for part in parts if part)


def retry_command(cells: Sequence[Path]) -> str:
    """Return the command that completes cells: it requests only missing responses."""
    return f"snakemake --cores all --forcerun {' '.join(map(str, cells))}"


def _estimate_rest(
    study: Study, cell: Cell, asker: Asker, pairs: Sequence[tuple[Request, Response]]
) -> tuple[float | None, float | None]:
    model = study.models[cell.model]
    answered = {id(q): (q, r) for q, r in pairs if r.outcome not in NOT_BOUGHT}
    answered_calls = group_calls(asker.provider, [q for q, _ in answered.values()])
    history = learn(
        [[answered[id(q)] for q in call] for call in answered_calls], image_formula(model)
    )
    lacking = [q for q, r in pairs if r.outcome in NOT_BOUGHT]
    cost = estimate(model, group_calls(asker.provider, lacking), history)
    return cost.usd, cost.usd_most


def _describe_losses(losses: Sequence[Loss], charged: float) -> str:
    if not charged:
        return ""
    attempts = sum(loss.attempts for loss in losses)
    cost = usd_text(sum(loss.at_most for loss in losses))
    reason = f", most of them because {losses[0].why}" if losses else ""
    return (
        f", {usd_text(charged)} (at most {cost}) charged for {attempts} attempts with unknown "
        f"outcome{reason}; `omibench budget settle` books what your provider billed"
    )


def _describe_budget(asker: Asker, usd_most: float) -> str:
    if asker.budget is None:
        return ""
    spending, cap = asker.budget.spending(), asker.budget.account.cap_usd
    lost = _describe_losses(asker.budget.losses(), spending.unknown)
    enough = spending.committed_usd + usd_most
    return (
        f"The budget of {usd_text(cap)} allows no further request: "
        f"{usd_text(spending.spent)} spent{lost}; "
        f"with study.budget_usd: {enough + 0.01:.2f} the cell completes in any case"
    )


# The stage itself, called by the command and the rule.

log = logging.getLogger("omibench.stages.infer")


def limit_to_order(study: Study, cell: Cell, file: Path, look: int | None) -> Study:
    """Return the study with only the problems that a cell is asked under `infer.adaptive`.

    Args:
        study: The study, or the job's slice.
        cell: The cell.
        file: The order of the problems; the record of all looks is next to it.
        look: Only the problems that this look adds. None: all until the cell stopped.

    Raises:
        FileFormatError: A file is broken, or the record is of another order.
        MissingInputError: A file is missing.
        ParamsError: There is no such look.
    """
    order = read_typed_json(file, ProblemOrder)
    if look is not None:
        if look > len(order.looks):
            raise ParamsError(f"--look {look}: {file} has {len(order.looks)} looks")
        ids = order.list_part(look)
    else:
        looks = read_jsonl(file.with_name("looks.jsonl"), Look)
        if any(record.order != order.sha256 for record in looks):
            raise FileFormatError(f"{file}: the looks next to it are of another order")
        ids = order.ids[: count_asked(looks, cell)]
    limit = Limit(ids=ids)
    return study.model_copy(update={"study": study.study.model_copy(update={"limit": limit})})


def infer_cell(questions: Path, out: Path, study: Study, cell: Cell, job: str = "") -> int:
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
        if not tasks:
            log.warning(
                "omibench: %s/%s: study.limit leaves none of its problems; the cell is empty", *cell
            )
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
def open_askers(study: Study, cell: Cell) -> Iterator[dict[str, Asker]]:
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
    tasks: Sequence[Task], study: Study, cell: Cell, askers: Mapping[str, Asker]
) -> list[AnsweredTask]:
    """Run tasks of a cell to their ends."""

    def ask(model: str, requests: Sequence[Request]) -> list[tuple[str, Response]]:
        return askers[model].ask_with_keys(requests)

    return run_tasks(tasks, cell.model, cell.setting, study.study.name, ask)


# Requests that complete the store before the jobs that write the cells.


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
