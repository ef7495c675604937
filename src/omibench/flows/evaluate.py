"""Request the responses of every API-bound cell by shards, then let Snakemake build the rest.

It needs no server: without PREFECT_API_URL, Prefect starts one in the process for the run.
"""

from __future__ import annotations

from pathlib import Path

from prefect import flow, get_run_logger
from prefect.artifacts import create_link_artifact, create_markdown_artifact, create_table_artifact

from omibench.errors import ParamsError
from omibench.flows.judge import cell_file, judgements
from omibench.flows.news import report_failures, tell_failure
from omibench.flows.shared import (
    Count,
    Job,
    ParamsFile,
    ask_all,
    build,
    in_its_study,
    living,
    questions_of,
)
from omibench.params.blocks import Dollars
from omibench.params.setting import Cell
from omibench.params.study import Study
from omibench.schemas.validation import suggest_name
from omibench.stages.infer.stage import count_tasks, fill_store
from omibench.study.plan.build import incomplete_cells
from omibench.study.plan.study_file import read_study
from omibench.study.reevaluate.costs import write_costs
from omibench.study.sharding import (
    Shard,
    choose_shard_size,
    limit_budget,
    list_api_judges,
    make_shards,
    select_api_models,
)


@flow(name="evaluate", flow_run_name="evaluate {params}")
@in_its_study
@report_failures
@living
def evaluate(
    params: ParamsFile = "params.yaml",
    shard: Count = 200,
    cores: Count = 2,
    lanes: Count = 4,
    models: list[str] | None = None,
    budget_usd: Dollars | None = None,
) -> int:
    """Evaluate the study's cells, or those of some models; return their number of requests.

    `shard` is the number of requests per task: small enough to retry, large enough to make
    Prefect's overhead negligible. An endpoint has `lanes` concurrent shards, each with an equal
    share of its limits. `budget_usd` caps the total cost of the study. Raises OmibenchError if the
    parameters are invalid or an endpoint rejects everything.
    """
    study = read_study(params)
    for name in models or ():
        if name not in study.infer.models:
            hint = suggest_name(name, study.infer.models)
            raise ParamsError(f"models: {name!r} is not one of infer.models{hint}")
    build(params, ["freeze_all"], cores, budget_usd=budget_usd)
    chosen = [cell for cell in study.cells if models is None or cell.model in models]
    capped = limit_budget(study, budget_usd)
    asked = ask_all(capped, shards(study, chosen, shard), lanes)
    get_run_logger().info("%d requests of %d cells are in the store", asked, len(chosen))
    forced = list(incomplete_cells(study))
    if list_api_judges(study):
        build(params, [cell_file(study, cell) for cell in chosen], cores, forced, budget_usd)
        ask_all(capped, judgements(study, chosen, shard), lanes)
        forced = []
    build(params, ["all"], cores, forced, budget_usd)
    show(study)
    if models is None and (cut := incomplete_cells(study, ["budget_stop"])):
        text = f"the budget ended before {sum(cut.values()):,} requests in {len(cut)} cells"
        tell_failure(study, text, "budget")
    return asked


def shards(study: Study, cells: list[Cell], size: int) -> list[list[Job]]:
    """Return the shards of API-bound cells, one list per model.

    None under `infer.adaptive`: what to ask next is known only to the graph.
    """
    if study.infer.adaptive:
        return []
    questions = questions_of(study)

    def ask(within: Study, shard: Shard) -> int:
        return fill_store(questions, within, Cell(shard.model, shard.name), shard.slice)

    return [
        [
            Job(shard, (model,), ask)
            for cell in cells
            if cell.model == model
            for shard in make_shards(
                *cell,
                count_tasks(questions, study, cell),
                choose_shard_size(study, [model], size),
            )
        ]
        for model in select_api_models(study, dict.fromkeys(cell.model for cell in cells))
    ]


def show(study: Study) -> None:
    """Write the leaderboard and the report's path to the run in Prefect's pages."""
    from omibench.study.reevaluate.changes import METRICS, REPORT, read_journal, read_standings

    results = Path(study.study.results)
    retired = read_journal(results).retired
    rows = [
        {"setting": setting, "rank": s.rank, "model": model, "accuracy": round(s.acc, 4)}
        | {"simulated": s.simulated, "retired": retired.get(model, "")}
        for (setting, model), s in sorted(
            read_standings(results / METRICS).items(), key=lambda pair: (pair[0][0], pair[1].rank)
        )
    ]
    create_table_artifact(rows, key="board", description=f"Accuracies of {study.study.name}")
    link = (results / REPORT).resolve().as_uri()
    create_link_artifact(link, link_text="The report", key="report")
    create_markdown_artifact(write_costs(study), key="costs", description="Costs by month")
