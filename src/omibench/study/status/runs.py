"""The notes of each run of the graph: its planned jobs and their outcomes.

One file per run under `<results>/runs/`, one JSON line per event, written by `status.hooks`. They
show what outputs cannot: running jobs, failures, and existing outputs that are to be rebuilt.
"""

from __future__ import annotations

import getpass
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal, NamedTuple

from omibench.errors import MissingInputError, OmibenchError
from omibench.files.reading import parse_json, read_bytes
from omibench.store.segments import read_process_start

FOLDER = "runs"
KEPT_RUNS = 20
"""Number of runs whose notes are kept."""
ABANDONED_S = 86400.0
"""Seconds without an event after which a run of another host counts as stopped."""

RUN_BYTES = 256 * 2**20
"""Maximum bytes of a run's notes."""
_SLURM_NAME = re.compile(r"([A-Za-z0-9_-]{1,80}_)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

State = Literal["waiting", "running", "done", "failed", "stopped", "incomplete"]
"""`stopped`: its run was killed. `incomplete`: it exists, but some requests have no answer."""


class RunJob(NamedTuple):
    """One job of a run: its rule, its cell if any, its first output, and its state."""

    stage: str
    output: str
    model: str | None = None
    setting: str | None = None
    log: str | None = None
    state: State = "waiting"
    began: float | None = None
    ended: float | None = None

    @property
    def name(self) -> str:
        """The job's display name: `infer sim-apex/cot`."""
        cell = "/".join(part for part in (self.model, self.setting) if part)
        return f"{self.stage} {cell}".strip()

    def seconds(self, now: float) -> float:
        """Return its duration, or its running time so far."""
        return max(0.0, (self.ended or now) - self.began) if self.began else 0.0


@dataclass(frozen=True)
class Run:
    """One run of the graph, according to its notes. Times are seconds since 1970."""

    path: Path
    began: float
    last_event: float
    """Time of the last event."""
    end: Literal["done", "failed"] | None = None
    command: tuple[str, ...] = ()
    owner: tuple[str, int, str | None] = ("", 0, None)
    """Host, id and start of the process."""
    jobs: dict[str, RunJob] = field(default_factory=dict)
    """Planned jobs by first output."""
    cluster: str | None = None
    """The unique name of its jobs in Slurm; None on one machine."""
    current: frozenset[str] = frozenset()
    """First outputs that it found up to date."""

    @cached_property
    def live(self) -> bool:
        """Whether it is still running; looked up once."""
        host, pid, process = self.owner
        if self.end is not None:
            return False
        if host == socket.gethostname():
            return process is not None and read_process_start(pid) == process
        return time.time() - self.last_event < ABANDONED_S

    def mark_stopped_jobs(self) -> Run:
        """Return a copy with the running jobs of a killed run as `stopped`.

        Jobs that a successful run never started were up to date after all, as a checkpoint can
        reveal.
        """
        if self.live:
            return self
        end_state: State = "failed" if self.end else "stopped"
        jobs, spared = dict[str, RunJob](), set[str]()
        for path, job in self.jobs.items():
            if job.state == "running":
                jobs[path] = job._replace(state=end_state, ended=self.last_event)
            elif job.state == "waiting" and self.end == "done":
                spared.add(path)
            else:
                jobs[path] = job
        return replace(self, jobs=jobs, current=self.current | spared)


def read_runs(results: Path) -> list[Run]:
    """Return every run with notes, oldest first; unreadable notes are skipped."""
    parsed_runs = (_read_run(path) for path in sorted((results / FOLDER).glob("*.jsonl")))
    runs = [run.mark_stopped_jobs() for run in parsed_runs if run is not None]
    return sorted(runs, key=lambda run: run.began)


def find_latest_run(runs: Sequence[Run]) -> Run | None:
    """Return the run to show: the last running one, else the last."""
    return find_living_run(runs) or (runs[-1] if runs else None)


def find_living_run(runs: Sequence[Run]) -> Run | None:
    """Return the running run, if any."""
    return next((run for run in reversed(runs) if run.live), None)


def merge_jobs(runs: Iterable[Run]) -> dict[str, RunJob]:
    """Return the latest state of each output in the runs.

    For an output written after the last event of a killed run, its file counts.
    """
    jobs: dict[str, RunJob] = {}
    for run in runs:
        for path in run.current:
            jobs.pop(path, None)
        for path, job in run.jobs.items():
            if run.live or job.state == "done" or not _is_newer(path, job.ended or run.last_event):
                jobs[path] = job
            else:
                jobs.pop(path, None)
    return jobs


def _is_newer(path: str, moment: float) -> bool:
    try:
        return Path(path).stat().st_mtime > moment
    except OSError:
        return False


def _read_run(path: Path) -> Run | None:
    try:
        lines = read_bytes(path, RUN_BYTES).splitlines()
        head = parse_json(lines[0], str(path))
        listed = {int(entry["id"]): _parse_job(entry) for entry in head["jobs"]}
        run = Run(
            path=path,
            began=head["time"],
            last_event=head["time"],
            command=tuple(map(str, head["command"])),
            cluster=name_in_slurm(head.get("cluster")),
            owner=(head["host"], head["pid"], head["process"]),
            current=frozenset(head["current"]),
        )
    except (OmibenchError, ValueError, KeyError, IndexError, TypeError):
        return None
    for line in lines[1:]:
        try:
            run = _apply_event(run, listed, parse_json(line, str(path)))
        except (OmibenchError, ValueError, KeyError, TypeError):
            continue  # the last line of a killed run
    return replace(run, jobs={job.output: job for job in listed.values()})


def _parse_job(entry: dict[str, Any]) -> RunJob:
    stage, output = entry["stage"], entry["output"]
    return RunJob(stage, output, entry.get("model"), entry.get("setting"), entry.get("log"))


def _apply_event(run: Run, jobs: dict[int, RunJob], event: dict[str, Any]) -> Run:
    run = replace(run, last_event=float(event["time"]))
    if "end" in event:
        return replace(run, end=event["end"])
    number = event["job"]
    if "new" in event:
        jobs[number] = _parse_job(event["new"])
    elif event["state"] == "running" and number in jobs:
        jobs[number] = jobs[number]._replace(state="running", began=run.last_event, ended=None)
    elif event["state"] in ("done", "failed") and number in jobs:
        jobs[number] = jobs[number]._replace(state=event["state"], ended=run.last_event)
    return run


def name_in_slurm(name: object) -> str | None:
    """Return a name in the form of Snakemake's executor for one run, or None.

    Jobs must never be selected by any other name, which could belong to another user.
    """
    return name if isinstance(name, str) and _SLURM_NAME.fullmatch(name) else None


# The Slurm jobs of a run: listing those that wait or run, and cancelling them.
#
# Snakemake's executor gives all jobs of a run a unique name, which is in the notes of the run. Jobs
# are selected only by that name and by their owner.

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


# Continues a study after its run was killed: its remains, and the command to continue.

_WITH_A_VALUE = frozenset(
    {
        "--cores", "-c", "--jobs", "-j", "--configfile", "--config", "--profile",
        "--workflow-profile", "--resources", "--default-resources", "--set-resources",
        "--set-threads", "--groups", "--group-components", "--latency-wait", "--retries", "-T",
        "--rerun-triggers", "--until", "--omit-from", "--slurm-status-command",
        "--slurm-init-seconds-before-status-checks", "--max-jobs-per-second",
        "--max-status-checks-per-second", "--verbosity", "--quiet", "-q",
    }
)  # fmt: skip
_ALONE = frozenset(
    {
        "--keep-going", "-k", "--rerun-incomplete", "--ri", "--printshellcmds", "-p", "--notemp",
        "--slurm-no-account", "--", "--keep-incomplete", "--show-failed-logs", "--nocolor",
    }
)  # fmt: skip
INCOMPLETE = "--rerun-incomplete"
# Snakemake evaluates amounts of resources as Python.
_AMOUNT = re.compile(r"[\w.:=/,+-]+")
# A structured value could be a model with an attacker's address.
_PAIR = re.compile(r"\w+=[\w.+-]*")


def _is_file_of_yours(value: str) -> bool:
    path = Path(value)
    return path.name == value or (path.parts[:1] == ("studies",) and ".." not in path.parts)


def _is_profile_of_yours(value: str) -> bool:
    path = Path(value)
    if path.name == value:  # a profile of your account, unless a folder of that name exists here
        return not path.exists()
    return path.parts[:1] == ("profiles",) and ".." not in path.parts


_AMOUNTS = (
    "--resources", "--default-resources", "--set-resources", "--set-threads", "--groups",
    "--group-components", "--slurm-status-command", "--cores", "-c", "--jobs", "-j",
)  # fmt: skip
_IS_SAFE: Mapping[str, Callable[[str], object]] = {
    "--config": _PAIR.fullmatch,
    "--configfile": _is_file_of_yours,
    "--profile": _is_profile_of_yours,
    "--workflow-profile": _is_profile_of_yours,
    **dict.fromkeys(_AMOUNTS, _AMOUNT.fullmatch),
}


def select_unfinished_runs(runs: Sequence[Run]) -> list[Run]:
    """Return the runs after the last completed one, oldest first."""
    return list(takewhile(lambda run: run.end != "done", reversed(runs)))[::-1]


def build_resume_command(run: Run, params: str, replaced: Sequence[str]) -> list[str]:
    """Return the command that continues a run as it was started.

    Notes of a run are a file, which can come with results of others: a command with options that
    set the location of code, or that no study needs, is rejected.
    """
    words = list(run.command[1:])
    if run.command[:1] != ("snakemake",) or not is_plain(words):
        words = default_command(params, replaced)[1:]
    # In front: at the end it could be taken for a value.
    return ["snakemake", *([] if INCOMPLETE in words else [INCOMPLETE]), *words]


def default_command(params: str, replaced: Sequence[str]) -> list[str]:
    """Return the command that builds a study: `params` is its file, `replaced` overrides it."""
    return ["snakemake", "--cores", "all", *name_parameters(params, replaced)]


def name_parameters(params: str, replaced: Sequence[str]) -> list[str]:
    """Return the options of Snakemake for a parameter file and the pairs that override it."""
    file_options = [] if params == "params.yaml" else ["--configfile", params]
    return [*file_options, *(["--config", *replaced] if replaced else [])]


RUN_OPTIONS = (INCOMPLETE, "--keep-going", "--cores")
"""The options that `omibench run` gives to Snakemake, between parameters and further options."""


def restore_run_command(command: Sequence[str]) -> list[str]:
    """Return `omibench run ...` for a command of Snakemake that it started; else the command."""
    words = list(command[1:])
    size = len(RUN_OPTIONS)
    place = next((n for n in range(len(words)) if tuple(words[n : n + size]) == RUN_OPTIONS), None)
    if command[0] != "snakemake" or place is None or len(words) <= place + size:
        return list(command)
    cores, further = words[place + size], words[place + size + 1 :]
    params, option = list[str](), ""
    for word in words[:place]:
        option = word if word.startswith("--") else option
        if option != word:
            params += ["--params" if option == "--configfile" else "--set", word]
    return [
        "omibench", "run", *params, *([] if cores == "all" else ["--cores", cores]),
        *(["--", *further] if further else []),
    ]  # fmt: skip


def is_plain(words: Sequence[str]) -> bool:
    """Return whether a command selects only resources, parameters and targets, and no code.

    Values can be code too: profiles refer to files of rules, amounts are evaluated, and parameters
    determine where your keys are sent. Only those of your checkout are repeated.
    """
    option = ""
    for word in words:
        value = word
        if word.startswith("-"):
            option, separator, value = word.partition("=")
            if option not in _WITH_A_VALUE | _ALONE:
                return False
            if not separator:
                continue
        if option in _IS_SAFE and not _IS_SAFE[option](value):
            return False
    return True
