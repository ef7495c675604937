"""Write missing rationales and topic labels with models behind APIs, shard by shard, then build.

python -m workflows.rationales params.yaml
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

from omibench.infer.shards import Shard, api_bound, shard_size, shards_of
from omibench.rationale.fill import count_problems, fill_rationales
from omibench.study import Study, load_study
from workflows.shared import Job, ask_all, build, living, run_from_command_line


@flow(name="rationales", flow_run_name="rationales {params}")
@living
def rationales(params: str = "params.yaml", shard: int = 50, cores: int = 2, lanes: int = 4) -> int:
    """Complete the problems of the study; returns how many were looked at.

    `shard` problems are one task. Raises OmibenchError as `evaluate` does.
    """
    study = load_study(params)
    folder = f"{study.study.results}/filter"
    build(params, [f"{folder}/problems.jsonl"], cores)
    asked = ask_all(study, shards(study, Path(folder) / "problems.jsonl", shard), lanes)
    get_run_logger().info("rationales and topics of %d problems are in the store", asked)
    build(params, [f"{study.study.results}/rationale/problems.jsonl"], cores)
    return asked


def shards(study: Study, problems: Path, size: int) -> list[list[Job]]:
    """The shards of a file of problems; none where no model behind an API writes anything."""
    named = filter(None, (study.rationale.writer, study.rationale.labeller))
    models = tuple(api_bound(study, dict.fromkeys(named)))
    if not models:
        return []

    def ask(within: Study, shard: Shard) -> int:
        return fill_rationales(problems, within, shard.slice)

    size = shard_size(study, models, size)
    total = count_problems(problems)
    return [[Job(s, models, ask) for s in shards_of(models[0], "rationales", total, size)]]


def main(
    params: Annotated[str, typer.Argument(help="Parameter file of the study.")] = "params.yaml",
    shard: Annotated[int, typer.Option(help="Problems that one task completes.", min=1)] = 50,
    cores: Annotated[int, typer.Option(help="Cores for Snakemake.", min=1)] = 2,
    lanes: Annotated[int, typer.Option(help="Shards of an endpoint at a time.", min=1)] = 4,
) -> None:
    """Write missing rationales and topic labels, then build the file that holds them."""
    run_from_command_line(params, lambda: rationales(params, shard, cores, lanes))


if __name__ == "__main__":
    typer.run(main)
