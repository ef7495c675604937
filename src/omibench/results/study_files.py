"""The results folder of a study, even if the user gives one near it."""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel

from omibench.errors import FileFormatError, MissingInputError
from omibench.params.setting import Cell
from omibench.schemas.cells import read_cell
from omibench.schemas.certificate import StudyRecord
from omibench.schemas.problem import Answer, Example, Question
from omibench.schemas.tables import (
    AggregateRow,
    FrozenManifest,
    JudgementRow,
    ResponseRow,
    SaliencyRow,
    VerdictRow,
    polars_schema,
    read_jsonl,
    read_parquet,
    read_typed_json,
)
from omibench.text.lists import list_first
from omibench.text.terminal import printable

if TYPE_CHECKING:
    import polars as pl


NAMED_FOLDERS = 3
_FOLDERS_BELOW = 500
"""Folders that are searched for a results folder."""
_PARENTS = 4


def find_results_folder(folder: Path) -> Path:
    """Check that a folder contains cells of responses.

    Args:
        folder: The folder given by the user.

    Returns:
        The same folder.

    Raises:
        MissingInputError: It contains none; the line suggests a results folder above or below it.
    """
    if has_cells(folder):
        return folder
    resolved = folder.resolve()
    above = [parent for parent in islice(resolved.parents, _PARENTS) if has_cells(parent)]
    below = [
        candidate
        for pattern in ("*", "*/*")
        for candidate in islice(sorted(resolved.glob(pattern)), _FOLDERS_BELOW)
        if candidate.is_dir() and has_cells(candidate)
    ]
    nearest = [_relative_to_here(path) for path in (above or below)[:NAMED_FOLDERS]]
    hint = (
        f"give {' or '.join(nearest)}"
        if nearest
        else "give the results folder of a study (`study.results` of its params), or a file of "
        "responses"
    )
    raise MissingInputError(
        f"{printable(folder)}: contains no cell of responses "
        f"(infer/<model>/<setting>.parquet); {hint}"
    )


def has_cells(folder: Path) -> bool:
    """Return whether a folder has responses: `infer/<model>/<setting>.parquet`."""
    return next((folder / "infer").glob("*/*.parquet"), None) is not None


def _relative_to_here(folder: Path) -> str:
    working_folder = Path.cwd()
    return printable(
        folder.relative_to(working_folder) if folder.is_relative_to(working_folder) else folder
    )


# The samples that count: all of them, or the one that a setting's `aggregate` chose.

_CELL: Final = ("model", "setting")
_PLACE: Final = (*_CELL, "id", "_scorer")
_SHARE: Final = (*_CELL, "id", "rules", "metric", "k")


def mark_counts(verdicts: pl.DataFrame, aggregates: pl.DataFrame) -> pl.DataFrame:
    """Add the column `counts`: whether a verdict's sample counts.

    Args:
        verdicts: Rows with `model, setting, id, index, rules`.
        aggregates: Rows of the same cells with `model, setting, id, index, rules, counts`. Every
            sample of a cell counts that has no row with `counts`.

    Returns:
        The same rows; the judge `scorer/judge` of a panel counts if the panel does.

    Raises:
        FileFormatError: `aggregates` chose no sample for a verdict in a cell where it chose some.
    """
    import polars as pl

    chosen = (
        aggregates.filter("counts")
        .select(*_CELL, "id", "index", _scorer="rules", _chosen=True)
        .unique()
    )
    if chosen.is_empty():
        return verdicts.with_columns(counts=pl.lit(value=True))
    marked = (
        verdicts.with_columns(_scorer=pl.col("rules").str.split("/").list.first())
        .join(chosen, on=[*_PLACE, "index"], how="left", maintain_order="left")
        .join(
            chosen.select(*_CELL, _chooses=True).unique(),
            on=_CELL, how="left", maintain_order="left",
        )
        .with_columns(counts=pl.col("_chosen").fill_null(pl.col("_chooses").is_null()))
    )  # fmt: skip
    is_lost = ~pl.col("counts").any().over(_PLACE)
    lost = marked.filter(is_lost)
    if lost.height:
        row = lost.row(0, named=True)
        raise FileFormatError(
            f"aggregate/{row['model']}/{row['setting']}.parquet: chooses no sample of "
            f"{row['id']!r} that has a verdict of {row['_scorer']!r}; run `omibench aggregate` for "
            f"{row['model']} under {row['setting']} again"
        )
    return marked.drop("_scorer", "_chosen", "_chooses")


# The results folder of a study: its frozen problems and its cells, each read on first access.
#
# What a study no longer has is not read; `study_record` finds and removes it.

LONG_COLUMNS: Final = ("text", "reasoning", "steps", "drawn", "drawn_at", "readings")
"""Columns of ResponseRow that only pages and labels need, and that take most of the memory."""
SAMPLE: Final = ("id", "index", "key")
"""The columns that identify a response of a cell."""
_ROWS: Final[dict[str, type[BaseModel]]] = {
    "infer": ResponseRow,
    "score": VerdictRow,
    "judge": JudgementRow,
    "aggregate": AggregateRow,
    "saliency": SaliencyRow,
}
RECORD: Final = Path("infer", "study.json")
"""Path of a study's record in its results: in a folder that DVC tracks."""
_NAMED_CELLS: Final = 9
"""Cells that a message lists."""


class StudyFiles:
    """The files of a study; nothing is read before it is asked for.

    Tables of cells begin with the columns `model` and `setting`, then those of their row in
    `schemas.tables`.

    Attributes:
        folder: The results folder.
    """

    def __init__(self, folder: Path, **stages: Path) -> None:
        """Name the folders.

        Args:
            folder: The results folder.
            stages: Folders of stages that are elsewhere, such as `freeze`.
        """
        self.folder = folder
        self._stages = stages

    def locate(self, stage: str, cell: Cell | None = None) -> Path:
        """Return the folder of a stage, or its file of a cell, which can be missing."""
        folder = self._stages.get(stage) or self.folder / stage
        return folder if cell is None else folder / cell.model / f"{cell.setting}.parquet"

    @cached_property
    def manifest(self) -> FrozenManifest:
        """The description of the frozen dataset."""
        return read_typed_json(self.locate("freeze") / "manifest.json", FrozenManifest)

    @cached_property
    def questions(self) -> dict[str, Question]:
        """What models see of each problem, by id in the order of the dataset."""
        return {q.id: q for q in read_jsonl(self.locate("freeze") / "questions.jsonl", Question)}

    @cached_property
    def answers(self) -> dict[str, Answer]:
        """Gold answers by id."""
        return {a.id: a for a in read_jsonl(self.locate("freeze") / "answers.jsonl", Answer)}

    @cached_property
    def examples(self) -> list[Example]:
        """The problems that settings show as examples."""
        file = self.locate("freeze") / "examples.jsonl"
        return read_jsonl(file, Example) if file.is_file() else []

    @cached_property
    def record(self) -> StudyRecord | None:
        """What the study consists of; None if an earlier version made the folder."""
        return read_record(self.folder)

    def list_cells(self, stage: str = "infer") -> list[Cell]:
        """Return the current cells with a file of a stage, by model and setting."""
        paths = sorted(self.locate(stage).glob("*/*.parquet"))
        cells = [
            Cell(path.parent.name, path.stem)
            for path in paths
            if not path.name.startswith(".") and not path.parent.name.startswith(".")
        ]
        return [cell for cell in cells if self._is_current(stage, cell)]

    def find_file(self, stage: str, cell: Cell) -> Path | None:
        """Return the file of a current cell; None without one."""
        path = self.locate(stage, cell)
        return path if self._is_current(stage, cell) and path.is_file() else None

    def is_scored(self, cell: Cell) -> bool:
        """Return whether a cell has verdicts, and it is known which of them count."""
        is_known = not self._chooses(cell) or self.find_file("aggregate", cell) is not None
        return self.find_file("score", cell) is not None and is_known

    def _is_current(self, stage: str, cell: Cell) -> bool:
        return self.current is None or cell in self.current.get(stage, ())

    @cached_property
    def current(self) -> dict[str, frozenset[Cell]] | None:
        """Stage -> the cells that the study has; None if that is not noted, so that all count."""
        if self.record is None:
            return None
        return {
            stage: frozenset(Cell(*names) for names in cells)
            for stage, cells in self.record.cells.items()
        }

    def _chooses(self, cell: Cell) -> bool:
        return self.record is not None and cell.setting in self.record.aggregates

    @cached_property
    def scored_cells(self) -> list[Cell]:
        """The cells with responses and verdicts."""
        return [cell for cell in self.list_cells() if self.is_scored(cell)]

    def find_aggregate(self, cell: Cell) -> tuple[str, int | None]:
        """Return how the samples that count in a cell were chosen, and each among how many.

        `first`, `majority`, ..., or `mean` and None if all count.
        """
        aggregates = self.read_aggregates(cell)
        chosen = None if aggregates is None else aggregates.filter("counts")
        if chosen is None or chosen.is_empty():
            return "mean", None
        return str(chosen["metric"][0]), int(chosen["k"][0])

    def check_cell(self, cell: Cell) -> None:
        """Raise MissingInputError if the study has no responses of a cell; lists its cells."""
        if self.find_file("infer", cell) is not None:
            return
        names = [f"{asked.model}/{asked.setting}" for asked in self.list_cells()]
        raise MissingInputError(
            f"{cell.model}/{cell.setting}: {self.folder} has no such cell; it has "
            f"{list_first(names, _NAMED_CELLS)}"
        )

    def read_responses(self, cell: Cell, *, with_texts: bool = True) -> pl.DataFrame:
        """Read the responses of a cell.

        Args:
            cell: The cell.
            with_texts: Whether to keep `LONG_COLUMNS`.

        Returns:
            The columns of ResponseRow. Without texts, their lengths are the last column,
            `characters`.

        Raises:
            FileFormatError: The file is broken.
            MissingInputError: The cell has no responses.
            UntrustedError: The file was edited or exchanged.
        """
        import polars as pl

        rows = self._read("infer", cell)
        if with_texts:
            return rows
        characters = pl.col("text").str.len_chars().cast(pl.Int64).alias("characters")
        return rows.with_columns(characters).drop(LONG_COLUMNS)

    def read_verdicts(self, cell: Cell, responses: pl.DataFrame | None = None) -> pl.DataFrame:
        """Read the verdicts of a cell.

        Args:
            cell: The cell.
            responses: Its responses, if they were read already.

        Returns:
            The columns of VerdictRow, and `counts`: whether the setting chose this sample, or
            chooses none, so that all count.

        Raises:
            FileFormatError: A file is broken, a verdict has no response or problem, a response
                has no verdict of some scorer, or the chosen sample is unknown.
            MissingInputError: The cell has no verdicts, or no chosen samples yet.
            UntrustedError: A file was edited, or belongs to other responses.
        """
        verdicts = self._read("score", cell)
        if responses is None:
            responses = read_cell(self.locate("infer", cell), SAMPLE)
        self._check_partners(cell, verdicts, responses.select(SAMPLE).unique())
        aggregates = self.read_aggregates(cell)
        if aggregates is None and self._chooses(cell):
            raise _describe_missing("aggregate", cell, self.locate("aggregate", cell))
        return mark_counts(verdicts, _make_empty("aggregate") if aggregates is None else aggregates)

    @property
    def no_verdicts(self) -> pl.DataFrame:
        """The verdicts of a cell that has none."""
        return _make_empty("score")

    def read_aggregates(self, cell: Cell) -> pl.DataFrame | None:
        """Read what `aggregate` wrote for a cell; None if nothing.

        Raises:
            FileFormatError: The file is broken.
            UntrustedError: The file was edited or exchanged.
        """
        path = self.find_file("aggregate", cell)
        return _name_cell(read_parquet(path, AggregateRow), cell, AggregateRow) if path else None

    def read_shares(self, cell: Cell) -> pl.DataFrame | None:
        """Read what `aggregate` wrote for a cell, with the means over its runs; None if nothing.

        Returns:
            One row per problem, scorer, metric and k; other columns than `value` are those of the
            first run.

        Raises:
            FileFormatError: The file is broken, or does not state which samples count.
            UntrustedError: The file was edited or exchanged.
        """
        import polars as pl

        rows = self.read_aggregates(cell)
        if rows is None or not rows.select(_SHARE).is_duplicated().any():
            return rows
        means = rows.group_by(_SHARE, maintain_order=True).agg(
            pl.col("value").mean(), pl.exclude("value", *_SHARE).first()
        )
        return means.select(rows.columns)

    def read_judgements(self, cell: Cell) -> pl.DataFrame:
        """Read the judgements of the reasoning in a cell; the columns of JudgementRow.

        Raises:
            FileFormatError: The file is broken.
            MissingInputError: The file does not exist.
            UntrustedError: The file was edited or exchanged.
        """
        return self._read("judge", cell)

    def read_all(self, stage: str) -> pl.DataFrame:
        """Read what a stage wrote for all cells, such as the verdicts of `score`.

        Args:
            stage: A stage with a file per cell.

        Returns:
            The rows of all cells by model and setting; verdicts have the column `counts`. Without
            a file an empty table.

        Raises:
            FileFormatError: A file is broken; for verdicts, see `read_verdicts`.
            MissingInputError: See `read_verdicts`.
            UntrustedError: A file was edited or exchanged.
        """
        import polars as pl

        readers = {"score": self.read_verdicts, "aggregate": self.read_aggregates}
        frames = [
            readers[stage](cell) if stage in readers else self._read(stage, cell)
            for cell in self.list_cells(stage)
        ]
        return pl.concat([_make_empty(stage), *(frame for frame in frames if frame is not None)])

    def _read(self, stage: str, cell: Cell) -> pl.DataFrame:
        path = self.locate(stage, cell)
        if not path.is_file():
            raise _describe_missing(stage, cell, path)
        return _name_cell(read_parquet(path, _ROWS[stage]), cell, _ROWS[stage])

    def _check_partners(self, cell: Cell, verdicts: pl.DataFrame, responses: pl.DataFrame) -> None:
        import polars as pl

        problems = pl.Series("id", list(self.answers), pl.String).to_frame()
        path = self.locate("score", cell)
        for partners, on, name in (
            (problems, ["id"], "problem in freeze/answers.jsonl"),
            (responses, [*SAMPLE], "response"),
        ):
            lost = verdicts.join(partners, on=on, how="anti", maintain_order="left")
            if lost.height:
                raise FileFormatError(
                    f"{path}: the verdict of {lost['id'][0]!r}, sample {lost['index'][0]}, has no "
                    f"{name}; score this cell again"
                )
        expected = responses.join(verdicts.select("rules").unique(), how="cross")
        unscored = expected.join(verdicts, on=[*SAMPLE, "rules"], how="anti")
        if unscored.height:
            first = unscored.sort("id", "index", "rules").row(0, named=True)
            raise FileFormatError(
                f"{path}: the response to {first['id']!r}, sample {first['index']}, has no verdict "
                f"of {first['rules']!r}; score this cell again"
            )


def read_record(results: Path) -> StudyRecord | None:
    """Read what a study consists of; None if an earlier version made the folder.

    Raises:
        FileFormatError: The file has another format.
    """
    path = results / RECORD
    return read_typed_json(path, StudyRecord) if path.is_file() else None


def _describe_missing(stage: str, cell: Cell, path: Path) -> MissingInputError:
    return MissingInputError(
        f"{path}: the file does not exist; run `omibench {stage}` for {cell.model} under "
        f"{cell.setting} first"
    )


def _name_cell(frame: pl.DataFrame, cell: Cell, row: type[BaseModel]) -> pl.DataFrame:
    import polars as pl

    model, setting = pl.lit(cell.model).alias("model"), pl.lit(cell.setting).alias("setting")
    return frame.select(model, setting, *row.model_fields)


def _make_empty(stage: str) -> pl.DataFrame:
    import polars as pl

    counts: dict[str, pl.DataType] = {"counts": pl.Boolean()} if stage == "score" else {}
    cell = {"model": pl.String(), "setting": pl.String()}
    return pl.DataFrame(schema={**cell, **polars_schema(_ROWS[stage]), **counts})
