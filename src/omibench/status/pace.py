"""Estimates the remaining time of a run from the rates of its own jobs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from omibench.status.rows import CellStatus, TimeLeft
from omibench.status.runs import Run, RunJob

ENOUGH = 20
"""Answers of a model during the run before its rate is used."""


def time_left(
    runs: Sequence[Run],
    run: Run,
    cells: Sequence[CellStatus],
    bought: Mapping[str, int],
    now: float,
) -> TimeLeft:
    """Return the remaining seconds of work divided by the concurrent jobs.

    A cell of a model with answers (`bought` requests since the run began) takes its remaining
    requests at the model's rate; any other job takes the mean of its stage: over the model's jobs
    of this run, else over all of this run, else over those of earlier runs.
    """
    timed = _Timed(runs, run, now)
    lacking = {(cell.model, cell.setting): cell.to_buy for cell in cells}
    work = 0.0
    unmeasured: dict[str, None] = {}
    for job in run.jobs.values():
        if job.state not in ("waiting", "running"):
            continue
        rate = timed.rate(job.model, bought) if job.stage == "infer" else None
        to_buy = lacking.get((job.model or "", job.setting or ""), 0)
        if rate is not None and to_buy:
            work += to_buy * rate
        elif (mean := timed.mean(job)) is not None:
            work += max(0.0, mean - job.seconds(now)) if job.state == "running" else mean
        else:
            unmeasured[job.stage] = None
    at_once = max(1, sum(job.state == "running" for job in run.jobs.values()))
    basis = timed.measured or work
    return TimeLeft(
        seconds=work / at_once if basis else None,
        measured=timed.measured,
        unmeasured=list(unmeasured),
    )


class _Timed:
    """Seconds of jobs, by stage and model."""

    def __init__(self, runs: Sequence[Run], run: Run, now: float) -> None:
        self._run, self._now = run, now
        self._timed_jobs = [job for job in run.jobs.values() if _is_timed(job)]
        self._means = _mean_seconds(job for r in runs if r is not run for job in r.jobs.values())
        self._means |= _mean_seconds(self._timed_jobs)
        self.measured = len(self._timed_jobs)

    def mean(self, job: RunJob) -> float | None:
        """Return the mean duration of similar jobs."""
        return self._means.get((job.stage, job.model), self._means.get((job.stage, None)))

    def rate(self, model: str | None, bought: Mapping[str, int]) -> float | None:
        """Return the job-seconds per answer of a model during the run."""
        answers = bought.get(model or "", 0)
        if answers < ENOUGH:
            return None
        model_jobs = [j for j in self._run.jobs.values() if j.stage == "infer" and j.model == model]
        busy = sum(job.seconds(self._now) for job in model_jobs)
        return busy / answers if busy else None


def _is_timed(job: RunJob) -> bool:
    return job.state == "done" and job.began is not None and job.ended is not None


def _mean_seconds(jobs: Iterable[RunJob]) -> dict[tuple[str, str | None], float]:
    samples: dict[tuple[str, str | None], list[float]] = {}
    for job in filter(_is_timed, jobs):
        for key in {(job.stage, job.model), (job.stage, None)}:
            samples.setdefault(key, []).append(job.seconds(job.ended or 0.0))
    return {key: fmean(seconds) for key, seconds in samples.items()}
