"""The verb `omibench resume`: go on after a death of Snakemake, also where its jobs live on."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.cli.options import OldParams, Override, Params, choose_params, read_study
from omibench.cli.processes import run_module
from omibench.errors import OmibenchError, ParamsError, SomeFailedError
from omibench.text.terminal import say

if TYPE_CHECKING:
    from omibench.status.cluster import ClusterJob
    from omibench.status.runs import Run

EVERY_S = 10.0
NAMED = 10
"""Jobs that are named."""


def resume(
    file: OldParams = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait for jobs that still run in Slurm.")
    ] = False,
    cancel: Annotated[
        bool, typer.Option("--cancel", help="Cancel them: they keep what they have in flight.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", "-n", help="Only say what there is and would be done.")
    ] = False,
    every: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.2, help="How often to look, while waiting.")
    ] = EVERY_S,
    params: Params = "params.yaml",
    override: Override = None,
) -> None:
    """Go on with a study whose run has died.

    The jobs that a dead Snakemake has left in Slurm go on and hold their outputs. They are found
    by the number of their run; no other job is ever touched. With --wait or --cancel they are
    ended first. Then the folder is unlocked, and the command of the last run is given again.
    Exits with 3 when jobs still run and neither is asked for.

    \b
    Example:
      omibench resume
      omibench resume --cancel
    """
    from pathlib import Path

    from omibench.status.resume import (
        build_resume_commands,
        find_living_run,
        select_unfinished_runs,
    )
    from omibench.status.runs import read_runs

    if wait and cancel:
        raise ParamsError("resume: --wait or --cancel, not both")
    params = choose_params("resume", params, file)
    study = read_study(params, override)
    runs = read_runs(Path(study.study.results))
    if (living := find_living_run(runs)) is not None:
        host, pid, _ = living.owner
        raise OmibenchError(
            f"a run of this study goes on (process {pid} on {host}): `omibench status --watch` "
            "tells how far it is. If it has died there, give this command on that host"
        )
    dead = select_unfinished_runs(runs)
    if not dead:
        say("no run of this study has died or failed since the last that was done")
        return
    for run in dead:
        if run.cluster is not None:
            _end_jobs(run, wait=wait and not dry_run, cancel=cancel and not dry_run, every_s=every)
    for command in build_resume_commands(dead[-1], params, override or []):
        say(shlex.join(command))
        if not dry_run and (code := run_module(*command)):
            sys.exit(code)


def _end_jobs(run: Run, *, wait: bool, cancel: bool, every_s: float) -> None:
    """See to it that no job of a dead run is left."""
    from omibench.models.traffic.stop import pause
    from omibench.status.cluster import cancel_jobs, list_jobs

    name = run.cluster or ""
    jobs, cancelled, count = list_jobs(name), False, -1
    while jobs:
        if len(jobs) != count:
            count = len(jobs)
            _tell(jobs)
        if cancel and not cancelled:
            cancel_jobs(name)
            cancelled = True
        elif not wait and not cancel:
            raise SomeFailedError(
                f"{len(jobs)} jobs of the run that died are still in Slurm: `omibench resume "
                "--wait` waits for them, `omibench resume --cancel` ends them; nothing was done"
            )
        pause(every_s)
        jobs = list_jobs(name)


def _tell(jobs: list[ClusterJob]) -> None:
    say(f"{len(jobs)} jobs of the run that died are still in Slurm:")
    for job in jobs[:NAMED]:
        say(f"  {job.id}  {job.state.lower()}  {job.description}")
    if len(jobs) > NAMED:
        say(f"  ... and {len(jobs) - NAMED:,} more")
