"""From a study's files to its status. Sends nothing, and leaves every file as it is."""

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
from omibench.status.cells import cell_file, cell_statuses
from omibench.status.failures import failures_of
from omibench.status.pace import time_left
from omibench.status.resume import is_plain
from omibench.status.rows import CellStatus, Money, RunStatus, StageStatus, Status
from omibench.status.runs import Job, Run, State, latest, read_runs, states
from omibench.status.stored import Stored
from omibench.status.written import WrittenCells

LISTED = 8
"""Cells that a command names; more of them are listed by `omibench status --lacking`."""
_FIRST_FILES = {stage.name: stage.outputs[0].path for stage in STAGES}
"""The file of each stage that says whether it is done, under the results folder."""
_HELPED, _FILLED = "infer/{model}/helped.txt", "infer/{model}/filled.txt"
"""What the rules `help` and `fill` write."""


def look(study: Study, params: str = "params.yaml", replaced: Sequence[str] = ()) -> Status:
    """How far a study has come.

    `params` is the file that it was read from and `replaced` the KEY=VALUE pairs that were laid
    over it: the commands that are named repeat both.
    """
    looker = Looker(study, params, replaced)
    try:
        return looker.look()
    finally:
        looker.close()


class Looker:
    """Looks at one study again and again; what has not changed is not read twice."""

    def __init__(
        self, study: Study, params: str = "params.yaml", replaced: Sequence[str] = ()
    ) -> None:
        self._study, self._params, self._replaced = study, params, list(replaced)
        self._results = Path(study.study.results)
        self._files = WrittenCells()
        self._stored = Stored(study, self._results / _FIRST_FILES["freeze"])

    def close(self) -> None:
        """Let go of the store's files."""
        self._stored.close()

    def look(self) -> Status:
        """The status now."""
        now = time.time()
        runs = read_runs(self._results)
        jobs = states(runs)
        run = latest(runs)
        cells = cell_statuses(self._study, jobs, self._files, self._stored)
        failures = failures_of(jobs.values(), Path(log_folder(self._study.study.results)))
        lacking = self._lacking(cells)
        stages = self._stages(runs, jobs, cells)
        left = None
        if run is not None and run.live:
            models = {job.model for job in run.jobs.values() if job.model}
            bought = self._stored.bought_since(models, run.began)
            left = time_left(runs, run, cells, bought, now)
        outcomes: Counter[str] = Counter()
        for cell in cells:
            outcomes.update(cell.outcomes)
        complete = all(stage.done + stage.incomplete == stage.jobs for stage in stages)
        live = run is not None and run.live
        return Status(
            study=self._study.study.name,
            title=self._study.study.title,
            results=self._study.study.results,
            now=now,
            simulated=any(cell.simulated for cell in cells) or self._rehearsed(),
            run=_run_status(run, now) if run else None,
            stages=stages,
            cells=cells,
            failures=failures,
            requests=_total(cells),
            answered=sum(cell.answered for cell in cells),
            outcomes=dict(outcomes.most_common()),
            money=self._money(cells),
            left=left,
            partial=str(self._study.study.limit or ""),
            lacking=lacking,
            go_on=None if live or complete else shlex.join(self._go_on(run)),
            try_again=None if live or not lacking else self._again(run, lacking),
            notes=self._stored.notes,
        )

    def _stages(
        self, runs: Sequence[Run], jobs: Mapping[str, Job], cells: Sequence[CellStatus]
    ) -> list[StageStatus]:
        # Benchmarks of others are frozen as they are.
        building = list(takewhile(lambda name: name != "freeze", STAGE_NAMES))
        if self._study.benchmark.name != "papers":
            building = []
        local = local_models(self._study)
        helping = dict.fromkeys(
            h for c in self._study.cells for h in local_helpers(self._study, c.model, [c.setting])
        )
        listed: dict[str, list[State]] = {
            **{
                stage: [self._state_of(_FIRST_FILES[stage], jobs)]
                for stage in (*building, "freeze")
            },
            "help": [self._state_of(_HELPED.format(model=m), jobs) for m in helping],
            "fill": [self._state_of(_FILLED.format(model=m), jobs) for m in local],
            "infer": [cell.infer for cell in cells],
            "score": [cell.score for cell in cells],
        }
        # A study without cells makes a dataset: there is nothing to analyze.
        last = [self._state_of(_FIRST_FILES["analyze"], jobs)] if cells else []
        others: dict[str, dict[str, State]] = {}
        asked = {(cell.model, cell.setting) for cell in cells} | {(None, None)}
        for job in (job for run in runs for job in run.jobs.values()):
            # Runs of earlier parameters may have made cells that the study no longer has.
            is_of_study = (job.model, job.setting) in asked
            if is_of_study and job.stage not in listed and job.stage != "analyze":
                others.setdefault(job.stage, {})[job.output] = _file_state(job.output, jobs)
        listed |= {stage: list(outputs.values()) for stage, outputs in others.items()}
        return [
            _stage(stage, found) for stage, found in (listed | {"analyze": last}).items() if found
        ]

    def _state_of(self, path: str, jobs: Mapping[str, Job]) -> State:
        return _file_state((self._results / path).as_posix(), jobs)

    def _lacking(self, cells: Sequence[CellStatus]) -> list[str]:
        """Responses that lack answers are bought first: their verdicts follow by themselves."""
        found = []
        for cell in cells:
            if "incomplete" in cell.states:
                stage = "infer" if cell.infer == "incomplete" else "score"
                path = cell_file(self._study, stage, Cell(cell.model, cell.setting))
                found.append(path.as_posix())
        return found

    def _money(self, cells: Sequence[CellStatus]) -> Money:
        told = [cell for cell in cells if cell.usd is not None]
        come = 0.0
        for model in {cell.model for cell in told}:
            theirs = [cell for cell in told if cell.model == model]
            answers = sum(cell.answered for cell in theirs)
            spent = sum(cell.usd or 0.0 for cell in theirs)
            to_buy = sum(cell.to_buy for cell in cells if cell.model == model)
            come += to_buy * spent / answers if answers else 0.0
        return Money(
            usd=sum(cell.usd or 0.0 for cell in told) if told else None,
            to_come=come if told else None,
            budget=read_spent(self._study),
        )

    def _rehearsed(self) -> bool:
        models = (self._study.models[name] for name in self._study.infer.models)
        return any(model.is_simulated for model in models)

    def _command(self, run: Run | None) -> list[str]:
        """The last run's own command, unless it did what it was told and more is to be made."""
        if run is not None and run.end != "done" and _is_ours(run):
            return list(run.command)
        own = [] if self._params == "params.yaml" else ["--configfile", self._params]
        pairs = ["--config", *self._replaced] if self._replaced else []
        return ["snakemake", "--cores", "all", *own, *pairs]

    def _go_on(self, run: Run | None) -> list[str]:
        """As `_command`; `omibench resume` where a run has died whose jobs may live on."""
        if run is None or run.end is not None or run.cluster is None:
            return self._command(run)
        own = [] if self._params == "params.yaml" else ["--params", self._params]
        return ["omibench", "resume", *own, *(w for p in self._replaced for w in ("--set", p))]

    def _again(self, run: Run | None, lacking: Sequence[str]) -> str:
        words = list(run.command) if run and _is_ours(run) else self._command(run)
        command = shlex.join([*words, "--forcerun"])
        if len(lacking) <= LISTED:
            return f"{command} {shlex.join(lacking)}"
        own = [] if self._params == "params.yaml" else ["--params", self._params]
        pairs = [word for pair in self._replaced for word in ("--set", pair)]
        listing = shlex.join(["omibench", "status", "--lacking", *own, *pairs])
        if any(" " in path for path in lacking):  # a shell would take it for two
            return f"{listing} | tr '\\n' '\\0' | xargs -0 {command}"
        return f"{command} $({listing})"


def _is_ours(run: Run) -> bool:
    """Notes of a run may come from others; a person is told to run what they say."""
    return run.command[:1] == ("snakemake",) and is_plain(run.command[1:])


def _file_state(output: str, jobs: Mapping[str, Job]) -> State:
    job = jobs.get(output)
    if job is not None and job.state != "done":
        return job.state
    return "done" if Path(output).is_file() else "waiting"


def _stage(stage: str, found: Sequence[State]) -> StageStatus:
    count = {name: found.count(name) for name in get_args(State)}
    return StageStatus(stage=stage, jobs=len(found), **count)


def _run_status(run: Run, now: float) -> RunStatus:
    found = Counter(job.state for job in run.jobs.values())
    return RunStatus(
        state="running" if run.live else (run.end or "stopped"),
        began=run.began,
        seconds=(now if run.live else run.seen) - run.began,
        planned=len(run.jobs),
        done=found["done"],
        failed=found["failed"],
        running=[job.name for job in run.jobs.values() if job.state == "running"],
    )


def _total(cells: Sequence[CellStatus]) -> int | None:
    known = [cell.requests for cell in cells if cell.requests is not None]
    return sum(known) if len(known) == len(cells) else None
