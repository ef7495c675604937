"""A results folder for the explorer: cells, responses without texts, verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from omibench.errors import FileFormatError, MissingInputError
from omibench.explore.reader import CellReader, CellRows, locate_cell
from omibench.params.cell import Cell
from omibench.results.load import JUDGE_RULES, VOTE_MARK

if TYPE_CHECKING:
    import polars as pl

RESPONSE: Final = ("id", "index", "key", "outcome", "simulated", "output_tokens", "cost_usd")
VERDICT: Final = ("id", "index", "rules", "extracted", "verdict", "outcome", "simulated")


@dataclass(frozen=True)
class Run:
    """The results of one study on disk; cells that are not scored yet have only responses.

    Attributes:
        folder: The folder that contains `freeze/`, `infer/` and `score/`.
        name: Its name in the explorer.
        cells: Its cells with responses, grouped by model.
        responses: One row per response: `model, setting` and `RESPONSE`.
        verdicts: One row per verdict: `model, setting` and `VERDICT`; those of single judges of a
            panel are excluded.
        unreadable: Errors of skipped cells whose files cannot be read.
    """

    folder: Path
    name: str
    cells: tuple[Cell, ...]
    responses: pl.DataFrame
    verdicts: pl.DataFrame
    unreadable: tuple[str, ...] = ()
    labels: dict[str, str] = field(default_factory=dict)
    """Display names of models and settings."""
    stated_rules: str | None = None
    """The first scorer of the params, or None."""

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
        frames = (self.responses, self.verdicts)
        return frozenset(
            Cell(model, setting)
            for frame in frames
            for model, setting in frame.filter(simulated=True)
            .select("model", "setting")
            .unique()
            .rows()
        )

    def find_file(self, stage: str, cell: Cell) -> Path:
        """Return the file of a cell in a stage."""
        return locate_cell(self.folder / stage, cell)

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
    asked = _sort_cells(list_cells(folder / "infer"), order)
    responses = reader.read(
        folder / "infer", asked, RESPONSE, _types(("model", "setting", *RESPONSE))
    )
    cells = tuple(cell for cell in asked if cell not in responses.errors)
    scored = [cell for cell in cells if locate_cell(folder / "score", cell).is_file()]
    verdicts = reader.read(
        folder / "score", scored, VERDICT, _types(("model", "setting", *VERDICT))
    )
    unreadable = (*responses.errors.values(), *verdicts.errors.values())
    if unreadable and not cells:
        raise FileFormatError(unreadable[0])
    return Run(
        folder=folder,
        name=folder.resolve().name,
        cells=cells,
        responses=_join(responses, RESPONSE),
        verdicts=_leave_votes_out(_join(verdicts, VERDICT)),
        unreadable=unreadable,
        labels=labels or {},
        stated_rules=stated_rules,
    )


def list_cells(infer: Path) -> Iterator[Cell]:
    """Return the cells with a file in a folder of responses.

    Args:
        infer: The folder, which may be missing.
    """
    for path in sorted(infer.glob("*/*.parquet")):
        if not path.name.startswith(".") and not path.parent.name.startswith("."):
            yield Cell(path.parent.name, path.stem)


def _sort_cells(cells: Iterable[Cell], order: Sequence[str]) -> list[Cell]:
    ranks = {name: rank for rank, name in enumerate(order)}

    def rank_name(name: str) -> tuple[int, str]:
        return ranks.get(name, len(ranks)), name

    return sorted(cells, key=lambda cell: (rank_name(cell.model), rank_name(cell.setting)))


def _join(rows: CellRows, columns: Sequence[str]) -> pl.DataFrame:
    import polars as pl

    empty = pl.DataFrame(schema=_types(("model", "setting", *columns)))
    return pl.concat([empty, *rows.frames])


def _types(columns: Sequence[str]) -> pl.Schema:
    import polars as pl

    numbers: dict[str, pl.DataType] = {
        "index": pl.Int64(),
        "output_tokens": pl.Int64(),
        "cost_usd": pl.Float64(),
        "verdict": pl.Float64(),
        "simulated": pl.Boolean(),
    }
    return pl.Schema({name: numbers.get(name, pl.String()) for name in columns})


def _leave_votes_out(verdicts: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    return verdicts.filter(~pl.col("rules").str.contains(VOTE_MARK, literal=True))
