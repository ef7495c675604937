"""Programs that a command runs in the foreground."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.cli.options import DEFAULT_PARAMS, Override, Params, read_study
from omibench.errors import MissingInputError, OmibenchError, ParamsError, SomeFailedError
from omibench.files.programs import isolate_env, python_module
from omibench.models.api.stop import stoppable
from omibench.text.terminal import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omibench.params.study import Study
    from omibench.study.status.runs import ClusterJob, Run


def run_module(name: str, *words: str) -> int:
    """Run a Python module as a program until it ends; it stops with this process.

    Args:
        name: Module, such as `"snakemake"`. Nothing is imported from the current folder.
        *words: Arguments of the program.

    Returns:
        The exit code.
    """
    command = python_module(name, *words)
    with (
        subprocess.Popen(command, env=isolate_env(os.environ)) as child,
        stoppable(lambda at_once: child.send_signal(signal.SIGINT if at_once else signal.SIGTERM)),
    ):
        return child.wait()


def run_alone(
    name: str, *words: str, results: str, say: Callable[[str], object], folder: Path | None = None
) -> int:
    """Run a program that builds a study, as the only one in the study's folder.

    Args:
        name: Module, as for `run_module`.
        *words: Arguments of the program.
        results: Results folder of the study, as in its parameters.
        say: Called with a line about a dead run whose lock is removed.
        folder: Folder of the study, by default the current one.

    Returns:
        The exit code.

    Raises:
        OmibenchError: If another run of the study is active; see `status.owners.take_folder`.
    """
    from omibench.study.status.owners import read_refusal, take_folder

    with take_folder(results, say, folder) as claim:
        code = run_module(name, *words)
        if code and (reason := read_refusal(claim)) is not None:
            raise OmibenchError(reason)
    return code


# The command `omibench run`: Snakemake with the options that most studies need.

_DIRECTORY = ("--directory", "-d")


def run(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- OPTION", help="Further options and targets for snakemake."),
    ] = None,
    cores: Annotated[
        int | None,
        typer.Option("--cores", "-c", min=1, help="Number of processor cores.  [all]"),
    ] = None,
    simulated: Annotated[
        bool,
        typer.Option(
            "--simulated", help="Rehearse the study with simulated models: no keys, no cost."
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", "-n", help="Only list the jobs that would run.")
    ] = False,
    params: Params = DEFAULT_PARAMS,
    override: Override = None,
) -> None:
    """Run a study from its papers or benchmark to the report.

    Runs `snakemake` in the folder of the study: that of its params.yaml; for a parameter file with
    another name, the nearest folder with a Snakefile. Only missing or outdated files are built, and
    jobs that a killed run left unfinished are repeated. While another run of the study is active,
    the command is refused. The last line is the path of the report.

    \b
    Example:
      omibench run
      omibench run --cores 2 --params studies/usnco_v.yaml --simulated
      omibench run -- --keep-going freeze_all
    """
    from omibench.extras import require_extra
    from omibench.files.locations import SNAKEFILE, in_study_folder
    from omibench.study.status.owners import asks_only

    require_extra("workflow", "omibench run", "snakemake")
    if params.lstrip().startswith("{"):
        raise ParamsError(
            "run: --params: JSON text is not possible here, since Snakemake reads it; give a file"
        )
    started_in = Path.cwd()
    params = context.with_resource(in_study_folder(params, partial(say, err=True)))
    if not Path(SNAKEFILE).is_file():
        raise MissingInputError(
            f"run: {Path.cwd()} has no Snakefile; change to the folder of your study, or create "
            "one with `omibench init FOLDER`"
        )
    pairs = [*(override or []), *(["simulated=true"] if simulated else [])]
    study = read_study(params, pairs)
    options = ["--dry-run"] if dry_run else []
    command = [*_options(cores, params, pairs), *options, *(words or [])]
    if asks_only(command):
        code = run_module("snakemake", *command)
    else:
        folder = _find_folder(words or [])
        code = run_alone(
            "snakemake", *command, results=study.study.results, say=_say, folder=folder
        )
    if code:
        raise SomeFailedError(
            f"run: snakemake ended with exit code {code}; `omibench status` lists what failed and "
            "what remains, `omibench run` continues from there"
        )
    if not dry_run:
        say(_last_line(study, Path() if Path.cwd() == started_in else Path.cwd()))


def _options(cores: int | None, params: str, pairs: Sequence[str]) -> list[str]:
    """Return the options of Snakemake; one that takes several values is followed by an option."""
    configfile = [] if params == DEFAULT_PARAMS else ["--configfile", params]
    config = ["--config", *pairs] if pairs else []
    return [*configfile, *config, "--rerun-incomplete", "--cores", str(cores or "all")]


def _say(line: object) -> None:
    say(f"omibench: {line}", err=True)


def _find_folder(words: Sequence[str]) -> Path:
    """Return the folder in which Snakemake works."""
    for place, word in enumerate(words):
        if word in _DIRECTORY and place + 1 < len(words):
            return Path(words[place + 1])
        if word.startswith("--directory="):
            return Path(word.partition("=")[2])
    return Path()


def _last_line(study: Study, folder: Path) -> str:
    results = folder / study.study.results
    report, dataset = results / "analyze/report.html", results / "freeze/manifest.json"
    if study.cells and report.is_file():
        return f"report: {report}"
    if dataset.is_file():
        return f"dataset: {dataset.parent}{os.sep}"
    return f"results: {results}{os.sep}"


# The command `omibench resume`: continue after Snakemake died, even if its jobs still run.

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

    from omibench.files.locations import in_study_folder
    from omibench.study.status.runs import (
        build_resume_command,
        find_living_run,
        read_runs,
        select_unfinished_runs,
    )

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
    from omibench.models.api.stop import pause
    from omibench.study.status.runs import cancel_jobs, list_jobs

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
