"""The command `omibench run`, and programs that a command runs in the foreground."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.cli.options import (
    DEFAULT_PARAMS,
    Override,
    Params,
    read_study,
    require_file,
)
from omibench.errors import MissingInputError, OmibenchError, ParamsError, SomeFailedError
from omibench.files.programs import isolate_env, python_module
from omibench.models.api.stop import stoppable
from omibench.params.pairs import merge_blocks, split_pairs
from omibench.text.terminal import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omibench.params.study import Study
    from omibench.study.status.progress import Progress
    from omibench.study.status.runs import ClusterJob, Run


def run_module(name: str, *words: str, progress: Progress | None = None) -> int:
    """Run a Python module as a program until it ends; it stops with this process.

    Args:
        name: Module, such as `"snakemake"`. Nothing is imported from the current folder.
        *words: Arguments of the program.
        progress: Shows the progress of the program, whose output goes to its log.

    Returns:
        The exit code.
    """
    command = python_module(name, *words)
    with (
        progress.open_log() if progress else nullcontext() as log,
        subprocess.Popen(
            command,
            env=isolate_env(os.environ),
            stdout=log,
            stderr=subprocess.STDOUT if progress else None,
        ) as child,
        stoppable(lambda at_once: child.send_signal(signal.SIGINT if at_once else signal.SIGTERM)),
    ):
        return progress.follow(child) if progress else child.wait()


def run_alone(
    name: str,
    *words: str,
    results: str,
    say: Callable[[str], object],
    folder: Path | None = None,
    progress: Progress | None = None,
) -> int:
    """Run a program that builds a study, as the only one in the study's folder.

    Args:
        name: Module, as for `run_module`.
        *words: Arguments of the program.
        results: Results folder of the study, as in its parameters.
        say: Called with a line about a dead run whose lock is removed.
        folder: Folder of the study, by default the current one.
        progress: See `run_module`.

    Returns:
        The exit code.

    Raises:
        OmibenchError: If another run of the study is active; see `status.owners.take_folder`.
    """
    from omibench.study.status.owners import read_refusal, take_folder

    with take_folder(results, say, folder) as claim:
        code = run_module(name, *words, **({"progress": progress} if progress else {}))
        if code and (reason := read_refusal(claim)) is not None:
            raise OmibenchError(reason)
    return code


# The command `omibench run`: Snakemake with the options that most studies need.

EVERY_S = 10.0
_DIRECTORY = ("--directory", "-d")


SnakemakeWords = Annotated[
    list[str] | None,
    typer.Argument(metavar="-- OPTION", help="Further options and targets for snakemake."),
]
Cores = Annotated[
    int | None,
    typer.Option("--cores", "-c", min=1, help="Number of processor cores.  [all]"),
]
Simulated = Annotated[
    bool,
    typer.Option("--simulated", help="Rehearse the study with simulated models: no keys, no cost."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", "-n", help="Only list the jobs that would run.")]
ShowLog = Annotated[
    bool, typer.Option("--log", help="Show Snakemake's log instead of the progress.")
]
Wait = Annotated[
    bool,
    typer.Option("--wait", help="Wait for jobs that a dead run left in Slurm, then go on."),
]
Cancel = Annotated[
    bool,
    typer.Option("--cancel", help="Cancel these jobs; they store responses in flight first."),
]
CheckEvery = Annotated[
    float,
    typer.Option(metavar="SECONDS", min=0.2, help="With --wait: seconds between two checks."),
]


def run(
    context: typer.Context,
    words: SnakemakeWords = None,
    cores: Cores = None,
    simulated: Simulated = False,
    dry_run: DryRun = False,
    log: ShowLog = False,
    wait: Wait = False,
    cancel: Cancel = False,
    every: CheckEvery = EVERY_S,
    params: Params = DEFAULT_PARAMS,
    override: Override = None,
) -> None:
    """Run a study from its papers or benchmark to the report, or continue it.

    Runs `snakemake` in the folder of the study: that of its params.yaml; for a parameter file with
    another name, the nearest folder with a Snakefile. Only missing or outdated files are built, and
    jobs that failed or that a killed run left unfinished are repeated. If a job fails, all others
    that do not need it run; a list of failures follows at the end. While another run of the study
    is active, the command is refused. The last line is the path of the report.

    Jobs that a dead run left in Slurm go on. They are found by the id of their run: wait for them
    with --wait or cancel them with --cancel; then the command of the dead run is repeated.

    \b
    Example:
      omibench run
      omibench run --cores 2 --params studies/usnco_v.yaml --simulated
      omibench run -- freeze_all
      omibench run --cancel
    """
    from omibench.extras import require_extra
    from omibench.files.locations import SNAKEFILE, in_study_folder
    from omibench.files.yaml_file import read_mapping
    from omibench.params.runtime import locate_log
    from omibench.params.study import list_remarks
    from omibench.plugins.allowance import find_code, require_allowed
    from omibench.study.status.owners import asks_only

    require_extra("workflow", "omibench run", "snakemake")
    require_file(params, "run", ", since Snakemake reads it")
    if wait and cancel:
        raise ParamsError("run: give either --wait or --cancel")
    started_in = Path.cwd()
    params = context.with_resource(in_study_folder(params, partial(say, err=True)))
    if not Path(SNAKEFILE).is_file():
        raise MissingInputError(
            f"run: {Path.cwd()} has no Snakefile; change to the folder of your study, or create "
            "one with `omibench init FOLDER`"
        )
    pairs = [*(override or []), *(["simulated=true"] if simulated else [])]
    values = merge_blocks(read_mapping(params), split_pairs(pairs))
    require_allowed(values, [params], find_code)
    study = read_study(params, pairs)
    options = ["--dry-run"] if dry_run else []
    command = [*_options(cores, params, pairs), *options, *(words or [])]
    left = _end_left_jobs(study, wait=wait and not dry_run, cancel=cancel and not dry_run, s=every)
    if left is not None and cores is None and not words:
        command = [*_repeat(left, params, pairs), *options]
    if asks_only(command):
        code = run_module("snakemake", *command)
    else:
        for remark in list_remarks(study, [params]):
            _say(remark)
        progress = None if log else _progress(study, params, pairs)
        folder, results = _find_folder(words or []), study.study.results
        code = run_alone(
            "snakemake", *command, results=results, say=_say, folder=folder, progress=progress
        )
    if code:
        raise SomeFailedError(
            f"run: snakemake ended with exit code {code}; `omibench run` continues from there; "
            f"the log is {'above' if log else locate_log(study.study.results)}"
        )
    if not dry_run:
        say(_last_line(study, Path() if Path.cwd() == started_in else Path.cwd()))


def _progress(study: Study, params: str, pairs: list[str]) -> Progress:
    from omibench.study.status.progress import Progress
    from omibench.study.status.reader import Looker

    return Progress(study, Looker(study, params, pairs))


def _options(cores: int | None, params: str, pairs: Sequence[str]) -> list[str]:
    """Return the options of Snakemake; one that takes several values is followed by an option."""
    from omibench.study.status.runs import RUN_OPTIONS, name_parameters

    return [*name_parameters(params, pairs), *RUN_OPTIONS, str(cores or "all")]


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


# Jobs that a dead run left in Slurm.

NAMED = 10
"""The number of jobs listed."""


def _end_left_jobs(study: Study, *, wait: bool, cancel: bool, s: float) -> Run | None:
    """Wait for or cancel the jobs that dead runs left in Slurm; return the last such run.

    A run whose jobs were in Slurm, copied from another host, is ignored without Slurm's commands.
    """
    from omibench.study.status.runs import find_living_run, read_runs, select_unfinished_runs

    runs = read_runs(Path(study.study.results))
    dead = [run for run in select_unfinished_runs(runs) if run.cluster and run.end is None]
    if not dead:
        return None
    if (living := find_living_run(runs)) is not None:
        host, pid, _ = living.owner
        raise OmibenchError(
            f"a run of this study is active (process {pid} on {host}): `omibench status --watch` "
            "shows its progress. If the process is dead, run this command on that host"
        )
    here = [run for run in dead if shutil.which("squeue") or run.owner[0] == socket.gethostname()]
    for run in here:
        _end_jobs(run, wait=wait, cancel=cancel, every_s=s)
    return here[-1] if here else None


def _repeat(run: Run, params: str, pairs: Sequence[str]) -> list[str]:
    """Return the options of a dead run's Snakemake, after printing its command."""
    from omibench.study.status.runs import build_resume_command

    command = build_resume_command(run, params, pairs)
    say(shlex.join(command))
    return command[1:]


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
                "them with `omibench run --wait`, or end them with `omibench run --cancel`"
            )
        pause(every_s)
        jobs = list_jobs(name)


def _tell(jobs: list[ClusterJob]) -> None:
    say(f"{len(jobs)} jobs of the dead run are still in Slurm:")
    for job in jobs[:NAMED]:
        say(f"  {job.id}  {job.state.lower()}  {job.description}")
    if len(jobs) > NAMED:
        say(f"  ... and {len(jobs) - NAMED:,} more")
