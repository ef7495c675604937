"""Input of a comparison from a results folder: problems, cells, samples that count."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from omibench.errors import ArgumentError, UnfinishedError
from omibench.params.cell import Cell
from omibench.results.folder import find_results_folder
from omibench.results.study_files import StudyFiles
from omibench.run_comparison.report import LISTED, RunSummary
from omibench.schemas.cells.files import read_cell
from omibench.schemas.validation import suggest_name

if TYPE_CHECKING:
    import polars as pl

_STAGES = ("freeze", "infer", "score", "aggregate")
SAMPLE = ["id", "index"]
"""The columns that identify a sample of a cell."""


class RunFiles(StudyFiles):
    """A results folder whose files must not change while they are compared."""

    def __init__(self, folder: Path) -> None:
        """Note the state of every file that a comparison reads.

        Raises:
            MissingInputError: The folder has no results.
        """
        super().__init__(find_results_folder(folder))
        self._stamps = stamp_files(folder)

    @cached_property
    def unscored_cells(self) -> list[Cell]:
        """The cells with responses only."""
        return [cell for cell in self.list_cells() if cell not in self.scored_cells]

    def check_unchanged(self) -> None:
        """Check that the folder did not change since it was opened.

        Raises:
            UnfinishedError: A file was added, changed or removed.
        """
        now = stamp_files(self.folder)
        changed = sorted(
            name
            for name in now.keys() | self._stamps.keys()
            if now.get(name) != self._stamps.get(name)
        )
        if changed:
            raise UnfinishedError(
                f"{self.folder}: {changed[0]} changed during reading; wait until the run in this "
                "folder has ended (`omibench status`), then compare again"
            )


class Scoring(NamedTuple):
    """The scorer or judge of a cell's verdicts."""

    rules: str
    version: int
    judge: str | None = None
    prompt_sha256: str | None = None

    @property
    def is_judged(self) -> bool:
        """Whether the verdicts are from models."""
        return self.judge is not None


class CellFrames(NamedTuple):
    """The files of a cell in one run."""

    responses: pl.DataFrame
    """The columns of ResponseRow, one row per sample."""
    verdicts: pl.DataFrame
    """The columns of VerdictRow under every scorer, and `counts`."""


class CellRun(NamedTuple):
    """The samples of a cell that count in one run."""

    responses: pl.DataFrame
    """The columns of ResponseRow, one row per sample."""
    verdicts: pl.DataFrame
    """The columns of VerdictRow under every scorer."""
    scoring: Scoring
    """The scoring of the compared verdicts."""

    def select(self, scoring: Scoring) -> pl.DataFrame:
        """Return the verdicts by these rules, in this version, by this judge."""
        import polars as pl

        if scoring == self.scoring:
            return self.verdicts.filter(rules=scoring.rules)
        return self.verdicts.filter(
            pl.col("rules") == scoring.rules,
            pl.col("version") == scoring.version,
            pl.col("judge").eq_missing(pl.lit(scoring.judge)),
            pl.col("prompt_sha256").eq_missing(pl.lit(scoring.prompt_sha256)),
        )


def stamp_files(folder: Path) -> dict[str, tuple[int, int]]:
    """Return size and modification time of every file that a comparison reads."""
    stamps = {}
    for stage in _STAGES:
        for path in (folder / stage).rglob("*"):
            if path.suffix in (".parquet", ".jsonl", ".json") and path.is_file():
                state = path.stat()
                stamps[path.relative_to(folder).as_posix()] = (state.st_size, state.st_mtime_ns)
    return stamps


def read_cell_run(run: RunFiles, cell: Cell) -> CellFrames:
    """Read a cell of a run.

    Raises:
        FileFormatError: A file cannot be read, or a verdict has no response or no problem.
        UntrustedError: A file was edited, or belongs to other responses.
    """
    responses = run.read_responses(cell).unique(SAMPLE, keep="first", maintain_order=True)
    verdicts = run.read_verdicts(cell, responses)
    return CellFrames(responses.drop("model", "setting"), verdicts)


def select_samples(frames: CellFrames, rules: str) -> CellRun | None:
    """Keep the samples of a cell that count.

    Args:
        frames: The cell.
        rules: The scorer or judge to compare.

    Returns:
        The cell, or None if it has no verdict of these rules.
    """
    import polars as pl

    not_counting = frames.verdicts.filter(~pl.col("counts"), rules=rules)
    responses, verdicts = (
        frame.join(not_counting, on=SAMPLE, how="anti", maintain_order="left") for frame in frames
    )
    compared = verdicts.filter(rules=rules)
    if not compared.height:
        return None
    first = compared.row(0, named=True)
    scoring = Scoring(rules, first["version"], first["judge"], first["prompt_sha256"])
    return CellRun(responses, verdicts, scoring)


def find_main_rules(run: RunFiles, rules: str | None) -> str:
    """Return the scorer to compare.

    Args:
        run: The run.
        rules: The scorer that you pass; None for the run's first scorer.

    Raises:
        ArgumentError: The run has no cell with verdicts, or none of this scorer.
    """
    names: dict[str, None] = {}
    for cell in run.scored_cells:
        rows = read_cell(run.locate("score", cell), ["rules"])
        names |= dict.fromkeys(rows["rules"].unique(maintain_order=True))
        if names and (rules is None or rules in names):
            return rules or next(iter(names))
    if not names:
        raise ArgumentError(f"{run.folder}: no verdicts; run `omibench score` first")
    raise ArgumentError(
        f"rules: {run.folder} has no verdict of {rules!r}{suggest_name(str(rules), names)}"
    )


def list_missing_cells(run: RunFiles, other_run: RunFiles) -> list[str]:
    """Return the cells that the other run lacks, by name, at most `LISTED`; scored or not."""
    missing = {*run.list_cells()} - {*other_run.list_cells()}
    return [f"{cell.model}/{cell.setting}" for cell in sorted(missing)][:LISTED]


def summarise_run(run: RunFiles, simulated: bool) -> RunSummary:
    """Describe a run; `simulated` states whether the compared data are simulated."""
    return RunSummary(
        folder=str(run.folder),
        dataset=run.manifest.name,
        version=run.manifest.version,
        problems=len(run.answers),
        simulated=simulated or run.manifest.synthetic is not None,
    )


def name_cells(cells: Collection[Cell], limit: int = 3) -> str:
    """Return the names of some cells, for messages."""
    names = [f"{cell.model}/{cell.setting}" for cell in cells]
    more = len(names) - limit
    return (", ".join(names[:limit]) or "none") + (f" and {more:,} more" if more > 0 else "")
