"""The command `omibench resume`: continue after Snakemake died, even if its jobs still run."""

from __future__ import annotations

import shlex
import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.cli.options import Override, Params, read_study
from omibench.cli.processes import run_alone
from omibench.errors import OmibenchError, ParamsError, SomeFailedError
from omibench.text.terminal import say

if TYPE_CHECKING:
    from omibench.status.cluster import ClusterJob
    from omibench.status.runs import Run

EVERY_S = 10.0
NAMED = 10
"""The number of jobs listed."""


def resume(
    context: typer.Context,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait for the jobs that still run in Slurm.")
    ] = False,
    cancel: Annotated[
        bool,
        typer.Option("--cancel", help="Cancel these jobs; they store responses in flight first."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", "-n", help="Only print what would be done.")
    ] = False,
    every: Annotated[
        float,
        typer.Option(metavar="SECONDS", min=0.2, help="With --wait: seconds between two checks."),
    ] = EVERY_S,
    params: Params = "params.yaml",
    override: Override = None,
) -> None:
    """Continue a study after its run died.

    Jobs that a dead Snakemake left in Slurm keep running and writing. The command finds them by the
    id of their run and touches no other job. It waits for them (--wait) or cancels them (--cancel),
    removes the lock of the dead run, and repeats the command of the last run. Exits with 3 if jobs
    still run and you gave neither option.

    \b
    Example:
      omibench resume
      omibench resume --cancel
    """
    from pathlib import Path

    from omibench.files.study_folder import in_study_folder
    from omibench.status.resume import (
        build_resume_command,
        find_living_run,
        select_unfinished_runs,
    )
    from omibench.status.runs import read_runs

    if wait and cancel:
        raise ParamsError("resume: give either --wait or --cancel")
    params = context.with_resource(in_study_folder(params, partial(say, err=True)))
    study = read_study(params, override)
    runs = read_runs(Path(study.study.results))
    if (living := find_living_run(runs)) is not None:
        host, pid, _ = living.owner
        raise OmibenchError(
            f"a run of this study is active (process {pid} on {host}): `omibench status --watch` "
            "shows its progress. If the process is dead, run this command on that host"
        )
    dead = select_unfinished_runs(runs)
    if not dead:
        say("no run of this study has died or failed since the last complete one")
        return
    for run in dead:
        if run.cluster is not None:
            _end_jobs(run, wait=wait and not dry_run, cancel=cancel and not dry_run, every_s=every)
    command = build_resume_command(dead[-1], params, override or [])
    if dry_run:
        say(shlex.join(command))
        return
    say(shlex.join(command))
    if code := run_alone(*command, results=study.study.results, say=say):
        sys.exit(code)


def _end_jobs(run: Run, *, wait: bool, cancel: bool, every_s: float) -> None:
    """Wait for or cancel the remaining jobs of a dead run."""
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
                f"{len(jobs)} jobs of the dead run are still in Slurm; nothing was done: wait for "
                "them with `omibench resume --wait`, or end them with `omibench resume --cancel`"
            )
        pause(every_s)
        jobs = list_jobs(name)


def _tell(jobs: list[ClusterJob]) -> None:
    say(f"{len(jobs)} jobs of the dead run are still in Slurm:")
    for job in jobs[:NAMED]:
        say(f"  {job.id}  {job.state.lower()}  {job.description}")
    if len(jobs) > NAMED:
        say(f"  ... and {len(jobs) - NAMED:,} more")
