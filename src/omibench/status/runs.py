"""The notes of each run of the graph: its planned jobs and their outcomes.

One file per run under `<results>/runs/`, one JSON line per event, written by `status.hooks`. They
show what outputs cannot: running jobs, failures, and existing outputs that are to be rebuilt.
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
"""Number of runs whose notes are kept."""
ABANDONED_S = 86400.0
"""Seconds without an event after which a run of another host counts as stopped."""

RUN_BYTES = 256 * 2**20
"""Maximum bytes of a run's notes."""
_SLURM_NAME = re.compile(r"([A-Za-z0-9_-]{1,80}_)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

State = Literal["waiting", "running", "done", "failed", "stopped", "incomplete"]
"""`stopped`: its run was killed. `incomplete`: it exists, but some requests have no answer."""


@dataclass(frozen=True)
class RunJob:
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

    def settle_jobs(self) -> Run:
        """Return a copy with the running jobs of a killed run as `stopped`.

        Jobs that a successful run never started were up to date after all, as a checkpoint can
        reveal.
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
    """Return every run with notes, oldest first; unreadable notes are skipped."""
    parsed_runs = (_read_run(path) for path in sorted((results / FOLDER).glob("*.jsonl")))
    runs = [run.settle_jobs() for run in parsed_runs if run is not None]
    return sorted(runs, key=lambda run: run.began)


def find_latest_run(runs: Sequence[Run]) -> Run | None:
    """Return the run to show: the last running one, else the last."""
    living = [run for run in runs if run.live]
    candidates = living or list(runs)
    return candidates[-1] if candidates else None


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
            event = parse_json(line, str(path))
            run = _apply_event(run, listed, event)
        except (OmibenchError, ValueError, KeyError, TypeError):
            continue  # the last line of a killed run
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
    """Return a name in the form of Snakemake's executor for one run, or None.

    Jobs must never be selected by any other name, which could belong to another user.
    """
    return name if isinstance(name, str) and _SLURM_NAME.fullmatch(name) else None
