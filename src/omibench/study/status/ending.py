"""The summary at the end of a run: failures, missing answers, and the command for each."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from omibench.errors import OmibenchError
from omibench.params.study import Study
from omibench.schemas.tables import FrozenManifest, read_json
from omibench.stages.filter.stage import read_summary
from omibench.study.plan.text import duration
from omibench.study.status.reader import look
from omibench.study.status.rows import StudyStatus
from omibench.study.status.runs import Run, read_runs
from omibench.study.status.text import commands_text, failures_text, format_count


def describe_ending(study: Study, notes: Path) -> str:
    """Return the summary of the run with these `notes`."""
    status = look(study)
    if not status.failures:
        status = status.model_copy(update={"go_on": None})  # a stop on request is not a failure
    run = next((run for run in read_runs(Path(study.study.results)) if run.path == notes), None)
    return "\n".join(_lines(status, run, _list_outputs(study, run))) if run else ""


def _lines(status: StudyStatus, run: Run, outputs: list[str]) -> list[str]:
    count = [job.state for job in run.jobs.values()]
    done_count, failed_count, waiting_count = (
        count.count("done"),
        count.count("failed"),
        count.count("waiting"),
    )
    simulated = " (SIMULATED)" if status.simulated else ""
    simulated += f" (PARTIAL RUN: {status.partial})" if status.partial else ""
    took = duration((run.last_event - run.began) / 3600)
    lines = [
        "",
        f"Study {status.study!r}{simulated}: {format_count(done_count, 'job')} done in {took}",
    ]
    if failed_count or run.end == "failed":
        lines[-1] += f", {failed_count:,} failed, {waiting_count:,} not run"
    if status.cells and status.requests is not None:
        lines.append(f"{status.answered:,} of {status.requests:,} requests answered")
    return [*lines, *outputs, *failures_text(status.failures), *commands_text(status)]


def _list_outputs(study: Study, run: Run) -> list[str]:
    """List the outputs of the run for users: counts and paths."""
    results = Path(study.study.results)
    stages = {job.stage for job in run.jobs.values() if job.state == "done"}
    lines = []
    if "filter" in stages and (summary := read_summary(results / "filter")):
        lines.append(f"{summary}: {results / 'filter/rejects.html'}")
    if "freeze" in stages:
        with suppress(OmibenchError):
            manifest = read_json(results / "freeze/manifest.json", FrozenManifest)
            problems = format_count(manifest.problems, "problem")
            pictures = format_count(manifest.images, "picture")
            lines.append(f"Frozen: {problems}, {pictures}: {results / 'freeze/README.md'}")
    if "analyze" in stages:
        lines.append(f"Report: {results / 'analyze/report.html'}")
    return lines
