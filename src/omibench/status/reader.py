"""Reads the status of a study from its files. Sends and changes nothing."""

from __future__ import annotations

import shlex
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import get_args

from omibench.graph.stages import STAGE_NAMES, STAGES
from omibench.params.cell import Cell
from omibench.params.runtime import log_folder
from omibench.params.study import Study, local_helpers, local_models
from omibench.plan.build import read_spent
from omibench.results.study_record import describe_study, list_leftovers
from omibench.status.cells import cell_file, cell_statuses
from omibench.status.failures import list_failures
from omibench.status.pace import time_left
from omibench.status.resume import is_plain
from omibench.status.rows import CellStatus, Money, RunStatus, StageStatus, StudyStatus
from omibench.status.runs import Run, RunJob, State, find_latest_run, merge_jobs, read_runs
from omibench.status.stored import Stored
from omibench.status.written import WrittenCells

LISTED = 8
"""Maximum cells in a command; `omibench status --lacking` lists all of them."""
_FIRST_FILES = {stage.name: stage.outputs[0].path for stage in STAGES}
"""The file of each stage that shows whether it is done, under the results folder."""
_HELPED, _FILLED = "infer/{model}/helped.txt", "infer/{model}/filled.txt"
"""The outputs of the rules `help` and `fill`."""


def look(study: Study, params: str = "params.yaml", replaced: Sequence[str] = ()) -> StudyStatus:
    """Return the progress of a study.

    `params` is its file and `replaced` the KEY=VALUE pairs that override it: the suggested commands
    repeat both.
    """
    looker = Looker(study, params, replaced)
    try:
        return looker.look()
    finally:
        looker.close()


class Looker:
    """Reads the status of one study repeatedly; unchanged files are not read again."""

    def __init__(
        self, study: Study, params: str = "params.yaml", replaced: Sequence[str] = ()
    ) -> None:
        self._study, self._params, self._replaced = study, params, list(replaced)
        self._results = Path(study.study.results)
        self._files = WrittenCells()
        self._stored = Stored(study, self._results / _FIRST_FILES["freeze"])

    def close(self) -> None:
        """Close the store's files."""
        self._stored.close()

    def look(self) -> StudyStatus:
        """Return the current status."""
        now = time.time()
        runs = read_runs(self._results)
        jobs = merge_jobs(runs)
        run = find_latest_run(runs)
        cells = cell_statuses(self._study, jobs, self._files, self._stored)
        failures = list_failures(jobs.values(), Path(log_folder(self._study.study.results)))
        lacking = self._list_incomplete_files(cells)
        stages = self._count_stages(runs, jobs, cells)
        remaining = None
        if run is not None and run.live:
            models = {job.model for job in run.jobs.values() if job.model}
            bought = self._stored.count_new_answers(models, run.began)
            remaining = time_left(runs, run, cells, bought, now)
        outcomes: Counter[str] = Counter()
        for cell in cells:
            outcomes.update(cell.outcomes)
        complete = all(stage.done + stage.incomplete == stage.jobs for stage in stages)
        live = run is not None and run.live
        return StudyStatus(
            study=self._study.study.name,
            title=self._study.study.title,
            results=self._study.study.results,
            now=now,
            simulated=any(cell.simulated for cell in cells) or self._is_rehearsal(),
            run=_describe_run(run, now) if run else None,
            stages=stages,
            cells=cells,
            failures=failures,
            requests=_sum_requests(cells),
            answered=sum(cell.answered for cell in cells),
            outcomes=dict(outcomes.most_common()),
            money=self._sum_money(cells),
            left=remaining,
            partial=str(self._study.study.limit or ""),
            lacking=lacking,
            go_on=None if live or complete else shlex.join(self._build_resume_command(run)),
            try_again=None if live or not lacking else self._build_retry_command(run, lacking),
            notes=[*self._stored.notes, *self._note_leftovers()],
        )

    def _note_leftovers(self) -> list[str]:
        paths = list_leftovers(self._results, describe_study(self._study))
        if not paths:
            return []
        count = "1 file" if len(paths) == 1 else f"{len(paths):,} files"
        return [f"{count} of cells that the study no longer has (`omibench results leftovers`)"]

    def _count_stages(
        self, runs: Sequence[Run], jobs: Mapping[str, RunJob], cells: Sequence[CellStatus]
    ) -> list[StageStatus]:
        # Third-party benchmarks are frozen without building stages.
        building = list(takewhile(lambda name: name != "freeze", STAGE_NAMES))
        if self._study.benchmark.name != "papers":
            building = []
        local = local_models(self._study)
        helping = dict.fromkeys(
            h for c in self._study.cells for h in local_helpers(self._study, c.model, [c.setting])
        )
        states_by_stage: dict[str, list[State]] = {
            **{
                stage: [self._find_state(_FIRST_FILES[stage], jobs)]
                for stage in (*building, "freeze")
            },
            "help": [self._find_state(_HELPED.format(model=m), jobs) for m in helping],
            "fill": [self._find_state(_FILLED.format(model=m), jobs) for m in local],
            "infer": [cell.infer for cell in cells],
            "score": [cell.score for cell in cells],
        }
        # A study without cells builds a dataset: there is nothing to analyze.
        last = [self._find_state(_FIRST_FILES["analyze"], jobs)] if cells else []
        other_states: dict[str, dict[str, State]] = {}
        current_cells = {(cell.model, cell.setting) for cell in cells} | {(None, None)}
        for job in (job for run in runs for job in run.jobs.values()):
            # Runs of earlier parameters may have created cells that the study no longer has.
            is_of_study = (job.model, job.setting) in current_cells
            if is_of_study and job.stage not in states_by_stage and job.stage != "analyze":
                other_states.setdefault(job.stage, {})[job.output] = _file_state(job.output, jobs)
        states_by_stage |= {
            stage: list(outputs.values()) for stage, outputs in other_states.items()
        }
        return [
            _count_states(stage, job_states)
            for stage, job_states in (states_by_stage | {"analyze": last}).items()
            if job_states
        ]

    def _find_state(self, path: str, jobs: Mapping[str, RunJob]) -> State:
        return _file_state((self._results / path).as_posix(), jobs)

    def _list_incomplete_files(self, cells: Sequence[CellStatus]) -> list[str]:
        """List files with missing answers: responses first, since verdicts follow from them."""
        paths = []
        for cell in cells:
            if "incomplete" in cell.states:
                stage = "infer" if cell.infer == "incomplete" else "score"
                path = cell_file(self._study, stage, Cell(cell.model, cell.setting))
                paths.append(path.as_posix())
        return paths

    def _sum_money(self, cells: Sequence[CellStatus]) -> Money:
        priced_cells = [cell for cell in cells if cell.usd is not None]
        usd_to_come = 0.0
        for model in {cell.model for cell in priced_cells}:
            model_cells = [cell for cell in priced_cells if cell.model == model]
            answers = sum(cell.answered for cell in model_cells)
            spent = sum(cell.usd or 0.0 for cell in model_cells)
            to_buy = sum(cell.to_buy for cell in cells if cell.model == model)
            usd_to_come += to_buy * spent / answers if answers else 0.0
        return Money(
            usd=sum(cell.usd or 0.0 for cell in priced_cells) if priced_cells else None,
            to_come=usd_to_come if priced_cells else None,
            budget=read_spent(self._study),
        )

    def _is_rehearsal(self) -> bool:
        models = (self._study.models[name] for name in self._study.infer.models)
        return any(model.is_simulated for model in models)

    def _build_command(self, run: Run | None) -> list[str]:
        """Return the last run's command, unless it completed its goal and more is left."""
        if run is not None and run.end != "done" and _is_ours(run):
            return list(run.command)
        file_options = [] if self._params == "params.yaml" else ["--configfile", self._params]
        pairs = ["--config", *self._replaced] if self._replaced else []
        return ["snakemake", "--cores", "all", *file_options, *pairs]

    def _build_resume_command(self, run: Run | None) -> list[str]:
        """Return the command to continue; `omibench resume` if jobs may still be running."""
        if run is None or run.end is not None or run.cluster is None:
            return self._build_command(run)
        file_options = [] if self._params == "params.yaml" else ["--params", self._params]
        return [
            "omibench",
            "resume",
            *file_options,
            *(w for p in self._replaced for w in ("--set", p)),
        ]

    def _build_retry_command(self, run: Run | None, lacking: Sequence[str]) -> str:
        words = list(run.command) if run and _is_ours(run) else self._build_command(run)
        command = shlex.join([*words, "--forcerun"])
        if len(lacking) <= LISTED:
            return f"{command} {shlex.join(lacking)}"
        file_options = [] if self._params == "params.yaml" else ["--params", self._params]
        pairs = [word for pair in self._replaced for word in ("--set", pair)]
        listing = shlex.join(["omibench", "status", "--lacking", *file_options, *pairs])
        if any(" " in path for path in lacking):  # a shell would split it
            return f"{listing} | tr '\\n' '\\0' | xargs -0 {command}"
        return f"{command} $({listing})"


def _is_ours(run: Run) -> bool:
    """Return whether a command is safe to suggest, since notes of a run can come from others."""
    return run.command[:1] == ("snakemake",) and is_plain(run.command[1:])


def _file_state(output: str, jobs: Mapping[str, RunJob]) -> State:
    job = jobs.get(output)
    if job is not None and job.state != "done":
        return job.state
    return "done" if Path(output).is_file() else "waiting"


def _count_states(stage: str, job_states: Sequence[State]) -> StageStatus:
    count = {name: job_states.count(name) for name in get_args(State)}
    return StageStatus(stage=stage, jobs=len(job_states), **count)


def _describe_run(run: Run, now: float) -> RunStatus:
    counts = Counter(job.state for job in run.jobs.values())
    return RunStatus(
        state="running" if run.live else (run.end or "stopped"),
        began=run.began,
        seconds=(now if run.live else run.last_event) - run.began,
        planned=len(run.jobs),
        done=counts["done"],
        failed=counts["failed"],
        running=[job.name for job in run.jobs.values() if job.state == "running"],
    )


def _sum_requests(cells: Sequence[CellStatus]) -> int | None:
    requests = [cell.requests for cell in cells if cell.requests is not None]
    return sum(requests) if len(requests) == len(cells) else None
