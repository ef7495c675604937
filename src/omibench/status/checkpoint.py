"""Explains why a run lists jobs that may not run: the dataset is frozen first."""

from __future__ import annotations

import atexit
from collections import Counter
from collections.abc import Iterable
from typing import Any

from omibench.text.terminal import say

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
