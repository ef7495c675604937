"""Counts over the files of cells, from a few columns of each, read once."""

from __future__ import annotations

import shlex
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, get_args

from omibench.errors import OmibenchError
from omibench.graph.stages import STAGE_NAMES, STAGES
from omibench.params.runtime import log_folder
from omibench.params.setting import Cell
from omibench.params.study import Study, local_helpers, local_models
from omibench.results.study_record import describe_study, list_leftovers
from omibench.schemas.request import NOT_BOUGHT, Request
from omibench.store.contents import count_responses
from omibench.store.partition import Partition
from omibench.store.store import Store, partition_name
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
    find_latest_run,
    is_plain,
    merge_jobs,
    read_runs,
)

if TYPE_CHECKING:
    import polars as pl


FileState = tuple[int, int]


@dataclass
class FileCounts:
    """One file of responses or verdicts: rows by (scorer, outcome), dollars, simulation.

    The scorer of responses is empty.
    """

    rows: Counter[tuple[str, str]] = field(default_factory=Counter)
    usd: float | None = None
    simulated: bool = False

    @property
    def outcomes(self) -> dict[str, int]:
        """Rows by outcome, over all scorers."""
        counts: Counter[str] = Counter()
        for (_, outcome), count in self.rows.items():
            counts[outcome] += count
        return dict(counts)

    def count_outcome(self, outcome: str) -> int:
        """Count the rows of one outcome."""
        return sum(count for (_, row_outcome), count in self.rows.items() if row_outcome == outcome)


class WrittenCells:
    """The counts of files; a file is read again if its size or modification time changes."""

    def __init__(self) -> None:
        self._cache: dict[Path, tuple[FileState, FileCounts]] = {}

    def read(self, paths: Iterable[Path]) -> dict[Path, FileCounts]:
        """Read the counts of existing files. A file can vanish or change in the meantime."""
        states = {path: state for path in paths if (state := _read_state(path)) is not None}
        stale = [p for p, state in states.items() if self._cache.get(p, (None,))[0] != state]
        for path, written in _count_rows(stale).items():
            self._cache[path] = (states[path], written)
        entries = ((path, self._cache.get(path)) for path in states)
        return {path: k[1] for path, k in entries if k is not None and k[0] == states[path]}


def _read_state(path: Path) -> FileState | None:
    try:
        file_stat = path.stat()
    except OSError:
        return None
    return file_stat.st_size, file_stat.st_mtime_ns


def _count_rows(paths: Sequence[Path]) -> dict[Path, FileCounts]:
    import polars as pl

    if not paths:
        return {}
    try:
        return _scan(paths)
    except (OSError, pl.exceptions.PolarsError):
        # One of them was removed or is damaged; only that one is skipped.
        if len(paths) == 1:
            return {}
        half = len(paths) // 2
        return _count_rows(paths[:half]) | _count_rows(paths[half:])


def _scan(paths: Sequence[Path]) -> dict[Path, FileCounts]:
    import polars as pl

    responses = [path for path in paths if path.parents[1].name == "infer"]
    verdicts = [path for path in paths if path.parents[1].name != "infer"]
    frames = []
    if responses:
        frames.append(_groups(responses, pl.lit(""), pl.col("cost_usd")))
    if verdicts:
        frames.append(_groups(verdicts, pl.col("rules"), pl.lit(None, pl.Float64)))
    counts: dict[Path, FileCounts] = {path: FileCounts() for path in paths}
    for path, rules, outcome, count, usd, priced_rows, simulated in pl.concat(frames).iter_rows():
        written = counts[Path(path)]
        written.rows[rules, outcome] += count
        written.simulated |= bool(simulated)
        if priced_rows:
            written.usd = (written.usd or 0.0) + usd
    return counts


def _groups(paths: Sequence[Path], rules: pl.Expr, usd: pl.Expr) -> pl.DataFrame:
    import polars as pl

    return (
        pl.scan_parquet(list(paths), include_file_paths="path", glob=False)
        .select("path", "outcome", "simulated", rules=rules, usd=usd)
        .group_by("path", "rules", "outcome")
        .agg(
            count=pl.len().cast(pl.Int64),
            usd=pl.col("usd").sum(),
            told=pl.col("usd").count().cast(pl.Int64),
            simulated=pl.col("simulated").any(),
        )
        .collect()
    )


# Counts the stored answers to requests of cells without a file.

PROBES = 16
"""Requests of a waiting cell that are looked up before all of them: the first, and others evenly
spaced. Requests are sent in order, so a started cell has the first."""


class StoredCounts(NamedTuple):
    """A cell's requests (None: unknown), the number of answered ones, and their cost."""

    requests: int | None
    answered: int = 0
    usd: float | None = None


class WrittenCounts(NamedTuple):
    """Counts of the written cells: answers by model, and requests by setting."""

    answered: Counter[str]
    requests: dict[str, int]


class Stored:
    """The store for one study. A repeated read costs only the changes."""

    def __init__(self, study: Study, questions: Path) -> None:
        self._study, self._questions = study, questions
        self._requests_by_setting: dict[str, list[Request]] = {}
        self._keys: dict[Cell, list[str]] = {}
        self._prices: dict[str, float | None] = {}
        self._state: object = None
        self.notes: list[str] = []
        """Models that could not be opened, and why."""

    def look(
        self, cells: Iterable[Cell], begun: set[Cell], written: WrittenCounts
    ) -> dict[Cell, StoredCounts]:
        """Count the stored answers of `cells`.

        Counted are those that were `begun`, and others if their model has more answers than its
        written cells account for.
        """
        self.notes = []
        self._view = self._open_view()
        if self._view is None:
            return {cell: StoredCounts(None) for cell in cells}
        cells = list(cells)
        models = dict.fromkeys(cell.model for cell in cells)
        unaccounted_models = {
            model for model in models if self._count_answers(model) > written.answered[model]
        }
        return {
            cell: self._look_up_cell(cell, cell in begun)
            if cell in begun or cell.model in unaccounted_models
            else self._estimate_cell(cell, written)
            for cell in cells
        }

    def count_new_answers(self, models: Iterable[str], moment: float) -> dict[str, int]:
        """Count the answers of each model in files of the store that were begun after a moment."""
        if self._view is None:
            return {}
        # File names have a resolution of seconds.
        return {model: self._count_answers(model, moment - 1) for model in models}

    def close(self) -> None:
        """Close the store's files."""
        if self._view is not None:
            self._view.store.close()

    _view: StudyView | None = None

    def _open_view(self) -> StudyView | None:
        try:
            file_stat = self._questions.stat()
        except OSError:
            self.close()
            return None
        state = (file_stat.st_size, file_stat.st_mtime_ns)
        if self._view is None or state != self._state:
            self.close()
            self._state = state
            self._requests_by_setting, self._keys = {}, {}
            return StudyView(self._study, self._questions, Store(self._study.study.store))
        return self._view

    def _open_partition(self, model: str) -> Partition | None:
        if self._view is None:
            return None
        try:
            partition = self._view.open_partition(model)
            partition.refresh()
        except OmibenchError as error:
            self._note(model, error)
            return None
        return partition

    def _count_answers(self, model: str, since: float = 0.0) -> int:
        """Count the responses in a model's partition without opening it."""
        assert self._view is not None
        try:
            folder = self._view.store.folder / partition_name(
                self._view.open_provider(model).identity
            )
            return count_responses(folder, since)
        except OmibenchError as error:
            self._note(model, error)
            return 0

    def _estimate_cell(self, cell: Cell, written: WrittenCounts) -> StoredCounts:
        recorded = self._study.models[cell.model].is_recorded
        if not recorded and cell.setting in written.requests:
            return StoredCounts(written.requests[cell.setting])
        return self._look_up_cell(cell, False)

    def _look_up_cell(self, cell: Cell, begun: bool) -> StoredCounts:
        try:
            requests = self._list_requests(cell)
        except OmibenchError as error:
            self._note(cell.model, error)
            return StoredCounts(None)
        partition = self._open_partition(cell.model) if requests else None
        if partition is None or not len(partition):
            return StoredCounts(len(requests))
        if not begun and not any(partition.key(r) in partition for r in _select_probes(requests)):
            return StoredCounts(len(requests))
        keys = self._keys.get(cell)
        if keys is None:
            keys = [partition.key(request) for request in requests]
            if self._is_lasting(cell):
                self._keys[cell] = keys
        stored_keys = [key for key in keys if key in partition]
        return StoredCounts(
            len(requests),
            len(stored_keys),
            self._sum_prices(partition, stored_keys) if begun else None,
        )

    def _list_requests(self, cell: Cell) -> list[Request]:
        """List the requests of a cell; the same for every model except recorded ones."""
        assert self._view is not None
        recorded = self._study.models[cell.model].is_recorded
        if recorded or not self._is_lasting(cell):
            for name in (cell.model, *self._study.settings[cell.setting].helpers):
                self._open_partition(name)  # includes what others have written in the meantime
            return self._view.last_requests(cell)
        if cell.setting not in self._requests_by_setting:
            self._requests_by_setting[cell.setting] = self._view.last_requests(cell)
        return self._requests_by_setting[cell.setting]

    def _is_lasting(self, cell: Cell) -> bool:
        """Return whether a cell's requests do not depend on other answers and drawn pictures."""
        setting = self._study.settings[cell.setting]
        return not (setting.in_steps or setting.images.is_derived)

    def _sum_prices(self, partition: Partition, keys: list[str]) -> float | None:
        for key in keys:
            if key not in self._prices:
                self._prices[key] = (partition.response(key) or {}).get("cost_usd")
        prices = [usd for key in keys if (usd := self._prices[key]) is not None]
        return sum(prices) if prices else None

    def _note(self, model: str, error: OmibenchError) -> None:
        note = f"{model}: {error}"
        if note not in self.notes:
            self.notes.append(note)


def _select_probes(requests: list[Request]) -> list[Request]:
    return requests[:: max(1, len(requests) // PROBES)]


# The status of one cell, from its files, the notes of runs and the store.

BEGUN: tuple[State, ...] = ("running", "failed", "stopped")
_CLOSED: tuple[State, ...] = ("done", "incomplete")


class CellPart(NamedTuple):
    """One job of a cell: its state in the notes of runs, and the content of its file."""

    job: RunJob | None
    written: FileCounts | None

    @property
    def state(self) -> State:
        """Its state: the notes of a run take precedence over an existing file."""
        if self.job is not None and self.job.state != "done":
            return self.job.state
        if self.written is None:
            return "waiting"
        return "incomplete" if count_lacking(self.written) else "done"


def cell_file(study: Study, stage: str, cell: Cell) -> Path:
    """Return the file of a cell at one stage."""
    return Path(study.study.results) / stage / cell.model / f"{cell.setting}.parquet"


def cell_statuses(
    study: Study, jobs: Mapping[str, RunJob], files: WrittenCells, stored: Stored
) -> list[CellStatus]:
    """Return the status of every cell. The store is read only for cells without a file."""
    paths = {(c, s): cell_file(study, s, c) for c in study.cells for s in ("infer", "score")}
    written = files.read(paths.values())
    parts = {k: CellPart(jobs.get(p.as_posix()), written.get(p)) for k, p in paths.items()}
    infer = {cell: parts[cell, "infer"] for cell in study.cells}
    open_ = [cell for cell, part in infer.items() if part.state not in _CLOSED]
    filling = {j.model for j in jobs.values() if j.stage == "fill" and j.state in BEGUN}
    begun = {c for c in open_ if infer[c].state in BEGUN or c.model in filling}
    counts = stored.look(open_, begun, _count_written(study, infer))
    return [
        _make_status(cell, part, parts[cell, "score"], counts.get(cell))
        for cell, part in infer.items()
    ]


def _count_written(study: Study, infer: Mapping[Cell, CellPart]) -> WrittenCounts:
    counts = WrittenCounts(Counter(), {})
    for cell, part in infer.items():
        if part.written and part.state in _CLOSED:
            rows = part.written.rows.total()
            counts.answered[cell.model] += rows - count_lacking(part.written)
            if not study.models[cell.model].is_recorded:
                counts.requests[cell.setting] = rows
    return counts


def count_lacking(written: FileCounts) -> int:
    """Count responses without an answer, by the scorer that saw most of them."""
    by_rules: Counter[str] = Counter()
    for (rules, outcome), count in written.rows.items():
        if outcome in NOT_BOUGHT:
            by_rules[rules] += count
    return max(by_rules.values(), default=0)


def _make_status(
    cell: Cell, infer: CellPart, score: CellPart, counts: StoredCounts | None
) -> CellStatus:
    requests, answered, usd = counts or StoredCounts(None)
    outcomes: dict[str, int] = {}
    lacking = 0
    if infer.written is not None and counts is None:
        outcomes, lacking, usd = (
            infer.written.outcomes,
            count_lacking(infer.written),
            infer.written.usd,
        )
        requests = infer.written.rows.total()
        answered = requests - lacking
    scored, scored_state = score.written, score.state
    if scored is not None and scored_state == "incomplete" and count_lacking(scored) <= lacking:
        scored_state = "done"  # missing responses count there already
    return CellStatus(
        model=cell.model,
        setting=cell.setting,
        infer=infer.state,
        score=scored_state,
        requests=requests,
        answered=answered,
        outcomes=outcomes,
        lacking=lacking,
        judge_failed=scored.count_outcome("judge_failed") if scored else 0,
        usd=usd,
        simulated=any(part.written.simulated for part in (infer, score) if part.written),
    )


# Reads the status of a study from its files. Sends and changes nothing.

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
