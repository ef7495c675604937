"""Fill the store for every cell, shard by shard with retries, then let Snakemake build the rest.

    python -m workflows.evaluate params.yaml

It needs no server: without PREFECT_API_URL, Prefect starts one in the process for the run.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

# Nothing about a study leaves the machine unless its owner asks for it.
os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
os.environ.setdefault("DO_NOT_TRACK", "1")

from prefect import flow, get_run_logger, task
from prefect.futures import wait
from prefect.tasks import exponential_backoff

from omibench.errors import OmibenchError
from omibench.infer.fill import count_requests, fill_store
from omibench.study import Cell, Study, load_study


@task(
    retries=3,
    retry_delay_seconds=exponential_backoff(backoff_factor=2),
    retry_jitter_factor=0.5,
    task_run_name="{cell.model} {cell.setting} {start}-{stop}",
)
def fill_shard(study: Study, questions: Path, cell: Cell, start: int, stop: int) -> int:
    """Ask one shard of a cell's requests; what the store already holds is not asked again."""
    return fill_store(questions, study, cell, slice(start, stop))


@task(task_run_name="snakemake {target}")
def build(params: str, target: str, cores: int) -> None:
    """Let Snakemake bring one target up to date."""
    command = [sys.executable, "-m", "snakemake", target, "--cores", str(cores), "--quiet", "rules"]
    subprocess.run([*command, "--configfile", params], check=True)


@flow(name="evaluate")
def evaluate(params: str = "params.yaml", shard: int = 200, cores: int = 2) -> int:
    """Evaluate every cell of the study; returns how many requests its cells hold.

    `shard` requests are one task: small enough to retry, large enough that Prefect's own cost
    per task does not show. Raises ParamsError when the params file has a mistake.
    """
    study = load_study(params)
    questions = Path(study.study.results) / "freeze" / "questions.jsonl"
    build(params, "freeze_all", cores)
    shards = []
    for cell in study.cells:
        total = count_requests(questions, study, cell)
        for start in range(0, total, shard):
            stop = min(start + shard, total)
            shards.append(fill_shard.submit(study, questions, cell, start, stop))
    wait(shards)
    asked = sum(future.result() for future in shards)
    get_run_logger().info("%d requests of %d cells are in the store", asked, len(study.cells))
    build(params, "all", cores)
    return asked


def main(
    params: Annotated[str, typer.Argument(help="Parameter file of the study.")] = "params.yaml",
    shard: Annotated[int, typer.Option(help="Requests that one task asks.", min=1)] = 200,
    cores: Annotated[int, typer.Option(help="Cores for Snakemake.", min=1)] = 2,
) -> None:
    """Fill the store for every cell of a study, then build its report."""
    try:
        load_study(params)
    except OmibenchError as error:
        sys.stderr.write(f"omibench: {error}\n")
        raise typer.Exit(error.exit_code) from None
    evaluate(params, shard, cores)


if __name__ == "__main__":
    typer.run(main)
