"""The Slurm jobs of a run: listing those that wait or run, and cancelling them.

Snakemake's executor gives all jobs of a run a unique name, which is in the notes of the run. Jobs
are selected only by that name and by their owner.
"""

from __future__ import annotations

import getpass
import shutil
import subprocess
from typing import NamedTuple

from omibench.errors import MissingInputError, OmibenchError
from omibench.status.runs import name_in_slurm

ASK_S = 60.0
"""Time limit in seconds of a Slurm command."""
_RULE = "rule_"
_WILDCARDS = "_wildcards_"


class ClusterJob(NamedTuple):
    """A Slurm job: its id, its state, and its rule and wildcards."""

    id: str
    state: str
    description: str


def list_jobs(name: str) -> list[ClusterJob]:
    """List the jobs of a run that wait or run in Slurm.

    Raises MissingInputError if Slurm's commands are missing, OmibenchError if they fail.
    """
    listing = _run_slurm("squeue", name, "--noheader", "--format=%i|%T|%k")
    lines = (line.split("|", 2) for line in listing.splitlines() if line.count("|") >= 2)
    return [ClusterJob(number, state, _parse_comment(comment)) for number, state, comment in lines]


def cancel_jobs(name: str) -> None:
    """Cancel the jobs of a run: they keep the answers in flight. Raises as `list_jobs`."""
    _run_slurm("scancel", name)


def _run_slurm(program: str, name: str, *words: str) -> str:
    if name_in_slurm(name) is None:
        raise OmibenchError(
            f"{name!r}: is not the name of a run's jobs in Slurm; nothing was cancelled"
        )
    if shutil.which(program) is None:
        raise MissingInputError(
            f"{program}: not found, but the run's jobs are in Slurm; run this command on a "
            "machine with Slurm's commands"
        )
    command = [program, f"--user={getpass.getuser()}", f"--name={name}", *words]
    try:
        process = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False,
            stdin=subprocess.DEVNULL, timeout=ASK_S,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise OmibenchError(f"{program}: no answer within {ASK_S:g} s; try again") from None
    if process.returncode:
        message = " ".join((process.stderr or process.stdout).split())[:300]
        raise OmibenchError(f"{program}: failed with {process.returncode}: {message}")
    return process.stdout


def _parse_comment(comment: str) -> str:
    """Return `infer gpt_cot` for `rule_infer_wildcards_gpt_cot`."""
    rule, _, wildcards = comment.removeprefix(_RULE).partition(_WILDCARDS)
    return f"{rule} {wildcards}".strip()
