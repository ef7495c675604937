"""Input of a comparison from a results folder: problems, cells, samples that count."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, get_args

from omibench.errors import ArgumentError, FileFormatError, UnfinishedError
from omibench.params.cell import Cell
from omibench.params.stages.aggregate import AggregationRule
from omibench.results.counted_samples import read_aggregates
from omibench.results.folder import find_results_folder
from omibench.run_comparison.report import LISTED, RunSummary
from omibench.schemas.problem import Answer, Question
from omibench.schemas.tables import (
    FrozenManifest,
    ResponseRow,
    VerdictRow,
    read_json,
    read_jsonl,
    read_parquet,
)
from omibench.schemas.validation import suggest_name

if TYPE_CHECKING:
    import polars as pl

_STAGES = ("freeze", "infer", "score", "aggregate")
_CHOOSING = tuple(rule for rule in get_args(AggregationRule) if rule not in ("mean", "first"))
"""The metrics of `aggregate` that select one sample in a setting."""
SAMPLE = ["id", "index"]
"""The columns that identify a sample of a cell."""


class RunFiles(NamedTuple):
    """A results folder, without the files of its cells."""

    folder: Path
    manifest: FrozenManifest
    questions: Mapping[str, Question]
    answers: Mapping[str, Answer]
    cells: tuple[Cell, ...]
    """Cells with responses and verdicts."""
    unscored: tuple[Cell, ...]
    """Cells with responses only."""
    stamps: Mapping[str, tuple[int, int]]
    """Size and modification time of every file that a comparison reads."""


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
    """The columns of VerdictRow under every scorer."""
    aggregates: pl.DataFrame | None


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


def read_run(folder: Path) -> RunFiles:
    """Read the frozen problems of a results folder, and list its cells.

    Raises:
        MissingInputError: The folder has no results or no frozen problems.
        FileFormatError: A file of the frozen problems is broken.
    """
    find_results_folder(folder)
    stamps = stamp_files(folder)
    freeze = folder / "freeze"
    cells: list[Cell] = []
    unscored: list[Cell] = []
    for path in sorted((folder / "infer").glob("*/*.parquet")):
        cell = Cell(path.parent.name, path.stem)
        is_scored = (folder / "score" / cell.model / path.name).is_file()
        (cells if is_scored else unscored).append(cell)
    return RunFiles(
        folder=folder,
        manifest=read_json(freeze / "manifest.json", FrozenManifest),
        questions={row.id: row for row in read_jsonl(freeze / "questions.jsonl", Question)},
        answers={row.id: row for row in read_jsonl(freeze / "answers.jsonl", Answer)},
        cells=tuple(cells),
        unscored=tuple(unscored),
        stamps=stamps,
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


def check_unchanged(run: RunFiles) -> None:
    """Check that a results folder did not change during reading.

    Raises:
        UnfinishedError: A file was added, changed or removed.
    """
    now = stamp_files(run.folder)
    changed = sorted(
        name for name in now.keys() | run.stamps.keys() if now.get(name) != run.stamps.get(name)
    )
    if changed:
        raise UnfinishedError(
            f"{run.folder}: {changed[0]} changed during reading; wait until the run in this folder "
            "has ended (`omibench status`), then compare again"
        )


def read_cell_run(run: RunFiles, cell: Cell) -> CellFrames:
    """Read a cell of a run.

    Raises:
        FileFormatError: A file cannot be read, or a verdict has no response or no problem.
        UntrustedError: A file was edited, or belongs to other responses.
    """
    import polars as pl

    responses, verdicts = (
        read_parquet(run.folder / stage / cell.model / f"{cell.setting}.parquet", row)
        for stage, row in (("infer", ResponseRow), ("score", VerdictRow))
    )
    responses = responses.unique(SAMPLE, keep="first", maintain_order=True)
    without_response = verdicts.join(responses, on=[*SAMPLE, "key"], how="anti")
    problems = pl.Series("id", list(run.answers), pl.String).to_frame()
    without_problem = verdicts.join(problems, on="id", how="anti")
    for lost, partner in (
        (without_response, "response"), (without_problem, "problem in freeze/answers.jsonl"),
    ):  # fmt: skip
        if lost.height:
            raise FileFormatError(
                f"{run.folder}/score/{cell.model}/{cell.setting}.parquet: the verdict of "
                f"{lost['id'][0]!r}, sample {lost['index'][0]}, has no {partner}; score this cell "
                "again"
            )
    return CellFrames(responses, verdicts, read_aggregates(cell, run.folder / "aggregate"))


def select_samples(frames: CellFrames, rules: str) -> CellRun | None:
    """Keep the samples of a cell that count.

    Args:
        frames: The cell.
        rules: The scorer or judge to compare.

    Returns:
        The cell, or None if it has no verdict of these rules.
    """
    import polars as pl

    responses, verdicts, aggregates = frames
    picks = _find_picks(aggregates, rules)
    if picks is not None:
        responses, verdicts = (
            frame.join(picks, on="id", how="left", maintain_order="left")
            .filter(pl.col("picked").is_null() | (pl.col("picked") == pl.col("index")))
            .drop("picked")
            for frame in (responses, verdicts)
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
    for cell in run.cells:
        path = run.folder / "score" / cell.model / f"{cell.setting}.parquet"
        names |= dict.fromkeys(read_parquet(path, VerdictRow)["rules"].unique(maintain_order=True))
        if names and (rules is None or rules in names):
            return rules or next(iter(names))
    if not names:
        raise ArgumentError(f"{run.folder}: no verdicts; run `omibench score` first")
    raise ArgumentError(
        f"rules: {run.folder} has no verdict of {rules!r}{suggest_name(str(rules), names)}"
    )


def list_missing_cells(run: RunFiles, other_run: RunFiles) -> list[str]:
    """Return the cells that the other run lacks, by name, at most `LISTED`; scored or not."""
    missing = {*run.cells, *run.unscored} - {*other_run.cells, *other_run.unscored}
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


def _find_picks(aggregates: pl.DataFrame | None, rules: str) -> pl.DataFrame | None:
    """Return (id, picked), the sample selected by the setting; None if every sample counts."""
    import polars as pl

    if aggregates is None:
        return None
    choices = aggregates.filter(
        pl.col("metric").is_in(_CHOOSING), pl.col("rules") == rules.partition("/")[0]
    )
    if not choices.height:
        return None
    largest = choices.filter(pl.col("k") == pl.col("k").max())
    return largest.select("id", picked="index").unique("id")
