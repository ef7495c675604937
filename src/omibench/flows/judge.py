"""Run API-bound judges on every response by shards, then build the scores."""

from __future__ import annotations

from pathlib import Path

from prefect import flow, get_run_logger

from omibench.flows.news import report_failures
from omibench.flows.shared import (
    Count,
    Job,
    ParamsFile,
    ask_all,
    build,
    in_its_study,
    living,
)
from omibench.params.setting import Cell
from omibench.params.study import Study
from omibench.study.plan.study_file import read_study
from omibench.study.sharding import (
    Shard,
    choose_shard_size,
    count_responses,
    fill_judgements,
    list_api_judges,
    make_shards,
)


@flow(name="judge", flow_run_name="judge {params}")
@in_its_study
@report_failures
@living
def judge(
    params: ParamsFile = "params.yaml", shard: Count = 100, cores: Count = 2, lanes: Count = 4
) -> int:
    """Judge every response of the study; return their number.

    `shard` is the number of responses per task. Raises OmibenchError like `evaluate`.
    """
    study = read_study(params)
    build(params, ["infer_all"], cores)
    asked = ask_all(study, judgements(study, study.cells, shard), lanes)
    get_run_logger().info("judgements of %d responses are in the store", asked)
    build(params, ["score_all", "judge_all"], cores)
    return asked


def judgements(study: Study, cells: list[Cell], size: int) -> list[list[Job]]:
    """Return the shards of cells with responses, one list per model; empty without judges."""
    judges, results = tuple(list_api_judges(study)), Path(study.study.results)
    if not judges:
        return []

    size = choose_shard_size(study, judges, size)

    def ask(within: Study, shard: Shard) -> int:
        return fill_judgements(results, within, Cell(shard.model, shard.name), shard.slice)

    return [
        [
            Job(shard, judges, ask)
            for shard in make_shards(*cell, count_responses(Path(cell_file(study, cell))), size)
        ]
        for cell in cells
    ]


def cell_file(study: Study, cell: Cell) -> str:
    """Return the path of a cell's responses."""
    return f"{study.study.results}/infer/{cell.model}/{cell.setting}.parquet"
