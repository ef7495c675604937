"""Fill the store for every cell, shard by shard with retries, then let Snakemake build the rest.

    python -m workflows.evaluate params.yaml

It needs no server: without PREFECT_API_URL, Prefect starts one in the process for the run.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from prefect import flow, get_run_logger, task
from prefect.futures import wait
from prefect.tasks import exponential_backoff

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


if __name__ == "__main__":
    evaluate(sys.argv[1] if len(sys.argv) > 1 else "params.yaml")
