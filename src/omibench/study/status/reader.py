"""The status of a study, from its files, its store and the notes of its runs.

Sends and changes nothing.
"""

from __future__ import annotations

import shlex
import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

import polars as pl

from omibench.errors import OmibenchError
from omibench.graph.stages import STAGE_NAMES, STAGES
from omibench.params.runtime import log_folder
from omibench.params.setting import Cell
from omibench.params.stages.tune import RECORD
from omibench.params.study import Study, local_helpers, local_models
from omibench.results.study_record import describe_study, list_leftovers
from omibench.schemas.request import NOT_BOUGHT, Request
from omibench.store.contents import count_responses
from omibench.store.store import Partition, Store, partition_name
from omibench.study.plan.build import read_spent
from omibench.study.plan.plan import StudyView
from omibench.study.status.rows import (
    CellStatus,
    Money,
    RunStatus,
    StageStatus,
    StudyStatus,
    list_failures,
    time_left,
)
from omibench.study.status.runs import (
    Run,
    RunJob,
    State,
    default_command,
    find_latest_run,
    is_plain,
    merge_jobs,
    read_runs,
    restore_run_command,
)
from omibench.text.terminal import count_noun


@dataclass
class FileCounts:
    """One file of responses or verdicts: rows by outcome, dollars, simulation."""

    outcomes: Counter[str] = field(default_factory=Counter)
    unanswered: Counter[str] = field(default_factory=Counter)
    """Rows without an answer by scorer; that of responses is empty."""
    usd: float | None = None
    simulated: bool = False

    @property
    def lacking(self) -> int:
        """Responses without an answer, by the scorer that saw most of them."""
        return max(self.unanswered.values(), default=0)


def _count_rows(paths: Sequence[Path]) -> dict[Path, FileCounts]:
    """Count the rows of files; a file that vanished or is damaged is left out."""
    try:
        return _scan(paths)
    except (OSError, pl.exceptions.PolarsError):
        if len(paths) == 1:
            return {}
        half = len(paths) // 2
        return _count_rows(paths[:half]) | _count_rows(paths[half:])


def _scan(paths: Sequence[Path]) -> dict[Path, FileCounts]:
    counts = {path: FileCounts() for path in paths}
    responses = [path for path in paths if path.parents[1].name == "infer"]
    verdicts = [path for path in paths if path.parents[1].name != "infer"]
    for files, scorer, usd in (
        (responses, pl.lit(""), pl.col("cost_usd")),
        (verdicts, pl.col("rules"), pl.lit(None, pl.Float64)),
    ):
        if not files:
            continue
        frame = (
            pl.scan_parquet(files, include_file_paths="path", glob=False)
            .select("path", "outcome", "simulated", scorer=scorer, usd=usd)
            .group_by("path", "scorer", "outcome")
            .agg(
                count=pl.len(),
                usd=pl.when(pl.col("usd").count() > 0).then(pl.col("usd").sum()),
                simulated=pl.col("simulated").any(),
            )
            .collect()
        )
        for path, name, outcome, count, dollars, simulated in frame.iter_rows():
            file = counts[Path(path)]
            file.outcomes[outcome] += count
            file.unanswered[name] += count if outcome in NOT_BOUGHT else 0
            file.simulated |= bool(simulated)
            if dollars is not None:
                file.usd = (file.usd or 0.0) + dollars
    return counts


# The stored answers to requests of cells without a file.

PROBES = 16
"""Requests of a waiting cell that are looked up before all of them: the first, and others evenly
spaced. Requests are sent in order, so a started cell has the first."""


class StoredCounts(NamedTuple):
    """A cell's requests (None: unknown), the number of answered ones, and their cost."""

    requests: int | None
    answered: int = 0
    usd: float | None = None


class Stored:
    """The store for one study. A repeated read costs only the changes."""

    def __init__(self, study: Study, questions: Path) -> None:
        self._study, self._questions = study, questions
        self._view: StudyView | None = None
        self._state: tuple[int, int] | None = None
        self._requests: dict[str, list[Request]] = {}
        self._keys: dict[Cell, list[str]] = {}
        self._prices: dict[str, float | None] = {}
        self.notes: list[str] = []
        """Models that could not be opened, and why."""

    def look(
        self,
        cells: Collection[Cell],
        begun: Collection[Cell],
        written: Mapping[Cell, FileCounts] | None = None,
    ) -> dict[Cell, StoredCounts]:
        """Count the stored answers of `cells`.

        Counted are those that were `begun`, and others if their model has more answers than its
        `written` cells account for.
        """
        self.notes = []
        state = _read_state(self._questions)
        if state is None or state != self._state:
            self.close()
            self._view, self._state = None, state
            self._requests, self._keys = {}, {}
            if state is not None:
                self._view = StudyView(self._study, self._questions, Store(self._study.study.store))
        if (view := self._view) is None:
            return {cell: StoredCounts(None) for cell in cells}
        accounted: Counter[str] = Counter()
        requests: dict[str, int] = {}
        for cell, file in (written or {}).items():
            accounted[cell.model] += file.outcomes.total() - file.lacking
            if not self._study.models[cell.model].is_recorded:
                requests[cell.setting] = file.outcomes.total()
        models = {cell.model for cell in cells}
        waiting = {model for model in models if self._count_answers(model) <= accounted[model]}
        counts = {}
        for cell in cells:
            is_known = cell.setting in requests and not self._study.models[cell.model].is_recorded
            if is_known and cell.model in waiting and cell not in begun:
                counts[cell] = StoredCounts(requests[cell.setting])
                continue
            try:
                counts[cell] = self._look_up(view, cell, cell in begun)
            except OmibenchError as error:
                self._note(cell.model, error)
                counts[cell] = StoredCounts(None)
        return counts

    def count_new_answers(self, models: Iterable[str], moment: float) -> dict[str, int]:
        """Count the answers of each model in files of the store that were begun after a moment."""
        # File names have a resolution of seconds.
        return {model: self._count_answers(model, moment - 1) for model in models}

    def close(self) -> None:
        """Close the store's files."""
        if self._view is not None:
            self._view.store.close()

    def _count_answers(self, model: str, since: float = 0.0) -> int:
        """Count the responses in a model's partition without opening it."""
        if self._view is None:
            return 0
        try:
            name = partition_name(self._view.open_provider(model).identity)
            return count_responses(self._view.store.folder / name, since)
        except OmibenchError as error:
            self._note(model, error)
            return 0

    def _open_partition(self, view: StudyView, model: str) -> Partition | None:
        try:
            partition = view.open_partition(model)
            partition.refresh()  # includes what others have written in the meantime
        except OmibenchError as error:
            self._note(model, error)
            return None
        return partition

    def _look_up(self, view: StudyView, cell: Cell, begun: bool) -> StoredCounts:
        setting = self._study.settings[cell.setting]
        # Such requests follow from other answers or from drawn pictures.
        is_lasting = not (setting.in_steps or setting.images.is_derived)
        if not is_lasting or self._study.models[cell.model].is_recorded:
            for name in (cell.model, *setting.helpers):
                self._open_partition(view, name)
            requests = view.last_requests(cell)
        else:
            if cell.setting not in self._requests:
                self._requests[cell.setting] = view.last_requests(cell)
            requests = self._requests[cell.setting]
        partition = self._open_partition(view, cell.model) if requests else None
        probes = requests[:: max(1, len(requests) // PROBES)]
        if not partition or not (begun or any(partition.key(r) in partition for r in probes)):
            return StoredCounts(len(requests))
        keys = self._keys.get(cell) or [partition.key(request) for request in requests]
        if is_lasting:
            self._keys[cell] = keys
        stored = [key for key in keys if key in partition]
        if not begun:
            return StoredCounts(len(requests), len(stored))
        for key in stored:
            if key not in self._prices:
                self._prices[key] = (partition.response(key) or {}).get("cost_usd")
        prices = [usd for key in stored if (usd := self._prices[key]) is not None]
        return StoredCounts(len(requests), len(stored), sum(prices) if prices else None)

    def _note(self, model: str, error: OmibenchError) -> None:
        note = f"{model}: {error}"
        if note not in self.notes:
            self.notes.append(note)


def _read_state(path: Path) -> tuple[int, int] | None:
    """Return the size and modification time of a file, or None if there is none."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_size, stat.st_mtime_ns


# All together.

LISTED = 8
"""Maximum cells in a command; `omibench status --lacking` lists all of them."""
_FIRST_FILES = {stage.name: stage.outputs[0].path for stage in STAGES}
"""The file of each stage that shows whether it is done, under the results folder."""
_BEGUN: tuple[State, ...] = ("running", "failed", "stopped")
_WRITTEN: tuple[State, ...] = ("done", "incomplete")


def look(study: Study, params: str = "params.yaml", replaced: Sequence[str] = ()) -> StudyStatus:
    """Return the progress of a study.

    `params` is its file and `replaced` the KEY=VALUE pairs that override it: the suggested commands
    repeat both.
    """
    with closing(Looker(study, params, replaced)) as looker:
        return looker.look()


class Looker:
    """Reads the status of one study repeatedly; unchanged files are not read again."""

    def __init__(
        self, study: Study, params: str = "params.yaml", replaced: Sequence[str] = ()
    ) -> None:
        self._study, self._params, self._replaced = study, params, list(replaced)
        self._results = Path(study.study.results)
        self._files: dict[Path, tuple[tuple[int, int], FileCounts]] = {}
        self._stored = Stored(study, self._results / _FIRST_FILES["freeze"])

    def close(self) -> None:
        """Close the store's files."""
        self._stored.close()

    def look(self) -> StudyStatus:
        """Return the current status."""
        now = time.time()
        study = self._study
        runs = read_runs(self._results)
        jobs = merge_jobs(runs)
        run = find_latest_run(runs)
        live = run is not None and run.live
        cells = self._read_cells(jobs)
        stages = self._count_stages(runs, jobs, cells)
        # Files with missing answers: responses first, since verdicts follow from them.
        lacking = [
            self._cell_file(
                "infer" if cell.infer == "incomplete" else "score", cell.model, cell.setting
            ).as_posix()
            for cell in cells
            if "incomplete" in cell.states
        ]
        remaining = None
        if run is not None and live:
            models = {job.model for job in run.jobs.values() if job.model}
            bought = self._stored.count_new_answers(models, run.began)
            remaining = time_left(runs, run, cells, bought, now)
        outcomes: Counter[str] = Counter()
        for cell in cells:
            outcomes.update(cell.outcomes)
        requests = [cell.requests for cell in cells if cell.requests is not None]
        is_rehearsal = any(study.models[name].is_simulated for name in study.infer.models)
        written = all(stage.done + stage.incomplete == stage.jobs for stage in stages)
        # One command: a retry continues too, unless jobs of the last run may still be running.
        retry = bool(lacking) and not live and (written or not _may_run_elsewhere(run))
        notes = self._stored.notes[:]
        if leftovers := list_leftovers(self._results, describe_study(study)):
            notes.append(
                f"{count_noun(len(leftovers), 'file')} of cells that the study no longer has "
                "(`omibench results leftovers`)"
            )
        return StudyStatus(
            study=study.study.name,
            title=study.study.title,
            results=study.study.results,
            now=now,
            simulated=any(cell.simulated for cell in cells) or is_rehearsal,
            run=_describe_run(run, now) if run else None,
            stages=stages,
            cells=cells,
            failures=list_failures(jobs.values(), Path(log_folder(study.study.results))),
            requests=sum(requests) if len(requests) == len(cells) else None,
            answered=sum(cell.answered for cell in cells),
            outcomes=dict(outcomes.most_common()),
            money=self._sum_money(cells),
            left=remaining,
            partial=str(study.study.limit or ""),
            lacking=lacking,
            go_on=None if live or written or retry else self._build_resume_command(run),
            try_again=self._build_retry_command(run, lacking) if retry else None,
            notes=notes,
        )

    def _cell_file(self, stage: str, model: str, setting: str) -> Path:
        return self._results / stage / model / f"{setting}.parquet"

    def _read_files(self, paths: Iterable[Path]) -> dict[Path, FileCounts]:
        """Return the counts of existing files; one is read again if its size or time changes."""
        states = {path: state for path in paths if (state := _read_state(path)) is not None}
        self._files = {p: f for p, f in self._files.items() if states.get(p) == f[0]}
        stale = [path for path in states if path not in self._files]
        counts = _count_rows(stale) if stale else {}
        self._files |= {path: (states[path], file) for path, file in counts.items()}
        return {path: self._files[path][1] for path in states if path in self._files}

    def _read_cells(self, jobs: Mapping[str, RunJob]) -> list[CellStatus]:
        """Return the status of every cell. The store is read only for cells without a file."""
        cells = self._study.cells
        paths = {(c, stage): self._cell_file(stage, *c) for c in cells for stage in _CELL_STAGES}
        read = self._read_files(paths.values())
        files = {key: read[path] for key, path in paths.items() if path in read}
        states: dict[tuple[Cell, str], State] = {}
        for key, path in paths.items():
            state = _find_state(path.as_posix(), jobs, key in files)
            is_incomplete = state == "done" and files[key].lacking
            states[key] = "incomplete" if is_incomplete else state
        written = {c: files[c, "infer"] for c in cells if states[c, "infer"] in _WRITTEN}
        filling = {j.model for j in jobs.values() if j.stage == "fill" and j.state in _BEGUN}
        unwritten = [cell for cell in cells if cell not in written]
        begun = {c for c in unwritten if states[c, "infer"] in _BEGUN or c.model in filling}
        stored = self._stored.look(unwritten, begun, written)
        rows = []
        for cell in cells:
            scored = files.get((cell, "score"), FileCounts())
            if cell in written:
                file = written[cell]
                requests, lacking = file.outcomes.total(), file.lacking
                counts = StoredCounts(requests, requests - lacking, file.usd)
                outcomes = dict(file.outcomes)
            else:
                counts, lacking, outcomes = stored[cell], 0, {}
            score = states[cell, "score"]
            if score == "incomplete" and scored.lacking <= lacking:
                score = "done"  # missing responses count there already
            rows.append(
                CellStatus(
                    model=cell.model,
                    setting=cell.setting,
                    infer=states[cell, "infer"],
                    score=score,
                    **counts._asdict(),
                    outcomes=outcomes,
                    lacking=lacking,
                    judge_failed=scored.outcomes["judge_failed"],
                    simulated=any(f.simulated for s in _CELL_STAGES if (f := files.get((cell, s)))),
                )
            )
        return rows

    def _count_stages(
        self, runs: Sequence[Run], jobs: Mapping[str, RunJob], cells: Sequence[CellStatus]
    ) -> list[StageStatus]:
        def list_states(*files: str) -> list[State]:
            paths = [(self._results / file).as_posix() for file in files]
            return [_find_state(path, jobs, Path(path).is_file()) for path in paths]

        states: dict[str, list[State]] = {}
        # Third-party benchmarks are frozen without building stages.
        if self._study.benchmark.name == "papers":
            for name in takewhile(lambda name: name != "freeze", STAGE_NAMES):
                states[name] = list_states(_FIRST_FILES[name])
        states["freeze"] = list_states(_FIRST_FILES["freeze"])
        states["tune"] = list_states(*(f"tune/{model}/{RECORD}" for model in self._study.tune))
        helping = dict.fromkeys(
            helper
            for cell in self._study.cells
            for helper in local_helpers(self._study, cell.model, [cell.setting])
        )
        states["help"] = list_states(*(f"infer/{model}/helped.txt" for model in helping))
        filled = (f"infer/{model}/filled.txt" for model in local_models(self._study))
        states["fill"] = list_states(*filled)
        states["infer"] = [cell.infer for cell in cells]
        states["score"] = [cell.score for cell in cells]
        # Runs of earlier parameters may have created cells that the study no longer has.
        current = {(cell.model, cell.setting) for cell in cells} | {(None, None)}
        others: dict[str, dict[str, State]] = {}
        for job in (job for run in runs for job in run.jobs.values()):
            is_other = job.stage not in states and job.stage != "analyze"
            if is_other and (job.model, job.setting) in current:
                state = _find_state(job.output, jobs, Path(job.output).is_file())
                others.setdefault(job.stage, {})[job.output] = state
        states |= {stage: list(outputs.values()) for stage, outputs in others.items()}
        if cells:  # a study without cells builds a dataset: there is nothing to analyze
            states["analyze"] = list_states(_FIRST_FILES["analyze"])
        return [
            StageStatus(stage=stage, jobs=len(found), **Counter[str](found))
            for stage, found in states.items()
            if found
        ]

    def _sum_money(self, cells: Sequence[CellStatus]) -> Money:
        usd: dict[str, float] = {}
        answers, to_buy = Counter[str](), Counter[str]()
        for cell in cells:
            to_buy[cell.model] += cell.to_buy
            if cell.usd is not None:
                usd[cell.model] = usd.get(cell.model, 0.0) + cell.usd
                answers[cell.model] += cell.answered
        budget = read_spent(self._study)
        if not usd:
            return Money(budget=budget)
        to_come = sum(to_buy[name] * usd[name] / answers[name] for name in usd if answers[name])
        return Money(usd=sum(usd.values()), to_come=to_come, budget=budget)

    def _last_command(self, run: Run | None) -> list[str]:
        """Return the last run's command if it is safe to suggest: its notes can be of others."""
        if run and run.command[:1] == ("snakemake",) and is_plain(run.command[1:]):
            return restore_run_command(run.command)
        return default_command(self._params, self._replaced)

    def _options(self) -> list[str]:
        """Return the options of `omibench` that select this study."""
        file = [] if self._params == "params.yaml" else ["--params", self._params]
        return [*file, *(word for pair in self._replaced for word in ("--set", pair))]

    def _build_resume_command(self, run: Run | None) -> str:
        """Return the command to continue; `omibench run` if jobs may still be running."""
        if _may_run_elsewhere(run):
            return shlex.join(["omibench", "run", *self._options()])
        # A run that completed its goal had another one.
        return shlex.join(self._last_command(None if run and run.end == "done" else run))

    def _build_retry_command(self, run: Run | None, lacking: Sequence[str]) -> str:
        words = self._last_command(run)
        between = ["--"] if words[0] == "omibench" and "--" not in words else []
        command = shlex.join([*words, *between, "--forcerun"])
        if len(lacking) <= LISTED:
            return f"{command} {shlex.join(lacking)}"
        listing = shlex.join(["omibench", "status", "--lacking", *self._options()])
        if any(" " in path for path in lacking):  # a shell would split it
            return f"{listing} | tr '\\n' '\\0' | xargs -0 {command}"
        return f"{command} $({listing})"


_CELL_STAGES = ("infer", "score")


def _find_state(output: str, jobs: Mapping[str, RunJob], exists: bool) -> State:
    """Return the state of an output: the notes of a run take precedence over an existing file."""
    job = jobs.get(output)
    if job is not None and job.state != "done":
        return job.state
    return "done" if exists else "waiting"


def _may_run_elsewhere(run: Run | None) -> bool:
    """Return whether a cluster may still run jobs of a run that has not noted its end."""
    return run is not None and run.end is None and run.cluster is not None


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
