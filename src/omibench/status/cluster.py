"""Jobs that a run has left in Slurm: which still wait or run, and how they are ended.

Snakemake's executor names all jobs of a run by a number that no other run has, which the notes of
the run keep. Jobs are selected by that name and by their owner, and by nothing else.
"""

from __future__ import annotations

import getpass
import shutil
import subprocess
from typing import NamedTuple

from omibench.errors import MissingInputError, OmibenchError
from omibench.status.runs import name_in_slurm

ASK_S = 60.0
"""Seconds that a command of Slurm may take."""
_RULE = "rule_"
_WILDCARDS = "_wildcards_"


class ClusterJob(NamedTuple):
    """A job as Slurm tells of it: its number, its state, and the rule and wildcards that it is."""

    id: str
    state: str
    description: str


def list_jobs(name: str) -> list[ClusterJob]:
    """The jobs of a run that still wait or run in Slurm.

    Raises MissingInputError where Slurm's commands are not there, OmibenchError where they fail.
    """
    listing = _run_slurm("squeue", name, "--noheader", "--format=%i|%T|%k")
    lines = (line.split("|", 2) for line in listing.splitlines() if line.count("|") >= 2)
    return [ClusterJob(number, state, _parse_comment(comment)) for number, state, comment in lines]


def cancel_jobs(name: str) -> None:
    """Tell the jobs of a run to end: they keep what they have in flight. Raises as `list_jobs`."""
    _run_slurm("scancel", name)


def _run_slurm(program: str, name: str, *words: str) -> str:
    if name_in_slurm(name) is None:
        raise OmibenchError(f"{name!r}: is no name of a run's jobs in Slurm; nothing was done")
    if shutil.which(program) is None:
        raise MissingInputError(
            f"{program}: is not there, and the run's jobs are in Slurm: run this command where "
            "Slurm's own commands are"
        )
    command = [program, f"--user={getpass.getuser()}", f"--name={name}", *words]
    try:
        process = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False,
            stdin=subprocess.DEVNULL, timeout=ASK_S,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise OmibenchError(f"{program}: gave no answer within {ASK_S:g} s; try again") from None
    if process.returncode:
        message = " ".join((process.stderr or process.stdout).split())[:300]
        raise OmibenchError(f"{program}: failed with {process.returncode}: {message}")
    return process.stdout


def _parse_comment(comment: str) -> str:
    """`rule_infer_wildcards_gpt_cot` is `infer gpt_cot`."""
    rule, _, wildcards = comment.removeprefix(_RULE).partition(_WILDCARDS)
    return f"{rule} {wildcards}".strip()
