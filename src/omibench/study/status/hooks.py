"""Hooks of the Snakefile: notes and summary of a run, and why it lists jobs that may not run."""

from __future__ import annotations

import atexit
import contextlib
import json
import logging
import os
import socket
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

from omibench.graph.storage import name_file
from omibench.params.study import Study
from omibench.store.segments import new_name, read_process_start
from omibench.study.status.owners import (
    CLAIM_ENV,
    HeldClaim,
    LockFilter,
    claim_in_snakemake,
    forward_signals,
)
from omibench.study.status.runs import FOLDER, KEPT_RUNS, name_in_slurm
from omibench.text.terminal import say, say_lines

FREEZE = "freeze"
AFTER = ("help", "fill", "infer")
"""Jobs that depend only on the frozen questions, and are skipped if these are unchanged."""


def describe_checkpoint(rules: Iterable[str]) -> str | None:
    """Describe the planned jobs of these rules on one line, if freeze is among them."""
    count = Counter(rules)
    waiting = {name: count[name] for name in AFTER if count[name]}
    if not count[FREEZE] or not waiting:
        return None
    jobs = " and ".join(f"{n:,} {name}" for name, n in waiting.items())
    return (
        f"freeze runs first, and then Snakemake checks again: of the {jobs} jobs in this list, "
        "only those with changed questions, pictures or parameters run; for unchanged ones no "
        "model is called (docs/keeping.md, After a change)"
    )


def remark_when_planned(workflow: Any) -> None:
    """Print the remark after a dry run, below Snakemake's list of jobs."""
    atexit.register(_after_dry_run, workflow)


def print_remark(workflow: Any) -> None:
    """Print the remark at the start of a run, or after a dry one."""
    dag = workflow.dag
    planned = [job.rule.name for job in dag.jobs if dag.needrun(job)] if dag else []
    if line := describe_checkpoint(planned):
        say(f"omibench: {line}", err=True)


def _after_dry_run(workflow: Any) -> None:
    try:
        if workflow.is_main_process and workflow.dryrun:
            print_remark(workflow)
    except Exception:  # noqa: S110 (the attributes are Snakemake's own: a remark breaks no run)
        pass


# Hooks of the Snakefile: notes during a run, and a summary at its end.
#
# Snakemake logs each job's start, end and failure as an event with fields, which a plain logging
# handler can read: this needs neither a plugin on the command line nor the wording of its log.
# Watching never breaks a run: any error here is only a warning.

_EVENTS = {"job_info": "running", "job_finished": "done", "job_error": "failed"}
_FORCING = {"-F", "--forceall", "-f", "--force"}
_FORCING_THESE = {"-R", "--forcerun"}
log = logging.getLogger("omibench.study.status")
_snakemake_log = logging.getLogger("snakemake.logging")


class WatchedRun:
    """One run of a study's graph, watched from start to end."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._notes: _Notes | None = None
        self._claim: HeldClaim | None = None

    def start(self, workflow: Any) -> None:
        """Start the notes of a run, from Snakemake's `onstart`."""
        with _unbroken():
            if not workflow.touch:
                with _unbroken():
                    self._claim = claim_in_snakemake(self._study.study.results)
                forward_signals()
                folder = Path(self._study.study.results) / FOLDER
                self._notes = _Notes(folder, workflow.dag, _find_cluster_name(workflow))
                _snakemake_log.addHandler(self._notes)

    def end(self, outcome: Literal["done", "failed"]) -> None:
        """Note the end, from `onsuccess` or `onerror`, and print failures and missing answers."""
        with _unbroken():
            if self._claim is not None:
                self._claim.close()
                os.environ.pop(CLAIM_ENV, None)
                self._claim = None
        with _unbroken():
            if self._notes is None:
                return
            _snakemake_log.removeHandler(self._notes)
            self._notes.finish(outcome)
            from omibench.study.status.text import describe_ending

            say_lines(describe_ending(self._study, self._notes.path), err=True)


def explain_locks(results: str) -> None:
    """Let Snakemake's message about a held lock say which run holds it."""
    _snakemake_log.addFilter(LockFilter(results))


class _Notes(logging.Handler):
    """Writes one line per event, flushed before the next event."""

    def __init__(self, folder: Path, dag: Any, cluster: str | None = None) -> None:
        super().__init__(logging.INFO)
        folder.mkdir(parents=True, exist_ok=True)
        for old in sorted(folder.glob("*.jsonl"))[: 1 - KEPT_RUNS]:
            old.unlink(missing_ok=True)
        self.path = folder / new_name(".jsonl")
        self._file = self.path.open("a", encoding="utf-8", buffering=1)
        pid = os.getpid()
        jobs = [job for job in dag.jobs if job.output]
        planned = [
            _describe_job(job.jobid, job.rule.name, job.output, job.log, job.wildcards_dict)
            for job in jobs
            if dag.needrun(job)
        ]
        self._noted_jobs = {entry["id"] for entry in planned}
        self._note(
            pid=pid,
            host=socket.gethostname(),
            process=read_process_start(pid),
            command=command(sys.argv),
            cluster=cluster,
            jobs=planned,
            current=[name_file(job.output[0]) for job in jobs if not dag.needrun(job)],
        )

    def emit(self, record: logging.LogRecord) -> None:
        """Note the event of a job in a log record."""
        state = _EVENTS.get(str(getattr(record, "event", "")))
        number = getattr(record, "jobid", getattr(record, "job_id", None))
        if state is None or number is None:
            return
        with contextlib.suppress(OSError, ValueError):
            outputs = getattr(record, "output", None)
            if number not in self._noted_jobs and outputs:
                # A checkpoint added it to the graph.
                self._noted_jobs.add(number)
                of: Any = record
                entry = _describe_job(number, of.rule_name, outputs, of.log, of.wildcards)
                self._note(job=int(number), new=entry)
            self._note(job=int(number), state=state)

    def finish(self, outcome: str) -> None:
        """Note the end of the run."""
        self._note(end=outcome)
        self._file.close()

    def _note(self, **event: object) -> None:
        self._file.write(json.dumps({"time": time.time(), **event}) + "\n")


def command(argv: list[str]) -> list[str]:
    """Return the command that continues a run: the original one without forced reruns."""
    words, dropping = ["snakemake"], False
    for word in argv[1:]:
        if word.startswith("-"):
            dropping = word in _FORCING_THESE
        if not dropping and word not in _FORCING:
            words.append(word)
    return words


def _find_cluster_name(workflow: Any) -> str | None:
    """Return the name of this run's jobs in Snakemake's executor for Slurm."""
    scheduler = getattr(workflow, "scheduler", None)
    return name_in_slurm(getattr(getattr(scheduler, "_executor", None), "run_uuid", None))


def _describe_job(
    number: int, stage: str, outputs: Any, logs: Any, wildcards: dict[str, str] | None
) -> dict[str, Any]:
    cell = wildcards or {}
    return {
        "id": int(number),
        "stage": stage,
        "output": name_file(outputs[0]),
        "model": cell.get("model"),
        "setting": cell.get("setting"),
        "log": str(logs[0]) if logs else None,
    }


@contextlib.contextmanager
def _unbroken() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # a bug here must not stop jobs that cost money
        log.warning("omibench: this run cannot be watched: %r", error)
