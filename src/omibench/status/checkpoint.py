"""Why a run lists jobs that it may not do: the dataset is to be frozen first."""

from __future__ import annotations

import atexit
from collections import Counter
from collections.abc import Iterable
from typing import Any

from omibench.text.terminal import say

FREEZE = "freeze"
AFTER = ("help", "fill", "infer")
"""Jobs that read the frozen questions alone, and are left out where these stay the same."""


def describe_checkpoint(rules: Iterable[str]) -> str | None:
    """One line about the jobs of these rules that are to be done, where freeze is among them."""
    count = Counter(rules)
    waiting = {name: count[name] for name in AFTER if count[name]}
    if not count[FREEZE] or not waiting:
        return None
    jobs = " and ".join(f"{n:,} {name}" for name, n in waiting.items())
    return (
        f"freeze is to run first, and then Snakemake looks again: of the {jobs} jobs in this list "
        "only those run whose questions, pictures or parameters have changed; where they are the "
        "same, no model is asked (docs/keeping.md, After a change)"
    )


def remark_when_planned(workflow: Any) -> None:
    """Say it after a dry run, under Snakemake's own list of jobs; called while that is read."""
    atexit.register(_after_dry_run, workflow)


def print_remark(workflow: Any) -> None:
    """Say it at the start of a run, or after a dry one."""
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
