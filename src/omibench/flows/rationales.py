"""Judge problems, write missing rationales and label topics with API-bound models, then build."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

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
from omibench.params.study import Study
from omibench.stages.filter.fill import fill_filter
from omibench.stages.rationale.fill import count_problems, fill_rationales
from omibench.study.plan.study_file import read_study
from omibench.study.sharding import Shard, choose_shard_size, make_shards, select_api_models


@flow(name="rationales", flow_run_name="rationales {params}")
@in_its_study
@report_failures
@living
def rationales(
    params: ParamsFile = "params.yaml", shard: Count = 50, cores: Count = 2, lanes: Count = 4
) -> int:
    """Judge and complete the problems of the study; return the number of completed ones.

    `shard` is the number of problems per task. Raises OmibenchError like `evaluate`.
    """
    study = read_study(params)
    read, kept = (Path(study.study.results) / s / "problems.jsonl" for s in ("ocr", "filter"))
    build(params, [str(read)], cores)
    judged = ask_all(study, judgements(study, read, shard), lanes)
    get_run_logger().info("the judgements of %d problems are in the store", judged)
    build(params, [str(kept)], cores)
    asked = ask_all(study, shards(study, kept, shard), lanes)
    get_run_logger().info("rationales and topics of %d problems are in the store", asked)
    build(params, [f"{study.study.results}/rationale/problems.jsonl"], cores)
    return asked


def judgements(study: Study, problems: Path, size: int) -> list[list[Job]]:
    """Return the shards of a file of problems to filter; empty if no API-bound model judges
    them."""

    def ask(within: Study, shard: Shard) -> int:
        return fill_filter(problems, within, shard.slice)

    return _jobs(Asked("filter", study.filter.models, ask), study, problems, size)


def shards(study: Study, problems: Path, size: int) -> list[list[Job]]:
    """Return the shards of a file of problems; empty if no API-bound model writes anything."""
    named = study.rationale.models

    def ask(within: Study, shard: Shard) -> int:
        return fill_rationales(problems, within, shard.slice)

    return _jobs(Asked("rationales", named, ask), study, problems, size)


class Asked(NamedTuple):
    """Return the name of shards, their models, and the function that runs them."""

    name: str
    models: Sequence[str]
    ask: Callable[[Study, Shard], int]


def _jobs(asked: Asked, study: Study, problems: Path, size: int) -> list[list[Job]]:
    models = tuple(select_api_models(study, dict.fromkeys(asked.models)))
    if not models:
        return []
    spans = make_shards(
        models[0], asked.name, count_problems(problems), choose_shard_size(study, models, size)
    )
    return [[Job(span, models, asked.ask) for span in spans]]
