"""The data of the explorer: items, and cells, responses and verdicts of a results folder."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from omibench.errors import FileFormatError, MissingInputError, ParamsError
from omibench.explore.index import CellReader
from omibench.params.setting import Cell
from omibench.results.attributes import describe_items
from omibench.results.load import JUDGE_RULES, VOTE_MARK
from omibench.results.study_files import StudyFiles, mark_counts
from omibench.schemas.cells import read_cell
from omibench.schemas.problem import Answer, Question
from omibench.schemas.tables import AggregateRow, FrozenManifest, read_parquet


def parse_cell(text: str) -> Cell:
    """Parse the name of a cell, MODEL/SETTING.

    Raises:
        ParamsError: The text has no slash.
    """
    model, slash, setting = text.partition("/")
    if not slash:
        raise ParamsError(f"cells: must be MODEL/SETTING (got {text[:80]!r})")
    return Cell(model, setting)


# Items of the explorer: of a study, a frozen dataset or a release.


@dataclass(frozen=True)
class Items:
    """Questions and answers by id, in dataset order, and attributes for slices.

    Attributes:
        folder: The folder of the dataset; paths of pictures are relative to it.
        manifest: The manifest of the dataset.
        questions: The model inputs.
        answers: Gold answers and rationales.
    """

    folder: Path
    manifest: FrozenManifest
    questions: dict[str, Question]
    answers: dict[str, Answer]

    @cached_property
    def ids(self) -> list[str]:
        """Return ids in dataset order."""
        return list(self.questions)

    @cached_property
    def places(self) -> dict[str, int]:
        """Return the position of each id in the dataset."""
        return {name: place for place, name in enumerate(self.ids)}

    def mark(self, names: Iterable[str]) -> NDArray[np.bool_]:
        """Return whether each item is among some names, in dataset order."""
        marked = set(names)
        return np.array([name in marked for name in self.ids], dtype=bool)

    @cached_property
    def attributes(self) -> pl.DataFrame:
        """Return one row per item, from `results.attributes.describe_items`."""
        return describe_items(self.answers.values(), self.questions)

    @cached_property
    def texts(self) -> dict[str, str]:
        """Return the searchable text of each question: statement, choices and gold, lower case."""
        texts = {}
        for name, question in self.questions.items():
            choices = [choice.text or "" for choice in question.choices or []]
            gold = self.answers[name].answer
            texts[name] = "\n".join([name, question.question, *choices, *gold]).lower()
        return texts


def read_items(folder: Path, pictures: Path | None = None) -> Items:
    """Read a frozen dataset.

    Args:
        folder: The folder of `freeze`.
        pictures: The folder of its pictures, if not in the dataset.

    Raises:
        MissingInputError: A file does not exist, or answers are missing.
        FileFormatError: A file has another format.
    """
    files = StudyFiles(folder.parent, freeze=folder)
    missing = next((name for name in files.questions if name not in files.answers), None)
    if missing is not None:
        raise MissingInputError(f"{folder}/answers.jsonl: no answer of {missing!r}")
    return Items(pictures or folder, files.manifest, files.questions, files.answers)


# A results folder for the explorer: cells, responses without texts, verdicts.

RESPONSE: Final = (
    "id", "index", "key", "outcome", "simulated", "output_tokens", "cost_usd", "latency_s",
)  # fmt: skip
_LENGTH: Final = ("id", "length")
VERDICT: Final = ("id", "index", "rules", "extracted", "verdict", "outcome", "simulated")
_CHOICE: Final = ("id", "rules", "index", "counts")


@dataclass(frozen=True, eq=False)
class Run:
    """The results of one study on disk; cells that are not scored yet have only responses.

    Attributes:
        files: The results folder.
        name: Its name in the explorer.
        cells: Its cells with responses, grouped by model.
        responses: One row per response: `model, setting` and `RESPONSE`.
        verdicts: One row per verdict: `model, setting`, `VERDICT` and `counts`, whether the
            setting chose the sample; those of single judges of a panel are excluded.
        unreadable: Errors of skipped cells whose files cannot be read.
    """

    files: StudyFiles
    name: str
    cells: tuple[Cell, ...]
    responses: pl.DataFrame
    verdicts: pl.DataFrame
    unreadable: tuple[str, ...] = ()
    labels: dict[str, str] = field(default_factory=dict)
    """Display names of models and settings."""
    stated_rules: str | None = None
    """The first scorer of the params, or None."""
    stated_settings: Collection[str] = ()
    """The settings that the report pools; empty if unknown."""
    reader: CellReader = field(default_factory=CellReader)
    """The reader of further columns."""

    @cached_property
    def pooled_settings(self) -> Collection[str]:
        """Return the settings over which the report aggregates; all if unknown."""
        return self.stated_settings or {cell.setting for cell in self.cells}

    @cached_property
    def _rows_of_items(self) -> dict[str, pl.Series]:
        rows = self.verdicts.select("id").with_row_index("row").group_by("id").agg("row")
        return dict(zip(rows["id"], rows["row"], strict=True))

    def list_verdicts(self, name: str) -> pl.DataFrame:
        """Return the verdicts on one item."""
        rows = self._rows_of_items.get(name)
        return self.verdicts.clear() if rows is None else self.verdicts[rows]

    @cached_property
    def lengths(self) -> pl.DataFrame:
        """Return the characters of each response: `model, setting, id, length`; takes seconds."""
        rows = self.reader.read(self.files, "infer", self.cells, _types(_LENGTH), _read_lengths)
        return _join(rows.frames, _LENGTH)

    @cached_property
    def rules(self) -> list[str]:
        """Return the scorers that have verdicts, the judge last."""
        names = sorted(self.verdicts["rules"].unique().to_list())
        return sorted(names, key=lambda name: (name == JUDGE_RULES, name))

    @cached_property
    def main_rules(self) -> str | None:
        """Return the scorer of the grid: that of the params, else the first with verdicts."""
        if self.stated_rules in self.rules:
            return self.stated_rules
        return next(iter(self.rules), None)

    @cached_property
    def is_simulated(self) -> bool:
        """Return whether any response or verdict is simulated."""
        return bool(self.responses["simulated"].any() or self.verdicts["simulated"].any())

    @cached_property
    def simulated_cells(self) -> frozenset[Cell]:
        """Return the cells with a simulated response or verdict."""
        names = "model", "setting"
        frames = [f.filter(simulated=True).select(names) for f in (self.responses, self.verdicts)]
        return frozenset(Cell(*row) for row in pl.concat(frames).unique().rows())

    def label(self, name: str) -> str:
        """Return the display name of a model or setting."""
        return self.labels.get(name, name)


def open_run(
    folder: Path,
    labels: dict[str, str] | None = None,
    stated_rules: str | None = None,
    reader: CellReader | None = None,
    order: Sequence[str] = (),
) -> Run:
    """Read a results folder.

    A study that is still running is read as far as it is: cells without a readable file of
    responses are skipped and reported.

    Args:
        folder: The folder that contains `freeze/`, `infer/` and `score/`.
        labels: Display names of models and settings.
        stated_rules: The first scorer of the params.
        reader: The reader, with its cache and the run's index.
        order: Models and settings in display order; others follow alphabetically.

    Raises:
        MissingInputError: The folder contains no results.
        FileFormatError: No cell can be read.
    """
    reader = reader or CellReader()
    if not (folder / "freeze" / "questions.jsonl").is_file():
        raise MissingInputError(
            f"{folder}: freeze/questions.jsonl not found; pass the folder `study.results` of a "
            "study that has frozen its dataset"
        )
    files = StudyFiles(folder)
    asked = _sort_cells(files.list_cells(), order)
    responses = reader.read(files, "infer", asked, _types(RESPONSE))
    cells = tuple(cell for cell in asked if cell not in responses.errors)
    scored = [cell for cell in cells if files.is_scored(cell)]
    verdicts = reader.read(files, "score", scored, _types(VERDICT))
    aggregated = [cell for cell in scored if files.find_file("aggregate", cell)]
    chosen = reader.read(files, "aggregate", aggregated, _types(_CHOICE), _read_choices)
    marked, lost = _mark_counts(verdicts.frames, chosen.frames, chosen.errors)
    unreadable = tuple({**responses.errors, **verdicts.errors, **chosen.errors, **lost}.values())
    if unreadable and not cells:
        raise FileFormatError(unreadable[0])
    return Run(
        files=files,
        name=folder.resolve().name,
        cells=cells,
        responses=_join(responses.frames, RESPONSE),
        verdicts=_join(marked, (*VERDICT, "counts")),
        unreadable=unreadable,
        labels=labels or (files.record.labels if files.record else {}),
        stated_rules=stated_rules or (files.record.main_rules if files.record else None),
        reader=reader,
    )


def _sort_cells(cells: Iterable[Cell], order: Sequence[str]) -> list[Cell]:
    ranks = {name: rank for rank, name in enumerate(order)}

    def rank_name(name: str) -> tuple[int, str]:
        return ranks.get(name, len(ranks)), name

    return sorted(cells, key=lambda cell: (rank_name(cell.model), rank_name(cell.setting)))


def _read_lengths(path: Path, columns: Sequence[str]) -> pl.DataFrame:
    length = pl.col("text").str.len_chars().alias("length")
    return read_cell(path, ["id", "text"]).select("id", length).select(columns)


def _read_choices(path: Path, columns: Sequence[str]) -> pl.DataFrame:
    return read_parquet(path, AggregateRow).filter("counts").select(columns)


def _mark_counts(
    verdicts: Iterable[pl.DataFrame], chosen: Sequence[pl.DataFrame], unknown: Collection[Cell]
) -> tuple[list[pl.DataFrame], dict[Cell, str]]:
    """Mark the verdicts that count, without those of the judges of panels.

    Args:
        verdicts: The verdicts of each model.
        chosen: The samples that settings chose.
        unknown: Cells whose chosen samples cannot be read, which are left out.

    Returns:
        The verdicts, and the errors of the cells whose chosen samples do not fit, without these.
    """
    choices = _join(chosen, _CHOICE)
    marked: list[pl.DataFrame] = []
    errors: dict[Cell, str] = {}
    for frame in verdicts:
        rows = frame.filter(~pl.col("rules").str.contains(VOTE_MARK, literal=True))
        of_model = choices.filter(pl.col("model").is_in(rows["model"].unique().implode()))
        if of_model.is_empty() and not unknown:
            marked.append(mark_counts(rows, of_model))
            continue
        for cell, part in rows.partition_by("model", "setting", as_dict=True).items():
            if cell in unknown:
                continue
            try:
                marked.append(mark_counts(part, of_model.filter(setting=cell[1])))
            except FileFormatError as error:
                errors[Cell(*map(str, cell))] = str(error)
    return marked, errors


def _join(frames: Iterable[pl.DataFrame], columns: Sequence[str]) -> pl.DataFrame:
    return pl.concat([pl.DataFrame(schema=_types(columns)), *frames])


def _types(columns: Sequence[str]) -> pl.Schema:
    """Return the types of columns after `model` and `setting`."""
    numbers: dict[str, pl.DataType] = {
        "index": pl.Int64(),
        "output_tokens": pl.Int64(),
        "cost_usd": pl.Float64(),
        "latency_s": pl.Float64(),
        "length": pl.Int64(),
        "verdict": pl.Float64(),
        "simulated": pl.Boolean(),
        "counts": pl.Boolean(),
    }
    names = ("model", "setting", *columns)
    return pl.Schema({name: numbers.get(name, pl.String()) for name in names})
