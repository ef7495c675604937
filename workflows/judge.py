"""Run API-bound judges on every response by shards, then build the scores.

python -m workflows.judge params.yaml
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

if not __package__:  # run as a script, or loaded by a worker from this file
    sys.path.insert(0, str(Path(__file__).parents[1]))
    import workflows  # noqa: F401 (it sets what Prefect reads when it is imported)

from prefect import flow, get_run_logger

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
from workflows.shared import (
    Cores,
    Job,
    Lanes,
    ParamsFile,
    ask_all,
    build,
    in_its_study,
    living,
    run_from_command_line,
)


@flow(name="judge", flow_run_name="judge {params}")
@living
@in_its_study
def judge(params: str = "params.yaml", shard: int = 100, cores: int = 2, lanes: int = 4) -> int:
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


def main(
    params: ParamsFile = "params.yaml",
    shard: Annotated[int, typer.Option(help="Responses per task.", min=1)] = 100,
    cores: Cores = 2,
    lanes: Lanes = 4,
) -> None:
    """Run the study's judges on every response, then build the scores."""
    run_from_command_line(params, lambda: judge(params, shard, cores, lanes))


if __name__ == "__main__":
    typer.run(main)
