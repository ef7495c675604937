"""The notes that each run of the graph leaves: which jobs it means to do and what became of them.

One file a run under `<results>/runs/`, one JSON line an event, written by `status.hooks`. Reading
them tells what no output can: what runs, what failed, and what is there and yet to be made again.
"""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from omibench.errors import OmibenchError
from omibench.files.intake import parse_json, read_bytes
from omibench.store.process import read_process_start

FOLDER = "runs"
KEPT_RUNS = 20
"""Runs whose notes are kept."""
ABANDONED_S = 86400.0
"""Seconds without an event after which a run of another host counts as stopped."""

RUN_BYTES = 256 * 2**20
"""The most bytes of a run's notes that are read."""
_SLURM_NAME = re.compile(r"([A-Za-z0-9_-]{1,80}_)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

State = Literal["waiting", "running", "done", "failed", "stopped", "incomplete"]
"""`stopped`: its run was killed. `incomplete`: it is there, and some requests have no answer."""


@dataclass(frozen=True)
class RunJob:
    """One job of a run: its rule, its cell if it has one, its first output, and how it stands."""

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
        """The job as people name it: `infer sim-apex/cot`."""
        cell = "/".join(part for part in (self.model, self.setting) if part)
        return f"{self.stage} {cell}".strip()

    def seconds(self, now: float) -> float:
        """How long it took, or has been running so far."""
        return max(0.0, (self.ended or now) - self.began) if self.began else 0.0


@dataclass(frozen=True)
class Run:
    """One run of the graph, as far as its notes go. Times are seconds since 1970."""

    path: Path
    began: float
    last_event: float
    """When the last event was noted."""
    end: Literal["done", "failed"] | None = None
    command: tuple[str, ...] = ()
    owner: tuple[str, int, str | None] = ("", 0, None)
    """Host, number and start of the process."""
    jobs: dict[str, RunJob] = field(default_factory=dict)
    """By first output: what it means to do."""
    cluster: str | None = None
    """The name of its jobs in Slurm, which no other run's jobs have; None on one machine."""
    current: frozenset[str] = frozenset()
    """First outputs that it found to be up to date."""

    @cached_property
    def live(self) -> bool:
        """Whether it still runs; looked up once."""
        host, pid, process = self.owner
        if self.end is not None:
            return False
        if host == socket.gethostname():
            return process is not None and read_process_start(pid) == process
        return time.time() - self.last_event < ABANDONED_S

    def settle_jobs(self) -> Run:
        """The same with what a dead run left running as `stopped`.

        What a run that succeeded never began, it found to be up to date after all: a checkpoint
        may show that.
        """
        if self.live:
            return self
        end_state: State = "failed" if self.end else "stopped"
        jobs = {
            path: replace(job, state=end_state, ended=self.last_event)
            if job.state == "running"
            else job
            for path, job in self.jobs.items()
        }
        spared = {p for p, job in jobs.items() if self.end == "done" and job.state == "waiting"}
        remaining_jobs = {path: job for path, job in jobs.items() if path not in spared}
        return replace(self, jobs=remaining_jobs, current=self.current | spared)


def read_runs(results: Path) -> list[Run]:
    """Every run whose notes are kept, oldest first; notes that cannot be read are left out."""
    parsed_runs = (_read_run(path) for path in sorted((results / FOLDER).glob("*.jsonl")))
    runs = [run.settle_jobs() for run in parsed_runs if run is not None]
    return sorted(runs, key=lambda run: run.began)


def find_latest_run(runs: Sequence[Run]) -> Run | None:
    """The run to tell of: the last that lives, else the last."""
    living = [run for run in runs if run.live]
    candidates = living or list(runs)
    return candidates[-1] if candidates else None


def merge_jobs(runs: Iterable[Run]) -> dict[str, RunJob]:
    """What the runs say of each output, the last word counting.

    An output that was written after a dead run had its last say is what its file says.
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
            event = parse_json(line, str(path))
            run = _apply_event(run, listed, event)
        except (OmibenchError, ValueError, KeyError, TypeError):
            continue  # the last line of a run that was killed
    return replace(run, jobs={job.output: job for job in listed.values()})


def _parse_job(entry: dict[str, Any]) -> RunJob:
    return RunJob(
        stage=entry["stage"],
        output=entry["output"],
        model=entry.get("model"),
        setting=entry.get("setting"),
        log=entry.get("log"),
    )


def _apply_event(run: Run, jobs: dict[int, RunJob], event: dict[str, Any]) -> Run:
    moment = float(event["time"])
    if "end" in event:
        return replace(run, last_event=moment, end=event["end"])
    if "new" in event:
        jobs[event["job"]] = _parse_job(event["new"])
        return replace(run, last_event=moment)
    job, state = jobs.get(event["job"]), event["state"]
    if job is not None and state == "running":
        jobs[event["job"]] = replace(job, state=state, began=moment, ended=None)
    elif job is not None and state in ("done", "failed"):
        jobs[event["job"]] = replace(job, state=state, ended=moment)
    return replace(run, last_event=moment)


def name_in_slurm(name: object) -> str | None:
    """A name as Snakemake's executor gives it to the jobs of one run, or None.

    Nothing else may ever select jobs: another name could be another person's.
    """
    return name if isinstance(name, str) and _SLURM_NAME.fullmatch(name) else None
